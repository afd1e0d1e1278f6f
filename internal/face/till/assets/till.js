// The till: which view is shown, and what its buttons do. Money is moved by safe.js alone.
import * as api from "./api.js";
import { card, decimal, empty, grouped, minor, press, product, shares, split, toSell, value } from "./amount.js";
import { booked, byKey, ended, open, pause, rightsToUndo, undoing, unstaffed, within } from "./intent.js";
import { Safe } from "./safe.js";
import { watch } from "./scan.js";
import { scanned as giftIn, foreign, Wedge } from "./scanner.js";
import { play } from "./sound.js";
import { keypad } from "./keypad.js";
import { clock, known, language, money, number, t } from "./words.js";
import { clearToday, showToday } from "./today.js";

const $ = (selector, within = document) => within.querySelector(selector);
const views = Object.fromEntries([...document.querySelectorAll("[data-view]")].map((v) => [v.dataset.view, v]));

let view = "wait";
let device = null; // what /till/state said
let current = null; // the gift that is shown, with what is typed: {gift, asked, mode, entry, item, fresh}
let result = null; // the intent that is shown
let sale = []; // where several cards pay one bill, those before the one that is shown: each as current
let bill = empty; // what was typed of that bill
let stopCamera = null;
let lastScan = { text: "", at: -Infinity };
let busy = false;
let drawnAt = -Infinity; // when the result was drawn: the second tap of a double tap is not for its buttons

/** show changes the view, and says where one is to those who do not see it. */
function show(name) {
  if (name !== "home") closeCamera();
  for (const [other, section] of Object.entries(views)) section.hidden = other !== name;
  const moved = view !== name;
  view = name;
  document.body.dataset.at = name;
  if (moved) {
    scrollTo(0, 0);
    $("h1", views[name])?.focus({ preventScroll: true });
  }
}

const say = (text) => { $("#said").textContent = text; };
const complain = (text) => { $(".error", views[view]).textContent = text; };
/** Value is put in only where the server says in whose name. */
const maySell = (what) => may(what) && device.storefronts?.length > 0;
const may = (what) => device?.may?.includes(what) ?? false;

// ---- what it is worth, in words

const decimalsOf = (gift) => (gift.unit === "items" ? 0 : device.decimals);

/** worth writes an amount of a gift: $25.00, or 3 pieces. */
function worth(units, gift) {
  return gift.unit === "items" ? t("till.pieces", units) : money(units, gift.currency ?? device.currency, device.decimals);
}

/** fit writes an amount smaller where it is long, so that it stays on one line. */
function fit(element, text) {
  element.textContent = text;
  element.classList.toggle("long", text.length > 10);
}

/** problemText says what a problem document means to a cashier. */
function problemText(answer, gift) {
  if (answer === null) return t("till.error.line");
  const problem = answer.body ?? answer;
  const first = problem.messages?.[0];
  if (problem.code === "UNAUTHENTICATED") return t("till.unpaired.title");
  if (first?.path === "person") return t("till.code.person");
  if (codeOf.test(first?.path)) return t("till.code.verification");
  if (problem.code === "REDEMPTION_NOT_ALLOWED" && gift && !gift.isRedeemable) return reasons(gift)[0] ?? first.text;
  if (language === "en" && first?.text && ["VALIDATION_FAILURE", "NOT_SUPPORTED"].includes(problem.code)) return first.text;
  const name = "till.code." + String(problem.code).toLowerCase();
  if (known(name)) return t(name);
  return language === "en" && first?.text ? first.text : t("till.error.other");
}

/** reasons says why a gift cannot be used now. */
function reasons(gift) {
  const at = (instant) => new Intl.DateTimeFormat(language, { dateStyle: "long", timeZone: device.timeZone }).format(new Date(instant));
  const now = Date.parse(device.now) + (Date.now() - device.readAt);
  return gift.notRedeemableReasons.map(({ code, text }) => {
    const name = "till.reason." + code.toLowerCase();
    const status = "till.reason." + gift.status.toLowerCase();
    if (code === "ALREADY_REDEEMED" && gift.heldBalance > 0) return t("till.reason.held");
    if (known(name)) return t(name);
    if (gift.status === "PENDING" && Date.parse(gift.deliveryDate) > now) return t("till.reason.pending-until", at(gift.deliveryDate));
    if (known(status)) return t(status);
    if (!gift.isInRedeemablePeriod && gift.validUntil && Date.parse(gift.validUntil) <= now) return t("till.reason.expired", at(gift.validUntil));
    if (!gift.isInRedeemablePeriod && gift.validFrom) return t("till.reason.not-yet", at(gift.validFrom));
    return text;
  });
}

// ---- the device and its people

async function start() {
  show("wait");
  const answer = await api.insist(api.state, waiting, untilOnline);
  if (answer.status === 401) return unpaired();
  learn(answer.body);
  await settle();
  if (view !== "today") home(); // who went there from what was left open stays there
}

/** waiting says that there is no line yet, and what is still open. */
function waiting(answer) {
  const left = safe.kept().find(open);
  const notice = $(".open-intent", views.wait);
  $(".why", views.wait).textContent = problemText(answer);
  $(".again", views.wait).hidden = false;
  notice.hidden = !left;
  if (left) notice.textContent = [t("till.unknown.title") + ": " + left.shown.amount, "···· " + left.shown.lastFour, resultWords(left, lookOf(left))].join(" · ");
}

/** untilOnline waits for some milliseconds, or until the device says that it has a line again. */
function untilOnline(ms) {
  return new Promise((resolve) => {
    const go = () => {
      removeEventListener("online", go);
      clearTimeout(timer);
      resolve();
    };
    const timer = setTimeout(go, ms);
    addEventListener("online", go);
  });
}

function learn(state) {
  device = { ...state, readAt: Date.now() };
  $(".merchant").textContent = state.merchant;
  $(".location").textContent = state.location.name;
  $(".device").textContent = state.device.name;
  $("#digits").inputMode = state.importedCodes ? "text" : "numeric"; // they may have letters
  $(".nobody", views.home).hidden = !unstaffed(state);
  const out = $(".sign-out");
  out.hidden = state.person === null;
  if (state.person !== null) {
    $("span", out).textContent = state.person;
    out.setAttribute("aria-label", t("till.people.sign-out", state.person));
  }
  $(".open-today").hidden = false;
  const choice = (value, text) => Object.assign(document.createElement("option"), { value, textContent: text });
  const stores = state.storefronts ?? [];
  $(".storefront").replaceChildren(choice("", t("till.gift.storefront") + "…"), ...stores.map((s) => choice(s.externalStorefrontID, s.name)));
  if (stores.length > 0) $(".storefront").value = storefront()?.externalStorefrontID ?? "";
}

