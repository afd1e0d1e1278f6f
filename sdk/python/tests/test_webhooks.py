"""Signatures of webhooks."""

import base64
import hashlib
import hmac
import json
import time
import unittest
from decimal import Decimal

from boon_gifts import BadSignature, read_event, verify

SECRET = "whsec_" + base64.b64encode(b"0123456789abcdef01234567").decode()
OTHER = "whsec_" + base64.b64encode(b"another secret, of 24 by").decode()
BODY = b'{"data":{"entry":{"amount":-9.50}}}'


def signed(secret=SECRET, at=None, body=BODY, message="msg_1"):
    sent = str(int(time.time()) if at is None else at)
    mac = hmac.new(base64.b64decode(secret[6:]), f"{message}.{sent}.".encode() + body, hashlib.sha256)
    return {"Webhook-Id": message, "webhook-timestamp": sent,
            "webhook-signature": "v1," + base64.b64encode(mac.digest()).decode()}


class WebhooksTest(unittest.TestCase):
    def test_known_answer(self):
        # The example of the specification's own libraries.
        headers = {"webhook-id": "msg_p5jXN8AQM9LWM0D4loKWxJek", "webhook-timestamp": "1614265330",
                   "webhook-signature": "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="}
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
        self.assertTrue(verify(secret, headers, b'{"test": 2432232314}', now=1614265330))

    def test_takes_its_own_only(self):
        good = signed()
        self.assertTrue(verify(SECRET, good, BODY))
        self.assertEqual(read_event(SECRET, good, BODY)["data"]["entry"]["amount"], Decimal("-9.50"))
        self.assertFalse(verify(OTHER, good, BODY))
        self.assertFalse(verify(SECRET, good, BODY + b" "))
        self.assertRaises(BadSignature, read_event, OTHER, good, BODY)
        for name in good:
            self.assertFalse(verify(SECRET, {k: v for k, v in good.items() if k != name}, BODY), name)
            self.assertFalse(verify(SECRET, {**good, name: "é"}, BODY), name)
        self.assertFalse(verify(SECRET, {**good, "Webhook-Id": "msg_2"}, BODY))
        unversioned = good["webhook-signature"][3:]
        for signature in ("v1,", unversioned, "v2," + unversioned, "v1a," + unversioned):
            self.assertFalse(verify(SECRET, {**good, "webhook-signature": signature}, BODY))

    def test_rotation(self):
        both = signed(OTHER)["webhook-signature"] + " " + signed()["webhook-signature"]
        self.assertTrue(verify(SECRET, {**signed(), "webhook-signature": both}, BODY))

    def test_time(self):
        for late, good in ((0, True), (299, True), (-299, True), (301, False), (-301, False)):
            self.assertEqual(verify(SECRET, signed(at=1000000), BODY, now=1000000 + late), good, late)
        for stamp in ("", "1e9", "nan", "-1", " 1", "9" * 400):
            self.assertFalse(verify(SECRET, {**signed(), "webhook-timestamp": stamp}, BODY))

    def test_no_secret_is_no_check(self):
        for secret in ("", "whsec_", "whsec_é", "whsec_AAAA"):
            self.assertRaises(ValueError, verify, secret, signed(), BODY)


if __name__ == "__main__":
    unittest.main()
