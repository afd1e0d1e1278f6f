// The client against a running service. BOON_URL, BOON_SHOP_KEY, BOON_TILL_KEY and BOON_OFFICE_KEY are in the
// environment, as test/sdk sets them; the last may do everything.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {createHash, randomUUID} from "node:crypto";
import test from "node:test";
import {BoonError, Client, UnknownOutcome, Unreachable, Voided, verify} from "../dist/index.js";
import {sell} from "../examples/shop.js";
import {losing} from "./lines.js";

const {BOON_URL: URL, BOON_SHOP_KEY, BOON_TILL_KEY, BOON_OFFICE_KEY, BOON_TLS_URL} = process.env;
const [shop, till, office] = [BOON_SHOP_KEY, BOON_TILL_KEY, BOON_OFFICE_KEY].map((key) => new Client(URL, key));
const redemption = "/api/integration/redemption/", gifting = "/api/integration/gifting/";
const at = (gift) => ({params: {path: {voucherID: gift.voucherID}}});
const balance = async (gift) => (await shop.api.GET(`${gifting}gifts/{voucherID}`, at(gift))).data.currentBalance;
const kinds = async (gift) => (await shop.api.GET(`${gifting}gifts/{voucherID}/history`, at(gift))).data.entries.map((e) => e.kind);
const post = async (client, path, body) => (await client.api.POST(path, {body})).data;
/** The till behind a line that loses answers. */
const behind = async (t, lose) => new Client(await losing(t, URL, lose), BOON_TILL_KEY, {pause: 10, maxPause: 100});

test("a lost answer takes the money once", async (t) => {
  const gift = await sell(), keys = [];
  const client = await behind(t, (r) => {
    if (r.includes("/redeem-gift")) keys.push(/idempotency-key: (\S+)/i.exec(r)[1]);
    return keys.length === 1;
  });
  const {data, response} = await client.api.POST(`${redemption}redeem-gift`, {body: {voucherID: gift.voucherID, amount: 9.5}});
  assert.deepEqual([data.currentBalance, response.headers.get("Idempotent-Replayed")], [15.5, "true"]);
  assert.deepEqual([await balance(gift), await kinds(gift)], [15.5, ["ISSUED", "REDEMPTION"]]);
  assert.deepEqual(keys, [keys[0], keys[0]]);
});

test("a dry run takes nothing", async () => {
  const gift = await sell(), dry = till.dryRun();
  const redeem = (client, amount) => post(client, `${redemption}redeem-gift`, {voucherID: gift.voucherID, amount});
  const told = await redeem(dry, 9.5);
  assert.deepEqual([told.dryRun, told.currentBalance], [true, 15.5]);
  await assert.rejects(redeem(dry, 26), (e) => e.code === "INSUFFICIENT_BALANCE");
  assert.deepEqual(await kinds(gift), ["ISSUED"]);
  await redeem(till, 9.5);
  assert.deepEqual(await kinds(gift), ["ISSUED", "REDEMPTION"]);
});

test("a dead line is voided", async (t) => {
  const gift = await sell();
  let lost = 0;
  const client = await behind(t, (r) => r.includes("/redeem-gift") && ++lost > 0);
  await assert.rejects(client.redeemSafely({voucherID: gift.voucherID, amount: 9.5}), Voided);
  assert.deepEqual([lost, await balance(gift), await kinds(gift)], [3, 25, ["ISSUED", "REDEMPTION", "REVERSAL"]]);
});

test("an abort on the way gives the money back", async (t) => {
  const gift = await sell(), stop = new AbortController();
  const client = await behind(t, (r) => { if (r.includes("/redeem-gift")) stop.abort(); return false; });
  await assert.rejects(client.redeemSafely({voucherID: gift.voucherID, amount: 9.5}, {signal: stop.signal}), Voided);
  assert.equal(await balance(gift), 25);
});

