"""Leave a partial: a host learns late that its turn was interrupted, and hands in what had been said."""

from msgspec import Struct, structs

from moot.errors import Stale
from moot.flow import post
from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class LeavePartial(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    text: str


def scope(command: LeavePartial) -> Scope:
    return Scope(turns=(command.turn,))


def decide(command: LeavePartial, seen: Seen, at: Moment) -> Decision[None]:
    turn = seen.turn(command.turn)
    if turn is None or not turn.interrupted or turn.fence != command.fence + 1 or turn.message:
        raise Stale(
            f"turn {command.turn} cannot keep a partial reply: it was not interrupted, or already has one"
        )
    draft = Draft(seen, at)
    room = find.open_room(draft, turn.conversation)
    if command.text.strip() and turn.agent in room.members:
        room.put_turn(structs.replace(turn, message=post.partial(room, turn, command.text)))
    return Decision(draft.changes(), None)