/** settle first brings to an end what an earlier page left open; each is shown until somebody has seen it. */
async function settle() {
  for (const kept of safe.kept()) {
    const intent = within(kept, device.device.keyID);
    await new Promise((resolve) => {
      shown.set(intent.key, resolve);
      showResult({ ...intent, earlier: true });
      if (!ended(intent)) safe.finish(intent).then((done) => done === null && resolve());
    });
  }
}

/** shown has, by key, who waits until a result was seen. */
const shown = new Map();

const pending = (intent) => t("till.unpaired.pending", intent.shown.amount, intent.shown.lastFour);

function unpaired() {
  device = null;
  $(".open-today").hidden = true;
  $(".sign-out").hidden = true;
  $(".merchant").textContent = t("till.title");
  $(".location").textContent = "";
  const left = safe.kept().find(open);
  const notice = $(".open-intent", views.unpaired);
  notice.hidden = !left;
  if (left) notice.textContent = pending(left);
  show("unpaired");
}

/** lost tells whether an answer says that the device is no till any more, or nobody is signed in, and shows it. */
function lost(answer) {
  if (answer?.status === 401) {
    unpaired();
    return true;
  }
  if (answer?.status === 403 && answer.body?.messages?.[0]?.path === "person") {
    device.person = null;
    people();
    return true;
  }
  return false;
}

function people() {
  $(".names").replaceChildren(...device.people.map((name) => {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "name";
    button.textContent = name;
    button.addEventListener("click", () => askPIN(name));
    item.append(button);
    return item;
  }));
  $(".nobody", views.people).hidden = device.people.length > 0;
  $(".sign-out").hidden = true;
  show("people");
}

/** choosing is the first PIN of somebody who chooses another one now, and that one once it was typed; null: nobody does. */
let choosing = null;

function askPIN(name) {
  const section = views.pin;
  choosing = null;
  $("h1", section).textContent = t("till.people.pin", name);
  $(".quiet", section).textContent = "";
  section.dataset.name = name;
  $(".pin", section).value = "";
  $(".error", section).textContent = "";
  show("pin");
  $(".pin", section).focus();
}

let signing = false; // a PIN is being checked
let arrived = null; // goes on with the open intent that waits for somebody who may

/** somebody has the page ask who is at the till, and waits until one of them has signed in. */
async function somebody() {
  const state = await api.state();
  if (state?.status === 200) learn(state.body);
  if (device !== null && unstaffed(device)) $(".words", views.result).textContent = t("till.people.nobody");
  if (!device?.people.length) return;
  await new Promise((resolve) => {
    arrived = resolve;
    people();
  });
  arrived = null;
  if (result) showResult(result);
}

/** askOwnPIN asks somebody whose PIN another has set for one of their own, twice. */
function askOwnPIN(so, why = "") {
  choosing = so;
  const section = views.pin;
  $("h1", section).textContent = t(so.own ? "till.people.own-pin-again" : "till.people.own-pin");
  $(".quiet", section).textContent = so.own ? "" : t("till.people.own-pin-text");
  $(".pin", section).value = "";
  complain(why);
  $(".pin", section).focus();
}

async function signIn() {
  const pin = $(".pin", views.pin);
  if (signing || pin.value === "") return;
  const typed = pin.value;
  if (choosing && !choosing.own) return askOwnPIN({ first: choosing.first, own: typed });
  if (choosing && choosing.own !== typed) {
    play("no");
    return askOwnPIN({ first: choosing.first }, t("till.people.two-pins"));
  }
  signing = true;
  const answer = await api.signIn(views.pin.dataset.name, choosing?.first ?? typed, choosing?.own);
  signing = false;
  pin.value = "";
  if (answer?.status === 400 && answer.body?.messages?.[0]?.path === "newPIN") {
    if (choosing) play("no");
    return askOwnPIN({ first: choosing?.first ?? typed }, choosing ? t("till.people.easy-pin") : "");
  }
  if (answer?.status === 200) {
    learn(answer.body);
    return arrived ? arrived() : home();
  }
  if (answer?.status === 401) return unpaired();
  play("no");
  if (answer?.status === 429) complain(t("till.people.rest", answer.retryAfter || 60));
  else if (answer?.status === 403) complain(t("till.people.wrong"));
  else complain(problemText(answer));
}

// ---- a gift is found

/** home asks for the next gift. So that another card pays too, the sale goes on. */
function home(goesOn = false) {
  current = null;
  result = null;
  if (!goesOn) sale = [];
  if (device.people.length > 0 && device.person === null) return people();
  $("#digits").value = "";
  $(".error", views.home).textContent = "";
  show("home");
  drawSale();
  if (localStorage.getItem("boon.camera") === "open") openCamera();
  else if (localStorage.getItem("boon.camera") === null) allowed().then((may) => may && view === "home" && openCamera());
}

/** allowed tells whether the camera may be opened without a question, as it was allowed before. */
async function allowed() {
  const state = await navigator.permissions?.query({ name: "camera" }).catch(() => null);
  return state?.state === "granted";
}

async function openCamera() {
  if (stopCamera) return;
  const video = $("video", views.home);
  stopCamera = () => {};
  cameraOn(true);
  try {
    const stop = await watch(video, scanned);
    if (view !== "home" || video.hidden) return stop();
    stopCamera = stop;
    lastScan.at = performance.now(); // the gift that was taken may still lie there
    localStorage.setItem("boon.camera", "open");
    keepShell();
  } catch (failed) {
    closeCamera();
    localStorage.removeItem("boon.camera");
    const why = { NotAllowedError: "till.error.denied", NotFoundError: "till.error.no-camera" }[failed.name] ?? "till.error.camera";
    $(".error", views.home).textContent = t(why);
  }
}

function closeCamera() {
  stopCamera?.();
  stopCamera = null;
  cameraOn(false);
}

function cameraOn(on) {
  for (const selector of ["video", ".frame", ".close-camera"]) $(selector, views.home).hidden = !on;
  $(".hint", views.home).hidden = !on;
  $(".open-camera").hidden = on;
}

/** cardOf gives the code of a card from another system, where the merchant takes such cards. */
const cardOf = (text) => (device?.importedCodes ? card(text) : null);

/**
 * coveredOf gives a card that is sold by the number beside its covered code, where somebody may sell one. Where the merchant takes
 * cards from other systems, the digits may be the code of one of those: or has it.
 */
function coveredOf(text) {
  const found = device !== null && maySell("activate") && sale.length === 0 ? toSell(text) : null;
  return found && { ...found, or: cardOf(text) };
}

