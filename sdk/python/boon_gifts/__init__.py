"""The Python client of Boon, a service for gifts."""

from .client import ALL, Answer, Client, Quota, new_key
from .errors import BoonError, Failure, Message, NotDry, Unreachable, UnknownOutcome, Voided
from .webhooks import BadSignature, read_event, verify

__all__ = ["ALL", "Answer", "BadSignature", "BoonError", "Client", "Failure", "Message", "NotDry",
           "Quota", "Unreachable", "UnknownOutcome", "Voided", "new_key", "read_event", "verify"]
