"""What a call can fail with, beside ValueError and TypeError for what was never sent."""

from typing import List, NamedTuple, Optional


class Message(NamedTuple):
    """One problem in plain words that may be shown to a person."""

    path: str  # which member of the request, such as recipients[2].recipientContact; "": the whole of it
    text: str


class Failure(Exception):
    """What every failed call raises."""


class BoonError(Failure):
    """An answer that is no success of the service's. Where refused is true, nothing was changed."""

    def __init__(self, code: str, status: int, messages: List[Message], request_id: str,
                 retry_after: float = 0) -> None:
        self.code = code  # such as "INSUFFICIENT_BALANCE"; "": the answer was not the service's own
        self.status = status  # of HTTP
        self.messages = messages  # every problem that was found, not only the first
        self.request_id = request_id  # by which the operators find the call in their logs
        self.retry_after = retry_after  # seconds until a repeat makes sense; 0: not said
        super().__init__(code, status, messages, request_id, retry_after)  # as a copy in another process is made

    def __str__(self) -> str:
        what = f"{self.code} (HTTP {self.status})" if self.code else f"HTTP {self.status}"
        texts = "; ".join((m.path + ": " if m.path else "") + m.text for m in self.messages)
        return f"{what}: {texts}" + (f" [request {self.request_id}]" if self.request_id else "")

    @property
    def refused(self) -> bool:
        """Whether this is the service's definite no."""
        return bool(self.code) and self.code != "REQUEST_IN_PROGRESS" and 400 <= self.status < 500

    @property
    def passing(self) -> bool:
        """Whether a repeat of the same call may fare better."""
        return self.status < 300 or self.status >= 500 or self.status == 429 or self.code == "REQUEST_IN_PROGRESS"

    @property
    def of_the_moment(self) -> bool:
        """Whether it is about the key or the load now: such a refusal comes before the service looks at the
        Idempotency-Key, and says nothing about what an earlier attempt did."""
        return self.status in (401, 403, 429)


class Unreachable(Failure):
    """There was no answer, and nothing was changed: the call never left, or was one that only looks."""


class UnknownOutcome(Failure):
    """No attempt brought a definite answer: the call took effect once, or not at all. Repeat it with the same key to
    find out, or ask what_became_of(key); a redemption can be reversed by it. __cause__ is the last attempt's error."""

    def __init__(self, what: str, key: Optional[str], why: str) -> None:
        self.what, self.key, self.why = what, key, why  # key: the Idempotency-Key; None: the call takes none
        super().__init__(what, key, why)

    def __str__(self) -> str:
        return f"it is unknown whether {self.what} {self.key or ''} took effect: {self.why}"


class NotDry(Failure):
    """The service took no notice of a dry run and did what it was asked: its version is before 0.2.0."""


class Voided(Failure):
    """redeem_safely got no definite answer and took the redemption back: nothing is taken from the gift, and a late
    original will be refused."""

    def __init__(self, key: str) -> None:
        self.key = key  # the Idempotency-Key of the redemption; it is spent
        super().__init__(key)

    def __str__(self) -> str:
        return "the redemption was voided, nothing was taken from the gift"
