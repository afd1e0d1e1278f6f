"""The client alone: what is repeated, what is raised, what is refused before anything is sent."""

import json
import os
import pickle
import socket
import ssl
import threading
import time
import unittest
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from unittest import mock

from boon_gifts import ALL, BoonError, Client, Message, NotDry, Quota, Unreachable, UnknownOutcome, Voided, new_key

from .lines import Scripted, problem

KEY = "boon_test_acct_not-a-real-key"
DONE = (200, {"X-Request-ID": "req-9", "Idempotent-Replayed": "true"},
        b'{"redemptionID":"r1","amount":5.10,"currentBalance":19.90,"requestID":"req-9","newer":[1]}')
UNDONE = (200, {}, b'{"reversalID":"u1","requestID":"req-9"}')

# What portals, gateways and broken proxies answer in the service's place.
CUT = {"Content-Type": "application/json", "Content-Length": None, "Connection": "close"}
FOREIGN = [(200, {}, b""), (200, CUT, b""), (200, CUT, DONE[2][:40]), (204, {"Content-Length": None}, b""),
           (200, {"Content-Type": "text/csv"}, b"a,b\n1,2\n"), (200, {"Content-Type": "application/pdf"}, b"%PDF-"),
           (200, {"Content-Type": "text/html"}, b"<html>Sign in</html>"),
           *((200, {"Content-Type": "application/json"}, text) for text in (
               b"{}", b"null", b"[]", b"0", b'"requestID"', b'{"status":"ok"}', b'{"requestId":"x","redemptionId":"y"}',
               b'{"requestID":"","redemptionID":"","reversalID":""}',
               b'{"requestID":1,"redemptionID":1,"reversalID":1}',
               b'{"requestID":null,"redemptionID":"r1","reversalID":"u1"}', b'{"a":1e9999999999999999999}', b"\xff",
               b"[" * 100_000)),
           (200, {"Content-Type": "application/problem+json"}, problem(404, "NOT_FOUND")[2])]


