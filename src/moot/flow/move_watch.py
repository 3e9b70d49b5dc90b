"""Move a watch: from time to time it is noted how far a supervisor has been shown the log. Told to nobody.

A position only rises: of two processes that both believe to watch for a moment, the one that is further back changes
nothing.
"""

from msgspec import Struct

from moot.model.change import Decision, PutRecord
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.bookmark import WATCH_POSITIONS, WatchPosition
from moot.ports import Scope
from moot.rules.draft import Seen


class MoveWatch(Struct, frozen=True, gc=False):
    agent: ParticipantId
    event: int


def scope(command: MoveWatch) -> Scope:
    return Scope(records=(WATCH_POSITIONS.one(command.agent),))


def decide(command: MoveWatch, seen: Seen, at: Moment) -> Decision[WatchPosition]:
    """Answers with where it is now."""
    position = seen.record(WATCH_POSITIONS, command.agent)
    if position is not None and position.event >= command.event:
        return Decision([], position)
    moved = WatchPosition(command.agent, command.event, at.now)
    return Decision([PutRecord(WATCH_POSITIONS, moved)], moved)
