"""What happened, told once: outbox, embedded log and stream history in one row each."""

from typing import Any

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Message
from moot.model.turn import Turn


class Event(Struct, frozen=True, gc=False):
    """`seq` points at a message told of; `turn` and `body` are small and told in full."""

    type: str
    at: float
    conversation: ConversationId | None = None
    by: ParticipantId | None = None
    seq: int = 0
    turn: Turn | None = None
    body: dict[str, Any] | None = None
    id: int = 0


class Commit(Struct, gc=False):
    """What one commit of this process brought, for whoever keeps something of it at hand."""

    events: list[Event]
    messages: list[Message] = []
    """New ones, in the order in which they were decided, then revised ones."""
