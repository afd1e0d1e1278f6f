"""Calls of the service."""

import base64
import copy
import email.utils
import hashlib
import http.client
import json
import os
import random
import re
import ssl
import time
import uuid
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, cast
from urllib.parse import quote, urlencode, urlsplit

from .errors import BoonError, Failure, Message, NotDry, Unreachable, UnknownOutcome, Voided
from .transport import NotSent, Reply, Transport

_API = "/api/integration/"
_WITH_RECEIPT = tuple(_API + "redemption/" + what for what in (
    "redeem-gift", "capture-hold", "reload-gift", "cash-out-gift", "activate-gift"))
_KEYLESS = tuple(_API + what for what in ("webhooks", "tills", "people", "reports"))  # they take no Idempotency-Key
_PROBLEM = "application/problem+json"
_TELLS = {"redeem-gift": "redemptionID", "reverse-redemption": "reversalID"}  # beside what every answer has
_VISIBLE = re.compile("[!-~]+")
_NAMES_A_CALL = re.compile("[!-~]([ -~]{0,253}[!-~])?")


class _All:
    def __repr__(self) -> str:
        return "ALL"


ALL = _All()  # in place of an amount: all that is left
Amount = Union[Decimal, int, _All]
Day = Union[date, str]  # such as 2026-11-30, a day of the account
When = Union[datetime, Day]  # an instant, or a day


class Quota(NamedTuple):
    """A daily limit that a call counted against, and what is left of it."""

    name: str  # whose limit it is, and which, such as key.giftsPerDay
    unit: str  # what it counts, such as gifts, or minor-units of the account's currency
    limit: int  # how many a day
    left: int  # of the day's
    resets: int  # in how many seconds it counts anew
    window: int  # how many seconds the day has


class Answer(Dict[str, Any]):
    """The members of an answer, amounts as Decimal, and what came beside them."""

    request_id: str = ""
    idempotency_key: Optional[str] = None  # under which the call was made
    body: bytes = b""  # as it came: of an export or a journal, the file
    proof: str = ""  # of a journal, what proves it, in JSON; its members are those of the answer
    replayed: bool = False  # the service had given this answer before; nothing happened twice
    quotas: Tuple[Quota, ...] = ()  # the daily limits that the call counted against; none: nothing was done


def new_key() -> str:
    """An Idempotency-Key: a UUIDv7. A caller that must be able to ask about a call after a crash makes the key first
    and keeps it; else the call makes one."""
    b = bytearray(int(time.time() * 1000).to_bytes(6, "big") + os.urandom(10))
    b[6], b[8] = b[6] & 0x0F | 0x70, b[8] & 0x3F | 0x80
    return str(uuid.UUID(bytes=bytes(b)))