/** giftOf gives the gift that was scanned or swiped; the barcode of a product is none. */
const giftOf = (text) => giftIn(text) ?? coveredOf(text) ?? (product(text) ? null : cardOf(text));

/** scanned takes what the camera or a hand scanner read; the same text within a moment is the same look of the camera. */
function scanned(text) {
  if (busy || (text === lastScan.text && performance.now() - lastScan.at < 3000)) return;
  lastScan = { text, at: performance.now() };
  const gift = giftOf(text);
  if (gift === null) {
    play("no");
    return void ($(".error", views.home).textContent = t("till.error.not-a-gift"));
  }
  find(gift);
}

/** find looks a gift up, and shows it; again says that it was shown before. */
async function find(gift, again = false) {
  if (busy || device === null || !["home", "gift", "result", "today"].includes(view)) return;
  if (result && (!ended(result) || result.earlier)) return;
  if (result && !again) sale = []; // of another guest
  if (result) seen(result);
  busy = true;
  document.body.classList.add("looking");
  say(t("till.home.looking"));
  const [answer, asked] = gift.activationCode ? await lookAtCovered(gift) : [await api.validate(gift), gift];
  busy = false;
  document.body.classList.remove("looking");
  if (lost(answer)) return;
  if (answer?.status !== 200) {
    play("no");
    if (view !== "home") leave();
    return complain(problemText(answer));
  }
  const why = sale.length > 0 && !again ? joins(answer.body) : null;
  if (why !== null) {
    play("no");
    return complain(why);
  }
  play("found");
  showGift(answer.body, asked);
}

/**
 * lookAtCovered asks what a card would be worth if it were sold by the number beside its covered code: nothing else is told of it.
 * Nothing is done. The answer is one as of a card that is not sold, and what was asked for.
 */
async function lookAtCovered(card) {
  const { activationCode, or } = card;
  const { externalStorefrontID } = storefront() ?? device.storefronts[0];
  const answer = await api.tryOut("activate-gift", { activationCode, externalStorefrontID, externalTransactionReferenceNumber: "look" });
  if (answer?.status === 404 && or) return [await api.validate(or), or];
  const unpriced = answer?.status === 400 && answer.body?.messages?.every((m) => m.path === "amount");
  if (answer?.status !== 200 && !unpriced) return [answer, card];
  const { amount = null, currency = device.currency } = unpriced ? {} : answer.body;
  const pieces = currency === null;
  return [{ status: 200, body: {
    activationCode, status: "NOT_ACTIVATED", lastFour: activationCode.slice(-4), unit: pieces ? "items" : "money", currency,
    value: pieces ? null : amount, quantity: pieces ? amount : null, availableBalance: 0, currentBalance: 0, heldBalance: 0,
    isRedeemable: false, notRedeemableReasons: [], cashOutAllowed: false,
  } }, card];
}

function typed() {
  const field = $("#digits");
  clearTimeout(standing);
  const gift = giftIn(field.value) ?? coveredOf(field.value) ?? cardOf(field.value);
  if (gift) return find(gift);
  const digits = field.value.replace(/\D/g, "");
  if (field.value.trim() === "") return field.focus();
  play("no");
  if (foreign(field.value)) return complain(t("till.error.layout"));
  complain(/^[\d\s.-]*$/.test(field.value) && digits.length !== 12 ? t("till.error.digits", digits.length) : t("till.error.not-a-gift"));
  field.focus();
}

// ---- a gift is shown

function showGift(gift, asked, entry = sale.length > 0 ? bill : empty) {
  const mode = sale.length === 0 && gift.status === "NOT_ACTIVATED" && maySell("activate") ? "sell" : "take";
  current = { gift, asked, mode, entry, item: null, all: false };
  const decimals = decimalsOf(gift);
  const left = minor(gift.availableBalance, decimals);
  if (gift.unit === "items" && left > 0) current.entry = { digits: "1", point: -1 };
  const ready = mode === "sell" && fixed(gift) > 0; // nothing is left to type
  if (ready) current.entry = { digits: String(fixed(gift)), point: -1 };
  $(".entry").hidden = ready && device.storefronts.length < 2; // it has the choice of the storefront, too
  $(".keypad", views.gift).hidden = ready;
  const whole = mode === "sell" ? fixed(gift) : left;
  fit($(".worth .figure"), mode === "sell" && whole === 0 ? t("till.gift.new") :
    gift.unit === "items" && gift.label ? t("till.gift.pieces", number(whole), gift.label) : worth(whole, gift));
  views.gift.classList.toggle("pieces", gift.unit === "items");
  $(".worth .facts").replaceChildren(Object.assign(document.createElement("strong"), { className: "last-four", textContent: "···· " + gift.lastFour }),
    [...(ready ? [t("till.gift.new")] : []), ...facts(gift)].map((fact) => " · " + fact).join(""));
  const bad = mode === "take" && !gift.isRedeemable;
  $(".bad").hidden = !bad;
  $(".reasons").replaceChildren(...(bad ? reasons(gift) : []).map((text) => Object.assign(document.createElement("li"), { textContent: text })));
  views.gift.classList.toggle("no", bad);
  showTerms(gift);
  $(".do-cash").hidden = sale.length > 0 || !gift.cashOutAllowed || !may("cash-out");
  $(".error", views.gift).textContent = "";
  show("gift");
  drawEntry();
  say($(".worth .figure").textContent + (bad ? ". " + reasons(gift).join(" ") : ""));
  if (bad) play("no");
}

/** An empty gift can be loaded too. */
const reloadable = (gift) => gift.unit !== "items" && !gift.isPromoType && device.reloadablePrograms.includes(gift.programID) &&
  gift.notRedeemableReasons.every((reason) => reason.code === "ALREADY_REDEEMED");

/** fixed is what a card that is not sold yet is going to be worth; 0: what is paid for it. */
const fixed = (gift) => (gift.unit === "items" ? gift.quantity ?? 0 : minor(gift.value ?? 0, device.decimals));

function facts(gift) {
  const all = [];
  if (gift.heldBalance > 0) all.push(t("till.gift.held", worth(minor(gift.heldBalance, decimalsOf(gift)), gift)));
  if (gift.validUntil && gift.isInRedeemablePeriod) {
    const last = (end) => new Intl.DateTimeFormat(language, { dateStyle: "medium", timeZone: device.timeZone })
      .format(new Date(Date.parse(end) - 1)); // it is the first instant at which it is not good any more
    const over = Date.parse(gift.validUntil) <= Date.parse(device.now) + (Date.now() - device.readAt);
    all.push(over && gift.graceUntil ? t("till.gift.grace", last(gift.validUntil), last(gift.graceUntil)) : t("till.gift.until", last(gift.validUntil)));
  }
  return all;
}

