"""How a call of the SDK is made over HTTP: the request of the door that stands for it.

What the path and the headers do not take goes into the query of a GET or DELETE, and into the body of all others.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

Named = dict[str, Any]
HEADERS: Final = {"idempotency_key": "Idempotency-Key", "version": "If-Match"}
"""Arguments that are headers, whichever method takes them."""


class HttpRequest(Struct, frozen=True):
    verb: str
    path: str
    headers: dict[str, str]
    query: Named
    body: Named | None


class HttpCall(Struct, frozen=True):
    verb: str
    path: str
    """`{name}` is taken from the arguments; what is None there is the caller's own name."""
    part: str = ""
    """The member of the answer that is meant; empty for all of it."""
    repeats: bool | str = False
    """Whether it can be repeated when an answer is lost, because nothing happens twice; or the argument with which it
    can. A GET always can, and whatever has an idempotency key."""
    shaped: Callable[[Named], Named] | None = None
    """For arguments that are called or grouped otherwise there."""

    def repeatable(self, named: Named) -> bool:
        if self.verb == "GET" or self.repeats is True:
            return True
        makers = ("idempotency_key", self.repeats or "")
        return any(named.get(name) not in (None, "", False) for name in makers)

    def request(self, named: Named, me: str) -> HttpRequest:
        arguments = dict(named)
        path = "/".join(_filled(part, arguments, me) for part in self.path.split("/"))
        headers = {HEADERS[name]: _header(arguments.pop(name)) for name in HEADERS if name in arguments}
        rest = {key: value for key, value in arguments.items() if value is not None}
        if self.shaped is not None:
            rest = self.shaped(rest)
        if self.verb in ("GET", "DELETE"):
            return HttpRequest(self.verb, path, headers, {key: _worded(rest[key]) for key in rest}, None)
        return HttpRequest(self.verb, path, headers, {}, rest)


def _filled(part: str, arguments: Named, me: str) -> str:
    if not part.startswith("{"):
        return part
    value = arguments.pop(part.strip("{}"), None)
    return quote(me if value is None else str(value), safe="")


def _header(value: Any) -> str:
    """No version means the current one."""
    return "*" if value is None else str(value)


def _worded(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


# --- other shapes ----------------------------------------------------------------------------------------


def renamed(**names: str) -> Callable[[Named], Named]:
    """Arguments under other names."""
    return lambda arguments: {names.get(key, key): value for key, value in arguments.items()}


def with_fields(**more: Any) -> Callable[[Named], Named]:
    """Fields that the request has beside the arguments."""
    return lambda arguments: {**arguments, **more}


def with_commas(name: str) -> Callable[[Named], Named]:
    """A list as one value."""
    return lambda arguments: {**arguments, name: ",".join(arguments.get(name, ()))}


def as_settings(arguments: Named) -> Named:
    return {"settings": arguments}


def with_channel(arguments: Named) -> Named:
    kind, identity = arguments.pop("channel", ("", ""))
    return {**arguments, "channel_type": kind, "channel_group_id": identity}


def with_kind(arguments: Named) -> Named:
    human, external = arguments.pop("human", False), arguments.pop("external", False)
    return {**arguments, "kind": "human" if human else "external" if external else "agent"}
