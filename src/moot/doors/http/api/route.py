"""A route: a row that says everything about one method of one path. The rows are in table/."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from enum import StrEnum
from typing import Any, Final, TypeAlias

from msgspec import Struct

from moot import shapes
from moot.doors.http.api.schema import NoQuery, SocketQuery
from moot.doors.http.gate.rate import Buckets
from moot.doors.open_limit import OpenAtOnce
from moot.errors import MootError
from moot.hub import Hub
from moot.ports import ConversationVersion
from moot.rules.access import Action, Principal

POSITION: Final = "Moot-Position"
"""In answers to reads: the newest event that they surely contain."""


class SubjectKind(StrEnum):
    """What a path names; endpoint.py looks it up and checks whether the caller may."""

    HUB = "hub"
    CONVERSATION = "conversation"
    SEAT = "seat"
    MESSAGE = "message"
    TURN = "turn"
    AGENT = "agent"
    LINK = "link"
    """Stands for the conversation that is its channel."""


class ApiCall(Struct, frozen=True):
    """A request that was admitted and understood."""

    caller: Principal
    hub: Hub
    """Speaks as the caller."""
    door: "HttpDoor"
    path: Mapping[str, str]
    query: Any
    body: Any
    headers: Mapping[str, str]
    conversation: shapes.Conversation | None = None
    """Of the path, the message or the turn that it names."""
    agent: str = ""
    """Current name of the agent that the path names."""
    version: ConversationVersion | None = None
    """Of the conversation, where nothing else of it was looked up."""
    peer: str = ""
    """The address that the request came from."""

    @property
    def ref(self) -> str:
        """The conversation by its id, or as the path names it where it was not looked up."""
        subject = self.conversation or self.version
        return self.path["id"] if subject is None else subject.id

    @property
    def where(self) -> shapes.Conversation:
        assert self.conversation is not None
        return self.conversation


class HttpDoor(Struct, frozen=True):
    """What the whole door shares; its hub acts as the owner."""

    hub: Hub
    owner_token: str
    facts: Mapping[str, Any]
    fan: Any
    open_at_once: OpenAtOnce
    marks: Any
    meters: Any
    openapi: Callable[[], bytes]
    sign_ins: Buckets
    """How often sign-in may be tried from one address."""
    leaving: asyncio.Event
    """Set during shutdown: pending waits return."""


Find: TypeAlias = Callable[[Hub, Principal, Mapping[str, str]], Awaitable[shapes.Conversation | None]]
Handle: TypeAlias = Callable[[ApiCall], Awaitable[Any]]


class Route(Struct, frozen=True):
    method: str
    path: str
    summary: str
    handle: Handle
    action: Action | None
    """None: no token is needed."""
    answer: Any
    """Type of the answer; None for an empty one."""
    about: SubjectKind = SubjectKind.HUB
    body: type[Struct] | None = None
    query: type[Struct] = NoQuery
    status: int = 200
    errors: tuple[type[MootError], ...] = ()
    """Besides 401, 403, 422 and 429, which every route may answer with."""
    refusal: type[Struct] | None = None
    """The shape of refusals for agents, as plain JSON: the receiver does not exist (404), may not be written to (403),
    or not now (429)."""
    media: str = "application/json"
    headers: tuple[str, ...] = ()
    """Request headers that it reads."""
    settles: bool = False
    """What it does is one decision, which settles whether the caller may and finds what the path names: nothing is
    looked up before. The conversation is then in `Call.ref` only."""
    glances: bool = False
    """Of the conversation it needs only the version, and that the caller is in it."""
    waits: str = ""
    """The field that says how long it may wait, if it may. It ends when its caller or the hub goes."""
    silent: bool = False
    """It may also answer 204, when there was nothing to say."""

    @property
    def key(self) -> str:
        return f"{self.method} {self.path}"

    @property
    def operation(self) -> str:
        """Its name in OpenAPI."""
        return "_".join(re.findall(r"\w+", f"{self.method.lower()} {self.path.removeprefix('/api')}"))

    def waits_now(self, call: ApiCall) -> bool:
        """Whether this request wants to wait."""
        return bool(getattr(call.query if call.body is None else call.body, self.waits))

    @property
    def is_snapshot(self) -> bool:
        """Whether it reads state that events go on from."""
        return self.method == "GET" and self.path.startswith("/api/") and not self.streams

    @property
    def streams(self) -> bool:
        return self.media == "text/event-stream"


class SocketRoute(Struct, frozen=True):
    """A path for WebSockets: plain text both ways, in the one conversation that `find` gives."""

    path: str
    summary: str
    find: Find
    """The conversation, if the caller may read it; None if it begins with the first message."""
    action: Action
    query: type[Struct] = SocketQuery
    errors: tuple[type[MootError], ...] = ()

    @property
    def key(self) -> str:
        return f"WS {self.path}"
