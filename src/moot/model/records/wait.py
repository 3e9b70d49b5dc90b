"""Who waits for whose answer: so that nobody waits for somebody who, over however many others, waits for it."""

from msgspec import Struct

from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.record import Table


class Wait(Struct, frozen=True, gc=False):
    """An agent has asked another and goes on only with the answer."""

    conversation: ConversationId
    seq: int
    """The question."""
    asker: ParticipantId
    target: ParticipantId
    until: float
    """When it gives up."""
    host: HostId = HostId("")
    """The process in which it waits: with that the wait ends too. Empty where nobody wrote it down."""


WAITS = Table("waits", Wait, key=("conversation", "seq"), all_at_once=True, ends_with_conversation=True)
