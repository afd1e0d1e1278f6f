// The preview of a gift follows the form. Without this, a button shows it.
const button = document.getElementById("preview-do");
const form = button.form;
const restsFor = 300; // milliseconds after the last key
let waits;
let newest = 0;

async function show() {
  const mine = ++newest;
  const answer = await fetch(button.formAction, { method: "POST", body: new URLSearchParams(new FormData(form)) });
  const page = await answer.text();
  if (!answer.ok || answer.redirected || mine !== newest) return;
  const old = document.querySelector("iframe[name=preview]");
  const frame = old.cloneNode(); // a new frame adds nothing to what the button Back goes through
  frame.removeAttribute("src");
  frame.srcdoc = page;
  old.replaceWith(frame);
}

function follow() {
  clearTimeout(waits);
  waits = setTimeout(() => show().catch(() => {}), restsFor); // without a network the preview stays as it is
}

form.addEventListener("input", follow);
// What was typed before this script came, or what the browser put back.
if ([...form.elements].some((field) => "defaultValue" in field && field.value !== field.defaultValue)) follow();
button.hidden = true;