function showTerms(gift) {
  const names = (gift.eligibleItems ?? []).map((item) => item.name ?? item.id);
  $(".good-for").hidden = names.length === 0;
  $(".good-for").textContent = t("till.gift.for", names.join(", "));
  const terms = [gift.terms, gift.promotionalTerms].filter(Boolean).join("\n\n");
  $(".terms").hidden = terms === "";
  $(".terms").open = false;
  $(".terms p").textContent = terms;
  const items = $(".items");
  items.hidden = !gift.requiresEligibleItems || names.length === 0;
  $("div", items).replaceChildren(...(gift.eligibleItems ?? []).map((item, i) => {
    const label = document.createElement("label");
    const choice = Object.assign(document.createElement("input"), { type: "radio", name: "item", value: String(i) });
    choice.addEventListener("change", () => { current.item = item; drawEntry(); });
    label.append(choice, Object.assign(document.createElement("span"), { textContent: item.name ?? item.id }));
    return label;
  }));
}

/** storefront is where a card is sold or loaded: the only one, or what was chosen on this device; null: none yet. */
function storefront() {
  const all = device.storefronts;
  const chosen = localStorage.getItem("boon.storefront");
  return all.length === 1 ? all[0] : all.find((s) => s.externalStorefrontID === chosen) ?? null;
}

/** typedAmount is what the keypad comes to, and what of it the gift gives. */
function typedAmount() {
  const { gift, entry, mode } = current;
  const decimals = decimalsOf(gift);
  const amount = value(entry, decimals);
  if (mode !== "take") return { amount, take: amount, rest: 0 };
  return { amount, ...split(amount, available()) };
}

/** available is what can be taken: of the gift that is shown, and of those that pay before it. */
const available = () => [...sale, current].reduce((sum, { gift }) => sum + minor(gift.availableBalance, decimalsOf(gift)), 0);

function drawEntry() {
  const { gift, mode } = current;
  $(".storefront").hidden = mode === "take" || device.storefronts.length < 2;
  const takes = gift.isRedeemable && may("redeem");
  $(".take-side").hidden = mode === "take" && !takes;
  $(".do-load").hidden = sale.length > 0 || mode === "sell" || !maySell("reload") || !reloadable(gift) || (mode === "load" && !takes);
  $(".do-load").textContent = t(mode === "load" ? "till.gift.take-instead" : "till.gift.reload-none");
  const { amount, take, rest } = typedAmount();
  const left = minor(gift.availableBalance, decimalsOf(gift));
  const pieces = gift.unit === "items";
  $(".entry-label").textContent = { sell: t("till.gift.worth"), load: t("till.gift.load") }[mode] ??
    t(pieces ? "till.gift.how-many" : "till.gift.bill");
  const figure = $(".entry-figure");
  fit(figure, pieces ? number(amount) : money(amount, gift.currency ?? device.currency, device.decimals));
  figure.classList.toggle("nothing", amount === 0);
  $(".all").hidden = mode !== "take";
  const restLine = $(".take-side .rest");
  restLine.className = "rest" + (rest > 0 ? " due" : "");
  restLine.textContent = rest > 0 ? t("till.gift.rest", worth(rest, gift)) :
    mode === "take" && sale.length === 0 && amount > 0 && take < left ? t("till.gift.stays", worth(left - take, gift)) :
    mode === "load" && amount > 0 ? t("till.gift.becomes", worth(minor(gift.currentBalance, decimalsOf(gift)) + amount, gift)) : "";
  const names = { take: ["till.gift.take", "till.gift.take-none"], sell: ["till.gift.sell", "till.gift.sell-none"],
    load: ["till.gift.reload", "till.gift.reload-none"] }[mode];
  const button = $(".take");
  button.textContent = take > 0 && !(mode === "sell" && pieces) ? t(names[0], worth(take, gift)) : t(names[1]);
  const why = grey(take, mode);
  button.disabled = why !== null;
  $(".why", views.gift).textContent = why ?? "";
  restLine.hidden = why !== null; // one line for either
  $(".do-add").hidden = !takes || !canAdd();
  drawSale();
}

/** grey says why the button does nothing yet; null: it does. */
function grey(take, mode) {
  if (mode !== "take" && storefront() === null) return t("till.why.storefront");
  if (mode === "take" && !$(".items").hidden && current.item === null) return t("till.why.item");
  return take > 0 ? null : t(mode === "take" ? "till.why.amount" : "till.why.load");
}

function typeKey(key) {
  if (view === "pin") {
    const pin = $(".pin", views.pin);
    if (key === "back") pin.value = pin.value.slice(0, -1);
    else if (key !== ".") pin.value += key;
    return;
  }
  if (view !== "gift" || $(".take-side").hidden) return;
  if (current.mode === "sell" && fixed(current.gift) > 0) return;
  const start = current.all || (current.gift.unit === "items" && !current.touched) ? empty : current.entry;
  current = { ...current, entry: key === "back" && current.all ? empty : press(start, key, decimalsOf(current.gift)), all: false, touched: true };
  drawEntry();
}

function takeAll() {
  current = { ...current, entry: { digits: String(available()), point: -1 }, all: true, touched: true };
  drawEntry();
  $(".take").focus();
}

// ---- several cards pay one bill

const mostCards = 10; // that one call takes

/** alone tells of a gift that pays by itself only: it gives pieces, or asks what it is spent on. */
const alone = (gift) => gift.unit === "items" || gift.requiresEligibleItems;

/** canAdd tells whether another card may pay beside the gift that is shown. */
const canAdd = () => current.mode === "take" && current.gift.isRedeemable && !alone(current.gift) &&
  sale.length + 1 < mostCards && typedAmount().rest > 0;

/** add keeps the gift that is shown as one that pays, for another to follow. */
function add() {
  bill = current.entry;
  sale = [...sale, current];
}

/** joins has a gift be the next that pays in a sale of several; else it says why it is not. */
function joins(gift) {
  if (alone(gift)) return t("till.sale.alone");
  if (sale.some((card) => card.gift.voucherID === gift.voucherID)) return t("till.sale.twice");
  if (view !== "gift" || current.gift.voucherID === gift.voucherID) return null;
  if (canAdd()) add();
  else bill = current.entry;
  return null;
}

/** leave leaves the gift that is shown; the cards that pay before it still do. */
const leave = () => {
  if (sale.length > 0) bill = current.entry;
  home(sale.length > 0);
};

