"""Put an unreadable record of Kafka aside, where a person can look at it; reading goes on."""

from msgspec import Struct

from moot.model.change import Decision, PutRecord
from moot.model.moment import Moment
from moot.model.records.dead_letter import DEAD_LETTERS, MAX_DEAD_LETTERS, DeadLetter
from moot.ports import Scope
from moot.rules.draft import Seen

MAX_TEXT_CHARACTERS = 1024


class ParkRecord(Struct, frozen=True, gc=False):
    topic: str
    part: int
    place: int
    reason: str
    text: str


def scope(command: ParkRecord) -> Scope:
    return Scope(records=(DEAD_LETTERS.all(),))


def decide(command: ParkRecord, seen: Seen, at: Moment) -> Decision[DeadLetter]:
    """The same record is stored once, however often it is read."""
    letters = seen.records(DEAD_LETTERS.all())
    place = (command.topic, command.part, command.place)
    for earlier in letters:
        if (earlier.topic, earlier.part, earlier.place) == place:
            return Decision([], earlier)
    letter = DeadLetter(_slot(letters), *place, command.reason, command.text[:MAX_TEXT_CHARACTERS], at.now)
    return Decision([PutRecord(DEAD_LETTERS, letter)], letter)


def _slot(letters: list[DeadLetter]) -> int:
    if len(letters) < MAX_DEAD_LETTERS:
        return len(letters)
    return min(letters, key=lambda letter: letter.at).slot
