"""What happened. One row serves as outbox, as embedded log and as the history of streams."""

from enum import StrEnum

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.turn import Turn


class EventType(StrEnum):
    """Every kind of event, by the name under which it is stored and streamed; doors may leave some out."""

    AGENT_ACTIVITY = "agent.activity"
    """Never stored: streamed live by the host that runs the turn."""
    AGENT_JOINED = "agent.joined"
    AGENT_RENAMED = "agent.renamed"
    AGENT_STATUS = "agent.status"
    AGENT_MESSAGE_RECEIVED = "agent_message.received"
    AGENT_MESSAGE_SENT = "agent_message.sent"
    BRAKE_RELEASED = "brake.released"
    BRAKE_TRIPPED = "brake.tripped"
    CONFIG_REFUSED = "config.refused"
    CONFIG_RELOADED = "config.reloaded"
    CONVERSATION_ARCHIVED = "conversation.archived"
    CONVERSATION_CHANGED = "conversation.changed"
    CONVERSATION_CREATED = "conversation.created"
    CONVERSATION_DELETED = "conversation.deleted"
    CONVERSATION_JOINED = "conversation.joined"
    CONVERSATION_LEFT = "conversation.left"
    CONVERSATION_SUMMARISED = "conversation.summarised"
    CONVERSATION_UNARCHIVED = "conversation.unarchived"
    DECISION_ANSWERED = "decision.answered"
    DECISION_CREATED = "decision.created"
    LINK_CHANGED = "link.changed"
    LINK_CREATED = "link.created"
    LINK_DELETED = "link.deleted"
    MESSAGE_DELETED = "message.deleted"
    MESSAGE_EDITED = "message.edited"
    MESSAGE_POSTED = "message.posted"
    NOTE_CHANGED = "note.changed"
    NOTE_CREATED = "note.created"
    NOTE_DELETED = "note.deleted"
    NOTE_SHARED = "note.shared"
    OWNER_ACTED_AS = "owner.acted_as"
    TASK_CHANGED = "task.changed"
    TASK_CREATED = "task.created"
    TASK_ENDED = "task.ended"
    TOKEN_ISSUED = "token.issued"
    TOKEN_REVOKED = "token.revoked"
    TOPOLOGY_MOVED = "topology.moved"
    TURN_DELTA = "turn.delta"
    TURN_FINISHED = "turn.finished"
    TURN_HELD = "turn.held"
    TURN_OWED = "turn.owed"
    TURN_READY = "turn.ready"
    TURN_STARTED = "turn.started"
    RESET = "reset"
    """Never stored: whoever follows the log has missed something, and begins anew."""


TAKEN_BACK = frozenset({EventType.CONVERSATION_DELETED, EventType.MESSAGE_DELETED})
"""Events that remove words from a conversation: whoever keeps messages in memory drops them too."""


class Event(Struct, frozen=True, gc=False):
    """`seq` points at the message it is about; `turn` and `body` are small and kept in full."""

    type: EventType
    at: float
    conversation: ConversationId | None = None
    by: ParticipantId | None = None
    seq: int = 0
    turn: Turn | None = None
    body: JsonObject | None = None
    id: int = 0


class Commit(Struct, gc=False):
    """What one commit of this process changed, for whoever keeps part of it in memory."""

    events: list[Event]
    messages: list[Message] = []
    """New ones, in the order in which they were decided, then revised ones."""
    follows: int | None = None
    """The event right before these in the log: nothing lies between, nor ever will. None where nobody can say."""
    hosts_may_differ: bool = True
    """Hosts may have come, gone or sent a heartbeat since the commit before; False where none is known to have."""
