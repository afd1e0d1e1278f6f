import assert from "node:assert/strict";
import { test } from "node:test";
import { card, decimal, empty, grouped, minor, press, product, read, shares, split, toSell, value } from "../assets/amount.js";
import { Wedge } from "../assets/scanner.js";

const typed = (keys, decimals = 2) => keys.reduce((entry, key) => press(entry, key, decimals), empty);

test("digits fill an amount from the right, and stand still after a decimal sign", () => {
  for (const [keys, decimals, want] of [
    [["4", "5", "0"], 2, 450], [["4", ".", "5"], 2, 450], [["4", ".", "5", "0", "9"], 2, 450], [[".", "5"], 2, 50],
    [["0", "0", "7"], 2, 7], [["1", "00"], 2, 100], [["4", "5", "back"], 2, 4], [["4", ".", "back", "5"], 2, 45],
    [["4", ".", "5", "back", "back", "back"], 2, 0], [["3", ".", "5"], 0, 35], [["1", "2", "00"], 0, 1200], [["."], 2, 0],
    [["back"], 2, 0], [[..."123456789", "0"], 2, 123456789], [["1", ".", "00"], 2, 100], [["5", ".", "1"], 3, 5100],
  ]) assert.equal(value(typed(keys, decimals), decimals), want, `${keys} with ${decimals} decimals`);
});

test("an amount survives the way to the interface and back", () => {
  for (let units = 1; units < 1_000_000; units += 997) {
    for (const decimals of [0, 2, 3]) {
      const sent = JSON.stringify(decimal(units, decimals));
      assert.match(sent, /^\d+(\.\d{1,3})?$/);
      assert.equal(minor(JSON.parse(sent), decimals), units);
    }
  }
  assert.equal(JSON.stringify(decimal(2555, 2)), "25.55");
  assert.equal(minor(1.005, 3), 1005);
});

test("a gift never pays more than it has, nor more than the bill", () => {
  assert.deepEqual(split(2150, 2550), { take: 2150, rest: 0 });
  assert.deepEqual(split(3000, 2550), { take: 2550, rest: 450 });
  assert.deepEqual(split(0, 2550), { take: 0, rest: 0 });
});

test("what scanners, pastes and hands give", () => {
  const token = "4gTnV6kA9yQwC1bHxE5mPz";
  for (const text of ["482913576024", "4829 1357 6024", " 4829-1357-6024\n", "4829\u00a01357\u202f6024", "４８２９　１３５７　６０２４",
    "\u202a4829 1357 6024\u202c", "4829\u20111357\u20116024", "\ufeff482913576024\r\n", "4829\u22121357.6024", "4829\u00ad13576024", "]C0482913576024"]) {
    assert.deepEqual(read(text), { voucherCode: "482913576024" });
  }
  for (const text of [`https://gifts.example.com/g/${token}`, `http://127.0.0.1:8080/g/${token}`, `/g/${token}`]) {
    assert.deepEqual(read(text), { voucherPublicToken: text });
  }
  for (const text of ["", "48291357602", "4829135760245", "012345678905", "0123 4567 8905", "https://evil.example/", `javascript:/g/${token}`, "x".repeat(5000),
    `https://a/g/${token}/more`, "٤٨٢٩١٣٥٧٦٠٢٤"]) assert.equal(read(text), null, text);
  assert.equal(grouped("482913576024"), "4829 1357 6024");
});

test("a hand scanner is told from a hand", () => {
  const keys = (wedge, text, between, from = 1000) => {
    let at = from;
    let found = null;
    for (const key of [...text, "Enter"]) found = wedge.key(key, (at += between)) ?? found;
    return found;
  };
  const url = "https://gifts.example.com/g/4gTnV6kA9yQwC1bHxE5mPz";
  assert.deepEqual(keys(new Wedge(), url, 8), { voucherPublicToken: url });
  assert.deepEqual(keys(new Wedge(), "482913576024", 20), { voucherCode: "482913576024" });
  assert.deepEqual(keys(new Wedge(), url, 120), { voucherPublicToken: url }, "by radio");
  assert.equal(keys(new Wedge(), "482913576024", 400), null, "typed slowly");
  assert.equal(keys(new Wedge(), "450", 5), null, "an amount");
  const wedge = new Wedge();
  keys(wedge, "45", 10, 0);
  wedge.key("9", 5000);
  assert.deepEqual(keys(wedge, "482913576024", 10, 6000), { voucherCode: "482913576024" }, "what came before does not count");
  assert.equal(wedge.key("Enter", 6500), null, "an Enter alone");
  assert.ok(wedge.trusts(6500));
  wedge.key("h", 7000);
  assert.ok(!wedge.trusts(8000), "an Enter after letters takes nothing");
});

