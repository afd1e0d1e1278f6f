"""An example: a web shop that sells a gift, and a till that takes it. It plays against a running service:

    BOON_URL=http://127.0.0.1:8080 PYTHONPATH=. python3 examples/shop.py

Without keys in BOON_SHOP_KEY and BOON_TILL_KEY it uses those of boon demo.
"""

import os
from decimal import Decimal
from typing import Any, Dict

from boon_gifts import ALL, BoonError, Client, new_key


def client(name: str, otherwise: str) -> Client:
    """A client with the key that a variable of the environment has."""
    return Client(os.environ.get("BOON_URL", "http://127.0.0.1:8080"), os.environ.get(name, otherwise))


def sell(shop: Client) -> Dict[str, Any]:
    """Sends a gift that was paid in the shop. A shop keeps the key with the order: a page sent twice sells once."""
    order = shop.send_gift(
        monetaryGift={"value": Decimal("25.00"), "deliveryMethodID": 3, "recipientDescription": "Ana"},
        paymentMethodID=2,
        externalTransactionReferenceNumber="WEB-1001",
        externalTransactionCustomerFirstName="Carla",
        externalTransactionCustomerLastName="Diaz",
        externalTransactionCustomerEmailAddress="carla@example.com",
        externalStorefrontID="7d3f0a52-8a55-4b5e-9d0c-0d8f6a3f1c21",
        idempotency_key="order-" + new_key(),
    )
    gift: Dict[str, Any] = order["gifts"][0]
    print("sold:", gift["currentBalance"], gift["currency"], "for", gift["recipientDescription"])
    return gift


def take(till: Client, gift: Dict[str, Any]) -> None:
    """What a till does: asks what the gift is worth, takes a part, is refused more than is left, and gives back."""
    shown = till.validate_gift(voucherPublicToken=gift["giftURL"])
    print("worth:", shown["currentBalance"])

    key = new_key()  # kept with the sale before it is used
    # BoonError, Voided, Unreachable and UnknownOutcome tell what to do.
    paid = till.redeem_safely(Decimal("9.50"), voucherID=shown["voucherID"], reference="check 1", idempotency_key=key)
    print("taken:", paid["amount"], "left:", paid["currentBalance"])

    try:
        till.redeem_safely(20, voucherID=shown["voucherID"])
    except BoonError as refusal:
        print("refused:", refusal.code)

    back = till.reverse_redemption(ALL, original_key=key, reason="wrong table")
    print("given back:", back["amount"], "left:", back["currentBalance"])


def main() -> None:
    shop = client("BOON_SHOP_KEY", "boon_test_demo_only_harbor_coffee_web_shop")
    till = client("BOON_TILL_KEY", "boon_test_demo_only_harbor_coffee_till")
    gift = sell(shop)
    take(till, gift)
    print("history:", *(entry["kind"] for entry in shop.history(gift["voucherID"])))


if __name__ == "__main__":
    main()
