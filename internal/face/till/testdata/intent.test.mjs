import assert from "node:assert/strict";
import { test } from "node:test";
import * as intents from "../assets/intent.js";
import { Safe } from "../assets/safe.js";

const fresh = () => intents.begin("key-1", "redeem-gift", { amount: 5 }, {}, 0);
const tried = (n) => ({ ...fresh(), tries: n });
const refusal = (status, code) => ({ status, body: { code, messages: [] } });
const inHour = 3_600_000;

test("what answers to the call mean", () => {
  for (const [tries, answer, want] of [
    [1, { status: 200, body: {} }, "yes"], [3, { status: 200, body: {} }, "yes"],
    [1, null, "asking"], [1, refusal(500, "UNEXPECTED_ERROR"), "asking"], [1, refusal(503, "UNAVAILABLE"), "asking"],
    [1, refusal(409, "REQUEST_IN_PROGRESS"), "asking"], [1, { status: 502, body: null }, "asking"],
    [1, { status: 404, body: null }, "asking"], [1, { status: 302, body: null }, "asking"],
    [1, refusal(409, "INSUFFICIENT_BALANCE"), "no"], [2, refusal(409, "ALREADY_REDEEMED"), "no"],
    [1, refusal(401, "UNAUTHENTICATED"), "no"], [2, refusal(401, "UNAUTHENTICATED"), "asking"],
    [1, refusal(403, "NOT_AUTHORIZED"), "no"], [2, refusal(403, "NOT_AUTHORIZED"), "asking"],
    [1, refusal(429, "RATE_LIMITED"), "no"], [2, refusal(429, "RATE_LIMITED"), "asking"],
    [2, refusal(400, "VALIDATION_FAILURE"), "no"],
  ]) assert.equal(intents.posted(tried(tries), answer).state, want, `try ${tries}: ${JSON.stringify(answer)}`);
});

test("what answers to the question mean", () => {
  const found = (state, status) => ({ status: 200, body: { requests: [{ operation: "redeem-gift", state, status, answer: {} }] } });
  const other = { status: 200, body: { requests: [{ operation: "reload-gift", state: "finished", status: 200, answer: {} }] } };
  for (const [answer, now, mayUndo, want] of [
    [found("finished", 200), 0, true, "yes"], [found("finished", 409), 0, true, "no"], [found("running", null), 0, true, "asking"],
    [found("spent", null), 0, true, "no"], [other, 0, true, "asking"], [null, 0, true, "asking"], [refusal(401, "UNAUTHENTICATED"), 0, true, "asking"],
    [refusal(404, "NOT_FOUND"), 1000, true, "asking"], [refusal(404, "NOT_FOUND"), inHour, true, "voiding"],
    [refusal(404, "NOT_FOUND"), inHour, false, "asking"], [{ status: 404, body: null }, inHour, true, "asking"],
  ]) assert.equal(intents.asked(tried(1), answer, now, mayUndo).state, want, JSON.stringify(answer));
  const young = intents.asked(tried(1), refusal(404, "NOT_FOUND"), 1000, true);
  assert.equal(intents.next(young, 1000).do, "post", "the same call, as it has not arrived");
  const old = intents.asked(tried(1), refusal(404, "NOT_FOUND"), -5, true);
  assert.equal(old.state, "voiding", "a clock that was set back makes nothing young");
});

test("once it is done, the amount is the server's, whoever takes of the gift meanwhile", () => {
  const cashOut = { ...intents.begin("key-1", "cash-out-gift", {}, { amount: "$9.00" }, 0), tries: 1 };
  assert.equal(intents.booked(intents.posted(cashOut, { status: 200, body: { amount: 1 } })), 1);
  const found = { status: 200, body: { requests: [{ operation: "cash-out-gift", state: "finished", status: 200, answer: { amount: 1 } }] } };
  assert.equal(intents.booked(intents.asked(cashOut, found, 0, true)), 1);
  for (const open of [cashOut, intents.posted(cashOut, null), intents.posted(cashOut, refusal(409, "ALREADY_REDEEMED"))]) {
    assert.equal(intents.booked(open), undefined);
  }
  const several = { ...intents.begin("key-1", "reverse-redemption", {}, {}, 0), tries: 1 };
  const back = { amount: 12, reversals: [{ amount: 12 }, { amount: 8.5 }] };
  assert.equal(intents.booked(intents.posted(several, { status: 200, body: back })), 20.5, "what all cards of a sale got back");
});

