// The client alone: what is repeated, what it fails with, what is refused before anything is sent.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import test from "node:test";
import {BoonError, Client, UnknownOutcome, Unreachable, Voided} from "../dist/index.js";
import {listen, problem, scripted} from "./lines.js";

const KEY = "boon_test_acct_not-a-real-key", redeem = "/api/integration/redemption/redeem-gift";
const DONE = [200, {"X-Request-ID": "req-9"}, '{"redemptionID":"r1","amount":5.10,"currentBalance":19.90,"newer":[1]}'];
const sale = {voucherID: "v", amount: 1};
const JSON_OF = {body: sale};

async function serve(t, answers, options = {}) {
  const s = await scripted(t, ...answers);
  return {url: s.url, client: new Client(s.url, KEY, {pause: 1, maxPause: 10, ...options}), asked: s.asked};
}

test("it asks and reads", async (t) => {
  const {client, asked} = await serve(t, [DONE]);
  const {data, response} = await client.api.POST(redeem, {body: {voucherID: "v1", reference: 'a"é\r\n', amount: 5.1}});
  assert.deepEqual([data.amount, data.currentBalance, response.headers.get("X-Request-ID")], [5.1, 19.9, "req-9"]);
  const [{key, ...rest}] = asked;
  assert.match(key, /^.{8}-.{4}-.{4}-.{4}-.{12}$/);
  assert.deepEqual(rest, {method: "POST", path: redeem, auth: "Bearer " + KEY,
    body: '{"voucherID":"v1","reference":"a\\"é\\r\\n","amount":5.1}'});
  await client.api.POST("/api/integration/redemption/validate-gift", {body: {voucherCode: "1"}});
  await client.api.GET("/api/integration/gifting/gifts/{voucherID}", {params: {path: {voucherID: "a/../b?"}}});
  assert.deepEqual(asked.slice(1).map((a) => a.key), [undefined, undefined]);
  assert.ok(asked[2].path.endsWith("/gifts/a%2F..%2Fb%3F"), asked[2].path);
});

test("it repeats under the same key", async (t) => {
  for (const first of [null, problem(500, "UNEXPECTED_ERROR"), problem(503, "UNAVAILABLE", {"Retry-After": "0"}),
    problem(429, "RATE_LIMITED", {"Retry-After": "0"}), problem(409, "REQUEST_IN_PROGRESS"), [502, {}, "<html>"],
    (_, r) => { r.writeHead(200, {"Content-Length": 99}).write('{"amount":1'); r.destroy(); }]) {
    const {client, asked} = await serve(t, [first, first, DONE]);
    assert.equal((await client.redeemSafely(sale)).redemptionID, "r1");
    assert.equal(asked.length, 3, String(first));
    assert.equal(new Set(asked.map((a) => a.key)).size, 1);
  }
});

test("a refusal is told at once", async (t) => {
  for (const status of [400, 401, 403, 404, 409, 422, 429]) { // 429: the pause is above maxPause
    const {client, asked} = await serve(t, [problem(status, "SOME_CODE", {"Retry-After": "7"})]);
    await assert.rejects(client.api.POST(redeem, JSON_OF), (e) => e instanceof BoonError && e.refused &&
      e.code === "SOME_CODE" && e.status === status && e.messages[0].path === "amount" && e.requestID === "req-1" &&
      e.retryAfter === 7000 && e.message.includes("amount: Because."));
    assert.equal(asked.length, 1);
  }
});

test("a till waits for its limit, within its deadline", async (t) => {
  const waits = await serve(t, [problem(429, "RATE_LIMITED", {"Retry-After": "1"}), DONE], {maxPause: 1000});
  const begun = performance.now();
  await waits.client.redeemSafely(sale);
  assert.ok(performance.now() - begun >= 1000 && waits.asked.length === 2);
  for (const [after, deadline] of [["11", 20_000], ["5", 4000]]) {
    const {client, asked} = await serve(t, [problem(429, "RATE_LIMITED", {"Retry-After": after})], {maxPause: 10_000});
    await assert.rejects(client.redeemSafely(sale, {deadline}), (e) => e.code === "RATE_LIMITED" && e.refused);
    assert.equal(asked.length, 1);
  }
  const {client, asked} = await serve(t, [problem(503, "UNAVAILABLE", {"Retry-After": "5"})], {maxPause: 10_000, deadline: 4000});
  await assert.rejects(client.api.POST(redeem, JSON_OF), UnknownOutcome);
  assert.equal(asked.length, 1);
});

test("no answer is an unknown outcome", async (t) => {
  let {client, asked} = await serve(t, [null]);
  await assert.rejects(client.api.POST(redeem, {body: sale, params: {header: {"Idempotency-Key": "mine"}}}),
    (e) => e instanceof UnknownOutcome && e.idempotencyKey === "mine");
  assert.equal(asked.length, 4);
  await assert.rejects(client.api.GET("/api/integration/gifting/gifts/{voucherID}", {params: {path: {voucherID: "v"}}}), Unreachable);
  // A refusal of the moment says nothing about the attempt before, one after a look at the key does.
  ({client} = await serve(t, [null, problem(429, "RATE_LIMITED")]));
  await assert.rejects(client.api.POST(redeem, JSON_OF), UnknownOutcome);
  ({client} = await serve(t, [null, problem(409, "INSUFFICIENT_BALANCE")]));
  await assert.rejects(client.api.POST(redeem, JSON_OF), BoonError);
  // What was done and cannot be read is not repeated, and webhooks take no key.
  for (const done of [[200, {}, "[1"], [200, {"Content-Type": "text/html"}, "<html>"]]) {
    ({client, asked} = await serve(t, [done]));
    await assert.rejects(client.api.POST(redeem, JSON_OF), UnknownOutcome);
    assert.equal(asked.length, 1);
  }
  ({client, asked} = await serve(t, [null]));
  await assert.rejects(client.api.POST("/api/integration/webhooks", {body: {url: "https://x"}}), UnknownOutcome);
  assert.deepEqual(asked.map((a) => a.key), [undefined]);
});

