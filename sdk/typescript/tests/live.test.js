import assert from "node:assert/strict";
import {createHmac, randomBytes} from "node:crypto";
import {createServer} from "node:http";
import net from "node:net";
import test from "node:test";
import {BoonError, Client, UnknownOutcome, Unreachable, Voided, verify} from "../dist/index.js";
import {sell} from "../examples/shop.js";

const listen = (server) => new Promise((done) => server.listen(0, "127.0.0.1", () =>
  done(`http://127.0.0.1:${server.address().port}`)));

/** A line that closes instead of handing on the answer where lose(request) says so. */
async function losing(t, lose) {
  const to = new URL(process.env.BOON_URL), open = new Set();
  const server = net.createServer((caller) => {
    const service = net.connect(to.port, to.hostname);
    let lost = false;
    for (const s of [caller, service]) {
      open.add(s);
      s.on("error", () => {});
      s.on("close", () => { caller.destroy(); service.destroy(); });
    }
    caller.on("data", (d) => { if (/^(POST|GET) /.test(d)) lost = lose(String(d)); service.write(d); });
    service.on("data", (d) => lost ? caller.destroy() : caller.write(d));
  });
  t.after(() => { server.close(); for (const s of open) s.destroy(); });
  return listen(server);
}

const balance = async (gift) => (await new Client(process.env.BOON_URL, process.env.BOON_TILL_KEY).api.POST(
  "/api/integration/redemption/validate-gift", {body: {voucherPublicToken: gift.giftURL}})).data.currentBalance;

test("a lost answer takes the money once", async (t) => {
  const gift = await sell(), keys = [];
  const url = await losing(t, (r) => {
    const k = /idempotency-key: (\S+)/i.exec(r);
    if (k) keys.push(k[1]);
    return keys.length === 1;
  });
  const paid = await new Client(url, process.env.BOON_TILL_KEY).redeemSafely({voucherID: gift.voucherID, amount: 9.5});
  assert.equal(paid.currentBalance, 15.5);
  assert.equal(await balance(gift), 15.5);
  assert.equal(keys.length, 2);
  assert.equal(keys[0], keys[1]);
});

test("without any answer the redemption is voided", async (t) => {
  const gift = await sell();
  let lost = 0;
  const url = await losing(t, (r) => r.includes("redeem-gift") && ++lost > 0);
  const sale = {voucherID: gift.voucherID, amount: 9.5};
  await assert.rejects(new Client(url, process.env.BOON_TILL_KEY).redeemSafely(sale), Voided);
  assert.equal(lost, 3);
  assert.equal(await balance(gift), 25);
});

test("without an answer to the reversal the outcome is unknown; unreached, nothing was sent", async (t) => {
  const gift = await sell(), url = await losing(t, () => true);
  const quick = {pause: 1};
  await assert.rejects(new Client(url, process.env.BOON_TILL_KEY, quick).redeemSafely(
    {voucherID: gift.voucherID, amount: 1}, "sale-unknown"), (e) => e instanceof UnknownOutcome && e.idempotencyKey === "sale-unknown");
  const closed = createServer(), nowhere = await listen(closed);
  await new Promise((done) => closed.close(done));
  await assert.rejects(new Client(nowhere, "k", quick).redeemSafely({amount: 1}), Unreachable);
  const never = new Client(nowhere, "k");
  for (const amount of [NaN, undefined]) {
    await assert.rejects(never.redeemSafely({amount}), TypeError);
    await assert.rejects(never.api.POST("/api/integration/redemption/hold-gift", {body: {amount}}), TypeError);
  }
});

test("no redirect is followed, and a refusal is told", async (t) => {
  let asked = 0;
  const server = createServer((_, r) => { asked++; r.writeHead(307, {Location: "/elsewhere"}).end(); });
  t.after(() => server.close());
  await assert.rejects(new Client(await listen(server), "k").api.POST("/api/integration/redemption/validate-gift",
    {body: {voucherCode: "1"}}), (e) => e instanceof BoonError && e.status === 307);
  assert.equal(asked, 1);
  server.closeAllConnections();
});

test("messages of webhooks", () => {
  const secret = randomBytes(24), body = Buffer.from("{}"), sent = String(Math.floor(Date.now() / 1000));
  const good = "v1," + createHmac("sha256", secret).update(`m.${sent}.{}`).digest("base64");
  const h = {"webhook-id": "m", "webhook-timestamp": sent, "webhook-signature": `v1,AAAA ${good}`};
  const text = "whsec_" + secret.toString("base64");
  assert.ok(verify(text, h, body));
  assert.ok(!verify(text, h, Buffer.from("[]")));
  assert.ok(!verify(text, h, body, Date.now() + 301_000));
  assert.ok(!verify(text, {...h, "webhook-signature": "v1,AAAA"}, body));
});
