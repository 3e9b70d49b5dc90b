"""Release: a host that shuts down gives a running turn back, without using up its retry."""

from msgspec import Struct

from moot.flow import sweep
from moot.flow.steps import find, obligations
from moot.model.change import Decision
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Release(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int


def scope(command: Release) -> Scope:
    return Scope(turns=(command.turn,))


def decide(command: Release, seen: Seen, at: Moment) -> Decision[None]:
    turn = find.running(seen, command.turn, command.fence)
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, turn.conversation))
    sweep.give_back(room, turn, attempt=turn.attempt - 1)
    obligations.move_on(room)
    return Decision(draft.changes(), None)
