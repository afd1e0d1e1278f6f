// What a hand scanner types. Pure: nothing here knows the page.
import { read } from "./amount.js";

/** The keys of the keyboard that most scanners stand for, the US one, by the names that browsers have for them: alone, and with Shift. */
const us = {
  Minus: "-_", Equal: "=+", BracketLeft: "[{", BracketRight: "]}", Backslash: "\\|", Semicolon: ";:", Quote: "'\"", Backquote: "`~",
  Comma: ",<", Period: ".>", Slash: "/?", Space: "  ", Digit1: "1!", Digit2: "2@", Digit3: "3#", Digit4: "4$", Digit5: "5%", Digit6: "6^",
  Digit7: "7&", Digit8: "8*", Digit9: "9(", Digit0: "0)", NumpadDivide: "//", NumpadSubtract: "--", NumpadDecimal: "..",
};
for (const letter of "ABCDEFGHIJKLMNOPQRSTUVWXYZ") us["Key" + letter] = letter.toLowerCase() + letter;
for (const digit of "0123456789") us["Numpad" + digit] = digit + digit;

/** pressed is what a key of a US keyboard types; "": the browser does not tell which key it was. */
export const pressed = (code, shift) => us[code]?.[shift ? 1 : 0] ?? "";

const swapped = (text) => [...text].map((c) => (c === c.toLowerCase() ? c.toUpperCase() : c.toLowerCase())).join("");

/** What scanners put around what they read: spaces, line ends, other control characters, marks. */
const around = /^[\s\p{Cc}\p{Cf}]+|[\s\p{Cc}\p{Cf}]+$/gu;

/** bare is what was read without what scanners put before and behind: those, and a prefix that names the symbology, such as ]Q1. */
export function bare(text) {
  const trimmed = String(text).replace(around, "").replace(/^\][A-Za-z][0-9A-Za-z]/, "").replace(around, "");
  return trimmed.replace(/^[A-Za-z0-9]{1,3}(?=https?:\/\/)/, "");
}

/**
 * scanned is the gift that a scan means, null for none. text is what the computer made of the keys, by its own keyboard; keys is
 * what they are on a US keyboard, where the browser tells. The two differ where the scanner's keyboard is not the computer's, and
 * where Caps Lock is on, which caps tells.
 */
export function scanned(text, keys = "", caps = false) {
  for (const each of [text, keys, caps ? swapped(text) : ""]) {
    const gift = read(bare(each));
    if (gift) return gift;
  }
  return null;
}

/** The keys of the digits, as the keyboards have them that need Shift for a digit: French and Belgian, Czech, Slovak, Hungarian. */
const digitKeys = /^[&éěľ"š'č(ť\-§žèý_!áçíàé0ö]{12}$/iu;

/** foreign tells that a scan that is no gift looks like one typed for another keyboard, or with Caps Lock. */
export function foreign(text) {
  const typed = bare(text);
  return (/^https?./i.test(typed) && !/^https?:\/\//.test(typed)) || (digitKeys.test(typed) && !/^[0-9]+$/.test(typed));
}

/**
 * Between two keys of a hand scanner, a slow one by radio too, there is less than this; in milliseconds. A hand may be as
 * fast: who types the twelve digits of a gift and Enter means that gift.
 */
const gap = 250;

/** No hand types so many keys of which each comes less than this after the one before. */
const scannerKeys = 6;
const scannerGap = 50;

/** For this long after a key that no amount has, Enter takes nothing: it may be the end of a scan that was not read. */
const strange = 3000;

/** What a keyboard tells of a key that makes no character by itself. Which key it was is told all the same. */
const unfinished = ["Dead", "Process", "Unidentified"];

/**
 * Wedge tells a hand scanner, which types what it reads and then Enter or Tab, from a hand. key takes each key with its time,
 * and gives what was scanned when the Enter of a scan comes. first tells that a burst of keys began with this key, and scanner
 * that this Enter ended one which no hand types, whether it was a gift or the barcode of a product; foreign then tells that it was
 * typed for another keyboard.
 */
export class Wedge {
  #text = "";
  #keys = "";
  #caps = false;
  #last = -Infinity;
  #strange = -Infinity;
  #quick = 0;
  first = false;
  scanner = false;
  foreign = false;
  text = ""; // of the scan that ended last

  /** trusts tells whether an Enter is that of a hand that typed an amount. */
  trusts(at) { return at - this.#strange > strange; }

  /** scans tells that the keys of a burst that has not ended came quicker than a hand types: there may be more of them. */
  get scans() { return this.#last > -Infinity && this.#quick >= scannerKeys - 1; }

  key(name, at, { code = "", shift = false, caps = false } = {}) {
    const fast = at - this.#last <= gap;
    this.first = false;
    this.scanner = false;
    this.foreign = false;
    const quick = fast && this.#quick >= scannerKeys - 1;
    if (name === "Enter" || (name === "Tab" && quick)) {
      this.scanner = quick;
      return fast ? this.#end() : this.#forget();
    }
    const key = pressed(code, shift);
    if (name.length !== 1 && !(key && unfinished.includes(name))) return null; // Shift, and the like
    if (!/[0-9.,]/.test(name)) this.#strange = at;
    this.first = !fast;
    if (!fast) {
      this.#forget();
      this.#quick = 0;
    }
    if (at - this.#last < scannerGap) this.#quick++;
    this.#text = (this.#text + (name.length === 1 ? name : "")).slice(-400);
    this.#keys = (this.#keys + key).slice(-400);
    this.#caps = caps;
    this.#last = at;
    return null;
  }

  /** stopped gives what a scanner read that types neither Enter nor Tab, once no key has come for longer than between two. */
  stopped(at) {
    if (at - this.#last <= gap || this.#quick < scannerKeys - 1) return null;
    this.#quick = 0;
    return this.#end();
  }

  #end() {
    const gift = scanned(this.#text, this.#keys, this.#caps);
    this.foreign = gift === null && foreign(this.#text);
    this.text = this.#text;
    this.#forget();
    return gift;
  }

  #forget() {
    this.#text = "";
    this.#keys = "";
    this.#last = -Infinity;
    return null;
  }
}