/** drawSale lists the cards that pay before the one that is shown, or is to come. */
function drawSale() {
  const list = $(".cards", views[view]);
  list.closest(".sale").hidden = sale.length === 0;
  if (sale.length === 0) return;
  const amount = value(view === "gift" ? current.entry : bill, device.decimals);
  const pays = shares(amount, sale.map(({ gift }) => minor(gift.availableBalance, device.decimals)));
  list.replaceChildren(...sale.map(({ gift }, n) => cardRow(gift.lastFour, worth(pays[n], gift))));
  $(".due", views.home).textContent = t("till.gift.rest", worth(amount - pays.reduce((sum, pay) => sum + pay, 0), sale[0].gift));
}

/** cardRow is a line about one of several cards: what it pays, and what is left on it. */
function cardRow(lastFour, amount, left = "") {
  const row = document.createElement("li");
  const part = (name, className, textContent) => row.append(Object.assign(document.createElement(name), { className, textContent }));
  part("span", "last-four", "···· " + lastFour);
  part("strong", "amount", amount);
  if (left) part("span", "by", left);
  return row;
}

/** resultCards are the lines about the cards of a sale: what each paid, or got back. */
function resultCards({ state, answer, shown: about }) {
  const moved = state === "yes" && about.cards ? answer?.redemptions ?? answer?.reversals ?? [] : [];
  return moved.map((m) => cardRow(about.cards[m.voucherID] ?? "····", worth(minor(m.amount, device.decimals), about),
    t("till.result.left", worth(minor(m.currentBalance, device.decimals), about))));
}

// ---- value is moved

const operations = { take: "redeem-gift", sell: "activate-gift", load: "reload-gift" };

function go(verificationCode) {
  if (busy || view !== "gift" || $(".take-side").hidden || $(".take").disabled) return;
  if (sale.length > 0) return takeTogether();
  const { gift, mode, item } = current;
  const decimals = decimalsOf(gift);
  const { amount, take, rest } = typedAmount();
  const named = gift.activationCode ? { activationCode: gift.activationCode } : { voucherID: gift.voucherID };
  const body = { ...named, amount: decimal(take, decimals) };
  if (mode === "sell" && fixed(gift) > 0) delete body.amount;
  if (mode !== "take") {
    body.externalStorefrontID = storefront().externalStorefrontID;
    body.externalTransactionReferenceNumber = api.newKey();
  }
  if (verificationCode) body.verificationCode = verificationCode;
  if (mode === "take" && item) body.ticketData = ticket(item, take, amount, gift);
  move(operations[mode], body, gift, take, { rest: rest > 0 ? worth(rest, gift) : "" });
}

/** takeTogether has all cards of the sale pay, in one call: all, or none. */
function takeTogether() {
  bill = current.entry; // should the cards be refused, this is still to pay
  const { amount, take, rest } = typedAmount();
  const paying = [...sale, current].map(({ gift, code }) => ({ gift, code }));
  const body = {
    gifts: paying.map(({ gift, code }) => ({ voucherID: gift.voucherID, ...(code && { verificationCode: code }) })),
    upTo: decimal(amount, device.decimals),
  };
  move("redeem-gifts", body, current.gift, take, {
    lastFour: paying.map(({ gift }) => gift.lastFour).join(" + ···· "),
    cards: Object.fromEntries(paying.map(({ gift }) => [gift.voucherID, gift.lastFour])),
    rest: rest > 0 ? worth(rest, current.gift) : "",
  });
}

/** ticket says on what the gift is spent, for one that is good for certain items only. */
function ticket(item, take, amount, gift) {
  const line = { itemID: item.id, itemName: item.name ?? item.id, quantity: gift.unit === "items" ? take : 1 };
  line.itemTotalPrice = gift.unit === "items" ? take : decimal(amount, device.decimals);
  return { format: "standard", data: { lineItems: [line] } };
}

/** move has an operation carried out, safely, and shows how it stands. */
function move(operation, body, gift, units, more = {}) {
  if (busy) return;
  busy = true;
  const about = { amount: worth(units, gift), lastFour: gift.lastFour, unit: gift.unit, currency: gift.currency, person: device.person, ...more };
  carryOut(operation, body, about);
}

function carryOut(operation, body, about) {
  const key = api.newKey();
  shown.set(key, () => {});
  try {
    safe.start(key, operation, body, about, device.device.keyID).finally(() => { busy = false; });
  } catch {
    shown.delete(key);
    busy = false;
    play("no");
    complain(t("till.error.storage"));
  }
}

/** changed is told of every step of an intent. */
function changed(intent) {
  if (device !== null && shown.has(intent.key)) showResult({ ...intent, earlier: result?.key === intent.key && result.earlier });
}

const lookOf = (intent) => (ended(intent) || intent.state === "voiding" ? intent.state : "unknown");

function showResult(intent) {
  const before = result?.key === intent.key ? result : null;
  result = intent;
  if (intent.state === "no" && needsCode(intent)) return askCode(intent);
  const look = intent.state === "sending" ? "busy" : lookOf(intent);
  const section = views.result;
  if (view !== "result" || section.dataset.look !== look) drawResult(intent, look);
  if (view !== "result") show("result");
  if (before?.state === intent.state) return;
  if (intent.state === "yes") play("yes");
  if (intent.state === "no") play("no");
}

/** movedBy is the amount of an intent in words: what the server booked, or before that what it is asked for. */
function movedBy(intent) {
  const amount = booked(intent);
  return amount === undefined ? intent.shown.amount : worth(minor(amount, decimalsOf(intent.shown)), intent.shown);
}

function drawResult(intent, look) {
  const section = views.result;
  section.dataset.look = look;
  const about = intent.shown;
  const amount = movedBy(intent);
  $(".disc", section).className = "disc " + look;
  $(".earlier", section).hidden = !intent.earlier;
  $(".earlier", section).textContent = t("till.result.earlier", clock(intent.began, device.timeZone));
  const what = about.cash ? "take-cash-back" : redeems(intent) ? "redeem-gift" : intent.operation;
  const title = { yes: "till.done." + what, no: "till.not-done." + what, busy: "till.doing." + what }[look] ?? "till.unknown.title";
  $("h1", section).textContent = t(title, amount);
  fit($(".figure", section), look === "busy" ? "" : amount);
  const rest = restOf(intent);
  $(".rest", section).textContent = look === "yes" && rest ? t("till.gift.rest", rest) : "";
  $(".cards", section).replaceChildren(...resultCards(intent));
  $(".words", section).textContent = resultWords(intent, look);
  $(".next", section).hidden = !ended(intent);
  $(".next", section).textContent = t(intent.earlier || about.from === "today" ? "till.go-on" : "till.result.next");
  $(".look", section).hidden = look !== "no" || intent.earlier || !current;
  $(".undo", section).hidden = look !== "yes" || !mayUndo(intent.operation);
  $(".receipt", section).hidden = entriesOf(intent).length === 0;
  $(".who", section).textContent = look === "yes" && intent.operation in undoing ? whoUndoes(intent.operation) : "";
  $(".stop", section).hidden = look !== "unknown" || intent.undoable === false || !mayUndo(intent.operation);
  $(".stop", section).textContent = t(redeems(intent) ? "till.unknown.stop" : "till.unknown.stop-sold");
  if (look !== "busy") showNewCards(intent, look);
  drawnAt = performance.now();
  say($("h1", section).textContent + " " + [amount, $(".rest", section).textContent, $(".words", section).textContent].filter(Boolean).join(". "));
  if (ended(intent) && view === "result") $(".next", section).focus();
}