class Client:
    """Calls one service with one API key. Members of requests and answers have the names of the service's reference.

    Every call that changes something is made under an Idempotency-Key and is repeated with it while there is no answer,
    or 5xx, 429 or REQUEST_IN_PROGRESS. It raises BoonError (the service's no), UnknownOutcome, or Unreachable.
    timeout limits each attempt, deadline the whole call, in seconds; a Retry-After above max_pause is not waited for.
    """

    def __init__(self, base_url: str, key: str, timeout: float = 60, *, attempts: int = 4, deadline: float = 150,
                 pause: float = 0.25, max_pause: float = 10, account: Optional[str] = None,
                 tls: Optional[ssl.SSLContext] = None) -> None:
        if not _VISIBLE.fullmatch(base_url):
            raise ValueError("the base address is not a URL such as https://gifts.example.com")
        u = urlsplit(base_url)
        if u.scheme not in ("http", "https") or not u.hostname:
            raise ValueError("the base address must begin with http:// or https:// and name a host")
        if "@" in u.netloc or "?" in base_url or "#" in base_url:
            raise ValueError("the base address must not hold a user name, a query or a fragment")
        if not _VISIBLE.fullmatch(key):
            raise ValueError("the API key must be visible ASCII characters, and at least one")
        if attempts < 1 or timeout <= 0 or deadline <= 0 or not 0 <= pause <= max_pause:
            raise ValueError("attempts, timeout and deadline must be above 0, and max_pause not below pause")
        if u.scheme == "https":
            tls = tls or ssl.create_default_context()
            if tls.verify_mode != ssl.CERT_REQUIRED or not tls.check_hostname:
                raise ValueError("the TLS context must check certificates and the names in them")
        self._base = base_url.rstrip("/")
        self._path, self._key, self._account = u.path.rstrip("/"), key, account
        self._timeout, self._attempts, self._deadline = timeout, attempts, deadline
        self._pause, self._max_pause = pause, max_pause
        self._dry = self._receipts = False
        self._transport = Transport(u.hostname, u.port or (443 if u.scheme == "https" else 80),
                                    tls if u.scheme == "https" else None)

    def __repr__(self) -> str:
        return f"Client({self._base!r})"  # without the key

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections that are kept; the next call makes a new one."""
        self._transport.close()

    def dry_run(self) -> "Client":
        """A client whose calls change nothing: operations on gifts answer what they would, with ids that name nothing,
        and refuse what they would refuse. What has no dry run is refused with NOT_SUPPORTED. A service before 0.2.0 has
        no dry runs and does what it is asked: then the call raises NotDry."""
        dry = copy.copy(self)  # with the same connections
        dry._dry = True
        return dry

    def receipts(self) -> "Client":
        """A client whose redemptions of one gift, captures, reloads, cash-outs and activations are answered with a
        receipt: receipt["lines"] are at most 6 lines of at most 32 columns, which a till prints."""
        told = copy.copy(self)
        told._receipts = True
        return told

    # What moves value.

    def send_gift(self, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Creates gifts, all or none, and sends them."""
        return self._do("gifting/send-gift", members, idempotency_key)

    def validate_gift(self, **members: Any) -> Answer:
        """Tells what a gift is worth here and now, and why it cannot be redeemed. It changes nothing."""
        return self._do("redemption/validate-gift", members, None)

    def redeem_gift(self, amount: Amount, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Takes money, or pieces, from a gift. What it returns is durable. A till uses redeem_safely."""
        return self._do("redemption/redeem-gift", _how_much(amount, members), idempotency_key)

    def redeem_safely(self, amount: Amount, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Redeems as a till must, so that the guest never pays twice and never for nothing: three tries of 5 seconds
        under one key; without an answer the redemption is reversed by that key, in another three tries. It ends in one
        of these, within 40 seconds once the service's name is looked up:

        - an answer: the amount was taken, once;
        - BoonError: nothing was taken, because of what the error says (IDEMPOTENCY_MISMATCH: the key was used before, for
          another sale); Unreachable: nothing was sent;
        - Voided: nothing is taken, whatever became of the attempts;
        - UnknownOutcome: the reversal got no answer either. Keep its key, and call reverse_redemption(ALL,
          original_key=key) with the gift until there is an answer.
        """
        key = new_key() if idempotency_key is None else idempotency_key
        body = _how_much(amount, members)
        till = 3, 5.0, 20.0  # attempts; seconds for each, and for all
        try:
            return self._do("redemption/redeem-gift", body, key, *till)
        except UnknownOutcome as unknown:
            same = ("organizationID", "pointOfSaleSystemOrganizationIdentifier", "voucherID", "voucherCode",
                    "voucherPublicToken")
            void = {m: body[m] for m in same if m in body}
            void.update(idempotencyKey=key, operation="redeem-gift", reason="no answer to the till")
            try:
                self._do("redemption/reverse-redemption", void, None, *till)
            except Failure as e:
                code = getattr(e, "code", "")
                if code == "IDEMPOTENCY_MISMATCH":  # what was taken under this key is another sale's
                    raise
                if code not in ("NOT_FOUND", "ALREADY_REVERSED"):
                    raise UnknownOutcome("redeem-gift", key, f"{unknown.__cause__}; it could not be voided: {e}") from e
            raise Voided(key) from unknown.__cause__

    def reverse_redemption(self, amount: Amount, *, original_key: Optional[str] = None,
                           idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Gives back what a redemption took, named by its redemptionID or by the Idempotency-Key it was made with.
        By original_key, NOT_FOUND is good news: it never arrived, and will be refused should it still come. With the
        gift beside it (voucherID=..., as it was redeemed), a key that another sale had used gives nothing back."""
        body = _how_much(amount, _original(original_key, members))
        return self._do("redemption/reverse-redemption", body, idempotency_key)

    def redeem_gifts(self, gifts: List[Mapping[str, Any]], *, idempotency_key: Optional[str] = None,
                     **members: Any) -> Answer:
        """Has several gifts pay for one sale, in their order, all or none. What is to be paid is upTo=... or
        ticketData=...; without either, each gift pays its amount, or all that is available. If there is no answer, call
        reverse_redemption(ALL, original_key=key, operation="redeem-gifts")."""
        return self._do("redemption/redeem-gifts", {"gifts": gifts, **members}, idempotency_key)

    def hold_gift(self, amount: Amount, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Keeps an amount until it is captured or released, or its time is over."""
        return self._do("redemption/hold-gift", _how_much(amount, members), idempotency_key)

    def capture_hold(self, amount: Amount, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Redeems what is held."""
        return self._do("redemption/capture-hold", _how_much(amount, members), idempotency_key)

    def release_hold(self, *, original_key: Optional[str] = None, idempotency_key: Optional[str] = None,
                     **members: Any) -> Answer:
        """Ends a hold, named by its holdID or by the Idempotency-Key it was made with."""
        return self._do("redemption/release-hold", _original(original_key, members), idempotency_key)

    def cancel_gift(self, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Takes gifts out of use: all or none, unless skipNotAllowed says otherwise."""
        return self._do("gifting/cancel-gift", members, idempotency_key)

    def activate_gift(self, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Gives a card of a stock its value."""
        return self._do("redemption/activate-gift", members, idempotency_key)

    def reload_gift(self, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Puts more value into a gift."""
        return self._do("redemption/reload-gift", members, idempotency_key)

    def link_customer(self, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Links a gift (voucherID) to a customer of yours (customerID): gifts(customerID=...) finds it."""
        return self._do("gifting/link-customer", members, idempotency_key)

    def unlink_customer(self, *, idempotency_key: Optional[str] = None, **members: Any) -> Answer:
        """Ends the link of a gift (voucherID), if it is to the customerID or none is given."""
        return self._do("gifting/unlink-customer", members, idempotency_key)

    # What only looks.

    def gift(self, voucher_id: str) -> Answer:
        """Finds a gift by its voucherID."""
        return self.call("GET", _API + "gifting/gifts/" + _segment(voucher_id))

    def gifts(self, **filters: Any) -> Iterator[Dict[str, Any]]:
        """Goes through the gifts of the account, the newest first, fetching pages (of limit gifts) as needed."""
        return self._pages(_API + "gifting/gifts", "gifts", filters)

    def history(self, voucher_id: str) -> Iterator[Dict[str, Any]]:
        """Goes through everything that happened to a gift, the oldest first."""
        return self._pages(_API + "gifting/gifts/" + _segment(voucher_id) + "/history", "entries", {})

    def what_became_of(self, key: str, operation: Optional[str] = None) -> List[Dict[str, Any]]:
        """Tells of the calls that were made under an Idempotency-Key, one for each operation. A key that never arrived
        is NOT_FOUND."""
        asked = "?" + urlencode({"operation": operation}) if operation else ""
        requests: List[Dict[str, Any]] = self.call("GET", _API + "requests/" + _segment(key) + asked)["requests"]
        return requests

    # The books. An answer has the rows of a report in report, and beside that what proves them.

    def liability(self, at: Optional[When] = None, *, groupBy: Optional[str] = None) -> Answer:
        """Tells what was owed for gifts: now, at an instant, or at the end of a day. groupBy is such as
        "program,month"."""
        return self._report("liability", {"at": at, "groupBy": groupBy})

    def roll_forward(self, from_: When, to: Optional[When] = None) -> Answer:
        """Tells how what was owed changed in a period: from an instant or the beginning of a day on, up to an instant,
        the end of a day, or now. The opening and all lines come to the closing."""
        return self._report("roll-forward", {"from": from_, "to": to})

    def redemptions(self, from_: When, to: Optional[When] = None, *, groupBy: Optional[str] = None) -> Answer:
        """Tells what was redeemed in a period, given back, and paid out in cash. groupBy is such as
        "organization,day"."""
        return self._report("redemptions", {"from": from_, "to": to, "groupBy": groupBy})

    def settlement(self, from_: When, to: Optional[When] = None) -> Answer:
        """Tells what was sold at one location and used at another one in a period, what legal entities owe each other
        for that, and the payments that settle it."""
        return self._report("settlement", {"from": from_, "to": to})

    def ageing(self, at: Optional[When] = None) -> Answer:
        """Tells what was owed by the month in which it was sold, and which share of that month was redeemed."""
        return self._report("ageing", {"at": at})

    def breakage(self, rate: Union[Decimal, int], at: Optional[When] = None) -> Answer:
        """Estimates how much of what was owed will never be redeemed, and tells what was booked of it before. rate is
        how much of what is sold never is, in percent."""
        return self._report("breakage", {"rate": rate, "at": at})

    def book_breakage(self, month: str, rate: Union[Decimal, int]) -> Answer:
        """Books the breakage of a month that is over, such as "2026-11", once: what the estimate at its end adds to what
        was booked before."""
        return self.call("POST", f"{_API}reports/breakage/book", {"month": month, "rate": rate})

    def dormant(self, months: int, at: Optional[When] = None) -> Answer:
        """Tells how many gifts nobody had used for so many months, and what was owed for them, by jurisdiction."""
        return self._report("dormant", {"months": months, "at": at})

    def journal(self, from_: Day, to: Optional[Day] = None, *, format: str = "csv") -> Answer:
        """Gives the entries of whole days, up to yesterday, for the ledger of the merchant: body is a file. The formats
        are csv, datev, xero, quickbooks and hledger. The members tell what the journal is of, its reportID and sha256.
        Who keeps body as FILE and proof as FILE.proof.json can have it proved by boon report verify FILE."""
        return self._report("journal", {"from": from_, "to": to, "format": format})

    def _report(self, name: str, asked: Mapping[str, Any]) -> Answer:
        return self.call("GET", f"{_API}reports/{name}" + _query(asked))

    def call(self, method: str, path: str, body: Union[Mapping[str, Any], bytes, None] = None,
             idempotency_key: Optional[str] = None) -> Answer:
        """Makes any call, such as call("POST", "/api/integration/gifting/block-gift", {...}). Bytes are a CSV file, as
        imports take one. A POST gets a key when none is given. One about webhooks, tills, people and reports, which take none, is not repeated."""
        return self._call(method, path, body, idempotency_key, self._attempts, self._timeout, self._deadline)

    def _do(self, operation: str, members: Mapping[str, Any], key: Optional[str], attempts: Optional[int] = None,
            timeout: Optional[float] = None, deadline: Optional[float] = None) -> Answer:
        return self._call("POST", _API + operation, members, key, attempts or self._attempts, timeout or self._timeout,
                          deadline or self._deadline)

    def _call(self, method: str, path: str, body: Union[Mapping[str, Any], bytes, None], key: Optional[str], attempts: int,
              timeout: float, deadline: float) -> Answer:
        if method not in ("GET", "POST", "PUT", "PATCH", "DELETE"):
            raise ValueError("the method is none of GET, POST, PUT, PATCH and DELETE")
        if not path.startswith("/") or not _VISIBLE.fullmatch(path) or "#" in path:
            raise ValueError("the path must begin with / and have visible ASCII characters only")
        looks = method == "GET" or path == _API + "redemption/validate-gift"
        if method == "POST" and not looks:
            if path.startswith(_KEYLESS):
                attempts = 1
            else:
                key = new_key() if key is None else key
        if key is not None and not _NAMES_A_CALL.fullmatch(key):
            raise ValueError("the Idempotency-Key must be 1 to 255 printable ASCII characters, no space at its ends")
        if self._account and method == "GET" and "accountID=" not in path:
            path += ("&" if "?" in path else "?") + urlencode({"accountID": self._account})
        receipt = self._receipts and path in _WITH_RECEIPT
        if self._dry and not looks:
            path += ("&" if "?" in path else "?") + "dryRun=true"
        if receipt:
            path += ("&" if "?" in path else "?") + "receipt=true"
        text = body if body is None or isinstance(body, bytes) else _write(body, "").encode()
        media = "text/csv" if isinstance(body, bytes) else "application/json"
        answer, sure, failure = self._repeat(method, path, text, media, key, attempts, timeout, deadline)
        if answer is not None:
            if self._dry and not looks and answer.get("dryRun") is not True:
                raise NotDry("the service took no notice of the dry run and did what it was asked")
            return answer
        if not looks and not sure:
            raise UnknownOutcome(_operation(path), key, str(failure)) from failure
        if isinstance(failure, BoonError):
            raise failure
        raise Unreachable(str(failure)) from failure

    def _repeat(self, method: str, path: str, text: Optional[bytes], media: str, key: Optional[str], attempts: int,
                timeout: float, deadline: float) -> Tuple[Optional[Answer], bool, Optional[Exception]]:
        """Tries until there is a definite answer, or attempts or the time run out. sure: no attempt took effect."""
        headers = {"Authorization": "Bearer " + self._key, "Accept": "application/json, application/problem+json",
                   "User-Agent": "boon-client-python"}
        if text is not None:
            headers["Content-Type"] = media
        if key is not None:
            headers["Idempotency-Key"] = key
        end = time.monotonic() + deadline
        sure, n = True, 0
        while True:
            n += 1
            failure: Exception
            asked = 0.0
            again = True
            try:
                limit = min(timeout, max(end - time.monotonic(), 0.001))
                reply = self._transport.ask(method, self._path + path, text, headers, limit)
                return _read(reply, path, key), False, None
            except BoonError as e:
                failure, asked, again = e, e.retry_after, e.passing
                sure = sure or not e.of_the_moment if e.refused else False
            except NotSent as e:
                failure, again = e, not isinstance(e.__cause__, ssl.SSLError)
            except (OSError, http.client.HTTPException, ValueError) as e:
                failure, sure = e, False
            longest = min(self._pause * 2 ** (n - 1), self._max_pause)
            pause = random.uniform(longest / 2, longest) + asked
            if not again or n >= attempts or asked > self._max_pause or time.monotonic() + pause >= end:
                return None, sure, failure
            time.sleep(pause)

    def _pages(self, path: str, name: str, filters: Mapping[str, Any]) -> Iterator[Dict[str, Any]]:
        query = dict(filters)
        while True:
            page = self.call("GET", path + _query(query))
            yield from page[name]
            cursor = page.get("nextCursor")
            if not cursor or cursor == query.get("cursor"):
                return
            query["cursor"] = cursor


def _how_much(amount: Amount, members: Mapping[str, Any]) -> Dict[str, Any]:
    """An amount that a program failed to work out must not mean everything."""
    if amount is ALL:
        return dict(members)
    if isinstance(amount, bool) or not isinstance(amount, (Decimal, int)):
        raise TypeError(f"the amount must be a decimal.Decimal, an int or ALL, and not {type(amount).__name__}: "
                        "money is no float")
    return {**members, "amount": amount}


def _original(key: Optional[str], members: Mapping[str, Any]) -> Dict[str, Any]:
    return dict(members) if key is None else {**members, "idempotencyKey": key}


def _operation(path: str) -> str:
    return path.partition("?")[0].rsplit("/", 1)[-1]


def _segment(name: str) -> str:
    if not name:
        raise ValueError("the id is empty")
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")  # else they were steps in the path


def _query(asked: Mapping[str, Any]) -> str:
    said = {k: _instant(v, k) if isinstance(v, datetime) else v for k, v in asked.items() if v is not None}
    return "?" + urlencode(said) if said else ""


def _instant(t: datetime, where: str) -> str:
    if t.tzinfo is None:
        raise ValueError(f"{where} is a time without a zone")
    return t.isoformat()


def _write(value: Any, where: str) -> str:
    """JSON, in which a Decimal is a number and a float is nothing."""
    if isinstance(value, float):
        raise TypeError(f"{where} is a float: money is no float, use decimal.Decimal")
    if isinstance(value, Decimal):
        if not value.is_finite() or abs(value.adjusted()) > 30 or len(value.as_tuple().digits) > 40:
            raise ValueError(f"{where} is no amount: {value}")
        return format(value, "f")
    if isinstance(value, datetime):
        return json.dumps(_instant(value, where))
    if isinstance(value, Mapping):
        members, dot = cast(Mapping[Any, Any], value), where + "." if where else ""
        return "{" + ",".join(json.dumps(str(k)) + ":" + _write(v, f"{dot}{k}") for k, v in members.items()) + "}"
    if isinstance(value, (list, tuple)):
        elements = cast(Sequence[Any], value)
        return "[" + ",".join(_write(v, f"{where}[{i}]") for i, v in enumerate(elements)) + "]"
    return json.dumps(value)


def _read(reply: Reply, path: str, key: Optional[str]) -> Answer:
    members = _members(reply, path) if 200 <= reply.status <= 299 else None
    if members is None:
        raise _problem(reply)
    answer = Answer(members)
    answer.body, answer.proof = reply.body, reply.headers.get("Boon-Proof", "")
    answer.request_id, answer.idempotency_key = reply.headers.get("X-Request-ID", ""), key
    answer.replayed = reply.headers.get("Idempotent-Replayed") == "true"
    answer.quotas = _quotas(reply.headers.get("RateLimit-Policy", ""), reply.headers.get("RateLimit", ""))
    return answer


def _quotas(policies: str, rest: str) -> Tuple[Quota, ...]:
    """What the two headers say (draft-ietf-httpapi-ratelimit-headers-10); what cannot be read is left out."""
    left = _items(rest)
    quotas: List[Quota] = []
    for name, of in sorted(_items(policies).items()):
        numbers = [of.get("q", ""), *(left.get(name, {}).get(key, "") for key in "rt"), of.get("w", "")]
        if all(re.fullmatch(r"[0-9]{1,15}", number) for number in numbers):
            limit, rests, resets, window = map(int, numbers)
            quotas.append(Quota(name, of.get("qu", "").strip('"'), limit, rests, resets, window))
    return tuple(quotas)


def _items(text: str) -> Dict[str, Dict[str, str]]:
    """A list of strings with parameters (RFC 9651). The service's strings have no quotes, commas or semicolons."""
    found: Dict[str, Dict[str, str]] = {}
    for item in text.split(","):
        name, *parameters = (part.strip() for part in item.split(";"))
        of = found[name.strip('"')] = {}
        for parameter in parameters:
            key, _, value = parameter.partition("=")
            of[key] = value
    return found


def _members(reply: Reply, path: str) -> Optional[Dict[str, Any]]:
    """What a success says, none of a file, the proof of a journal. None: it is not the service's answer to this call,
    but one of a portal, a gateway, or a proxy that lost the rest."""
    if path.partition("?")[0].startswith((_API + "reports/journal", _API + "exports/")):  # a file of any type, with its SHA-256
        digest = base64.b64encode(hashlib.sha256(reply.body).digest()).decode()
        if reply.headers.get("Content-Digest") != f"sha-256=:{digest}:":
            return None
        return _proof(reply) if path.startswith(_API + "reports/journal") else {}
    if _kind(reply) in ("text/csv", "application/pdf"):
        return {} if reply.body and path.startswith((_API + "gifting/orders/", _API + "reports/")) else None
    try:
        said: Any = json.loads(reply.body, parse_float=Decimal)
    except (ValueError, ArithmeticError, RecursionError):
        return None
    if not isinstance(said, dict) or _kind(reply) == _PROBLEM:
        return None
    members = cast(Dict[str, Any], said)
    ids = [members.get(name) for name in ("requestID", _TELLS.get(_operation(path), "requestID"))]
    told = all(isinstance(i, str) and i for i in ids) or not path.startswith("/api/")
    return members if told else None


def _proof(reply: Reply) -> Optional[Dict[str, Any]]:
    """What the proof of a journal says. None: it has none."""
    try:
        said: Any = json.loads(reply.headers.get("Boon-Proof", ""))
    except (ValueError, RecursionError):
        return None
    proved = isinstance(said, dict) and all(cast(Dict[str, Any], said).get(name) for name in ("reportID", "sha256"))
    return cast(Dict[str, Any], said) if proved else None


def _kind(reply: Reply) -> str:
    return reply.headers.get("Content-Type", "").partition(";")[0].strip().lower()


def _problem(reply: Reply) -> BoonError:
    """The error in an answer that is not a success of the service's, whoever wrote it."""
    asked, after = reply.headers.get("X-Request-ID", ""), _retry_after(reply.headers.get("Retry-After", ""))
    if reply.status >= 400 and _kind(reply) == _PROBLEM:
        try:
            p: Any = json.loads(reply.body)
            told: List[Any] = p.get("messages") or []
            messages = [Message(m.get("path") or "", m["text"]) for m in told]
            if p["code"]:
                return BoonError(str(p["code"]), reply.status, messages, p.get("requestID") or asked, after)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            pass  # it is none of the service's
    text = "The answer is not one of Boon's; something between may have given it. Check the base address."
    if 300 <= reply.status < 400:
        text = "The service answered with a redirect, which is not followed. Use the address it leads to as the base."
    return BoonError("", reply.status, [Message("", text)], asked, after)


def _retry_after(value: str) -> float:
    """Seconds, or a date (RFC 9110, section 10.2.3); 0: absent or nonsense."""
    if re.fullmatch("[0-9]{1,9}", value):
        return float(value)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (TypeError, ValueError, OverflowError):
        return 0.0
