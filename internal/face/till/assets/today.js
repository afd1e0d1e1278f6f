// What was done at this till today, with the sums to hand over.
import { minor } from "./amount.js";
import { rightsToUndo, undoing } from "./intent.js";
import { clock, day, money, number, t } from "./words.js";

/** The operation that each kind of entry comes from. */
const operations = { REDEMPTION: "redeem-gift", ACTIVATION: "activate-gift", RELOAD: "reload-gift", CASH_OUT: "cash-out-gift" };

/** clearToday takes away what somebody was shown of a day. */
export function clearToday(view) {
  for (const e of view.querySelectorAll(".which, .who, .empty, .full, .print")) e.hidden = true;
  for (const e of view.querySelectorAll(".date, .error")) e.textContent = "";
}

/**
 * showToday fills the view; reverse(entry, amount, operation) is called for the undo of an entry,
 * and receipt(entry) for its receipt.
 */
export function showToday(view, today, device, { reverse, receipt }) {
  const $ = (selector) => view.querySelector(selector);
  const amount = (x, currency) => (currency === null ? t("till.pieces", x) : money(minor(x, device.decimals), currency, device.decimals));
  $(".date").replaceChildren(...[device.merchant, device.location.name, today.shop ? t("till.today.shop") : device.device.name, day(today.from, today.timeZone)]
    .flatMap((part, i) => [...(i > 0 ? [" · "] : []), element("span", part)]));
  $("h1").textContent = today.day === today.today ? t("till.today.title") : day(today.from, today.timeZone);
  $(".error").textContent = "";
  const any = today.entries.length > 0;
  $(".empty").hidden = any;
  $(".full").hidden = !any;
  $(".print").hidden = !any;
  const counted = today.sums.reduce((all, s) => all + s.count, 0);
  $(".too-much").hidden = today.complete;
  $(".part").hidden = !today.complete || counted === today.entries.length;
  $(".part").textContent = t("till.today.newest", number(today.entries.length));
  if (!any) return;
  $(".totals").replaceChildren(...totals(today.sums, device).flatMap(([name, units]) => {
    const sum = money(units, device.currency, device.decimals);
    return [element("dt", name), element("dd", sum, { className: sum.length > 10 ? "long" : "" })];
  }));
  $(".sums tbody").replaceChildren(...today.sums.map((s) => sumRow(s, amount)));
  const people = (today.byPerson ?? []).filter((p) => p.sums.length > 0);
  $(".by-person").hidden = people.length === 0 || people.every((p) => p.person === null);
  $(".by-person tbody").replaceChildren(...people.flatMap((p) => [
    row([heading(p.person ?? t("till.today.nobody"), { colSpan: 3, scope: "rowgroup" })]), ...p.sums.map((s) => sumRow(s, amount))]));
  const undone = givenBack(today.entries, device.decimals);
  $(".entries tbody").replaceChildren(...today.entries.map((e) => {
    const written = amount(e.amount, e.currency);
    const what = element("td", t("till.kind." + e.kind.toLowerCase()));
    const about = [e.lastFour && "···· " + e.lastFour, e.person, today.shop && e.till].filter(Boolean).join(" · ");
    if (about) what.append(element("span", about, { className: "by" }));
    if (operations[e.kind] && !isUndone(e, undone, device)) what.append(receiptOf(e, written, device, receipt));
    return row([element("td", clock(e.at, today.timeZone), { className: "time" }), what, element("td", written, { className: "amount" }),
      doing(e, written, undone, device, reverse)]);
  }));
}

/** givenBack sums up what was given back of each entry. */
function givenBack(entries, decimals) {
  const sums = new Map();
  for (const e of entries) if (e.reverses) sums.set(e.reverses, (sums.get(e.reverses) ?? 0) + minor(e.amount, e.currency === null ? 0 : decimals));
  return sums;
}

/** isUndone tells whether all of an entry was given back. */
function isUndone(entry, undone, device) {
  const back = undone.get(entry.entryID) ?? 0;
  return back > 0 && back >= minor(entry.amount, entry.currency === null ? 0 : device.decimals);
}

/** receiptOf is the button that shows the receipt of an entry. */
function receiptOf(entry, written, device, receipt) {
  const button = element("button", t("till.receipt"), { type: "button", className: "small receipt" });
  button.setAttribute("aria-label", t("till.receipt.of", written, clock(entry.at, device.timeZone)));
  button.addEventListener("click", () => receipt(entry));
  return button;
}

function doing(entry, written, undone, device, reverse) {
  const cell = element("td", "", { className: "do" });
  const operation = operations[entry.kind];
  if (!operation) return cell;
  if (isUndone(entry, undone, device)) {
    cell.append(element("span", t("till.today.undone"), { className: "undone" }));
  } else if (rightsToUndo[operation].every((right) => device.may.includes(right))) {
    const button = element("button", t("till.result.undo"), { type: "button", className: "small" });
    button.setAttribute("aria-label", t("till.today.undo", written, clock(entry.at, device.timeZone)));
    button.addEventListener("click", () => reverse(entry, written, undoing[operation]));
    cell.append(button);
  }
  return cell;
}

/** totals are what to hand over: what gifts paid, and what came in for cards, both without what was undone. */
function totals(sums, device) {
  const sum = (kind) => sums.filter((s) => s.kind === kind && s.currency === device.currency).reduce((all, s) => all + minor(s.amount, device.decimals), 0);
  const all = [[t("till.today.gifts"), sum("TAKEN") - sum("GIVEN_BACK")]];
  const drawer = sum("ACTIVATED") + sum("LOADED") - sum("ACTIVATION_TAKEN_BACK") - sum("LOAD_TAKEN_BACK") - sum("CASHED_OUT")
    + sum("CASH_TAKEN_BACK");
  if (sums.some((s) => !["TAKEN", "GIVEN_BACK"].includes(s.kind))) all.push([t("till.today.drawer"), drawer]);
  return all;
}

const sumRow = (s, amount) => row([heading(t("till.sum." + s.kind.toLowerCase()), { scope: "row" }), element("td", number(s.count) + " ×", { className: "count" }),
  element("td", amount(s.amount, s.currency), { className: "amount" })]);

const element = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text }, more);
const heading = (text, more) => element("th", text, more);
function row(cells) {
  const tr = document.createElement("tr");
  tr.append(...cells);
  return tr;
}