test("what is unknown is found out by the key", async (t) => {
  const gift = await sell(), client = await behind(t, (r) => r.startsWith("POST "));
  await assert.rejects(client.redeemSafely({voucherID: gift.voucherID, amount: 9.5}, {idempotencyKey: "sale-unknown"}),
    (e) => e instanceof UnknownOutcome && e.idempotencyKey === "sale-unknown");
  const {data} = await till.api.GET("/api/integration/requests/{key}",
    {params: {path: {key: "sale-unknown"}, query: {operation: "redeem-gift"}}});
  const [{state, status, answer}] = data.requests;
  assert.deepEqual([state, status, answer.amount], ["finished", 200, 9.5]);
  await assert.rejects(till.api.GET("/api/integration/requests/{key}", {params: {path: {key: randomUUID()}}}),
    (e) => e.code === "NOT_FOUND");
});

test("hold, capture, release", async () => {
  const {voucherID} = await sell();
  const held = await post(till, `${redemption}hold-gift`, {voucherID, amount: 12});
  assert.equal(held.availableBalance, 13);
  assert.equal((await post(till, `${redemption}capture-hold`, {holdID: held.holdID, amount: 4.25})).currentBalance, 20.75);
  const header = {"Idempotency-Key": randomUUID()};
  await till.api.POST(`${redemption}hold-gift`, {body: {voucherID}, params: {header}});
  const released = await post(till, `${redemption}release-hold`, {idempotencyKey: header["Idempotency-Key"]});
  assert.equal(released.availableBalance, 20.75);
});

test("refusals", async () => {
  const {voucherID} = await sell();
  for (const [call, code] of [[() => till.redeemSafely({voucherID, amount: 26}), "INSUFFICIENT_BALANCE"],
    [() => till.api.GET(`${gifting}gifts/{voucherID}`, at({voucherID: "none"})), "NOT_AUTHORIZED"],
    [() => new Client(URL, "wrong").redeemSafely({voucherID, amount: 1}), "UNAUTHENTICATED"],
    [() => till.redeemSafely({voucherID, amount: 0.001}), "VALIDATION_FAILURE"],
    [() => post(till, `${redemption}activate-gift`, {voucherID}), "NOT_AUTHORIZED"],
    [() => post(office, `${redemption}activate-gift`, {voucherID}), "VALIDATION_FAILURE"]]) {
    await assert.rejects(call(), (e) => e instanceof BoonError && e.code === code && e.requestID !== "");
  }
});

test("calls share a client", async () => {
  const gift = await sell(), references = Array.from({length: 40}, (_, n) => `check ${n}`);
  const paid = await Promise.all(references.map((reference) => till.redeemSafely(
    {voucherID: gift.voucherID, amount: 0.1, reference})));
  assert.deepEqual(paid.map((p) => p.reference), references);
  assert.equal(await balance(gift), 21);
});

test("over TLS, with who is trusted only", {skip: BOON_TLS_URL ? false : "there is no BOON_TLS_URL"}, async () => {
  const gift = await sell(), sale = {voucherID: gift.voucherID, amount: 1}; // the certificate is in NODE_EXTRA_CA_CERTS
  assert.equal((await new Client(BOON_TLS_URL, BOON_TILL_KEY).redeemSafely(sale)).currentBalance, 24);
  const named = BOON_TLS_URL.replace("127.0.0.1", "localhost"); // which is not in the certificate
  await assert.rejects(new Client(named, BOON_TILL_KEY).redeemSafely(sale), (e) => e instanceof Unreachable &&
    e.cause.cause.code === "ERR_TLS_CERT_ALTNAME_INVALID");
  const script = `const {Client} = await import(process.env.CLIENT);
    await new Client(process.env.BOON_TLS_URL, "k").redeemSafely({amount: 1}).catch((e) => console.log(e.constructor.name));`;
  const env = {...process.env, CLIENT: import.meta.resolve("../dist/index.js"), NODE_EXTRA_CA_CERTS: ""};
  assert.equal(execFileSync(process.execPath, ["--input-type=module", "-e", script], {env}).toString(), "Unreachable\n");
  assert.equal((await kinds(gift)).length, 2);
});

