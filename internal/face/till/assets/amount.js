// Amounts and codes as a cashier types them. Pure: nothing here knows the page.
// An amount is a whole number of the currency's smallest unit, or of pieces.

/** minor reads an amount of the interface, 25.5, as the smallest unit, 2550. */
export const minor = (amount, decimals) => Math.round(Number(amount) * 10 ** decimals);

/** decimal writes the smallest unit as the interface has it. Both are exact below 10^15. */
export const decimal = (units, decimals) => units / 10 ** decimals;

const mostDigits = 9;

/**
 * An entry is what was typed so far: digits fill the amount from the right, as on a card terminal (4, 5, 0 is 4.50), until
 * a decimal sign comes, after which they stand where they are (4 . 5 is 4.50 too).
 */
export const empty = { digits: "", point: -1 };

/** press adds a key to an entry: a digit, "00", "." or "back". */
export function press(entry, key, decimals) {
  const { digits, point } = entry;
  if (key === "back") {
    if (point >= 0 && point === digits.length) return { digits, point: -1 };
    return { digits: digits.slice(0, -1), point };
  }
  if (key === ".") return decimals > 0 && point < 0 ? { digits, point: digits.length } : entry;
  let next = entry;
  for (const digit of key) {
    if (next.point >= 0 ? next.digits.length - next.point >= decimals : false) return next;
    if (next.digits === "" && digit === "0" && next.point < 0) continue;
    if (next.digits.length >= mostDigits) return next;
    next = { digits: next.digits + digit, point: next.point };
  }
  return next;
}

/** value is what an entry comes to. */
export function value({ digits, point }, decimals) {
  if (point < 0) return Number(digits || "0");
  const fraction = digits.slice(point).padEnd(decimals, "0");
  return Number((digits.slice(0, point) || "0") + fraction);
}

/** shares says what each of several gifts pays of a bill, by what they are worth: each what is there, in their order. */
export function shares(bill, worths) {
  return worths.map((worth) => {
    const share = Math.min(bill, worth);
    bill -= share;
    return share;
  });
}

/** split says what a gift pays of a bill, and what is left to pay. */
export function split(bill, worth) {
  const take = Math.min(bill, worth);
  return { take, rest: bill - take };
}

/**
 * read says what a scanner, a paste or a hand gave: {voucherCode} for the 12 digits, however they are grouped,
 * {voucherPublicToken} for the address in a QR code, null for anything else. No code begins with 0, as many barcodes do.
 */
export function read(text) {
  const trimmed = String(text).replace(/^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu, "").replace(/^\][A-Za-z][0-9A-Za-z]/, "");
  const digits = trimmed.normalize("NFKC").replace(/[\s\p{Pd}\p{Cf}.·\u2212]/gu, "");
  if (/^[1-9][0-9]{11}$/.test(digits)) return { voucherCode: digits };
  if (trimmed.length <= 300 && /^(https?:\/\/[^\s/]+)?\/g\/[A-Za-z0-9_-]{16,64}$/.test(trimmed)) return { voucherPublicToken: trimmed };
  return null;
}

/**
 * card says what was typed or swiped of a card from another system: {voucherCode} for its 5 to 32 letters and digits, however they
 * are grouped, or for the number on the track of a magnetic stripe; null for anything else. Which of them exist, the service knows.
 */
export function card(text) {
  const trimmed = String(text).replace(/^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu, "").replace(/^\][A-Za-z][0-9A-Za-z]/, "");
  const number = /^(?:;|%B)([^=^?]*)/.exec(trimmed)?.[1] ?? trimmed;
  const code = number.normalize("NFKC").replace(/[\s\p{Pd}\p{Cf}.·\u2212]/gu, "");
  return /^[0-9A-Za-z]{5,32}$/.test(code) ? { voucherCode: code } : null;
}

/**
 * toSell says by which number a card is to be sold: {activationCode} for the 16 digits that stand beside its covered code, however
 * they are grouped; null for anything else.
 */
export function toSell(text) {
  const trimmed = String(text).replace(/^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu, "").replace(/^\][A-Za-z][0-9A-Za-z]/, "");
  const digits = trimmed.normalize("NFKC").replace(/[\s\p{Pd}\p{Cf}.·\u2212]/gu, "");
  return /^[0-9]{16}$/.test(digits) ? { activationCode: digits } : null;
}

/** product tells the barcode of a product, by its length and its check digit (GS1): whoever scans goods asks for no gift. */
export function product(text) {
  const digits = String(text).trim();
  if (!/^([0-9]{8}|[0-9]{12,14})$/.test(digits)) return false;
  const sum = [...digits].reverse().reduce((all, d, n) => all + Number(d) * (n % 2 ? 3 : 1), 0);
  return sum % 10 === 0;
}

/** grouped writes digits as they are printed on a gift: 4829 1357 6024. */
export const grouped = (digits) => digits.replace(/(.{4})(?=.)/g, "$1 ");
