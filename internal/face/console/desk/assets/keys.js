// Keys: "/" goes to the search box, "?" shows the keys, and "g" with a letter opens a page of the navigation. They do
// nothing while somebody types into a field, and can be switched off: some people speak to their computer, and what
// they say comes as keys. Everything works without them.
const dialog = document.getElementById("keys");
const use = dialog.querySelector("input");
const search = document.getElementById("q");
const stored = "boon.keys";
let going = false; // the last key was "g"

function remembered() {
  try {
    return localStorage.getItem(stored);
  } catch {
    return null; // a browser that keeps nothing
  }
}

function remember(value) {
  try {
    localStorage.setItem(stored, value);
  } catch {
    // as above: it holds for this page
  }
}

function press(event) {
  const { key, target } = event;
  // A box of the dialog has the focus until the browser draws the page without the dialog: nobody types there any more.
  const typing = !dialog.contains(target) && target.closest("input, textarea, select, [contenteditable]");
  if (!use.checked || typing || dialog.open || event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  const went = going;
  going = false;
  if (went) {
    const link = [...document.querySelectorAll("nav a[data-key]")].find((a) => a.dataset.key === key);
    if (!link) return;
    link.click();
  } else if (key === "g") {
    going = true;
  } else if (key === "/" && search) {
    search.focus();
    search.select();
  } else if (key === "?") {
    dialog.showModal();
  } else {
    return;
  }
  event.preventDefault();
}

// hint shows in the search box which key leads there.
function hint() {
  const key = document.querySelector(".search kbd");
  if (key) key.hidden = !use.checked;
}

use.checked = remembered() !== "off";
hint();
use.addEventListener("change", () => {
  remember(use.checked ? "on" : "off");
  hint();
});
addEventListener("keydown", press);
addEventListener("pointerdown", () => (going = false));
const button = document.getElementById("keys-open");
button.addEventListener("click", () => dialog.showModal());
