"""Claim: a ready or owed turn becomes the caller's, with a lease and a fence. One wins; others see nothing."""

from msgspec import Struct

from moot.flow.steps import find, obligations
from moot.model.answer import Claimed
from moot.model.change import Decision
from moot.model.ids import HostId, TurnId
from moot.model.moment import Moment
from moot.model.turn import RuleName, Turn, TurnState
from moot.ports import Scope
from moot.rules import links
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
    taken = begin(room, turn, command.host)
    return Decision(draft.changes(), Claimed(turn=taken))


def begin(room: Room, turn: Turn, host: HostId | None) -> Turn | None:
    """Begin the turn over everything up to the head, to its question, or, in parallel, to where the others read; not
    where its agent was paused, or what called it may not do so any more."""
    stop = RuleName.PAUSED if room.draft.participant(turn.agent).gets_no_turns else None
    calls = links.standing_calls(room, turn)
    if stop is None and not calls:
        stop = RuleName.LINK
    if stop is not None:
        seats.cancel(room, turn, stop)
        obligations.move_on(room)
        return None
    if len(calls) < len(turn.calls):
        turn = turn.called_only_by(calls)
    taken = seats.claim(room, turn, host)
    room.floor.claimed(room, taken)
    obligations.settle(room)
    return taken
