"""Claim: a ready or owed turn becomes the caller's, with a lease and a fence. One wins; others see nothing."""

from msgspec import Struct

from moot.flow import post
from moot.flow.steps import find
from moot.model.answer import Claimed
from moot.model.change import Decision
from moot.model.ids import HostId, TurnId
from moot.model.moment import Moment
from moot.model.turn import Rule, Turn, TurnState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Room

CLAIMABLE = frozenset({TurnState.READY, TurnState.OWED})


class Claim(Struct, frozen=True, gc=False):
    turn: TurnId
    host: HostId | None
    """None for an outside agent, whose turn has no lease."""


def scope(command: Claim) -> Scope:
    return Scope(turns=(command.turn,))


def decide(command: Claim, seen: Seen, at: Moment) -> Decision[Claimed]:
    turn = seen.turn(command.turn)
    if turn is None or turn.state not in CLAIMABLE:
        return Decision([], Claimed())
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, turn.conversation))
    if draft.participant(turn.agent).paused:
        seats.cancel(room, turn, Rule.PAUSED)
        post.move_on(room)
        return Decision(draft.changes(), Claimed())
    taken = take(room, turn, command.host)
    return Decision(draft.changes(), Claimed(turn=taken))


def take(room: Room, turn: Turn, host: HostId | None) -> Turn:
    """Begin the turn over everything up to the head, to its question, or, in parallel, to where the others read."""
    taken = seats.claim(room, turn, host)
    room.floor.claimed(room, taken)
    return taken
