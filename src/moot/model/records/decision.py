"""What an agent asks a person to decide: asked once, answered once, by that person and nobody else.

Above: flow/send.py makes it of a question to a person, flow/answer_decision.py takes the answer; doors show it wherever
the person is.
"""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.record import Table

DecisionId = NewType("DecisionId", str)


class DecisionState(StrEnum):
    OPEN = "open"
    ANSWERED = "answered"
    EXPIRED = "expired"
    USED = "used"
    """Answered, and what the answer allowed once has been done."""


class PersonsDecision(Struct, frozen=True, gc=False):
    id: DecisionId
    by: ParticipantId
    """Who asks."""
    to: ParticipantId
    """Who decides."""
    question: str
    choices: tuple[str, ...] = ()
    """What can be answered; anything where there are none."""
    conversation: ConversationId = ConversationId("")
    seq: int = 0
    """The message that asks."""
    state: DecisionState = DecisionState.OPEN
    answer: str = ""
    answer_seq: int = 0
    until: float = 0.0
    """When whoever asks gives up."""
    created_at: float = 0.0
    updated_at: float = 0.0

    def state_at(self, now: float) -> DecisionState:
        """Nobody has to write down that time has passed."""
        is_over = self.state is DecisionState.OPEN and 0 < self.until <= now
        return DecisionState.EXPIRED if is_over else self.state


DECISIONS = Table(
    "decisions",
    PersonsDecision,
    key=("id",),
    by=("to", "by"),
    in_micros=("created_at", "updated_at"),
    ends_with_conversation=True,
)