test("a card is sold, loaded and exported", async () => {
  const paid = {externalTransactionReferenceNumber: randomUUID(), externalTransactionCustomerFirstName: "Carla",
    externalTransactionCustomerLastName: "Diaz", externalTransactionCustomerEmailAddress: "carla@example.com",
    externalStorefrontID: "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"};
  const where = {organizationID: "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"};
  const {orderID} = await post(office, `${gifting}create-stock`, {count: 1});
  const {data: csv} = await office.api.GET(`${gifting}orders/{orderID}/stock`,
    {params: {path: {orderID}, query: {format: "csv"}}, parseAs: "text"});
  const {data: {gifts: [{voucherID}]}} = await office.api.GET(`${gifting}gifts`, {params: {query: {orderID}}});
  assert.match(csv, /^code,lastFour,.*\r?\n[0-9]{12},/);
  const sold = await post(office, `${redemption}activate-gift`, {voucherID, amount: 20.5, paymentMethodID: 2, ...where, ...paid});
  assert.equal(sold.currentBalance, 20.5);
  assert.equal((await post(office, `${redemption}reload-gift`, {voucherID, amount: 5, ...where, ...paid})).currentBalance, 25.5);
});

test("the books close", async () => {
  await till.redeemSafely({voucherID: (await sell()).voucherID, amount: 9.5});
  const before = (days) => new Date(Date.now() - days * 86_400_000).toISOString();
  const get = async (name, query, more) =>
    (await office.api.GET(`/api/integration/reports/${name}`, {params: {query}, ...more})).data;
  const cents = (rows, column) => rows.reduce((sum, r) => sum + (r.unit === "MONEY" ? Math.round(r[column] * 100) : 0), 0);
  const {report: {rows, to}} = await get("roll-forward", {from: before(2)});
  const lines = Object.keys(rows[0]).filter((name) => typeof rows[0][name] === "number" && name !== "closing");
  assert.equal(lines.reduce((sum, name) => sum + cents(rows, name), 0), cents(rows, "closing"));
  assert.equal(cents((await get("liability", {at: to})).report.rows, "owed"), cents(rows, "closing"));
  assert.ok(cents((await get("redemptions", {from: before(2), groupBy: "key"})).report.rows, "redeemed") >= 950);
  const {rows: aged} = (await get("ageing", {at: to})).report;
  assert.equal(cents(aged, "owed"), cents(rows, "closing"));
  const lost = (await get("breakage", {at: to, rate: "7.5"})).report;
  assert.ok(cents(lost.rows, "estimate") > 0 && lost.totals[0].toBook > 0);
  assert.deepEqual(lost.bookings, []);
  assert.deepEqual((await get("dormant", {at: to, months: "36"})).report.rows, []);
  const days = {from: before(9).slice(0, 10), to: before(3).slice(0, 10)};
  const journal = await office.api.GET("/api/integration/reports/journal", {params: {query: days}, parseAs: "text"});
  assert.match(journal.data, /debit/i);
  const proof = JSON.parse(journal.response.headers.get("Boon-Proof"));
  assert.equal(proof.sha256, createHash("sha256").update(journal.data).digest("hex"));
  await assert.rejects(get("journal", {from: before(-2).slice(0, 10)}), (e) => e.code === "VALIDATION_FAILURE");
});

test("a webhook signs with its secret", async () => {
  const made = await post(office, "/api/integration/webhooks", {url: "https://example.com/boon"});
  const path = (webhookID) => ({params: {path: {webhookID}}});
  await assert.rejects(office.api.PATCH("/api/integration/webhooks/{webhookID}", {...path("none"), body: {enabled: false}}), BoonError);
  await office.api.DELETE("/api/integration/webhooks/{webhookID}", path(made.webhookID));
  assert.ok(!verify(made.secret, {}, "{}")); // which it could not say of what is no secret
});

test("lists and cancels", async () => {
  const sold = [await sell(), await sell(), await sell()], listed = [];
  for (let cursor; cursor !== null;) {
    const {data} = await shop.api.GET(`${gifting}gifts`, {params: {query: {limit: 2, ...cursor && {cursor}}}});
    listed.push(...data.gifts.map((g) => g.voucherID));
    cursor = data.nextCursor;
  }
  for (const gift of sold) assert.ok(listed.includes(gift.voucherID));
  const done = await post(shop, `${gifting}cancel-gift`, {voucherID: sold[0].voucherID, cause: "CANCELLED"});
  assert.equal(done.vouchers[0].outcome, "DONE");
});
