"""What requests may contain and answers hold. An unknown field is refused; no field names a sender."""

from typing import Annotated, Any

from msgspec import Meta, Struct

from moot import shapes
from moot.doors.http.api import constraints
from moot.doors.http.api.constraints import Text

KINDS = ("external", "agent", "human")
"""Whom the API can enrol."""
MAX_JSON_INTEGER = 2**53
MAX_LIMIT = 500
Cursor = Annotated[int, Meta(ge=0, le=MAX_JSON_INTEGER)]
Limit = Annotated[int, Meta(ge=1, le=MAX_LIMIT)]
Seconds = Annotated[float, Meta(ge=0, le=300)]


class RequestShape(Struct, frozen=True, forbid_unknown_fields=True):
    """A body or query from outside."""


# --- bodies ----------------------------------------------------------------------------------------------


class NewConversation(RequestShape, frozen=True):
    name: constraints.ConversationName
    participants: tuple[str, ...] = ()
    kind: constraints.GroupKind = "group"
    settings: constraints.Settings = {}
    channel_type: str = ""
    channel_group_id: str = ""
    exist_ok: bool = False
    """Where you are in one of this name and kind, it is the answer; participants who are missing join it."""


class Among(RequestShape, frozen=True):
    participants: tuple[str, ...]
    text: Text | None = None
    """What is about to be said there: where that would be refused, nothing is made."""
    intent: constraints.IntentWord | None = None


class Question(RequestShape, frozen=True):
    target: str
    key: Annotated[str, Meta(max_length=200)] = ""
    text: Text | None = None
    """What is about to be said there: where that would be refused, nothing is made."""
    intent: constraints.IntentWord | None = None


class ChangedConversation(RequestShape, frozen=True):
    name: constraints.ConversationName | None = None
    settings: constraints.Settings | None = None


class TypedLine(RequestShape, frozen=True):
    line: Text
    """As a person typed it: a command, or words for the conversation."""
    confirmed: bool = False
    """A command that takes something away is carried out; otherwise it is asked about first."""


class Joining(RequestShape, frozen=True):
    name: str


class NewMessage(RequestShape, frozen=True):
    text: Text
    reply_to: constraints.Address | None = None
    force: tuple[str, ...] = ()
    intent: constraints.IntentWord | None = None
    interrupt: bool = False
    max_turns: Annotated[float, Meta(ge=1, le=1000, multiple_of=1)] | None = None
    """A whole number; JSON has one kind of number, and some write 3 as 3.0. So it is with those below."""
    correlation_id: Annotated[str, Meta(max_length=200)] | None = None
    shape: dict[str, Any] | None = None
    """Of a question to one agent: a JSON Schema that the answer has to fit."""


class Stopping(RequestShape, frozen=True):
    agent: str | None = None


class ReadTo(RequestShape, frozen=True):
    seq: Annotated[
        float, Meta(ge=0, le=MAX_JSON_INTEGER - 1, multiple_of=1)
    ]  # the next number up is read as the same float


class LimitedPair(RequestShape, frozen=True, rename={"sender": "from"}):
    sender: str
    to: str


class Edit(RequestShape, frozen=True):
    text: Text


class DraftBody(RequestShape, frozen=True):
    text: Text
    force: tuple[str, ...] = ()


class Again(RequestShape, frozen=True):
    agents: tuple[str, ...]


class Reply(RequestShape, frozen=True):
    text: constraints.Words


class Letter(RequestShape, frozen=True):
    text: Text
    intent: constraints.IntentWord | None = None


class Asking(RequestShape, frozen=True):
    text: Text
    timeout: Seconds = 60.0
    choices: tuple[str, ...] = ()
    """All that can be answered."""
    shape: dict[str, Any] | None = None
    """A JSON Schema that an agent's answer has to fit."""


class CheckBody(RequestShape, frozen=True):
    limit: Annotated[float, Meta(ge=1, le=MAX_LIMIT, multiple_of=1)] = 50
    wait_seconds: Seconds = 0.0
    handed: tuple[str, ...] | None = None
    held: tuple[str, ...] = ()


class Ending(RequestShape, frozen=True):
    text: str | None = None
    error: str | None = None


class NewAgent(RequestShape, frozen=True):
    name: constraints.AgentName
    role: constraints.Line = ""
    display: constraints.Display = ""
    kind: Annotated[str, Meta(extra_json_schema={"enum": list(KINDS)})] = KINDS[0]


class ChangedAgent(RequestShape, frozen=True):
    name: constraints.AgentName | None = None
    role: constraints.Line | None = None
    display: constraints.Display | None = None
    project: constraints.Folder | None = None


class SendBody(RequestShape, frozen=True):
    message: Text


class NewToken(RequestShape, frozen=True):
    scopes: Annotated[tuple[constraints.Granted, ...], Meta(extra_json_schema={"minItems": 1})] = (
        "read",
        "post",
    )


# --- queries ---------------------------------------------------------------------------------------------


class NoQuery(RequestShape, frozen=True):
    pass


class ConversationsQuery(RequestShape, frozen=True):
    kind: constraints.GroupKind | None = None
    archived: bool = False
    channel_type: str | None = None
    channel_group_id: str | None = None
    after: str = ""
    limit: Limit = 100


