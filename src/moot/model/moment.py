"""When a decision is made, and where its new ids come from. The only clock the rules know."""

from collections.abc import Callable
from functools import lru_cache

from moot.model.entrance import NOBODY_CAME, Entrance
from moot.model.ids import ConversationId, TurnId
from moot.model.limits import Terms


@lru_cache(maxsize=16)
def micros(at: float) -> int:
    """A moment in whole microseconds, as it is stored and hashed. All that one batch writes was at one moment."""
    return round(at * 1_000_000)


class Moment:
    """`now` in UTC seconds, whole microseconds, so that what is stored reads back equal."""

    __slots__ = ("conversation_id", "entrance", "now", "terms", "turn_id")

    def __init__(
        self,
        now: float,
        terms: Terms,
        turn_id: Callable[[], TurnId],
        conversation_id: Callable[[], ConversationId],
        entrance: Entrance = NOBODY_CAME,
    ) -> None:
        self.now = now
        self.terms = terms
        self.turn_id = turn_id
        self.conversation_id = conversation_id
        self.entrance = entrance
        """How what is decided came in."""

    def entered_by(self, entrance: Entrance) -> "Moment":
        """The same moment, for what came in like this."""
        return Moment(self.now, self.terms, self.turn_id, self.conversation_id, entrance)
