"""Which request of the HTTP door stands for which method of the hub: one table, held against the door's own by a test.

What the path and the headers do not take goes into the query of a GET or DELETE, and into the body of all others.
"""

from collections.abc import Callable
from typing import Any, Final
from urllib.parse import quote

from msgspec import Struct

from moot.errors import BadValue

Named = dict[str, Any]
BEYOND_ALL: Final = 2**53
"""After the last message there will ever be."""


class Request(Struct, frozen=True):
    verb: str
    path: str
    headers: dict[str, str]
    query: Named
    body: Named | None


class Way(Struct, frozen=True):
    verb: str
    path: str
    """`{name}` is taken from the arguments; what is None there is the caller's own name."""
    part: str = ""
    """The member of the answer that is meant; empty for all of it."""
    headers: dict[str, str] = {}
    """Argument → header."""
    repeats: str = ""
    """With this argument it can be repeated when an answer is lost: nothing happens twice. A GET always can."""
    shaped: Callable[[Named], Named] | None = None
    """For arguments that are called or grouped otherwise there."""

    def repeatable(self, named: Named) -> bool:
        return self.verb == "GET" or named.get(self.repeats) not in (None, "", False)

    def request(self, named: Named, me: str) -> Request:
        given = dict(named)
        path = "/".join(_filled(part, given, me) for part in self.path.split("/"))
        headers = {self.headers[name]: str(given.pop(name)) for name in self.headers if name in given}
        rest = {key: value for key, value in given.items() if value is not None}
        if self.shaped is not None:
            rest = self.shaped(rest)
        if self.verb in ("GET", "DELETE"):
            return Request(self.verb, path, headers, {key: _worded(rest[key]) for key in rest}, None)
        return Request(self.verb, path, headers, {}, rest)


def _filled(part: str, given: Named, me: str) -> str:
    if not part.startswith("{"):
        return part
    value = given.pop(part.strip("{}"), None)
    return quote(me if value is None else str(value), safe="")