const nobody = { status: 403, body: { code: "NOT_AUTHORIZED", messages: [{ path: "person" }] } };
const mayNot = { status: 403, body: { code: "NOT_AUTHORIZED", messages: [{ path: "" }] } };

test("an undoing goes on until somebody has signed in who may", () => {
  const own = intents.stop(intents.begin("key-1", "redeem-gift", {}, {}, 1000, "till-1"));
  for (const answer of [nobody, mayNot, refusal(401, "UNAUTHENTICATED"), null]) {
    const still = intents.voided(own, answer);
    assert.equal(still.state, "voiding", JSON.stringify(answer));
    assert.equal(intents.next(still, inHour).do, "void");
    assert.equal(intents.voided(still, refusal(404, "NOT_FOUND")).state, "no", "the call had not arrived, and never will");
    assert.ok(intents.voided(still, { status: 200, body: {} }).voided);
  }
  const never = intents.voided(own, refusal(409, "REDEMPTION_NOT_ALLOWED"));
  assert.deepEqual([never.state, never.began, intents.next(never, 1000).do], ["asking", 1000, "ask"]);
  assert.notEqual(intents.next(intents.asked(never, refusal(404, "NOT_FOUND"), 1000, true), 1000).do, "post");
});

test("a till at which somebody must sign in and nobody may is told from others", () => {
  const all = ["validate", "redeem"];
  for (const [people, may, deviceMay, want] of [
    [[], ["validate"], all, true], [[], all, all, false], [["Ana"], ["validate"], all, false], [[], ["validate"], ["validate"], false],
  ]) assert.equal(intents.unstaffed({ people, may, deviceMay }), want, `${people}: ${may} of ${deviceMay}`);
});

test("what became of an intent of another till is not known", () => {
  const open = intents.begin("key-1", "redeem-gift", {}, {}, 1000, "till-1");
  assert.equal(intents.within(open, "till-1").state, "sending");
  const other = intents.within(open, "till-2");
  assert.deepEqual([other.state, intents.ended(other), intents.open(other), intents.next(other, 1000).do], ["elsewhere", true, true, "nothing"]);
  const done = intents.posted({ ...open, tries: 1 }, { status: 200, body: {} });
  assert.equal(intents.within(done, "till-2").state, "yes", "it ended before");
  // of an intent of an earlier release nobody knows the till
  const old = intents.stop(fresh());
  assert.equal(intents.within(old, "till-2").state, "voiding");
  assert.equal(intents.voided(old, mayNot).state, "elsewhere", "made at a location that this key is not enabled for");
  assert.equal(intents.voided(old, nobody).state, "voiding");
});

test("a call ends as not found only once it has really not been found for a minute", () => {
  const missing = refusal(404, "NOT_FOUND");
  const open = tried(1);
  for (const [ms, want] of [[0, "asking"], [5000, "asking"], [59_999, "asking"], [60_000, "no"]]) {
    assert.equal(intents.asked(open, missing, inHour, false, ms).state, want, `after ${ms} ms`);
  }
});

test("a clock that is set on a bad line makes no end of a call that still arrives", async () => {
  for (const set of [0, inHour, -inHour]) {
    const day = new Day(1, false);
    day.chance = () => 1; // no tab is closed
    let first = true;
    const arrive = (key) => day.server.call("redeem-gift", { amount: 5 }, key);
    const safe = new Safe({
      storage: day.storage, now: () => day.now + day.set, passed: () => day.now, sleep: (ms) => day.pass(ms), locks: null,
      mayUndo: () => false, changed() {},
      ask: async (key, operation) => (await day.pass(50), day.server.ask(key, operation)),
      call: async (operation, body, key) => {
        if (!first) return arrive(key);
        first = false;
        day.late.push({ at: day.now + 30_000, run: () => arrive(key) });
        await day.pass(5000);
        day.set = set;
        return null;
      },
    });
    assert.equal((await safe.start("sale", "redeem-gift", { amount: 5 }, {})).state, "yes", `set by ${set}`);
    assert.equal(day.server.left, 95);
  }
});

