// What the gift page can do beyond HTML: copy the code, and print a message whole. A button that would not work stays hidden.
"use strict";
{
  const copy = document.querySelector("button.copy");
  const code = document.querySelector(".code");
  const said = document.querySelector(".copied");
  if (copy && code && said && navigator.clipboard) {
    copy.hidden = false;
    copy.addEventListener("click", async () => {
      try {
        await navigator.clipboard.writeText(code.textContent.replace(/\D/g, ""));
        said.textContent = said.dataset.done;
      } catch {
        said.textContent = said.dataset.refused;
      }
    });
  }
  const folded = document.querySelector("details.message");
  if (folded) addEventListener("beforeprint", () => { folded.open = true; });
}