class ClientTest(unittest.TestCase):
    def serve(self, *answers, **options):
        """A server that gives the answers in turn, the last for ever, and a client that hardly pauses."""
        s = Scripted(lambda n: answers[min(n, len(answers)) - 1])
        self.addCleanup(s.close)
        c = Client(s.url, KEY, pause=0.001, **{"max_pause": 0.01, **options})
        self.addCleanup(c.close)
        return c, s

    def test_a_dry_run_that_was_none(self):
        dry = (200, {}, b'{"redemptionID":"r1","dryRun":true,"requestID":"q"}')
        c, s = self.serve(dry, DONE)
        self.assertTrue(c.dry_run().redeem_gift(1, voucherID="v1")["dryRun"])
        with self.assertRaises(NotDry):
            c.dry_run().redeem_gift(1, voucherID="v1")
        c.dry_run().validate_gift(voucherCode="1")
        c.redeem_gift(1, voucherID="v1")
        self.assertEqual([a["path"].partition("?")[2] for a in s.asked], ["dryRun=true", "dryRun=true", "", ""])

    def test_asks_for_receipts_where_there_are_some(self):
        c, s = self.serve((200, {}, b'{"redemptionID":"r1","reversalID":"b1","voucherID":"v1","reloadID":"l1",'
                                    b'"activationID":"a1","cashOutID":"c1","requestID":"q"}'))
        till = c.receipts()
        till.redeem_gift(1, voucherID="v1")
        till.redeem_safely(1, voucherID="v1")
        till.redeem_gifts([{"voucherID": "v1"}])
        till.reverse_redemption(1, redemptionID="r1")
        till.validate_gift(voucherCode="1")
        till.capture_hold(1, holdID="h1")
        till.reload_gift(voucherID="v1")
        till.activate_gift(voucherID="v1")
        till.call("POST", "/api/integration/redemption/cash-out-gift", {"voucherID": "v1"})
        c.redeem_gift(1, voucherID="v1")
        asked, none = "receipt=true", ""
        self.assertEqual([a["path"].partition("?")[2] for a in s.asked],
                         [asked, asked, none, none, none, asked, asked, asked, asked, none])

    def test_reads_quotas(self):
        policy = '"key.giftsPerDay";q=100;qu="gifts";w=90000, "account.issuedPerDay";q=5;qu="minor-units";w=90000'
        rest = '"account.issuedPerDay";r=3;t=60, "key.giftsPerDay";r=99;t=60, "other";r=1;t=1'
        unclear = policy.replace("q=100", "q=many")
        c, _ = self.serve((200, {"RateLimit-Policy": policy, "RateLimit": rest}, DONE[2]),
                          (200, {"RateLimit-Policy": unclear, "RateLimit": rest}, DONE[2]), DONE)
        issued = Quota("account.issuedPerDay", "minor-units", 5, 3, 60, 90000)
        self.assertEqual(c.redeem_gift(1, voucherID="v1").quotas,
                         (issued, Quota("key.giftsPerDay", "gifts", 100, 99, 60, 90000)))
        self.assertEqual(c.redeem_gift(1, voucherID="v1").quotas, (issued,))
        self.assertEqual(c.redeem_gift(1, voucherID="v1").quotas, ())

    def test_asks_and_reads(self):
        c, s = self.serve(DONE)
        got = c.redeem_gift(Decimal("5.10"), voucherID="v1", reference='a"é\r\n')
        self.assertEqual(str(got["amount"]) + str(got["currentBalance"]), "5.1019.90")
        self.assertEqual((got.request_id, got.replayed), ("req-9", True))
        asked = s.asked[0]
        self.assertEqual(asked, {"method": "POST", "path": "/api/integration/redemption/redeem-gift",
                                 "auth": "Bearer " + KEY, "key": got.idempotency_key,
                                 "body": '{"voucherID":"v1","reference":"a\\"\\u00e9\\r\\n","amount":5.10}'})
        self.assertRegex(asked["key"], "^.{8}-.{4}-7.{3}-[89ab].{3}-.{12}$")
        c.validate_gift(voucherCode="1")
        c.gift("a/../b?")
        c.gift("..")
        self.assertEqual([a["key"] for a in s.asked[1:]], [None] * 3)
        self.assertEqual([a["path"][-13:] for a in s.asked[2:]], ["a%2F..%2Fb%3F", "gifts/%2E%2E"[-13:].rjust(13, "/")])
        self.assertEqual(s.connections, 1, "the connection is not kept")

    def test_repeats_under_the_same_key(self):
        for first in [None, problem(500, "UNEXPECTED_ERROR"), problem(503, "UNAVAILABLE", Retry_After="0"),
                      problem(429, "RATE_LIMITED", Retry_After="0"), problem(409, "REQUEST_IN_PROGRESS"), (502, {}, b"<html>"),
                      (200, {"Content-Length": "99", "Connection": "close"}, b'{"amount":1')]:
            c, s = self.serve(first, first, DONE)
            self.assertEqual(c.redeem_gift(1, voucherID="v")["redemptionID"], "r1")
            self.assertEqual(len(s.asked), 3, first)
            self.assertEqual(len({a["key"] for a in s.asked}), 1)

    def test_refusals_are_raised_at_once(self):
        for status in (400, 401, 403, 404, 409, 422, 429):  # 429: the pause is above max_pause
            c, s = self.serve(problem(status, "SOME_CODE", Retry_After="7"))
            with self.assertRaises(BoonError) as raised:
                c.redeem_gift(1, voucherID="v")
            e = raised.exception
            self.assertEqual((e.code, e.status, e.messages[0].path, e.request_id, e.retry_after, e.refused),
                             ("SOME_CODE", status, "amount", "req-1", 7, True))
            self.assertEqual(len(s.asked), 1)
            self.assertIn("amount: Because.", str(e))

    def test_no_answer_is_an_unknown_outcome(self):
        c, s = self.serve(None)
        with self.assertRaises(UnknownOutcome) as raised:
            c.redeem_gift(1, voucherID="v", idempotency_key="mine")
        self.assertEqual((raised.exception.key, len(s.asked)), ("mine", 4))
        with self.assertRaises(Unreachable):
            c.gift("v")
        # A refusal of the moment says nothing about the attempt before, one after a look at the key does.
        c, s = self.serve(None, problem(429, "RATE_LIMITED"))
        self.assertRaises(UnknownOutcome, c.redeem_gift, 1, voucherID="v")
        c, s = self.serve(None, problem(409, "INSUFFICIENT_BALANCE"))
        self.assertRaises(BoonError, c.redeem_gift, 1, voucherID="v")
        # Webhooks, tills and people take no key.
        for path in ("webhooks", "tills", "people/set-pin"):
            c, s = self.serve(None)
            self.assertRaises(UnknownOutcome, c.call, "POST", "/api/integration/" + path, {"url": "https://x"})
            self.assertEqual([a["key"] for a in s.asked], [None])

    def test_what_is_not_the_services_is_no_answer(self):
        other = (200, {}, b'{"requestID":"req-9","voucherID":"v"}')  # of no redemption and no reversal
        for foreign in [*FOREIGN, other]:
            with self.subTest(str(foreign)[:99]):
                c, s = self.serve(foreign, foreign, DONE)
                self.assertEqual(c.redeem_safely(1, voucherID="v")["redemptionID"], "r1")
                self.assertEqual((len(s.asked), len({a["key"] for a in s.asked})), (3, 1))
                c, s = self.serve(foreign)
                with self.assertRaises(UnknownOutcome) as raised:
                    c.redeem_gift(1, voucherID="v", idempotency_key="mine")
                self.assertEqual((raised.exception.key, len(s.asked)), ("mine", 4))
                with self.assertRaises(UnknownOutcome) as raised:
                    c.redeem_safely(1, voucherID="v", idempotency_key="mine")
                self.assertEqual((raised.exception.key, len(s.asked)), ("mine", 10))
        for foreign in [*FOREIGN, other, DONE]:
            with self.subTest(void=str(foreign)[:99]):
                c, s = self.serve(None, None, None, foreign)
                with self.assertRaises(UnknownOutcome) as raised:
                    c.redeem_safely(1, voucherID="v", idempotency_key="mine")
                self.assertEqual((raised.exception.key, len(s.asked)), ("mine", 6))
                c, s = self.serve(None, None, None, foreign, UNDONE)
                self.assertRaises(Voided, c.redeem_safely, 1, voucherID="v")
                self.assertEqual(s.asked[3]["key"], s.asked[4]["key"])
        for foreign in FOREIGN:
            with self.subTest(look=str(foreign)[:99]):
                c, s = self.serve(foreign)
                for look in (lambda: c.gift("v"), lambda: next(c.gifts()), lambda: c.what_became_of("k")):
                    with self.assertRaises(BoonError) as failed:
                        look()
                    self.assertEqual((failed.exception.code, failed.exception.refused), ("", False))
                self.assertEqual(len(s.asked), 12)
                self.assertRaises(UnknownOutcome, c.call, "DELETE", "/api/integration/webhooks/w")
                c, s = self.serve(foreign, other)
                self.assertEqual(c.gift("v")["voucherID"], "v")

    def test_files(self):
        stock = "/api/integration/gifting/orders/o/stock?format=csv"
        c, s = self.serve((200, {"Content-Type": "text/csv; charset=utf-8"}, b"code\r\n1\r\n"))
        got = c.call("GET", stock)
        self.assertEqual((got.body, dict(got)), (b"code\r\n1\r\n", {}))
        for foreign in ((200, {"Content-Type": "text/csv"}, b""), (200, {"Content-Type": "text/html"}, b"<html>")):
            c, s = self.serve(foreign)
            self.assertRaises(BoonError, c.call, "GET", stock)
        c, s = self.serve((200, {}, b'{"openapi":"3.1.0"}'))  # which is no call of the interface
        self.assertEqual(c.call("GET", "/openapi.json")["openapi"], "3.1.0")

    def test_reports(self):
        c, s = self.serve((200, {"Content-Type": "application/json"},
                           b'{"report":{"rows":[{"closing":108.30}]},"requestID":"q"}'))
        noon = datetime(2026, 11, 30, 12, tzinfo=timezone(timedelta(hours=-5)))
        for got in (c.liability(), c.liability(noon, groupBy="program,month"), c.roll_forward(date(2026, 11, 1)),
                    c.redemptions("2026-11-01", noon, groupBy="day"), c.settlement("2026-11-01", date(2026, 11, 30)),
                    c.ageing(date(2026, 11, 30)), c.breakage(Decimal("7.5")), c.dormant(36, "2026-11-30")):
            self.assertEqual(str(got["report"]["rows"][0]["closing"]), "108.30")
        self.assertEqual([a["path"].rpartition("/reports/")[2] for a in s.asked], [
            "liability", "liability?at=2026-11-30T12%3A00%3A00-05%3A00&groupBy=program%2Cmonth",
            "roll-forward?from=2026-11-01",
            "redemptions?from=2026-11-01&to=2026-11-30T12%3A00%3A00-05%3A00&groupBy=day",
            "settlement?from=2026-11-01&to=2026-11-30", "ageing?at=2026-11-30", "breakage?rate=7.5",
            "dormant?months=36&at=2026-11-30"])
        self.assertRaises(ValueError, c.liability, datetime(2026, 11, 30))
        c, s = self.serve((200, {"Content-Type": "text/csv"}, b"closing\r\n"))
        self.assertEqual(c.call("GET", "/api/integration/reports/liability?format=csv").body, b"closing\r\n")

    def test_a_journal_is_whole(self):
        whole = {"Content-Digest": "sha-256=:yj0WO6sFU4GCciYUBWjzvvfqrBh869doeOC2Pp5EI1Y=:"}
        proof = '{"reportID":"r-1","sha256":"ca3d"}'
        digest = {**whole, "Boon-Proof": proof}
        for kind in ("text/csv", "application/json", "application/zip"):
            c, s = self.serve((200, {"Content-Type": kind, **digest}, b"{}\n"))
            journal = c.journal("2026-11-01", date(2026, 11, 30), format="xero")
            self.assertEqual((journal.body, journal.proof, journal), (b"{}\n", proof, json.loads(proof)))
            self.assertEqual(s.asked[0]["path"],
                             "/api/integration/reports/journal?from=2026-11-01&to=2026-11-30&format=xero")
        for headers, text in ((digest, b"{}"), ({"Content-Type": "text/csv"}, b"{}\n"), ({}, DONE[2]), (whole, b"{}\n"),
                              ({**whole, "Boon-Proof": "{}"}, b"{}\n"), ({**whole, "Boon-Proof": "[" * 100}, b"{}\n")):
            c, s = self.serve((200, headers, text))
            with self.assertRaises(BoonError) as failed:
                c.journal("2026-11-01")
            self.assertEqual((failed.exception.code, len(s.asked)), ("", 4))

    def test_who_never_left_is_unreachable(self):
        with socket.create_server(("127.0.0.1", 0)) as closed:
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
        c = Client(url, KEY, pause=0, max_pause=0)
        self.assertRaises(Unreachable, c.redeem_gift, 1, voucherID="v")
        self.assertRaises(Unreachable, c.redeem_safely, 1, voucherID="v")

    def test_pauses_have_bounds(self):
        c, s = self.serve(problem(503, "UNAVAILABLE", Retry_After="1"))
        self.assertRaises(UnknownOutcome, c.redeem_gift, 1, voucherID="v")
        self.assertEqual(len(s.asked), 1, "more than max_pause was waited for")
        c, s = self.serve(problem(503, "UNAVAILABLE", Retry_After="5"), max_pause=10, deadline=4)
        self.assertRaises(UnknownOutcome, c.redeem_gift, 1, voucherID="v")
        self.assertEqual(len(s.asked), 1, "the deadline was slept over")

    def test_a_till_waits_for_its_limit(self):
        for after, attempts in (("4", 3), ("8", 3), ("10", 2), ("11", 1)):
            c, s = self.serve(problem(429, "RATE_LIMITED", Retry_After=after), max_pause=10)
            slept = []
            clock = mock.Mock(wraps=time, monotonic=lambda: sum(slept), sleep=slept.append)
            with mock.patch("boon_gifts.client.time", clock), self.assertRaises(BoonError) as raised:
                c.redeem_safely(1, voucherID="v")
            self.assertEqual((raised.exception.code, len(s.asked)), ("RATE_LIMITED", attempts), after)
            self.assertTrue(all(float(after) <= pause < float(after) + 0.01 for pause in slept), slept)

    def test_a_trickle_does_not_hold_the_caller(self):
        done, all_sent = threading.Event(), threading.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        self.addCleanup(done.set)

        def trickle():
            sock, _ = listener.accept()
            with sock:
                sock.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                for _ in range(500):
                    if done.wait(0.02):
                        return
                    try:
                        sock.sendall(b"x")
                    except OSError:
                        return
                all_sent.set()

        threading.Thread(target=trickle, daemon=True).start()
        c = Client(f"http://127.0.0.1:{listener.getsockname()[1]}", KEY, timeout=0.2, attempts=1)
        self.assertRaises(UnknownOutcome, c.redeem_gift, 1, voucherID="v")
        self.assertFalse(all_sent.is_set())

    def test_redeem_safely_voids(self):
        for answer in (UNDONE, problem(404, "NOT_FOUND"), problem(409, "ALREADY_REVERSED")):
            c, s = self.serve(None, None, None, answer)
            limits, ask = [], c._transport.ask
            c._transport.ask = lambda *a: limits.append(a[-1]) or ask(*a)
            with self.assertRaises(Voided) as raised:
                c.redeem_safely(1, voucherID="v", organizationID="o", reference="r", idempotency_key="mine")
            self.assertEqual([a["key"] for a in s.asked[:3]], ["mine"] * 3)
            self.assertEqual((s.asked[3]["path"][-19:], s.asked[3]["body"]), ("/reverse-redemption",
                '{"organizationID":"o","voucherID":"v","idempotencyKey":"mine","operation":"redeem-gift",'
                '"reason":"no answer to the till"}'))
            self.assertEqual(raised.exception.key, "mine")
            self.assertNotEqual(s.asked[3]["key"], "mine")
            self.assertEqual(limits, [5] * 4)
        for answer in (None, problem(403, "NOT_AUTHORIZED")):
            c, s = self.serve(None, None, None, answer)
            with self.assertRaises(UnknownOutcome) as unknown:
                c.redeem_safely(1, voucherID="v", idempotency_key="mine")
            self.assertEqual(unknown.exception.key, "mine")
        c, s = self.serve(None, None, None, problem(422, "IDEMPOTENCY_MISMATCH"))
        with self.assertRaises(BoonError) as reused:
            c.redeem_safely(1, voucherCode="c", idempotency_key="mine")
        self.assertEqual(reused.exception.code, "IDEMPOTENCY_MISMATCH")
        self.assertIn('"voucherCode":"c"', s.asked[3]["body"])

    def test_money_is_no_float(self):
        c, s = self.serve(DONE)
        for amount in (9.5, True, "9.50", None):
            self.assertRaises(TypeError, c.redeem_gift, amount, voucherID="v")
            self.assertRaises(TypeError, c.redeem_safely, amount, voucherID="v")
        with self.assertRaisesRegex(TypeError, r"monetaryGift\.value"):
            c.send_gift(monetaryGift={"value": 25.0})
        self.assertRaises(TypeError, c.call, "POST", "/x", {"a": [1.5]})
        for amount in ("NaN", "Infinity", "1E+400000"):
            self.assertRaises(ValueError, c.redeem_gift, Decimal(amount), voucherID="v")
        self.assertEqual(s.asked, [])
        c.redeem_gift(Decimal("1E+2"), voucherID="v")
        c.redeem_gift(ALL, voucherID="v")
        self.assertEqual([a["body"] for a in s.asked], ['{"voucherID":"v","amount":100}', '{"voucherID":"v"}'])

    def test_nothing_is_slipped_in(self):
        for url in ("", "gifts.example.com", "ftp://x", "http://", "https://user:secret@host", "https://h?key=1",
                    "https://h#x", "https://h\x00", "https://h/\r\nX: y", "https://h ost"):
            with self.assertRaises(ValueError) as raised:
                Client(url, KEY)
            self.assertNotIn("secret", str(raised.exception))
        for key in ("", "a b", "a\r\nX: y", "a\n", "é"):
            self.assertRaises(ValueError, Client, "https://host", key)
        c, s = self.serve(DONE)
        for key in ("", " a", "a ", "a\r\nX: y", "a\n", "é", "a" * 256):
            self.assertRaises(ValueError, c.redeem_gift, 1, idempotency_key=key)
            self.assertRaises(ValueError, c.redeem_safely, 1, idempotency_key=key)
        for path in ("", "x", "/a b", "/a\r\nX: y", "/a\n", "http://other/"):
            self.assertRaises(ValueError, c.call, "GET", path)
        self.assertRaises(ValueError, c.call, "GET /x HTTP/1.1\r\nX: y\r\n", "/x")
        self.assertRaises(ValueError, c.gift, "")
        self.assertEqual(s.asked, [])
        self.assertNotIn(KEY, repr(c))

    def test_no_redirect_takes_the_key(self):
        other = self.serve(DONE)[1]
        c, s = self.serve((307, {"Location": other.url + "/api"}, b""))
        self.assertRaises(BoonError, c.gift, "v")
        self.assertRaises(UnknownOutcome, c.redeem_gift, 1, voucherID="v")
        self.assertEqual((len(s.asked), other.asked), (2, []))

    def test_certificates_are_checked(self):
        loose = ssl._create_unverified_context()
        self.assertRaises(ValueError, Client, "https://host", KEY, tls=loose)
        s = Scripted(lambda n: DONE)  # which speaks no TLS
        self.addCleanup(s.close)
        with self.assertRaises(Unreachable):
            Client(s.url.replace("http:", "https:"), KEY).redeem_gift(1, voucherID="v")
        self.assertEqual(s.asked, [])

    def test_pages(self):
        c, s = self.serve((200, {}, b'{"gifts":[{"n":1},{"n":2}],"nextCursor":"c&1","requestID":"1"}'),
                          (200, {}, b'{"gifts":[],"nextCursor":"c2","requestID":"2"}'),
                          (200, {}, b'{"gifts":[{"n":3}],"nextCursor":null,"requestID":"3"}'),
                          account="acct")
        self.assertEqual([g["n"] for g in c.gifts(status="CLAIMED", limit=2, recipient=None)], [1, 2, 3])
        self.assertEqual(s.asked[1]["path"],
                         "/api/integration/gifting/gifts?status=CLAIMED&limit=2&cursor=c%261&accountID=acct")

    @unittest.skipUnless(hasattr(os, "fork"), "there is no fork")
    def test_a_child_makes_its_own_connection(self):
        c, s = self.serve(DONE)
        c.gift("v")
        pid = os.fork()
        if pid == 0:
            try:
                c.gift("v")
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        self.assertEqual((len(s.asked), s.connections), (2, 2))

    def test_failures_pass_between_processes(self):
        for e in (BoonError("NOT_FOUND", 404, [Message("amount", "Because.")], "req-1", 7), Unreachable("why"),
                  UnknownOutcome("redeem-gift", "mine", "why"), Voided("mine")):
            copy = pickle.loads(pickle.dumps(e))
            self.assertEqual((str(copy), vars(copy)), (str(e), vars(e)))

    def test_keys_differ(self):
        self.assertEqual(len({new_key() for _ in range(1000)}), 1000)


if __name__ == "__main__":
    unittest.main()
