"""Error class → HTTP status: this door's one table, kept complete by a test; and how a refusal is encoded."""

from collections.abc import Mapping
from math import ceil
from typing import Any, Final

from msgspec import Struct, json

from moot import errors
from moot.doors.http.api.hint_requests import request
from moot.errors import MootError
from moot.rules.words.redact import redacted_values

STATUSES: Final[dict[type[MootError], int]] = {
    errors.NotFound: 404,
    errors.BadName: 422,
    errors.BadText: 422,
    errors.BadValue: 422,
    errors.Conflict: 409,
    errors.BadSettings: 500,
    errors.Unauthenticated: 401,
    errors.NotPermitted: 403,
    errors.RateLimited: 429,
    errors.Braked: 409,
    errors.Closed: 409,
    errors.WouldDeadlock: 409,
    errors.Stale: 409,
    errors.TimedOut: 504,
    errors.Undelivered: 504,
    errors.Passed: 409,
    errors.TurnFailed: 409,
    errors.NoKey: 503,
    errors.KeyRefused: 503,
    errors.ModelUnavailable: 503,
    errors.PortTaken: 503,
    errors.HubRunning: 503,
    errors.HubAbsent: 503,
    errors.McpClient: 503,
    errors.StoreNewer: 500,
    errors.StoreDamaged: 500,
    errors.StoreUnwritable: 503,
}
FAILED: Final = 500
PROBLEM: Final = "application/problem+json"
JSON: Final = "application/json"


REPEATING: Final = ("title", "detail", "fix", "suggestions", "ref")
"""Members in which words of the request may come back."""


class Response(Struct, frozen=True):
    """An answer: a value that is encoded as JSON, or bytes as they are."""

    value: Any = None
    status: int = 200
    headers: Mapping[str, str] = {}
    media: str = JSON

    def body(self) -> bytes:
        if isinstance(self.value, bytes):
            return self.value
        return b"" if self.status in WITHOUT_BODY else json.encode(self.value)


NO_CONTENT: Final = 204
UNCHANGED: Final = 304
WITHOUT_BODY: Final = (NO_CONTENT, UNCHANGED)


class Refusal(Exception):
    """A refusal with its own status, for what only HTTP knows: methods, media types, preconditions."""

    def __init__(self, status: int, error: MootError, **headers: str) -> None:
        super().__init__(error.title)
        self.status = status
        self.error = error
        self.headers = {name.replace("_", "-").title(): value for name, value in headers.items()}


CLASHES: Final = frozenset({"reserved", "taken", "confusable"})
"""What can be wrong with a name that is well formed."""


def status_of(error: MootError) -> int:
    if isinstance(error, errors.BadName) and error.facts.get("problem") in CLASHES:
        return STATUSES[errors.Conflict]
    return next((STATUSES[kind] for kind in type(error).__mro__ if kind in STATUSES), FAILED)


def problem(
    error: MootError, status: int | None = None, headers: Mapping[str, str] | None = None
) -> Response:
    """RFC 9457, with our error object's members in it. What repeats the request repeats no secret out of it."""
    status = status or status_of(error)
    fields: dict[str, Any] = {"type": "about:blank", "status": status, **error.to_dict(request)}
    fields |= {key: redacted_values(fields[key]) for key in REPEATING if key in fields}
    extra = dict(headers or {})
    if error.retry_after_ms is not None:
        extra["Retry-After"] = str(max(1, ceil(error.retry_after_ms / 1000)))
    if status == STATUSES[errors.Unauthenticated]:
        extra["WWW-Authenticate"] = 'Bearer realm="moot"'
    return Response(fields, status, extra, PROBLEM)