test("a call that is minutes old is not sent once more", () => {
  assert.equal(intents.next(fresh(), 100).do, "post");
  assert.equal(intents.next(fresh(), inHour).do, "ask");
  assert.equal(intents.next(tried(1), 100).do, "ask", "after a reload, what became of it comes first");
});

/** Server does each key once, as the real one, for a gift of 100. It takes calls late, too. */
class Server {
  left = 100;
  answers = new Map();
  spent = new Set();
  taken = new Map(); // key: amount that is not given back

  call(operation, body, key) {
    if (this.answers.has(operation + key)) return this.answers.get(operation + key);
    const answer = operation.startsWith("redeem-") ? this.#redeem(body, key) : this.#reverse(body);
    this.answers.set(operation + key, answer);
    return answer;
  }

  #redeem({ amount }, key) {
    if (this.spent.has(key)) return refusal(409, "REDEMPTION_NOT_ALLOWED");
    if (amount > this.left) return refusal(409, "INSUFFICIENT_BALANCE");
    this.left -= amount;
    this.taken.set(key, amount);
    return { status: 200, body: { amount } };
  }

  #reverse({ idempotencyKey: key, operation = "redeem-gift" }) {
    if (!this.answers.has(operation + key)) {
      this.spent.add(key);
      return refusal(404, "NOT_FOUND");
    }
    const amount = this.taken.get(key);
    if (!amount) return refusal(this.taken.has(key) ? 409 : 404, this.taken.has(key) ? "ALREADY_REVERSED" : "NOT_FOUND");
    this.left += amount;
    this.taken.set(key, 0);
    return { status: 200, body: {} };
  }

  ask(key, operation) {
    const known = this.answers.get(operation + key);
    const state = (more) => ({ status: 200, body: { requests: [{ operation, ...more }] } });
    if (known) return state({ state: "finished", status: known.status, answer: known.body });
    return this.spent.has(key) ? state({ state: "spent" }) : refusal(404, "NOT_FOUND");
  }
}

class Closed extends Error {}

/** A Day is a till on a bad line: time is counted, and every call, pause and tab has a fate. */
class Day {
  now = 1_000_000;
  set = 0; // by how much the device's clock was set
  late = []; // calls that still arrive: {at, run}
  server = new Server();
  kept = new Map();
  ends = new Map();

  constructor(seed, mayUndo, operation = "redeem-gift") {
    let state = seed;
    this.operation = operation;
    this.chance = () => (state = (state * 1103515245 + 12345) % 2 ** 31) / 2 ** 31;
    this.mayUndo = mayUndo;
    const kept = this.kept;
    this.storage = {
      get length() { return kept.size; }, key: (i) => [...kept.keys()][i], getItem: (k) => kept.get(k),
      setItem: (k, v) => kept.set(k, v), removeItem: (k) => kept.delete(k),
    };
  }

  async pass(ms) {
    this.now += ms;
    const due = this.late.filter((l) => l.at <= this.now);
    this.late = this.late.filter((l) => l.at > this.now);
    for (const l of due) l.run();
    if (this.chance() < 0.06) throw new Closed();
  }

  async line(run) {
    if (this.chance() < 0.02) this.set = (this.chance() - 0.5) * 4 * inHour;
    const fate = this.chance();
    if (fate < 0.35) return await this.pass(50), run();
    if (fate < 0.5) return await this.pass(5000), null; // cut before it
    if (fate < 0.65) return run(), await this.pass(5000), null; // cut after it, or during the answer
    if (fate < 0.8) {
      this.late.push({ at: this.now + 5000 + this.chance() * 20_000, run });
      return await this.pass(5000), null; // it arrives when nobody waits any more
    }
    if (fate < 0.85) return await this.pass(10), refusal(503, "UNAVAILABLE");
    if (fate < 0.9) return await this.pass(10), nobody;
    return await this.pass(10), { status: 502, body: null };
  }

