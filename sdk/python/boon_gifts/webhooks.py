"""Messages of webhooks, signed as https://www.standardwebhooks.com has it."""

import base64
import hashlib
import hmac
import json
import re
import time
from decimal import Decimal
from typing import Any, Dict, Mapping, Optional

TOLERANCE = 300  # seconds between the clocks


class BadSignature(Exception):
    """The message was not signed with the secret, or not just now."""


def verify(secret: str, headers: Mapping[str, str], body: bytes, now: Optional[float] = None) -> bool:
    """Tells whether the service sent this message, less than five minutes ago. body is the one that came, not one
    that was read and written again. The names of headers may have capitals; now is time.time()."""
    named = {name.lower(): value for name, value in headers.items()}
    message, sent = named.get("webhook-id", ""), named.get("webhook-timestamp", "")
    if not message or not re.fullmatch("[0-9]{1,12}", sent):
        return False
    if abs((time.time() if now is None else now) - int(sent)) > TOLERANCE:
        return False
    key = base64.b64decode(secret[6:] if secret.startswith("whsec_") else secret, validate=True)
    if len(key) < 16:  # it was not filled in
        raise ValueError("the secret is not one of a webhook")
    text = f"{message}.{sent}.".encode("utf-8", "surrogateescape") + body
    want = b"v1," + base64.b64encode(hmac.new(key, text, hashlib.sha256).digest())
    good = False
    for signature in named.get("webhook-signature", "").split():
        good |= hmac.compare_digest(signature.encode("utf-8", "surrogateescape"), want)
    return good


def read_event(secret: str, headers: Mapping[str, str], body: bytes) -> Dict[str, Any]:
    """The event in a message, amounts as Decimal; BadSignature where verify is false."""
    if not verify(secret, headers, body):
        raise BadSignature("the message is not one of Boon's, or old")
    event: Dict[str, Any] = json.loads(body, parse_float=Decimal)
    return event
