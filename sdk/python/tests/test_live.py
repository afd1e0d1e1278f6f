"""The client against a running service. BOON_URL, BOON_SHOP_KEY, BOON_TILL_KEY and BOON_OFFICE_KEY are in the
environment, as test/sdk sets them; the last may do everything."""

import hashlib
import json
import os
import re
import ssl
import unittest
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta, timezone
from decimal import Decimal

from boon_gifts import ALL, BoonError, Client, Unreachable, UnknownOutcome, Voided, new_key, verify

from .lines import Losing

URL = os.environ.get("BOON_URL", "")


@unittest.skipUnless(URL, "there is no BOON_URL")
class LiveTest(unittest.TestCase):
    def setUp(self):
        self.shop, self.till, self.office = (self.client(URL, os.environ[f"BOON_{who}_KEY"])
                                             for who in ("SHOP", "TILL", "OFFICE"))

    def client(self, *args, **options):
        c = Client(*args, **options)
        self.addCleanup(c.close)
        return c

    def sell(self, value="25.00", **gift):
        order = self.shop.send_gift(
            monetaryGift={"value": Decimal(value), "deliveryMethodID": 3, "recipientDescription": "Ana", **gift},
            paymentMethodID=2, externalTransactionReferenceNumber=new_key(),
            externalTransactionCustomerFirstName="Carla", externalTransactionCustomerLastName="Diaz",
            externalTransactionCustomerEmailAddress="carla@example.com",
            externalStorefrontID="7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21")
        return order["gifts"][0]["voucherID"]

    def kinds(self, gift):
        return [e["kind"] for e in self.shop.history(gift)]

    def behind(self, lose):
        """The till behind a line that loses answers."""
        proxy = Losing(URL, lose)
        self.addCleanup(proxy.close)
        return self.client(proxy.url, os.environ["BOON_TILL_KEY"], pause=0.01, max_pause=0.1), proxy

    def test_a_lost_answer_takes_money_once(self):
        gift = self.sell()
        once = []
        till, proxy = self.behind(lambda r: b"/redeem-gift " in r and not once and not once.append(r))
        got = till.redeem_gift(Decimal("9.50"), voucherID=gift)
        self.assertEqual((proxy.lost, got.replayed), (1, True))
        self.assertEqual(str(self.shop.gift(gift)["currentBalance"]), "15.50")
        self.assertEqual(self.kinds(gift), ["ISSUED", "REDEMPTION"])

    def test_a_dry_run_takes_nothing(self):
        gift = self.sell()
        dry = self.till.dry_run()
        for _ in range(2):
            told = dry.redeem_gift(Decimal("9.50"), voucherID=gift)
            self.assertEqual((told["dryRun"], str(told["currentBalance"])), (True, "15.50"))
        with self.assertRaises(BoonError) as refused:
            dry.redeem_gift(26, voucherID=gift)
        self.assertEqual(refused.exception.code, "INSUFFICIENT_BALANCE")
        self.assertEqual(self.kinds(gift), ["ISSUED"])
        self.till.redeem_gift(Decimal("9.50"), voucherID=gift)
        self.assertEqual(self.kinds(gift), ["ISSUED", "REDEMPTION"])

    def test_a_dead_line_is_voided(self):
        gift = self.sell()
        till, proxy = self.behind(lambda r: b"/redeem-gift " in r)
        with self.assertRaises(Voided) as raised:
            till.redeem_safely(Decimal("9.50"), voucherID=gift)
        self.assertEqual(proxy.lost, 3)
        self.assertEqual(str(self.shop.gift(gift)["currentBalance"]), "25.00")
        self.assertEqual(self.kinds(gift), ["ISSUED", "REDEMPTION", "REVERSAL"])
        with self.assertRaises(BoonError):  # the money is back, so the key is spent or answered, and takes nothing
            self.till.reverse_redemption(ALL, original_key=raised.exception.key)

    def test_unknown_is_found_out_by_the_key(self):
        gift = self.sell()
        till, _ = self.behind(lambda r: b"POST " in r)
        with self.assertRaises(UnknownOutcome) as raised:
            till.redeem_safely(Decimal("9.50"), voucherID=gift)
        key = raised.exception.key
        became = self.till.what_became_of(key, "redeem-gift")
        self.assertEqual((became[0]["state"], became[0]["status"], str(became[0]["answer"]["amount"])),
                         ("finished", 200, "9.50"))
        with self.assertRaises(BoonError) as never:
            self.till.what_became_of(new_key())
        self.assertEqual(never.exception.code, "NOT_FOUND")

    def test_hold_capture_release(self):
        gift = self.sell()
        held = self.till.hold_gift(12, voucherID=gift)
        self.assertEqual(str(held["availableBalance"]), "13.00")
        taken = self.till.capture_hold(Decimal("4.25"), holdID=held["holdID"])
        self.assertEqual(str(taken["currentBalance"]), "20.75")
        key = new_key()
        self.till.hold_gift(ALL, voucherID=gift, idempotency_key=key)
        self.assertEqual(str(self.till.release_hold(original_key=key)["availableBalance"]), "20.75")

    def test_refusals(self):
        gift = self.sell()
        for call, code in ((lambda: self.till.redeem_gift(26, voucherID=gift), "INSUFFICIENT_BALANCE"),
                           (lambda: self.till.gift("none"), "NOT_AUTHORIZED"),
                           (lambda: self.client(URL, "wrong").gift(gift), "UNAUTHENTICATED"),
                           (lambda: self.till.redeem_gift(Decimal("0.001"), voucherID=gift), "VALIDATION_FAILURE"),
                           (lambda: self.till.activate_gift(voucherID=gift), "NOT_AUTHORIZED"),
                           (lambda: self.office.activate_gift(voucherID=gift), "VALIDATION_FAILURE")):
            with self.assertRaises(BoonError) as raised:
                call()
            self.assertEqual(raised.exception.code, code, raised.exception)
            self.assertTrue(raised.exception.request_id)

    def test_threads_share_a_client(self):
        gift = self.sell()
        with ThreadPoolExecutor(8) as threads:
            refs = [f"check {n}" for n in range(40)]
            got = list(threads.map(lambda r: self.till.redeem_gift(Decimal("0.10"), voucherID=gift, reference=r), refs))
        self.assertEqual([g["reference"] for g in got], refs, "an answer went to another caller")
        self.assertEqual(str(self.shop.gift(gift)["currentBalance"]), "21.00")

    @unittest.skipUnless("BOON_TLS_URL" in os.environ, "there is no BOON_TLS_URL")
    def test_over_tls(self):
        gift, url, key = self.sell(), os.environ["BOON_TLS_URL"], os.environ["BOON_TILL_KEY"]
        known = ssl.create_default_context(cafile=os.environ["BOON_TLS_CERT"])
        till = self.client(url, key, tls=known)
        for left in ("24.00", "23.00"):
            self.assertEqual(str(till.redeem_gift(1, voucherID=gift)["currentBalance"]), left)
        named = self.client(url.replace("127.0.0.1", "localhost"), key, tls=known)  # which is not in the certificate
        for other in (self.client(url, key), named):
            with self.assertRaisesRegex(Unreachable, "certificate verify failed"):
                other.redeem_gift(1, voucherID=gift)
        self.assertEqual(len(self.kinds(gift)), 3)

    def test_a_card_is_sold_and_loaded(self):
        paid = {"externalTransactionReferenceNumber": new_key(), "externalTransactionCustomerFirstName": "Carla",
                "externalTransactionCustomerLastName": "Diaz",
                "externalTransactionCustomerEmailAddress": "carla@example.com",
                "externalStorefrontID": "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21"}
        at = {"organizationID": "7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c11"}
        order = self.office.call("POST", "/api/integration/gifting/create-stock",
                                 {"count": 1, "activationCodes": True})["orderID"]
        cards = self.office.call("GET", f"/api/integration/gifting/orders/{order}/stock?format=csv").body.decode()
        self.assertRegex(cards, "^code,lastFour,.*\r?\n[0-9]{12},")
        card = next(self.office.gifts(orderID=order))["voucherID"]
        number = re.search("\n[0-9]{12},.*,([0-9]{16}),", cards).group(1)
        sold = self.office.activate_gift(activationCode=number, amount=Decimal("20.50"), paymentMethodID=2, **at, **paid)
        self.assertEqual(sold["voucherID"], card)
        self.assertEqual(str(sold["currentBalance"]), "20.50")
        loaded = self.office.reload_gift(voucherID=card, amount=5, **at, **paid)
        self.assertEqual(str(loaded["currentBalance"]), "25.50")

    def test_the_books_close(self):
        self.till.redeem_gift(Decimal("9.50"), voucherID=self.sell())
        now = datetime.now(timezone.utc)
        rolled = self.office.roll_forward(now - timedelta(days=2))["report"]
        owed = self.office.liability(rolled["to"])["report"]
        rows = [r for r in rolled["rows"] if r["unit"] == "MONEY"]
        self.assertTrue(rows)
        for row in rows:
            lines = [v for name, v in row.items() if name not in ("closing", "bonus") and isinstance(v, Decimal)]
            self.assertEqual(sum(lines), row["closing"], row)
        self.assertEqual(sum(r["closing"] for r in rows), sum(r["owed"] for r in owed["rows"] if r["unit"] == "MONEY"))
        taken = self.office.redemptions(now - timedelta(days=2), groupBy="key")["report"]["rows"]
        self.assertGreaterEqual(sum(r["redeemed"] for r in taken), Decimal("9.50"))
        due = self.office.settlement(now - timedelta(days=2))["report"]
        self.assertTrue(due["rows"] and due["payments"])
        aged = self.office.ageing(rolled["to"])["report"]["rows"]
        self.assertEqual(sum(r["owed"] for r in aged if r["unit"] == "MONEY"), sum(r["closing"] for r in rows))
        lost = self.office.breakage(Decimal("7.5"), rolled["to"])["report"]
        self.assertTrue(lost["rate"] == Decimal("7.5") and any(r["estimate"] > 0 for r in lost["rows"]))
        self.assertEqual((sum(r["toBook"] for r in lost["totals"]), lost["bookings"]),
                         (sum(r["estimate"] for r in lost["rows"]), []))
        self.assertEqual(self.office.dormant(1, rolled["to"])["report"]["rows"], [])

        day = now.date()
        journal = self.office.journal(day - timedelta(days=9), day - timedelta(days=3))
        self.assertIn(b"debit", journal.body.lower())
        self.assertEqual((journal["name"], journal["format"], journal["sha256"]),
                         ("journal", "csv", hashlib.sha256(journal.body).hexdigest()))
        self.assertEqual(json.loads(journal.proof), journal)
        self.assertTrue(journal["reportID"] and journal["chains"])
        with self.assertRaises(BoonError) as raised:
            self.office.journal(day + timedelta(days=2))
        self.assertEqual(raised.exception.code, "VALIDATION_FAILURE")

    def test_a_webhook_signs_with_its_secret(self):
        made = self.office.call("POST", "/api/integration/webhooks", {"url": "https://example.com/boon"})
        self.assertIsNone(made.idempotency_key)
        with self.assertRaises(BoonError):
            self.office.call("PATCH", "/api/integration/webhooks/none", {"enabled": False})
        self.office.call("DELETE", "/api/integration/webhooks/" + made["webhookID"])
        self.assertFalse(verify(made["secret"], {}, b"{}"))  # which it could not say of what is no secret

    def test_gifts_of_a_customer(self):
        gift, customer = self.sell(), "C-" + new_key()
        self.assertEqual(self.office.link_customer(voucherID=gift, customerID=customer)["outcome"], "DONE")
        self.assertEqual([g["voucherID"] for g in self.office.gifts(customerID=customer)], [gift])
        with self.assertRaises(BoonError) as refused:
            self.office.link_customer(voucherID=gift, customerID="another")
        self.assertEqual(refused.exception.code, "ALREADY_LINKED")
        self.assertEqual(self.office.unlink_customer(voucherID=gift, customerID=customer)["outcome"], "DONE")
        self.assertEqual(list(self.office.gifts(customerID=customer)), [])

    def test_lists_and_cancels(self):
        gifts = {self.sell() for _ in range(3)}
        self.assertLessEqual(gifts, {g["voucherID"] for g in self.shop.gifts(limit=2)})
        done = self.shop.cancel_gift(voucherID=gifts.pop(), cause="CANCELLED")
        self.assertEqual(done["vouchers"][0]["outcome"], "DONE")
        gift = gifts.pop()
        self.shop.call("POST", "/api/integration/gifting/resend-gift",
                       {"voucherID": gift, "deliveryMethodID": 1, "recipientContact": "sam@example.com"})
        self.assertIn("RESENT", self.kinds(gift))


if __name__ == "__main__":
    unittest.main()