  tab() {
    const day = this;
    return new Safe({
      storage: this.storage, now: () => day.now + day.set, passed: () => day.now, sleep: (ms) => day.pass(ms), locks: null,
      mayUndo: () => day.mayUndo,
      changed: () => { if (day.chance() < 0.03 && day.current) day.current.stop("sale"); },
      call: (operation, body, key) => {
        assert.ok(day.kept.has("boon.intent.sale"), "a call leaves that the device has not kept");
        return day.line(() => day.server.call(operation, body, key));
      },
      ask: (key, operation) => day.line(() => day.server.ask(key, operation)),
    });
  }

  /** sale takes 5, over as many tabs as are closed in the middle, and says how it ended. */
  async sale() {
    for (let tabs = 0; tabs < 500; tabs++) {
      const safe = (this.current = this.tab());
      try {
        const open = safe.kept()[0];
        return await (open ? safe.finish(open) : safe.start("sale", this.operation, { amount: 5 }, {}));
      } catch (closed) {
        if (!(closed instanceof Closed)) throw closed;
        this.now += this.chance() < 0.3 ? this.chance() * inHour : this.chance() * 3000;
      }
    }
    throw new Error("it never ended");
  }
}

test("on any line a sale ends in yes, taken once, or in no, and nothing is taken then or later", async () => {
  const ends = { yes: 0, no: 0 };
  for (let seed = 1; seed <= 4000; seed++) {
    const day = new Day(seed, seed % 4 !== 0, seed % 2 ? "redeem-gift" : "redeem-gifts");
    const end = await day.sale();
    ends[end.state]++;
    const at = day.server.left;
    assert.equal(at, end.state === "yes" ? 95 : 100, `seed ${seed} ended in ${end.state}`);
    for (const l of day.late) l.run(); // what is still under way arrives
    assert.equal(day.server.left, at, `seed ${seed}: something came later`);
  }
  assert.ok(ends.yes > 500 && ends.no > 200, `too few of one kind: ${JSON.stringify(ends)}`);
});

test("nothing is sent where nothing can be kept", () => {
  let sent = 0;
  const storage = { length: 0, setItem() { throw new Error("full"); } };
  const safe = new Safe({ storage, call: () => sent++, ask: () => sent++, mayUndo: () => true, changed() {}, locks: null });
  assert.throws(() => safe.start("k", "redeem-gift", {}, {}));
  assert.equal(sent, 0);
});

test("an end stays on the device until somebody has seen it", async () => {
  const day = new Day(7, true);
  day.chance = () => 0.2; // a good line
  const end = await day.sale();
  assert.equal(end.state, "yes");
  const next = day.tab();
  assert.equal(next.kept()[0].state, "yes");
  next.seen(next.kept()[0]);
  assert.equal(next.kept().length, 0);
});

test("a sale that is stopped while its call is under way is undone, whatever the answer is", async () => {
  for (const arrives of [true, false]) {
    const server = new Server();
    const day = new Day(1, true);
    let release;
    const safe = new Safe({
      storage: day.storage, now: () => 1000, sleep: async () => {}, locks: null, mayUndo: () => true, changed() {},
      ask: async (key, operation) => server.ask(key, operation),
      call: async (operation, body, key) => {
        if (operation !== "redeem-gift") return server.call(operation, body, key);
        await new Promise((resolve) => { release = resolve; });
        return arrives ? server.call(operation, body, key) : null;
      },
    });
    const sale = safe.start("sale", "redeem-gift", { amount: 5 }, {});
    await new Promise((resolve) => setTimeout(resolve, 5));
    safe.stop("sale");
    release();
    assert.equal((await sale).state, "no");
    assert.equal(server.left, 100);
  }
});
