// Progress: as long as the page has an element with data-progress, what the service knows by now is shown in its place.
// Where this does not run, the page has a link that looks again.
const pause = 2000;

async function look() {
  const shown = document.querySelector("[data-progress]");
  if (!shown) return;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (answer.redirected) return location.assign(answer.url);
    const page = new DOMParser().parseFromString(await answer.text(), "text/html");
    const next = page.querySelector("[data-progress]");
    if (answer.ok && !next) return location.reload();
    if (next) shown.replaceChildren(...next.childNodes);
  } catch {
    // the service is away for a moment
  }
  setTimeout(look, pause);
}

setTimeout(look, pause);
