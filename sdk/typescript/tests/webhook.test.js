import assert from "node:assert/strict";
import {createHmac} from "node:crypto";
import test from "node:test";
import {BadSignature, readEvent, verify} from "../dist/index.js";

const secretOf = (text) => "whsec_" + Buffer.from(text).toString("base64");
const SECRET = secretOf("0123456789abcdef01234567"), OTHER = secretOf("another secret, of 24 by");
const BODY = Buffer.from('{"data":{"entry":{"amount":-9.50}}}');

function signed(secret = SECRET, at = Math.floor(Date.now() / 1000), id = "msg_1") {
  const mac = createHmac("sha256", Buffer.from(secret.slice(6), "base64")).update(`${id}.${at}.`).update(BODY);
  return {"Webhook-Id": id, "webhook-timestamp": String(at), "webhook-signature": "v1," + mac.digest("base64")};
}

test("the example of the specification's own libraries", () => {
  const headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
    "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="};
  assert.ok(verify("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", headers, '{"test": 2432232314}', 1614265330_000));
});

test("it takes its own only", () => {
  const good = signed();
  assert.ok(verify(SECRET, good, BODY) && verify(SECRET, new Headers(good), String(BODY)));
  assert.equal(readEvent(SECRET, good, BODY).data.entry.amount, -9.5);
  assert.ok(!verify(OTHER, good, BODY) && !verify(SECRET, good, BODY + " "));
  assert.throws(() => readEvent(OTHER, good, BODY), BadSignature);
  for (const name of Object.keys(good)) {
    for (const value of [undefined, "", "é", [good[name]]]) assert.ok(!verify(SECRET, {...good, [name]: value}, BODY), name);
  }
  assert.ok(!verify(SECRET, {...good, "Webhook-Id": "msg_2"}, BODY));
  const plain = good["webhook-signature"].slice(3);
  for (const given of ["v1,", plain, "v2," + plain, "v1a," + plain, `v1,${plain}=`, "v1, " + plain]) {
    assert.ok(!verify(SECRET, {...good, "webhook-signature": given}, BODY), given);
  }
});

test("while the secret is changed, either signs", () => {
  const both = signed(OTHER)["webhook-signature"] + " " + signed()["webhook-signature"];
  for (const secret of [SECRET, OTHER]) assert.ok(verify(secret, {...signed(), "webhook-signature": both}, BODY));
});

test("it takes the messages of now only", () => {
  for (const [late, good] of [[0, true], [299, true], [-299, true], [301, false], [-301, false]]) {
    assert.equal(verify(SECRET, signed(SECRET, 1_000_000), BODY, (1_000_000 + late) * 1000), good, String(late));
  }
  for (const stamp of ["", "1e9", "NaN", "-1", " 1", "9".repeat(400)]) {
    assert.ok(!verify(SECRET, {...signed(), "webhook-timestamp": stamp}, BODY));
  }
});

test("no secret is no check", () => {
  for (const secret of ["", "whsec_", "whsec_é", "whsec_AAAA", "whsec_<your secret here, please>"]) {
    assert.throws(() => verify(secret, signed(), BODY), TypeError);
  }
});
