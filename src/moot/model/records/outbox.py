"""What is still to be told to a log outside: written with what it tells of, dropped once it is published.

Above: stores/outbox.py lays it out with every commit where such a log is set, logs/kafka/relay.py publishes it. Here is
also the table from our events to the words of a record's envelope; what has no word there keeps its own. Not here: what
was said, which never leaves the store, and the form of a record (logs/kafka/record.py).
"""

from collections.abc import Sequence
from typing import Final, TypeAlias

from msgspec import Struct

from moot.model.conversation import Conversation, Member
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Kind
from moot.model.records.record import Table

AgentHome: TypeAlias = tuple[ParticipantId, ParticipantId]
"""Somebody, and an agent on whose topic a conversation lives that it is in."""


class OutboxRow(Struct, frozen=True, gc=False):
    event: int
    """What it tells of; of a tool that is called, the newest event before it."""
    topic: ParticipantId
    """The agent on whose topic it goes."""
    call: str
    """Of a tool that is called: which call; otherwise empty."""
    conversation: ConversationId
    action: str
    by: ParticipantId
    at: float
    seq: int = 0
    """The message it tells of; 0 for the conversation itself."""
    correlation: str = ""
    tool: str = ""


OUTBOX = Table(
    "outbox",
    OutboxRow,
    key=("event", "topic", "call"),
    in_micros=("at",),
    is_queue=True,
)


class OutboxDepth(Struct, frozen=True, gc=False):
    """How much waits to be published, and since when."""

    rows: int = 0
    """Counted no further than it matters."""
    oldest: float | None = None


class LogFigures(Struct, frozen=True):
    """How a log outside the store is doing, as one process knows it: what /metrics shows of Kafka."""

    waiting: int = 0
    """Rows of the outbox that are not published yet."""
    oldest_seconds: float = 0.0
    """How long the oldest of them has waited."""
    fence: int = 0
    """Of the lease to publish; it rises with every hand-over."""
    publishes: bool = False
    """Whether this process holds that lease."""
    unread: int = 0
    """Records that the brokers hold for this process and it has not read."""
    foreign: int = 0
    """Records of other homes or earlier epochs that this process passed over."""
    unreadable: int = 0
    """Records that this process put aside because they made no sense."""
    stopped: int = 0
    """Topics that cannot be used, each for a reason of its own: their agents are woken by the sweep."""


TOOL_INVOKE: Final = "tool_invoke"
POINTER: Final = str(EventType.CONVERSATION_JOINED)
"""Told to an agent on its own topic: from now on it has a conversation on another's."""

OF_EVENT: Final = {
    EventType.CONVERSATION_CREATED: "create",
    EventType.MESSAGE_EDITED: "edit",
    EventType.MESSAGE_DELETED: "delete",
}
OF_AUTHOR: Final = {Kind.TOOL: "tool_result", Kind.SYSTEM: "system_message"}
BEGINS: Final = frozenset({EventType.CONVERSATION_CREATED, EventType.CONVERSATION_JOINED})
"""With these, somebody may be in a conversation who was not."""


def action_of(event: Event, author: Kind | None) -> str:
    """The word for an event; `author` is what the author of its message is."""
    if event.type is EventType.MESSAGE_POSTED:
        return OF_AUTHOR.get(author, "append") if author is not None else "append"
    return OF_EVENT.get(event.type, str(event.type))


def published_of(events: Sequence[Event]) -> Sequence[Event]:
    """Those of one conversation in one commit that become records."""
    published = [
        event for event in events if event.type is EventType.MESSAGE_POSTED or event.type in OF_EVENT
    ]
    return published or events[-1:]


def topic_of(conversation: Conversation, members: Sequence[Member]) -> ParticipantId | None:
    """The agent on whose topic a conversation lives: its home, or else who of the agents in it came first. None where
    no agent is in it: then nobody has to be woken."""
    if conversation.home is not None:
        return conversation.home
    speakers = [member for member in members if member.speaks]
    return min(speakers, key=lambda member: member.position).participant if speakers else None