/**
 * showNewCards shows the slips of cards that were used first, and have other numbers now: each guest takes one along. It asks
 * until the service answers, as long as the result is shown. Nothing of them is kept in the device.
 */
async function showNewCards(intent, look) {
  const box = $(".new-cards", views.result);
  const used = look === "yes" && redeems(intent) ? (intent.answer?.redemptions ?? [intent.answer]).filter((m) => m?.newCard) : [];
  box.hidden = used.length === 0;
  $(".slips", box).replaceChildren();
  $(".error", box).textContent = "";
  for (const m of used) {
    let answer;
    for (let n = 1; ; n++) {
      answer = await api.newCard(m.redemptionID);
      if (result?.key !== intent.key) return;
      if (answer !== null && answer.status < 500 && answer.status !== 429) break;
      $(".error", box).textContent = t("till.new-card.wait");
      await new Promise((done) => setTimeout(done, pause(n)));
      if (result?.key !== intent.key) return;
    }
    $(".error", box).textContent = answer.status === 200 ? "" : t("till.new-card.gone", m.newCard.lastFour);
    if (answer.status !== 200) continue;
    const slip = document.createElement("pre");
    slip.textContent = answer.body.lines.join("\n");
    $(".slips", box).append(slip);
  }
}

/** slipsShown tells whether slips are shown that guests take along. A scan does not go on then, as no view shows them again. */
const slipsShown = () => view === "result" && !$(".new-cards", views.result).hidden;

const redeems = (intent) => ["redeem-gift", "redeem-gifts"].includes(intent.operation);

/** restOf is what is left to pay, in words: what the server says of several cards, as one may have held less than was shown. */
function restOf({ answer, shown: about }) {
  if (answer?.leftToPay === undefined || answer.leftToPay === null) return about.rest;
  return answer.leftToPay > 0 ? worth(minor(answer.leftToPay, device.decimals), about) : "";
}

const selling = (intent) => ["activate-gift", "reload-gift"].includes(intent.operation);

function resultWords(intent, look) {
  if (look === "voiding") return t(selling(intent) ? "till.unknown.voiding-sold" : "till.unknown.voiding");
  if (look === "unknown") return t("till.unknown.text");
  if (look === "elsewhere") return pending(intent);
  if (look === "no" && intent.operation === "reverse-activation" && intent.problem?.code === "REDEMPTION_NOT_ALLOWED") return t("till.result.not-unsold");
  if (look === "no") return intent.problem?.code ? refusedCard(intent) + problemText(intent.problem, current?.gift) : t("till.result.nothing");
  if (look !== "yes" || intent.shown.cards || intent.answer?.currentBalance === undefined) return "";
  const left = minor(intent.answer.currentBalance, decimalsOf(intent.shown));
  if (intent.operation === "reverse-activation") return t("till.result.unsold");
  if (selling(intent)) return t("till.result.now", worth(left, intent.shown));
  return left > 0 ? t("till.result.left", worth(left, intent.shown)) : t("till.result.empty");
}

/** refusedCard names the card of several that a refusal is about. */
function refusedCard({ problem, body }) {
  const at = /^gifts\[([0-9]+)\]/.exec(problem.messages?.[0]?.path)?.[1];
  const card = [...sale, current].find((c) => c?.gift.voucherID === body.gifts?.[at]?.voucherID);
  return card && body.gifts ? "···· " + card.gift.lastFour + ": " : "";
}

/** mayUndo tells whether there is an undoing of an operation, and the till may do it. */
const mayUndo = (operation) => operation in undoing && rightsToUndo[operation].every(may);

/** whoUndoes says who may undo an operation, where who is at the till may not; "": that person may. */
function whoUndoes(operation) {
  if (mayUndo(operation)) return "";
  const can = (device.peopleMay ?? []).filter((p) => rightsToUndo[operation].every((right) => p.may.includes(right)));
  return can.length > 0 ? t("till.undo.who", can.map((p) => p.name).join(", ")) : t("till.undo.nobody");
}

function seen(intent) {
  safe.seen(intent);
  const waiting = shown.get(intent.key);
  shown.delete(intent.key);
  if (result?.key === intent.key) result = null;
  waiting?.();
}

const tooSoon = () => performance.now() - drawnAt < 400;

function next() {
  if (!result || !ended(result) || tooSoon()) return;
  const { earlier, shown: about, problem } = result;
  const refused = result.state === "no" ? { status: 403, body: problem } : null;
  seen(result);
  if (earlier) return; // settle goes on
  if (problem?.code === "UNAUTHENTICATED") return unpaired();
  if (refused && lost(refused)) return;
  if (about.from === "today") return openToday();
  home();
}

function undo() {
  if (!result || result.state !== "yes" || busy || tooSoon()) return;
  const done = result;
  const { operation, answer, shown: about } = done;
  seen(done);
  if (operation === "redeem-gifts") {
    busy = true;
    return carryOut(undoing[operation], byKey(done), { ...about, amount: movedBy(done), rest: "" });
  }
  const id = answer.redemptionID ?? answer.activationID ?? answer.reloadID ?? answer.cashOutID;
  reverse(undoing[operation], id, { ...about, amount: movedBy(done), cash: operation === "cash-out-gift" });
}

/** reverse undoes an entry of today. */
function reverse(operation, id, about) {
  const name = { "reverse-redemption": "redemptionID", "reverse-activation": "activationID", "reverse-reload": "reloadID" }[operation];
  if (busy) return;
  busy = true;
  carryOut(operation, { [name]: id }, { ...about, rest: "" });
}

/** A card that is protected says so in its refusal: its code is asked for, and the call made anew with it. */
const needsCode = (intent) =>
  intent.problem?.code === "VALIDATION_FAILURE" && codeOf.test(intent.problem.messages?.[0]?.path) && current !== null;

/** codeOf finds the path of a verification code: of the gift, or of one of several. */
const codeOf = /^(?:gifts\[([0-9]+)\]\.)?verificationCode$/;

