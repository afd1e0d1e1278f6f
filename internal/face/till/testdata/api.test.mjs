import assert from "node:assert/strict";
import { test } from "node:test";
import { insist } from "../assets/api.js";

test("a page that is opened on a bad line asks until the service answers", async () => {
  const bad = [...Array(50).fill(null), { status: 502, body: null }, { status: 429, body: {}, retryAfter: 30 }];
  for (const status of [200, 401]) {
    const answers = [...bad, { status, body: {} }];
    const failed = [], waits = [];
    const answer = await insist(async () => answers.shift(), (a) => failed.push(a), async (ms) => waits.push(ms));
    assert.equal(answer.status, status);
    assert.deepEqual(failed, bad, "each is told");
    assert.ok(waits.slice(5, 50).every((ms) => ms === 5000), "with a pause");
    assert.equal(waits.at(-1), 30_000, "as long as the service says");
  }
});
