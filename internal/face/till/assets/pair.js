// The page that a pairing link opens. The token is behind the #, so that no server, log or history beyond this device sees
// it; opening the page changes nothing, only the button does.
import * as api from "./api.js";
import { t } from "./words.js";

const $ = (selector) => document.querySelector(selector);
const token = location.hash.slice(1);
history.replaceState(null, "", location.pathname + location.search);

if (!/^[A-Za-z0-9_-]{16,128}$/.test(token)) fail(t("till.pair.broken"));

/** agrees asks whoever holds a till whether it is to become another one, and gives the keyID of the one it is. */
function agrees(now) {
  const dialog = $("dialog.ask");
  $("dialog.ask p").textContent = t("till.pair.instead-text", [now.device.name, now.location.name, now.merchant].filter(Boolean).join(", "));
  dialog.returnValue = "";
  dialog.showModal();
  return new Promise((resolve) => dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes" ? now.device.keyID : null), { once: true }));
}

$("button.pair").addEventListener("click", async () => {
  const button = $("button.pair");
  button.disabled = true;
  $(".error").textContent = "";
  const now = await api.state();
  const instead = now?.status === 200 ? await agrees(now.body) : undefined;
  if (instead === null) return void (button.disabled = false);
  const answer = await api.pair(token, instead);
  button.disabled = false;
  if (answer === null || answer.status >= 500) return void ($(".error").textContent = t("till.error.line"));
  if (answer.body?.messages?.[0]?.path === "instead") return void ($(".error").textContent = t("till.error.other")); // what it is now was not known
  if (answer.status === 429) return void ($(".error").textContent = t("till.code.rate_limited"));
  if (answer.status !== 200) return fail(t("till.pair.used"));
  $("h1").textContent = t("till.pair.done", [answer.body.merchant, answer.body.location?.name].filter(Boolean).join(", "));
  $(".words").textContent = t("till.pair.done-text");
  $(".disc").className = "disc yes";
  button.hidden = true;
  $("a.open").hidden = false;
  $("a.open").focus();
});

function fail(why) {
  $(".error").textContent = why;
  $("button.pair").hidden = true;
}
