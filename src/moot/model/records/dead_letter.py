"""Records of a log outside that nobody could make sense of: kept to be looked at, never in anybody's way."""

from msgspec import Struct

from moot.model.records.record import Table

MAX_DEAD_LETTERS = 1000
"""Kept; one beyond that takes the place of the oldest."""


class DeadLetter(Struct, frozen=True, gc=False):
    slot: int
    """Which of the places it has; they are used in turn."""
    topic: str
    part: int
    """Of the topic."""
    place: int
    """Its offset there."""
    reason: str
    text: str
    """As far as it is text, and not all of a long one."""
    at: float


DEAD_LETTERS = Table("dead_letters", DeadLetter, key=("slot",), all_at_once=True, in_micros=("at",))