test("the Enter of a scanner is told from that of a hand, whatever was scanned", () => {
  const ends = (text, gaps, wait = gaps[0]) => {
    const wedge = new Wedge();
    let at = 1000;
    [...text].forEach((key, n) => wedge.key(key, (at += gaps[n % gaps.length])));
    const gift = wedge.key("Enter", at + wait);
    return { gift, scanner: wedge.scanner };
  };
  for (const product of ["4006381333931", "96385074", "012345678905", "00012345600012", "123456"]) {
    assert.deepEqual(ends(product, [8]), { gift: null, scanner: true }, product);
    assert.deepEqual(ends(product, [40], 120), { gift: null, scanner: true }, `${product}, and Enter later`);
  }
  assert.ok(ends("96385074", [8, 8, 8, 60]).scanner, "one key was late");
  assert.deepEqual(ends("482913576024", [8]), { gift: { voucherCode: "482913576024" }, scanner: true });
  for (const [amount, gaps, wait] of [["450", [5]], ["99999", [30]], ["123456789", [90]], ["1250000", [120, 45, 80]], ["4006381333931", [8], 2000]]) {
    assert.equal(ends(amount, gaps, wait).scanner, false, `${amount} by a hand`);
  }
  const wedge = new Wedge();
  [..."4006381333931"].forEach((key, n) => wedge.key(key, 1000 + 8 * n));
  wedge.key("Enter", 1110);
  wedge.key("5", 3000);
  assert.ok(wedge.first, "a burst begins");
  wedge.key("0", 3120);
  assert.ok(!wedge.first);
  wedge.key("Enter", 3240);
  assert.ok(!wedge.scanner, "what a hand types after a scan is its own");
});

test("cards from another system are typed, scanned and swiped", () => {
  for (const [text, code] of [["6006 1234-5678 9012", "6006123456789012"], ["gift-oI-0123", "giftoI0123"], [";0006123456789012=9912?\r", "0006123456789012"],
    ["%B0006123456789012^GIFT/CARD^9912?;0006123456789012=9912?", "0006123456789012"], ["]C16006123456789012\r", "6006123456789012"]]) {
    assert.deepEqual(card(text), { voucherCode: code }, text);
  }
  for (const text of ["", "1234", "1".repeat(33), "https://a/g/x", "%6006123456789012?", "abc_def"]) assert.equal(card(text), null, text);
});

test("the barcode of a product is no card", () => {
  for (const text of ["4006381333931", "96385074", "036000291452", "10012345678902"]) assert.ok(product(text), text);
  for (const text of ["4006381333932", "6006123456789012", "4006381", "abcdefgh", "482913576024x"]) assert.ok(!product(text), text);
});

test("several cards pay a bill in their order, each what is there", () => {
  for (const [bill, worths, want] of [
    [3000, [1200, 2500], [1200, 1800]], [1000, [1200, 2500], [1000, 0]], [5000, [1200, 2500], [1200, 2500]], [0, [1200], [0]], [700, [0, 700], [0, 700]],
  ]) assert.deepEqual(shares(bill, worths), want, `${bill} of ${worths}`);
});

test("the number by which a covered card is sold has 16 digits", () => {
  for (const text of ["4829135760248137", "4829 1357 6024 8137", "4829-1357-6024-8137", "]C14829135760248137\r\n", "４８２９１３５７６０２４８１３７"]) {
    assert.deepEqual(toSell(text), { activationCode: "4829135760248137" }, text);
  }
  for (const text of ["", "482913576024", "482913576024813", "48291357602481370", "482913576024813x", ";4829135760248137=99?"]) {
    assert.equal(toSell(text), null, text);
  }
});
