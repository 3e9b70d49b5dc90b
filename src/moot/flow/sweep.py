"""Sweep: time has passed. Holds end, patience ends, leases and deadlines run out; then the floor moves on.

Above: host/ calls it for conversations where something is due. It makes every lost wake-up harmless, and doing
it twice does nothing.
"""

from math import inf

from msgspec import Struct, structs

from moot.flow import finish
from moot.flow.steps import answers, obligations
from moot.model.change import Decision
from moot.model.ids import ConversationId, HostId
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.model.records.wait import WAITS
from moot.model.turn import Turn, TurnState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Room


class Sweep(Struct, frozen=True, gc=False):
    conversation: ConversationId
    begun: float = inf
    """When the caller began to look: one that was stopped since judges nobody, and looks again."""


def scope(command: Sweep) -> Scope:
    waits = WAITS.where(conversation=command.conversation)
    return Scope(conversations=(command.conversation,), hosts=True, records=(waits,))


def decide(command: Sweep, seen: Seen, at: Moment) -> Decision[None]:
    conversation = seen.conversation(command.conversation)
    if conversation is None or at.now - command.begun > at.terms.lease_seconds / 3:
        return Decision([], None)
    draft = Draft(seen, at)
    room = draft.room(conversation)
    alive = {host.id for host in seen.hosts() if host.lease_until > at.now}
    for turn in sorted(room.turns.values(), key=lambda turn: turn.id):
        _look_at(room, turn, alive)
    obligations.expire(room)
    answers.expire(room)
    obligations.move_on(room)
    return Decision(draft.changes(), None)


def _look_at(room: Room, turn: Turn, alive: set[HostId]) -> None:
    turn = _within_reach(room, turn)
    due = bool(turn.due) and turn.due <= room.now
    present = room.draft.participant(turn.agent).present(room.now)
    match turn.state:
        case TurnState.HELD:
            room.floor.release(room, turn, due=due, present=present)
        case TurnState.READY if due or not present:
            room.floor.unclaimed(room, turn)
        case TurnState.RUNNING:
            _running(room, turn, alive)
        case _:
            pass


def _within_reach(room: Room, turn: Turn) -> Turn:
    """A clock that was set back has left moments farther away than they are ever set: they are drawn in."""
    now, ahead = room.now, (turn.started_at or turn.created_at) - room.now
    match turn.state:
        case TurnState.HELD if turn.due > now + seats.longest_hold(room):
            nearer = structs.replace(turn, due=now)
        case TurnState.READY if ahead > 0:
            nearer = structs.replace(turn, due=turn.due - ahead)
        case TurnState.RUNNING if ahead > 0:
            moments = {
                name: max(0.0, getattr(turn, name) - ahead) for name in ("lease", "deadline", "limit", "due")
            }
            nearer = structs.replace(turn, started_at=now, **moments)
        case _:
            return turn
    return room.put_turn(nearer)


def _running(room: Room, turn: Turn, alive: set[HostId]) -> None:
    now = room.now
    external = room.draft.participant(turn.agent).kind is Kind.EXTERNAL
    lost = not external and (turn.lease <= now or turn.host not in alive)
    silent = bool(turn.deadline) and turn.deadline <= now
    over = bool(turn.limit) and turn.limit <= now
    if external and silent and not over:
        if not turn.late:
            room.put_turn(structs.replace(turn, late=True, due=turn.limit))
    elif lost and not (silent and turn.deadline < turn.lease):
        _lost(room, turn)
    elif silent or over:
        done = finish.expire(room, turn)
        room.floor.ended(room, done)


def _lost(room: Room, turn: Turn) -> None:
    """Its host died: readied once more with a new fence, or owed; failed when that happened before."""
    if turn.attempt >= seats.LOST_HOSTS:
        done = finish.fail(room, turn, "its host was lost twice")
        room.floor.ended(room, done)
        return
    give_back(room, turn, attempt=turn.attempt)


def give_back(room: Room, turn: Turn, *, attempt: int) -> None:
    """A running turn returns to where it can be claimed again."""
    back = structs.replace(turn, fence=turn.fence + 1, attempt=attempt, lease=0.0, host=None, hi=0)
    present = room.draft.participant(turn.agent).present(room.now)
    room.floor.give_back(room, turn, back, present=present)
