"""Decisions of people as the outside sees them."""

from moot.model.records import decision as model_decision
from moot.shapes.shape import Names, Shape, when


class PersonsDecision(Shape, frozen=True):
    """A question that an agent asks a person to decide, once."""

    id: str
    by: str
    to: str
    question: str
    choices: tuple[str, ...]
    """Allowed answers; any text if empty."""
    state: str
    answer: str | None
    message: str
    """The message that asks."""
    until: str | None
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, decision: model_decision.PersonsDecision, names: Names, now: float) -> "PersonsDecision":
        return cls(
            id=decision.id,
            by=names(decision.by),
            to=names(decision.to),
            question=decision.question,
            choices=decision.choices,
            state=decision.state_at(now).value,
            answer=decision.answer or None,
            message=f"{decision.conversation}:{decision.seq}",
            until=when(decision.until),
            created_at=when(decision.created_at),
            updated_at=when(decision.updated_at),
        )
