"""When a decision is made, and where its new ids come from. The only clock the rules know."""

from collections.abc import Callable

from moot.model.ids import ConversationId, TurnId
from moot.model.limits import Terms


class Moment:
    """`now` in UTC seconds, whole microseconds, so that what is stored reads back equal."""

    __slots__ = ("conversation_id", "now", "terms", "turn_id")

    def __init__(
        self,
        now: float,
        terms: Terms,
        turn_id: Callable[[], TurnId],
        conversation_id: Callable[[], ConversationId],
    ) -> None:
        self.now = now
        self.terms = terms
        self.turn_id = turn_id
        self.conversation_id = conversation_id