test("who never left is unreachable", async () => {
  const closed = createServer(), nowhere = await listen(closed);
  await new Promise((done) => closed.close(done));
  const client = new Client(nowhere, KEY, {pause: 1});
  await assert.rejects(client.api.POST(redeem, JSON_OF), Unreachable);
  await assert.rejects(client.redeemSafely(sale), Unreachable);
});

test("a service that trickles does not hold the caller", async (t) => {
  const {client} = await serve(t, [(request, response) => {
    response.writeHead(200).write("{");
    const more = setInterval(() => response.write(" "), 10);
    request.socket.on("close", () => clearInterval(more));
  }], {timeout: 50, attempts: 1});
  await assert.rejects(client.api.POST(redeem, JSON_OF), UnknownOutcome);
});

test("redeemSafely voids", async (t) => {
  for (const answer of [DONE, problem(404, "NOT_FOUND"), problem(409, "ALREADY_REVERSED")]) {
    const {client, asked} = await serve(t, [null, null, null, answer]);
    await assert.rejects(client.redeemSafely({...sale, organizationID: "o"}, {idempotencyKey: "mine"}),
      (e) => e instanceof Voided && e.idempotencyKey === "mine");
    assert.deepEqual(asked.slice(0, 3).map((a) => a.key), ["mine", "mine", "mine"]);
    assert.ok(asked[3].path.endsWith("/reverse-redemption") && asked[3].key !== "mine");
    assert.deepEqual(JSON.parse(asked[3].body), {organizationID: "o", pointOfSaleSystemOrganizationIdentifier: null,
      voucherID: sale.voucherID, voucherCode: null, voucherPublicToken: null,
      idempotencyKey: "mine", operation: "redeem-gift", reason: "no answer to the till"});
  }
  for (const answer of [null, problem(403, "NOT_AUTHORIZED")]) {
    const {client} = await serve(t, [null, null, null, answer]);
    await assert.rejects(client.redeemSafely(sale, {idempotencyKey: "mine"}),
      (e) => e instanceof UnknownOutcome && e.idempotencyKey === "mine");
  }
  const {client} = await serve(t, [null, null, null, problem(422, "IDEMPOTENCY_MISMATCH")]);
  await assert.rejects(client.redeemSafely(sale, {idempotencyKey: "mine"}),
    (e) => e instanceof BoonError && e.code === "IDEMPOTENCY_MISMATCH");
});

test("what is aborted on the way is given back, before it is not sent", async (t) => {
  for (const when of ["under way", "in a pause"]) {
    const stop = new AbortController();
    const {client, asked} = await serve(t, [(request, response) => {
      if (when === "in a pause") response.writeHead(503, {"Retry-After": "9"}).end();
      setImmediate(() => stop.abort());
    }, DONE], {maxPause: 10_000});
    await assert.rejects(client.redeemSafely(sale, {signal: stop.signal}), Voided);
    assert.deepEqual(asked.map((a) => a.path.split("/").at(-1)), ["redeem-gift", "reverse-redemption"], when);
  }
  const {client, asked} = await serve(t, [DONE]);
  await assert.rejects(client.redeemSafely(sale, {signal: AbortSignal.abort()}), Unreachable);
  await assert.rejects(client.api.POST(redeem, {body: sale, signal: AbortSignal.abort()}), Unreachable);
  assert.deepEqual(asked, []);
});

test("an amount is never lost", async (t) => {
  const {client, asked} = await serve(t, [DONE]);
  for (const amount of [NaN, Infinity, undefined]) {
    await assert.rejects(client.redeemSafely({voucherID: "v", amount}), TypeError);
    await assert.rejects(client.api.POST("/api/integration/redemption/hold-gift", {body: {amount}}), TypeError);
  }
  await assert.rejects(client.redeemSafely(sale, {deadline: NaN}), TypeError);
  assert.deepEqual(asked, []);
  await client.redeemSafely({voucherID: "v", amount: null});
  assert.equal(asked[0].body, '{"voucherID":"v","amount":null}');
});

test("nothing is slipped in", async (t) => {
  for (const url of ["", "gifts.example.com", "ftp://x", "http://", "https://user:secret@host", "https://h?key=1", "https://h#x"]) {
    assert.throws(() => new Client(url, KEY), (e) => e instanceof TypeError && !e.message.includes("secret"));
  }
  for (const key of ["", "a b", "a\r\nX: y", "é"]) assert.throws(() => new Client("https://host", key), TypeError);
  for (const options of [{attempts: 0}, {timeout: NaN}, {deadline: -1}]) {
    assert.throws(() => new Client("https://host", KEY, options), TypeError);
  }
  const {client, asked} = await serve(t, [DONE]);
  for (const idempotencyKey of ["", "a\r\nX: y", "☃", "a".repeat(256)]) {
    await assert.rejects(client.redeemSafely(sale, {idempotencyKey}), TypeError);
  }
  assert.deepEqual(asked, []);
});

test("no redirect takes the key along", async (t) => {
  const other = await serve(t, [DONE]);
  const {client, asked} = await serve(t, [[307, {Location: other.url}, ""]]);
  await assert.rejects(client.api.POST(redeem, JSON_OF), UnknownOutcome);
  await assert.rejects(client.api.GET("/api/integration/webhooks"), (e) => e instanceof BoonError && e.status === 307);
  assert.deepEqual([asked.length, other.asked], [2, []]);
});