async function askCode(intent) {
  seen(intent);
  busy = false;
  showGiftAgain();
  const at = codeOf.exec(intent.problem.messages[0].path)[1];
  const card = at === undefined ? null : [...sale, current][at];
  const text = (card ? "···· " + card.gift.lastFour + ": " : "") + t("till.verify.text");
  const code = await ask({ title: t("till.verify.title"), text, yes: t("till.go-on"), four: true });
  if (!/^[0-9]{4,12}$/.test(code ?? "")) return;
  if (card) card.code = code;
  if (intent.operation === "cash-out-gift") return cashOut(code);
  go(code);
}

function showGiftAgain() {
  show("gift");
  drawEntry();
}

async function askCash() {
  const { gift } = current;
  const left = worth(minor(gift.availableBalance, decimalsOf(gift)), gift);
  if (await ask({ title: t("till.cash.title", left), text: t("till.cash.text"), yes: t("till.cash.yes") })) cashOut();
}

function cashOut(verificationCode) {
  const { gift } = current;
  move("cash-out-gift", { voucherID: gift.voucherID, ...(verificationCode && { verificationCode }) }, gift,
    minor(gift.availableBalance, decimalsOf(gift)));
}

/** ask opens the dialog; what is answered is true, or the digits, or null. */
function ask({ title, text, yes, four = false }) {
  const dialog = $("dialog.ask");
  $("h2", dialog).textContent = title;
  $("p", dialog).textContent = text;
  $(".primary", dialog).textContent = yes;
  const digits = $(".four", dialog);
  digits.hidden = !four;
  digits.required = four;
  digits.pattern = "[0-9]{4,12}";
  digits.value = "";
  digits.setAttribute("aria-label", title);
  dialog.returnValue = "";
  dialog.showModal();
  if (four) digits.focus();
  return new Promise((resolve) => dialog.addEventListener("close", () => {
    resolve(dialog.returnValue !== "yes" ? null : four ? digits.value : true);
  }, { once: true }));
}

// ---- today

let day = ""; // that is shown; "": today
let shop = false; // what all tills of the shop did
let opened = 0; // how often a day was asked for

async function openToday() {
  if (busy || (result && !ended(result))) return;
  if (result) seen(result);
  sale = [];
  if (view !== "today") clearToday(views.today);
  show("today");
  const asked = ++opened;
  const answer = await api.today(day, shop);
  if (view !== "today" || asked !== opened || lost(answer)) return; // a newer one is
  if (answer?.status !== 200) {
    clearToday(views.today);
    return complain(problemText(answer));
  }
  const which = $(".which", views.today);
  which.hidden = !answer.body.mayShop;
  which.value = shop ? "shop" : "";
  $(".day", views.today).value = answer.body.day;
  $(".day", views.today).max = answer.body.today;
  const undo = whoUndoes("redeem-gift");
  $(".who", views.today).hidden = undo === "" || !answer.body.entries.some((e) => e.kind === "REDEMPTION");
  $(".who", views.today).textContent = undo;
  const reverseAsked = async (entry, amount, operation) => {
    const sold = operation !== "reverse-redemption", cash = entry.kind === "CASH_OUT";
    const yes = await ask({ title: t(cash ? "till.undo.title-cash" : "till.undo.title", amount),
      text: t(sold ? "till.undo.text-sold" : "till.undo.text"), yes: t(cash ? "till.undo.yes-cash" : "till.undo.yes") });
    if (!yes || view !== "today") return;
    reverse(operation, entry.entryID, { amount, lastFour: entry.lastFour ?? "····", unit: entry.currency === null ? "items" : "money",
      currency: entry.currency, person: device.person, from: "today", cash });
  };
  showToday(views.today, answer.body, device, { reverse: reverseAsked, receipt: (entry) => showReceipts([entry.entryID]) });
}

// ---- receipts

/** showReceipts shows the slips of what was done, to be printed. Nothing of them is kept in the device. */
async function showReceipts(ids) {
  const dialog = $("dialog.receipts");
  const slips = $(".slips", dialog);
  const open = () => dialog.open && slips.isConnected;
  const add = (lines) => slips.append(Object.assign(document.createElement("pre"), { textContent: lines.join("\n") }));
  slips.replaceChildren();
  $(".error", dialog).textContent = "";
  $(".print", dialog).hidden = true;
  dialog.showModal();
  for (const id of ids) {
    const answer = await api.receipt(id);
    if (!open()) return;
    if (answer?.status !== 200) {
      if (answer?.status === 401) dialog.close();
      if (lost(answer)) return;
      $(".error", dialog).textContent = problemText(answer);
      continue;
    }
    add(answer.body.lines);
    $(".print", dialog).hidden = false;
    if (!answer.body.newCard) continue;
    const card = await api.newCard(id);
    if (!open()) return;
    if (card?.status === 200) add(card.body.lines);
    else $(".error", dialog).textContent = card?.status === 404 ? t("till.new-card.gone", answer.body.newCard.lastFour) : problemText(card);
  }
}

/** entriesOf are the ids of what an intent did that there are receipts of. */
function entriesOf({ state, operation, answer }) {
  if (state !== "yes" || !(operation in undoing) || !answer) return [];
  const ids = answer.redemptions?.map((m) => m.redemptionID) ??
    [answer.redemptionID ?? answer.activationID ?? answer.reloadID ?? answer.cashOutID];
  return ids.filter(Boolean);
}

// ---- keys, buttons and the hand scanner

const wedge = new Wedge();
let silence; // the timer since the last key
let before = null; // what stood before the burst of keys that runs now: {current, field, text}

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const keyboard = { code: event.code, shift: event.shiftKey, caps: event.getModifierState?.("CapsLock") };
  const scan = event.repeat ? null : wedge.key(event.key, event.timeStamp, keyboard); // no scanner holds a key
  if (wedge.first) before = { current, field: event.target, text: event.target.value };
  clearTimeout(silence);
  if (scan || wedge.scanner) return scannerDone(scan, event);
  silence = setTimeout(() => { // some scanners end with no key at all
    const scan = wedge.scans, found = wedge.stopped(performance.now());
    if (found || (scan && !wedge.scans && coveredOf(wedge.text))) scannerDone(found);
  }, 300);
  if ($("dialog[open]")) return;
  if (event.target.matches("input, select, summary")) return;
  if (view !== "gift" || $(".take-side").hidden) {
    if (event.key === "Escape" && view === "today") home();
    return;
  }
  const key = { Backspace: "back", ".": ".", ",": "." }[event.key] ?? (/^[0-9]$/.test(event.key) ? event.key : null);
  if (key !== null) {
    event.preventDefault();
    typeKey(key);
  } else if (event.key === "Escape") {
    leave();
  } else if (event.key === "Enter" && !event.target.matches("button, a")) {
    event.preventDefault();
    if (current.touched && wedge.trusts(event.timeStamp)) go(); // not with the Enter that ended the digits
  }
}, { capture: true });

