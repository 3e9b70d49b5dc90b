"""Check: an outside agent asks what waits for it. What it gets is an open turn without a lease.

Asking again ends the turns handed out before as passed; `finish` with a text is the reply. Only who was handed a turn
can end it so: to a new session of the same agent, which has not seen what the last one was given, it is handed again.
Who works on several at once names those it still holds.
"""

from msgspec import Struct

from moot.flow import claim, finish
from moot.flow.steps import find, obligations
from moot.model.change import Decision
from moot.model.ids import ParticipantId, TurnId
from moot.model.moment import Moment
from moot.model.turn import Turn, TurnState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Room


class Check(Struct, frozen=True, gc=False):
    agent: ParticipantId
    turns: tuple[TurnId, ...]
    """Claimable turns of the agent, as the caller found them."""
    handed: tuple[TurnId, ...] | None = None
    """Turns that the caller was given before; None: whatever is open, it has seen."""
    anew: bool = True
    """Give again what is open and was not handed to the caller."""
    held: tuple[TurnId, ...] = ()
    """Turns that the caller works on still: they stay open, and are not given again."""


def scope(command: Check) -> Scope:
    return Scope(turns=command.turns, names=(command.agent,), running_of=command.agent)


def decide(command: Check, seen: Seen, at: Moment) -> Decision[tuple[Turn, ...]]:
    draft = Draft(seen, at)
    handed_out: list[Turn] = []
    closed: list[Room] = []
    for turn in seen.running_of(command.agent):
        if turn.id in command.held:
            continue
        if command.handed is not None and turn.id not in command.handed:
            handed_out += [turn] if command.anew else []
            continue
        room = draft.room(find.conversation(seen, turn.conversation))
        state = TurnState.SAID if turn.posts else TurnState.PASSED
        finish.close(room, seats.end(room, turn, state))
        closed.append(room)
    for turn_id in command.turns:
        called = seen.turn(turn_id)
        if called is not None:
            room = draft.room(find.conversation(seen, called.conversation))
            handed_out += _taken(room, command.agent, only=turn_id)
    if not handed_out and len(closed) == 1:  # what came in while the one turn was open is ready only now
        handed_out += _taken(closed[0], command.agent)
    return Decision(draft.changes(), tuple(handed_out))


def _taken(room: Room, agent: ParticipantId, only: TurnId | None = None) -> list[Turn]:
    """The agent's turn in a room, if there is one to take."""
    turn = room.turns.get(agent)
    if turn is None or only not in (None, turn.id) or turn.state not in claim.CLAIMABLE:
        return []
    taken = claim.begin(room, turn, None)
    obligations.move_on(room)
    return [taken] if taken is not None else []
