"""Arrange the map: put agents and people where they shall stand on it, for everybody who looks.

Only those that are named move. Positions say nothing about who may speak to whom.
"""

from math import isfinite
from typing import Final

from msgspec import Struct

from moot.errors import BadValue, NotPermitted
from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN
from moot.model.records.position import POSITIONS, Position
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

MAX_DISTANCE: Final = 1_000_000.0
"""From the middle of the map, either way."""
MAX_MOVED: Final = 5000
"""By one act."""


class Arrange(Struct, frozen=True, gc=False):
    author: ParticipantId
    places: tuple[tuple[str, float, float], ...]
    """Name, x and y."""


def scope(command: Arrange) -> Scope:
    names = [name for name, _, _ in command.places]
    return Scope(names=(command.author, *names), records=(POSITIONS.all(),))


def decide(command: Arrange, seen: Seen, at: Moment) -> Decision[list[Position]]:
    """All positions, as they are from now on."""
    draft = Draft(seen, at)
    author = draft.participant(command.author)
    if author.kind is not HUMAN:
        raise NotPermitted(
            f"{author.name} may not set positions", detail="only people may do this, not agents"
        )
    if len(command.places) > MAX_MOVED:
        raise BadValue(
            f"too many positions at once: {len(command.places)}", detail=f"expected at most {MAX_MOVED}"
        )
    moved: dict[ParticipantId, Position] = {}
    for name, x, y in command.places:
        _check(name, x, y)
        participant = find.addressee(seen, name)
        place = Position(participant.id, x, y, author.id, at.now)
        if moved.setdefault(participant.id, place) is not place:
            raise BadValue(f"{participant.name} is given two positions", detail="expected one for each")
    before = {place.participant: place for place in seen.records(POSITIONS.all())}
    moved = {
        participant_id: place
        for participant_id, place in moved.items()
        if not _stands_there(before.get(participant_id), place)
    }
    for place in moved.values():
        draft.put(POSITIONS, place)
    if moved:
        body = {
            "positions": {
                participant_id: {"x": place.x, "y": place.y} for participant_id, place in moved.items()
            }
        }
        draft.emit(EventType.TOPOLOGY_MOVED, by=author.id, body=body)
    return Decision(draft.changes(), list({**before, **moved}.values()))


def _stands_there(before: Position | None, place: Position) -> bool:
    return before is not None and (before.x, before.y) == (place.x, place.y)


def _check(name: str, x: float, y: float) -> None:
    for axis, value in (("x", x), ("y", y)):
        if not isfinite(value) or abs(value) > MAX_DISTANCE:
            raise BadValue(
                f"{axis} of {name} is {value}",
                detail=f"expected a number from -{MAX_DISTANCE:.0f} to {MAX_DISTANCE:.0f}",
            )
