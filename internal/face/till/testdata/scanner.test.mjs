import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { bare, foreign, pressed, scanned, Wedge } from "../assets/scanner.js";

const file = (name) => readFileSync(new URL(name, import.meta.url), "utf8");
const layouts = JSON.parse(file("scanner-layouts.json"));
const link = "https://gifts.example.com/g/4gTnV6kA9yQwMC1bHxE5mPzZ";
const digits = "482913576024";
const meant = (text) => (text === link ? { voucherPublicToken: link } : { voucherCode: digits });

/** strokes are the keys that a scanner for a US keyboard presses. */
const strokes = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"].map((c) => ["Key" + c, c.toLowerCase(), c])
  .concat([..."0123456789"].map((d) => ["Digit" + d, d, ")!@#$%^&*("[d]]), [["Slash", "/", "?"], ["Semicolon", ";", ":"], ["Period", ".", ">"], ["Minus", "-", "_"]]);
function stroke(c) {
  for (const [code, alone, shifted] of strokes) if (c === alone || c === shifted) return { code, shift: c !== alone };
  throw new Error("no key for " + c);
}

/** scan has a wedge hear a scanner at a computer of a layout, and gives what it took and what it said. */
function scan(text, layout, { caps = false, codes = true, end = "Enter" } = {}) {
  const wedge = new Wedge();
  let at = 1000;
  for (const c of text) {
    const { code, shift } = stroke(c);
    let key = layout[c] ?? c;
    if (caps && key.toLowerCase() !== key.toUpperCase()) key = key === key.toLowerCase() ? key.toUpperCase() : key.toLowerCase();
    assert.equal(wedge.key(key, (at += 8), { code: codes ? code : "", shift, caps }), null);
  }
  return { gift: end === null ? wedge.stopped(at + 300) : wedge.key(end, at + 8), foreign: wedge.foreign };
}

test("a scanner for a US keyboard is read at a computer with another one, and with Caps Lock", () => {
  for (const [name, layout] of Object.entries(layouts)) {
    for (const text of [link, digits]) {
      for (const caps of [false, true]) assert.deepEqual(scan(text, layout, { caps }).gift, meant(text), `${name}, Caps Lock ${caps}: ${text}`);
      for (const end of ["Tab", null]) assert.deepEqual(scan(text, layout, { end }).gift, meant(text), `${name}, ended by ${end}`);
    }
  }
});

test("where the browser does not tell the key, the scan is read or the layout is named as the reason", () => {
  for (const [name, layout] of Object.entries(layouts)) {
    for (const text of [link, digits]) {
      for (const caps of [false, true]) {
        const { gift, foreign } = scan(text, layout, { caps, codes: false });
        if (gift === null) assert.ok(foreign, `${name}, Caps Lock ${caps}: ${text} is neither read nor explained`);
        else assert.deepEqual(gift, meant(text));
      }
    }
  }
  assert.deepEqual(scan(link, layouts.US, { codes: false, caps: true }).gift, meant(link), "Caps Lock alone");
});

test("a scanner that is set to the computer's keyboard is read by what it typed", () => {
  const wedge = new Wedge();
  let at = 1000;
  for (const c of link) wedge.key(c, (at += 8), { code: { y: "KeyZ", z: "KeyY", "/": "Digit7", ":": "Period" }[c] ?? stroke(c).code, shift: /[A-Z/:]/.test(c) });
  assert.deepEqual(wedge.key("Enter", at + 8), meant(link));
});

test("keys of a dead accent or an input method are read by their place", () => {
  const wedge = new Wedge();
  let at = 1000;
  for (const c of digits) wedge.key("Process", (at += 8), { code: "Digit" + c });
  assert.deepEqual(wedge.key("Enter", at + 8), meant(digits));
});

test("what scanners add before and behind does not matter", () => {
  for (const line of file("token-suffixes.txt").split("\n").filter((l) => l && !l.startsWith("#"))) {
    const sent = JSON.parse(`"${line.split("\t")[1]}"`).replace("LINK", link);
    assert.deepEqual(scanned(sent), meant(link), JSON.stringify(sent));
  }
  for (const [before, behind] of [["]Q1", ""], ["]Q3", "\r"], ["\u0002", "\u0003"], ["", "\t"], ["\ufeff", "\u200b"], ["QR", "\r\n"], ["\u001d", "\u0004"], ["s", ""]]) {
    assert.deepEqual(scanned(before + link + behind), meant(link), JSON.stringify([before, behind]));
  }
  for (const [before, behind] of [["]C1", ""], ["\u0002", "\u0003"], [" ", "\r\n"]]) assert.deepEqual(scanned(before + digits + behind), meant(digits));
  for (const other of ["x" + digits, digits + "5", "]" + digits, "a b " + link, link + " " + link]) assert.equal(scanned(other), null, other);
  assert.equal(bare("]Q1"), "");
});

test("products and amounts are told from a wrong layout", () => {
  for (const product of ["4006381333931", "96385074", "https://shop.example.com/p/1", "abc", ""]) assert.ok(!foreign(product), product);
  assert.equal(pressed("", false), "");
  const slow = new Wedge();
  for (let n = 0; n < 12; n++) slow.key(digits[n], 1000 + n * 240);
  assert.equal(slow.stopped(9000), null, "a hand that stops is no scanner");
});