class SocketQuery(RequestShape, frozen=True):
    """Where a WebSocket resumes."""

    client: Annotated[str, Meta(pattern=r"^[A-Za-z0-9._~-]{1,64}$")] | None = None
    after: Cursor | None = None
    received: Cursor | None = None


class EraseQuery(RequestShape, frozen=True):
    purge: bool = False


class MessagesQuery(RequestShape, frozen=True):
    after: Cursor = 0
    before: Cursor | None = None
    limit: Limit = 100


class WaitQuery(RequestShape, frozen=True):
    timeout: Seconds = 30.0


class TurnQuery(RequestShape, frozen=True):
    given: bool = True


class ContextQuery(RequestShape, frozen=True):
    messages: Limit = 20
    tokens: Annotated[int, Meta(ge=1, le=1_000_000)] = 8000


class AgentQuery(RequestShape, frozen=True):
    agent: str | None = None


class UsageQuery(RequestShape, frozen=True):
    agent: str | None = None
    conversation: str | None = None


class ConversationQuery(RequestShape, frozen=True):
    conversation: str


class LimitsQuery(RequestShape, frozen=True):
    conversation: str | None = None


class TurnsQuery(RequestShape, frozen=True):
    conversation: str | None = None
    agent: str | None = None
    state: constraints.State | None = None
    after: Cursor = 0
    before: Cursor | None = None
    """The newest of those before this one, oldest first, as with messages."""
    limit: Limit = 100


class SearchQuery(RequestShape, frozen=True):
    q: constraints.SearchWords
    """Words, "phrases" and from: to: in: kind: before: after: has: is:"""
    limit: Annotated[int, Meta(ge=1, le=100)] = 20


class AuditFilter(RequestShape, frozen=True):
    agent: str | None = None
    link: str | None = None
    conversation: str | None = None
    acts: constraints.AuditedActs | None = None
    """Several with commas between."""
    since: constraints.MomentText | None = None
    before: constraints.MomentText | None = None
    limit: Limit = 100


class InboxQuery(RequestShape, frozen=True):
    limit: Limit = 100


class ReceivedQuery(RequestShape, frozen=True):
    unread: bool = False
    limit: Limit = 20


class EventsQuery(RequestShape, frozen=True):
    conversation: str | None = None
    agent: str | None = None
    types: str = ""
    """Separated by commas."""
    after: Cursor | None = None


# --- answers ---------------------------------------------------------------------------------------------


class CommandRow(Struct, frozen=True):
    name: str
    usage: str
    help: str


class CommandList(Struct, frozen=True):
    commands: list[CommandRow]


class CommandDone(Struct, frozen=True):
    """What came of a line."""

    lines: list[str] = []
    """For the person, as plain text."""
    say: str | None = None
    """It was no command: words to post."""
    asks: str | None = None
    """Nothing was done yet: repeat it with `confirmed`."""
    moved: str | None = None
    """The conversation in which the chat continues."""
    left: bool = False
    """The chat is over."""


class ConversationList(Struct, frozen=True):
    conversations: list[shapes.Conversation]
    next: str | None = None


class ListedConversations(Struct, frozen=True):
    conversations: list[shapes.ListedConversation]
    next: str | None = None


class LiveTexts(Struct, frozen=True):
    turns: list[shapes.LiveTurn]


class MessageList(Struct, frozen=True):
    messages: list[shapes.Message]
    next: int | None = None


class TurnList(Struct, frozen=True):
    turns: list[shapes.Turn]
    next: int | None = None


class ReceivedList(Struct, frozen=True):
    received: list[shapes.Received]


class DeliveryList(Struct, frozen=True):
    deliveries: list[shapes.DeliveryProgress]


class Stopped(Struct, frozen=True):
    stopped: list[str]


class Settled(Struct, frozen=True):
    settled: bool
    open: list[shapes.Turn]


class Resumed(Struct, frozen=True):
    resumed: bool


class AgentList(Struct, frozen=True, rename={"me": "self"}):
    agents: list[shapes.Agent]
    me: str


class Asked(Struct, frozen=True):
    """The outcome of a question: `replied` with the message, or `passed`, `failed` or `timed_out` with the error."""

    outcome: str
    message: shapes.Message | None = None
    error: dict[str, Any] | None = None


class TokenList(Struct, frozen=True):
    tokens: list[shapes.Token]


class Hits(Struct, frozen=True):
    hits: list[shapes.Hit]
    removed_by: shapes.Removed | None = None
    """Where there are no hits: the filter that removed the most."""


class AuditLog(Struct, frozen=True):
    entries: list[shapes.AuditEntry]


class Status(Struct, frozen=True, rename={"me": "self"}):
    me: str
    version: str
    instance: str
    started_at: str | None
    user: str
    position: int
    agents: int
    live: int
    open_turns: int
    streams: int


class Healthy(Struct, frozen=True):
    status: str


class Problem(Struct, frozen=True):
    """The error object, as `application/problem+json`; it may have further fields that describe the case."""

    type: str
    status: int
    code: str
    name: str
    title: str
    detail: str
    fix: list[str]
    suggestions: list[str]
    retryable: bool
    retry_after_ms: int | None
