"""What went wrong with a model: a kind to act on, and a sentence for people.

Above: retry.py decides by the kind whether to try again; the host shows the sentence. Below: nothing.
Not here: words of the provider's answer, of the prompt or of a key. Servers repeat what they were sent, so only their
short identifiers (`context_length_exceeded`) are passed on.
"""

import math
import re
import time
from collections.abc import Mapping
from email.utils import parsedate_to_datetime
from enum import StrEnum
from typing import Final

from moot.model.prompt import Usage

MAX_WAIT_SECONDS: Final = 3600.0
ONE_CALL: Final = Usage(calls=1)
_IDENTIFIER: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.\-]{0,59}")


class TroubleKind(StrEnum):
    AUTH = "auth"
    """The key is refused."""
    NO_CREDIT = "no_credit"
    """The account has nothing left to spend."""
    RATE_LIMITED = "rate_limited"
    OVERLOADED = "overloaded"
    """The provider has trouble of its own: any 5xx."""
    TIMEOUT = "timeout"
    CONNECTION = "connection"
    """Not reached, or broken off."""
    BAD_ANSWER = "bad_answer"
    """The answer is not what the API promises."""
    REFUSED = "refused"
    """The provider's filter stopped the answer."""
    TOO_LONG = "too_long"
    """The prompt does not fit into the model."""
    UNKNOWN_MODEL = "unknown_model"
    BAD_REQUEST = "bad_request"
    NOT_INSTALLED = "not_installed"
    RESTING = "resting"
    """The breaker is open: the endpoint failed too often just now."""


RETRYABLE: Final = frozenset(
    [
        TroubleKind.RATE_LIMITED,
        TroubleKind.OVERLOADED,
        TroubleKind.TIMEOUT,
        TroubleKind.CONNECTION,
        TroubleKind.BAD_ANSWER,
        TroubleKind.RESTING,
    ]
)


class ModelTrouble(Exception):
    """`str()` of it is the sentence."""

    def __init__(
        self,
        kind: TroubleKind,
        sentence: str,
        *,
        retryable: bool | None = None,
        retry_after: float | None = None,
        usage: Usage = ONE_CALL,
        status: int | None = None,
    ) -> None:
        super().__init__(sentence)
        self.kind = kind
        self.sentence = sentence
        self.retryable = kind in RETRYABLE if retryable is None else retryable
        self.retry_after = retry_after
        """Seconds the provider asks to wait; None if it does not ask."""
        self.usage = usage
        """What was spent on it, as far as known."""
        self.status = status
        """Of the provider's HTTP answer, if there was one."""


STATUS_KINDS: Final[Mapping[int, TroubleKind]] = {
    401: TroubleKind.AUTH,
    402: TroubleKind.NO_CREDIT,
    403: TroubleKind.AUTH,
    404: TroubleKind.UNKNOWN_MODEL,
    408: TroubleKind.TIMEOUT,
    413: TroubleKind.TOO_LONG,
    429: TroubleKind.RATE_LIMITED,
    504: TroubleKind.TIMEOUT,
}
CODE_KINDS: Final[Mapping[str, TroubleKind]] = {
    "insufficient_quota": TroubleKind.NO_CREDIT,
    "billing_error": TroubleKind.NO_CREDIT,
    "billing_hard_limit_reached": TroubleKind.NO_CREDIT,
    "context_length_exceeded": TroubleKind.TOO_LONG,
    "rate_limit_error": TroubleKind.RATE_LIMITED,
    "rate_limit_exceeded": TroubleKind.RATE_LIMITED,
    "overloaded_error": TroubleKind.OVERLOADED,
    "authentication_error": TroubleKind.AUTH,
    "content_filter": TroubleKind.REFUSED,
}
_TOO_LONG: Final = re.compile(
    r"prompt is too long|context.{0,10}(length|window)|maximum context", re.IGNORECASE
)
_BAD_REQUEST: Final = 400
_SERVER_ERROR: Final = 500


def kind_of(status: int, body: object) -> TroubleKind:
    """From the error object, if it has a code that says more than the status; else from the status."""
    kind = next((CODE_KINDS[code] for code in identifiers(body) if code in CODE_KINDS), None)
    if kind is not None:
        return kind
    if status in STATUS_KINDS:
        return STATUS_KINDS[status]
    if status >= _SERVER_ERROR or status < _BAD_REQUEST:  # below 400: an error in the middle of a good answer
        return TroubleKind.OVERLOADED
    # Anthropic has one code for every bad request: only the message tells a long prompt from a wrong field.
    return TroubleKind.TOO_LONG if _TOO_LONG.search(_message(body)) else TroubleKind.BAD_REQUEST


def identifiers(body: object) -> tuple[str, ...]:
    """Codes of an error object: the only words of a server that are ever shown."""
    error = _error(body)
    found = (error.get(name) for name in ("code", "type", "param"))
    return tuple(v for v in found if isinstance(v, str) and _IDENTIFIER.fullmatch(v))


def _error(body: object) -> Mapping[str, object]:
    """Anthropic's library has the whole body in its error, OpenAI's only the inner object."""
    inner = body.get("error", body) if isinstance(body, Mapping) else {}
    return inner if isinstance(inner, Mapping) else {}


def _message(body: object) -> str:
    return str(_error(body).get("message", ""))[:1000]


def requested_wait(headers: Mapping[str, str], now: float | None = None) -> float | None:
    """`Retry-After` in seconds, from a number or a date; also OpenAI's `retry-after-ms`."""
    header = headers.get("retry-after", "").strip()
    try:
        if "retry-after-ms" in headers:
            seconds = float(headers["retry-after-ms"]) / 1000
        elif header[:1].isalpha():
            seconds = parsedate_to_datetime(header).timestamp() - (time.time() if now is None else now)
        else:
            seconds = float(header)
    except (ValueError, OverflowError):
        return None
    return min(max(0.0, seconds), MAX_WAIT_SECONDS) if math.isfinite(seconds) else None
