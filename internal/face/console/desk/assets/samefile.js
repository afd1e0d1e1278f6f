// The form of a file is sent from here, so that the file that was checked is at hand when it is confirmed. Where this
// does not run, the page after the check asks for the file once more.
function listen() {
  const form = document.querySelector("form[data-keeps-file]");
  if (!form) return;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const button = form.querySelector("button");
    button.disabled = true;
    form.setAttribute("aria-busy", "true");
    const files = form.elements.file.files;
    try {
      const answer = await fetch(form.action, { method: "POST", body: new FormData(form) });
      if (answer.redirected) return location.assign(answer.url);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      document.getElementById("main").replaceWith(page.getElementById("main"));
      const confirm = document.querySelector("form[data-same-file]");
      if (confirm) {
        confirm.elements.file.files = files;
        confirm.querySelector("[data-choose]").hidden = true;
      }
      const other = document.querySelector("form[data-keeps-file]");
      if (other) other.elements.file.files = files;
      listen();
      scrollTo(0, 0);
      document.getElementById("main").focus();
    } catch {
      form.submit(); // the usual way says what is wrong
    }
  });
}

listen();
