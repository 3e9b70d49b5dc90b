"""Who waits for whose answer: so that nobody waits in a ring, and no answer is lost with a process that waited.

A row stands from the question until its asker knows what came of it: because it heard it where it waited, or because
it was given a turn for it. Above: flow/send.py makes one, flow/steps/answers.py moves it, flow/hear_answer.py and
flow/give_up.py end it.
"""

from typing import Final

from msgspec import Struct

from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.record import Table

NO_ANSWER: Final = -1


class Wait(Struct, frozen=True, gc=False):
    """An agent has asked another, or a person, and does not know yet what came of it."""

    conversation: ConversationId
    seq: int
    """The question."""
    asker: ParticipantId
    target: ParticipantId
    until: float
    """When its asker gives up, or is told that nothing came."""
    host: HostId = HostId("")
    """The process in which its asker waits, and goes on only with the answer. Empty where it went on without."""
    answer: int = 0
    """0 as long as the question is open; then the message that answers it, or `NO_ANSWER`."""

    def blocks(self, now: float) -> bool:
        """Whether its asker can do nothing else."""
        return bool(self.host) and not self.answer and self.until > now

    @property
    def left_until(self) -> float:
        """When its asker, who went on, is told that no answer came; 0 where that is not to be told."""
        return 0.0 if self.host or self.answer else self.until


WAITS = Table(
    "waits",
    Wait,
    key=("conversation", "seq"),
    by=("conversation",),
    all_at_once=True,
    ends_with_conversation=True,
)