/**
 * scannerDone takes the Enter of a hand scanner from whatever has the focus. What stood before the scan stands again; a gift
 * is shown, and what is none, such as the barcode of a product, takes nothing.
 */
function scannerDone(found, event) {
  const gift = found ?? giftOf(wedge.text);
  event?.preventDefault();
  event?.stopPropagation();
  clearTimeout(standing);
  if (before.field.matches("input")) before.field.value = before.field.id === "digits" ? "" : before.text;
  if (current && current.gift === before.current?.gift) {
    current = before.current;
    if (view === "gift") drawEntry();
  }
  if (gift && !$("dialog[open]") && !slipsShown()) return void (busy || find(gift));
  play("no");
  if (wedge.foreign) complain(t("till.error.layout"));
  else if (view === "home") complain(t("till.error.not-a-gift"));
}

document.addEventListener("paste", (event) => {
  if (event.target.matches?.("input")) return;
  const gift = giftOf(event.clipboardData?.getData("text") ?? "");
  if (gift && view !== "wait" && !slipsShown() && !$("dialog[open]")) find(gift);
});

let standing; // the timer of twelve digits: they are looked up once they stand, as a product's barcode has more to come

function typing() {
  const field = $("#digits");
  clearTimeout(standing);
  complain("");
  if (device?.importedCodes) return; // which may be longer: the button and Enter look them up
  const digits = field.value.replace(/[\s\u00a0-]/g, "");
  if (!/^[0-9]*$/.test(digits)) return;
  const end = field.selectionStart === field.value.length;
  if (end) field.value = grouped(digits.slice(0, maySell("activate") ? 16 : 12)); // that of a covered card has four more
  if (wedge.scans) return; // the end of the scan looks it up
  if (digits.length === 12 || coveredOf(digits)) standing = setTimeout(() => view === "home" && typed(), 60);
}

function wire() {
  const on = (selector, event, what) => { for (const e of document.querySelectorAll(selector)) e.addEventListener(event, what); };
  on(".again", "click", () => location.reload());
  on(".open-camera", "click", openCamera);
  on(".close-camera", "click", () => { localStorage.setItem("boon.camera", "closed"); closeCamera(); $(".open-camera").focus(); });
  on("#digits", "input", typing);
  on(".digits-form", "submit", (e) => { e.preventDefault(); typed(); });
  on(".gift .back", "click", leave);
  on(".do-add", "click", () => { add(); home(true); });
  on(".home .back", "click", () => {
    const last = sale.at(-1);
    sale = sale.slice(0, -1);
    showGift(last.gift, last.asked, bill);
  });
  on(".all", "click", takeAll);
  on(".take-side", "submit", (e) => { e.preventDefault(); go(); });
  on(".do-cash", "click", askCash);
  on(".storefront", "change", (e) => { localStorage.setItem("boon.storefront", e.target.value); drawEntry(); });
  on(".do-load", "click", () => {
    $("h1", views.gift).focus({ preventScroll: true }); // Enter is for the amount now, not for this button
    current = { ...current, mode: current.mode === "load" ? "take" : "load", entry: empty, all: false, touched: true };
    drawEntry();
  });
  on(".next", "click", next);
  on(".look", "click", () => !tooSoon() && find(current.asked, true));
  on(".result .receipt", "click", () => !tooSoon() && showReceipts(entriesOf(result)));
  on(".receipts .print", "click", () => print());
  on(".receipts .close", "click", () => $("dialog.receipts").close());
  $("dialog.receipts").addEventListener("close", () => $("dialog.receipts .slips").replaceChildren());
  on(".new-cards .print", "click", () => print());
  on(".result .undo", "click", undo);
  on(".result .stop", "click", () => {
    if (!result || tooSoon()) return;
    safe.stop(result.key);
    drawResult(result, "voiding");
  });
  on(".open-today", "click", () => { day = ""; shop = false; openToday(); });
  on(".today .day", "change", (e) => { day = e.target.value; openToday(); });
  on(".today .which", "change", (e) => { shop = e.target.value === "shop"; openToday(); });
  on(".today .back", "click", () => home());
  on(".today .print", "click", () => print());
  on(".sign-out", "click", async () => {
    if (busy || (result && !ended(result))) return;
    const answer = await api.signOut();
    if (answer?.status === 200) { learn(answer.body); home(); } else if (!lost(answer)) complain(problemText(answer));
  });
  on(".pin-form", "submit", (e) => { e.preventDefault(); signIn(); });
  on(".other", "click", people);
  on(".language", "change", (e) => { localStorage.setItem("boon.language", e.target.value); location.assign("/till?lang=" + e.target.value); });
  for (const pad of document.querySelectorAll(".keypad")) keypad(pad, typeKey);
  addEventListener("boon-line", (e) => { $(".offline").hidden = e.detail; }); // by the last answer, not by what the device thinks
  document.addEventListener("visibilitychange", () => {
    if (document.hidden && view === "home") closeCamera();
    else if (!document.hidden && view === "home" && localStorage.getItem("boon.camera") === "open") openCamera();
  });
}

/** keepShell has the service worker keep what this page is made of. */
async function keepShell() {
  const worker = (await navigator.serviceWorker?.ready)?.active;
  const own = performance.getEntriesByType("resource").map((r) => r.name).filter((name) => new URL(name).pathname.startsWith("/till/assets/"));
  worker?.postMessage({ keep: [location.href.split("#")[0], ...new Set(own)] });
}

async function askServer(key, operation) {
  const answer = await api.ask(key, operation);
  if (answer?.status === 401 && device !== null) unpaired();
  return answer;
}

/** callServer waits for somebody to sign in where going on with an open intent needs somebody who may. */
async function callServer(operation, body, key, again) {
  const answer = await api.call(operation, body, key);
  if (again && answer?.status === 403) await somebody();
  return answer;
}

const safe = new Safe({
  storage: localStorage, call: callServer, ask: askServer, changed, mayUndo,
});

const chosen = localStorage.getItem("boon.language");
if (chosen && chosen !== language && !location.search) {
  location.replace("/till?lang=" + encodeURIComponent(chosen));
} else {
  $(".language").value = language;
  wire();
  start();
  navigator.serviceWorker?.register("/till/sw.js", { scope: "/till" }).then(keepShell, () => {});
}
