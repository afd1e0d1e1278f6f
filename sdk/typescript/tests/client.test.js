// The client alone: what is repeated, what it fails with, what is refused before anything is sent.
import assert from "node:assert/strict";
import {createServer} from "node:http";
import test from "node:test";
import {inspect} from "node:util";
import {BoonError, Client, NotDry, quotas, UnknownOutcome, Unreachable, Voided} from "../dist/index.js";
import {listen, problem, scripted} from "./lines.js";

const KEY = "boon_test_acct_not-a-real-key", redeem = "/api/integration/redemption/redeem-gift";
const DONE = [200, {"X-Request-ID": "req-9"},
  '{"redemptionID":"r1","amount":5.10,"currentBalance":19.90,"requestID":"req-9","newer":[1]}'];
const UNDONE = [200, {}, '{"reversalID":"u1","requestID":"req-9"}'];
const sale = {voucherID: "v", amount: 1};
const JSON_OF = {body: sale};

// What portals, gateways and broken proxies answer in the service's place.
const JSON_HEAD = {"Content-Type": "application/json"};
const cut = (text) => (request) => request.socket.end(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n${text}`);
const FOREIGN = [[200, {}, ""], cut(""), cut(DONE[2].slice(0, 40)), [204, {}],
  [200, {"Content-Type": "text/csv"}, "a,b\n1,2\n"],
  [200, {"Content-Type": "application/pdf"}, "%PDF-"], [200, {"Content-Type": "text/html"}, "<html>Sign in</html>"],
  ...["{}", "null", "[]", "0", '"requestID"', '{"status":"ok"}', '{"requestId":"x","redemptionId":"y"}',
    '{"requestID":"","redemptionID":"","reversalID":""}', '{"requestID":1,"redemptionID":1,"reversalID":1}',
    '{"requestID":null,"redemptionID":"r1","reversalID":"u1"}', "[".repeat(100_000),
  ].map((text) => [200, JSON_HEAD, text]),
  [200, {"Content-Type": "application/problem+json"}, problem(404, "NOT_FOUND")[2]]];

async function serve(t, answers, options = {}) {
  const s = await scripted(t, ...answers);
  return {url: s.url, client: new Client(s.url, KEY, {pause: 1, maxPause: 10, ...options}), asked: s.asked};
}

test("quotas", async (t) => {
  const policy = '"key.giftsPerDay";q=100;qu="gifts";w=90000, "account.issuedPerDay";q=5;qu="minor-units";w=90000';
  const rest = '"account.issuedPerDay";r=3;t=60, "key.giftsPerDay";r=99;t=60, "other";r=1;t=1';
  const unclear = policy.replace("q=100", "q=many");
  const {client} = await serve(t, [[200, {"RateLimit-Policy": policy, RateLimit: rest}, DONE[2]],
    [200, {"RateLimit-Policy": unclear, RateLimit: rest}, DONE[2]], DONE]);
  const issued = {name: "account.issuedPerDay", unit: "minor-units", limit: 5, left: 3, resets: 60, window: 90000};
  const gifts = {name: "key.giftsPerDay", unit: "gifts", limit: 100, left: 99, resets: 60, window: 90000};
  for (const want of [[issued, gifts], [issued], []]) {
    assert.deepEqual(quotas((await client.api.POST(redeem, JSON_OF)).response), want);
  }
});

test("a dry run that was none", async (t) => {
  const {client, asked} = await serve(t, [[200, {}, '{"redemptionID":"r1","dryRun":true,"requestID":"q"}'], DONE]);
  const {data} = await client.dryRun().api.POST(redeem, JSON_OF);
  assert.equal(data.dryRun, true);
  await assert.rejects(client.dryRun().api.POST(redeem, JSON_OF), NotDry);
  await client.dryRun().api.POST("/api/integration/redemption/validate-gift", {body: {voucherCode: "1"}});
  await client.api.POST(redeem, JSON_OF);
  assert.deepEqual(asked.map((a) => a.path.split("?")[1]), ["dryRun=true", "dryRun=true", undefined, undefined]);
});

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
  // Webhooks take no key.
  ({client, asked} = await serve(t, [null]));
  await assert.rejects(client.api.POST("/api/integration/webhooks", {body: {url: "https://x"}}), UnknownOutcome);
  assert.deepEqual(asked.map((a) => a.key), [undefined]);
});

test("what is not the service's is no answer", async (t) => {
  const other = [200, {}, '{"requestID":"req-9","voucherID":"v"}']; // of no redemption and no reversal
  const unknown = (e) => e instanceof UnknownOutcome && e.idempotencyKey === "mine";
  const header = {"Idempotency-Key": "mine"}, mine = {idempotencyKey: "mine"};
  for (const foreign of [...FOREIGN, other]) {
    await t.test(`to a redemption: ${inspect(foreign).slice(0, 99)}`, async (t) => {
      let {client, asked} = await serve(t, [foreign, foreign, DONE]);
      assert.equal((await client.redeemSafely(sale)).redemptionID, "r1");
      assert.deepEqual([asked.length, new Set(asked.map((a) => a.key)).size], [3, 1]);
      ({client, asked} = await serve(t, [foreign]));
      await assert.rejects(client.api.POST(redeem, {body: sale, params: {header}}), unknown);
      assert.equal(asked.length, 4);
      await assert.rejects(client.redeemSafely(sale, mine), unknown);
      assert.equal(asked.length, 10);
    });
  }
  for (const foreign of [...FOREIGN, other, DONE]) {
    await t.test(`to the void: ${inspect(foreign).slice(0, 99)}`, async (t) => {
      let {client, asked} = await serve(t, [null, null, null, foreign]);
      await assert.rejects(client.redeemSafely(sale, mine), unknown);
      assert.equal(asked.length, 6);
      ({client, asked} = await serve(t, [null, null, null, foreign, UNDONE]));
      await assert.rejects(client.redeemSafely(sale), Voided);
      assert.equal(asked[3].key, asked[4].key);
    });
  }
  const look = (client) => client.api.GET("/api/integration/gifting/gifts/{voucherID}",
    {params: {path: {voucherID: "v"}}});
  for (const foreign of FOREIGN) {
    await t.test(`to a look-up: ${inspect(foreign).slice(0, 99)}`, async (t) => {
      let {client, asked} = await serve(t, [foreign]);
      await assert.rejects(look(client), (e) => e instanceof BoonError && e.code === "" && !e.refused);
      assert.equal(asked.length, 4);
      await assert.rejects(client.api.DELETE("/api/integration/webhooks/{webhookID}",
        {params: {path: {webhookID: "w"}}}), UnknownOutcome);
      ({client, asked} = await serve(t, [foreign, other]));
      assert.equal((await look(client)).data.voucherID, "v");
    });
  }
});

test("files", async (t) => {
  const csv = (client) => client.api.GET("/api/integration/gifting/orders/{orderID}/stock",
    {params: {path: {orderID: "o"}, query: {format: "csv"}}, parseAs: "text"});
  let {client} = await serve(t, [[200, {"Content-Type": "text/csv; charset=utf-8"}, "code\r\n1\r\n"]]);
  assert.equal((await csv(client)).data, "code\r\n1\r\n");
  for (const foreign of [[200, {"Content-Type": "text/csv"}, ""], [200, {"Content-Type": "text/html"}, "<html>"]]) {
    ({client} = await serve(t, [foreign]));
    await assert.rejects(csv(client), BoonError);
  }
  ({client} = await serve(t, [[200, JSON_HEAD, '{"openapi":"3.1.0"}']])); // which is no call of the interface
  assert.equal((await client.api.GET("/openapi.json")).data.openapi, "3.1.0");
});

test("reports", async (t) => {
  const text = '{"report":{"rows":[{"closing":108.3}]},"requestID":"q"}', reports = "/api/integration/reports/";
  let {client, asked} = await serve(t, [[200, JSON_HEAD, text]]);
  const query = {from: "2026-11-01", groupBy: "organization,day"};
  const {data} = await client.api.GET(`${reports}redemptions`, {params: {query}});
  assert.equal(data.report.rows[0].closing, 108.3);
  assert.equal(asked[0].path, `${reports}redemptions?from=2026-11-01&groupBy=organization%2Cday`);
  ({client} = await serve(t, [[200, {"Content-Type": "text/csv"}, "closing\r\n"]]));
  const csv = await client.api.GET(`${reports}liability`, {params: {query: {format: "csv"}}, parseAs: "text"});
  assert.equal(csv.data, "closing\r\n");
});

test("a journal is whole", async (t) => {
  const digest = {"Content-Digest": "sha-256=:yj0WO6sFU4GCciYUBWjzvvfqrBh869doeOC2Pp5EI1Y=:"};
  const journal = (client) => client.api.GET("/api/integration/reports/journal",
    {params: {query: {from: "2026-11-01", format: "xero"}}, parseAs: "text"});
  for (const type of ["text/csv", "application/json", "application/zip"]) {
    const {client} = await serve(t, [[200, {"Content-Type": type, ...digest}, "{}\n"]]);
    assert.equal((await journal(client)).data, "{}\n");
  }
  for (const foreign of [[200, digest, "{}"], [200, {"Content-Type": "text/csv"}, "{}\n"], DONE]) {
    const {client, asked} = await serve(t, [foreign]);
    await assert.rejects(journal(client), (e) => e instanceof BoonError && e.code === "" && asked.length === 4);
  }
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
  for (const answer of [UNDONE, problem(404, "NOT_FOUND"), problem(409, "ALREADY_REVERSED")]) {
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
    }, UNDONE], {maxPause: 10_000});
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