def _worded(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _called(**names: str) -> Callable[[Named], Named]:
    """Arguments under other names."""
    return lambda given: {names.get(key, key): value for key, value in given.items()}


def _newest(given: Named) -> Named:
    return {**given, "before": BEYOND_ALL}


def _check(given: Named) -> Named:
    return _called(timeout="wait_seconds")(given)


def _bound(given: Named) -> Named:
    kind, identity = given.pop("channel", ("", ""))
    return {**given, "channel_type": kind, "channel_group_id": identity}


def _of_kind(given: Named) -> Named:
    human, external = given.pop("human", False), given.pop("external", False)
    return {**given, "kind": "human" if human else "external" if external else "agent"}


def _erased(given: Named) -> Named:
    return {**given, "purge": True}


def _as_settings(given: Named) -> Named:
    return {"settings": given}


KEY: Final = {"idempotency_key": "Idempotency-Key"}
VERSION: Final = {"version": "If-Match"}


def _keyed(path: str, **more: Any) -> Way:
    return Way("POST", path, headers=KEY, repeats="idempotency_key", **more)


def _within(prefix: str, **ways: Way) -> dict[str, Way]:
    return {f"{prefix}.{name}": way for name, way in ways.items()}


PLACE, MESSAGE, TURN = "/api/conversations/{ref}", "/api/messages/{message_id}", "/api/turns/{turn_id}"

OF_HUB: Final = {
    "post": _keyed("/api/conversations/{conversation}/messages"),
    "send": _keyed("/api/agents/{target}/send"),
    "ask": _keyed("/api/agents/{target}/ask"),
    "broadcast": _keyed("/api/agents/broadcast", shaped=_called(text="message")),
    "ask_again": _keyed(f"{MESSAGE}/again"),
    "reply": _keyed(f"{MESSAGE}/reply"),
    "redeliver": _keyed(f"{TURN}/redeliver"),
    "preview": Way("POST", "/api/conversations/{conversation}/preview", repeats="text"),
    "edit": Way("PATCH", "/api/messages/{id}", headers=VERSION),
    "delete": Way("DELETE", "/api/messages/{id}", headers=VERSION),
    "message": Way("GET", "/api/messages/{id}"),
    "messages": Way("GET", "/api/conversations/{conversation}/messages", part="messages"),
    "newest": Way(
        "GET", "/api/conversations/{conversation}/messages", part="messages", shaped=_newest
    ),
    "why": Way("GET", f"{MESSAGE}/why"),
    "deliveries": Way("GET", f"{MESSAGE}/deliveries", part="deliveries"),
    "turns": Way("GET", "/api/turns", part="turns"),
    "turn": Way("GET", "/api/turns/{id}"),
    "dead_letters": Way("GET", "/api/dead-letters", part="turns"),
    "context": Way("GET", "/api/agents/{agent}/context"),
    "replay": Way("GET", "/api/agents/{agent}/replay"),
    "inbox": Way("GET", "/api/agents/{agent}/received", part="received"),
    "usage": Way("GET", "/api/usage"),
    "search": Way("GET", "/api/search", part="hits", shaped=_called(query="q")),
    "narrowest": Way("GET", "/api/search", part="removed_by", shaped=_called(query="q")),
    "audit": Way("GET", "/api/audit", part="events"),
    "settled": Way("GET", "/api/conversations/{conversation}/settled"),
    "settled everywhere": Way("GET", "/api/settled"),
    "check": Way("POST", "/api/agents/{me}/check", repeats="handed"),
    "wait": Way("POST", "/api/agents/{me}/check", repeats="handed", shaped=_check),
    "view": Way("GET", f"{TURN}/view"),
    "end": Way("POST", f"{TURN}/end", repeats="turn_id"),
    "give_back": Way("POST", f"{TURN}/give-back", repeats="turn_id"),
    "status": Way("GET", "/api/status"),
}  # fmt: skip

OF_CONVERSATIONS: Final = _within(
    "conversations",
    create=Way("POST", "/api/conversations", shaped=_bound, repeats="exist_ok"),
    implicit=Way("POST", "/api/implicit", repeats="participants"),
    ephemeral=Way("POST", "/api/ephemeral", repeats="key"),
    get=Way("GET", PLACE),
    list=Way("GET", "/api/conversations", part="conversations"),
    join=Way("POST", f"{PLACE}/participants"),
    leave=Way("DELETE", f"{PLACE}/participants/{{name}}"),
    rename=Way("PATCH", PLACE),
    configure=Way("PATCH", PLACE, shaped=_as_settings),
    archive=Way("DELETE", PLACE),
    dissolve=Way("POST", f"{PLACE}/dissolve"),
    unarchive=Way("POST", f"{PLACE}/unarchive"),
    delete=Way("DELETE", PLACE, shaped=_erased),
    resume=Way("POST", f"{PLACE}/continue", part="resumed"),
    stop=Way("POST", f"{PLACE}/stop", part="stopped"),
    read=Way("POST", f"{PLACE}/read", repeats="seq"),
)

AGENT = "/api/agents/{name}"

OF_AGENTS: Final = _within(
    "agents",
    list=Way("GET", "/api/agents", part="agents"),
    get=Way("GET", AGENT),
    create=Way("POST", "/api/agents", shaped=_of_kind),
    rename=Way("PUT", AGENT, shaped=_called(new_name="name")),
    change=Way("PUT", AGENT, repeats="name"),
    interrupt=Way("POST", f"{AGENT}/interrupt"),
    pause=Way("POST", f"{AGENT}/pause", repeats="name"),
    resume=Way("POST", f"{AGENT}/resume", repeats="name"),
    remove=Way("DELETE", AGENT, repeats="name"),
    tokens=Way("GET", f"{AGENT}/tokens", part="tokens"),
    issue_token=Way("POST", f"{AGENT}/tokens"),
    revoke_token=Way("DELETE", f"{AGENT}/tokens/{{id}}"),
)

WAYS: Final[dict[str, Way]] = {**OF_HUB, **OF_CONVERSATIONS, **OF_AGENTS}

NOT_OVER_HTTP: Final = {
    "unsettled": "told with `settled`",
    "agents.arrivals": "who came in by a coding client of the hub's own machine",
    "agents.hook_said": "what hooks of a coding client on the hub's own machine say",
    "agents.hooked": "what hooks of a coding client on the hub's own machine are told",
    "agents.arrive": "how a door on this machine lets somebody in; over HTTP the owner enrols an agent",
    "agents.seen": "how a door on this machine tells of a client's hooks; over HTTP an open wait is the sign of life",
    "agents.where": "a process and a socket mean nothing on another machine",
}
"""What a program elsewhere cannot call, or calls otherwise, and why."""


def way_of(method: str) -> Way:
    if method not in WAYS:
        reason = NOT_OVER_HTTP.get(method, "it has no route")
        raise BadValue(f"{method} cannot be called over HTTP: {reason}")
    return WAYS[method]
