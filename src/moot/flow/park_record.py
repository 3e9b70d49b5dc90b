"""Put a record aside that makes no sense: it is kept for whoever looks into it, and stops nobody."""

from msgspec import Struct

from moot.model.change import Decision, PutRecord
from moot.model.moment import Moment
from moot.model.records.dead_letter import DEAD_LETTERS, MOST_DEAD_LETTERS, DeadLetter
from moot.ports import Scope
from moot.rules.draft import Seen

MOST_CHARACTERS = 1024


class ParkRecord(Struct, frozen=True, gc=False):
    topic: str
    part: int
    place: int
    reason: str
    text: str


def scope(command: ParkRecord) -> Scope:
    return Scope(records=(DEAD_LETTERS.all(),))


def decide(command: ParkRecord, seen: Seen, at: Moment) -> Decision[DeadLetter]:
    """The same record is kept once, however often it is met."""
    kept = seen.records(DEAD_LETTERS.all())
    place = (command.topic, command.part, command.place)
    for known in kept:
        if (known.topic, known.part, known.place) == place:
            return Decision([], known)
    letter = DeadLetter(_slot(kept), *place, command.reason, command.text[:MOST_CHARACTERS], at.now)
    return Decision([PutRecord(DEAD_LETTERS, letter)], letter)


def _slot(kept: list[DeadLetter]) -> int:
    if len(kept) < MOST_DEAD_LETTERS:
        return len(kept)
    return min(kept, key=lambda letter: letter.at).slot
