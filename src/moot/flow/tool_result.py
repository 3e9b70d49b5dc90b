"""What a tool answered: a message by `tool`, and the turn goes on from the store. It wakes nobody.

An interruption that came while the tool ran takes effect here, after the result is safe.
"""

from msgspec import Struct, structs

from moot.errors import Stale
from moot.flow import post
from moot.flow.steps import find, obligations
from moot.model.change import Decision
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.model.turn import Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Room


class ToolAnswered(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    call: str
    text: str
    failed: bool = False


def scope(command: ToolAnswered) -> Scope:
    return Scope(turns=(command.turn,))


def decide(command: ToolAnswered, seen: Seen, at: Moment) -> Decision[Turn]:
    """Answers with the turn as it stands then; one that was interrupted meanwhile has ended."""
    turn = find.running(seen, command.turn, command.fence)
    step = turn.open_step
    if step is None or step.call != command.call:
        raise Stale(f"turn {turn.id} is not waiting for the call {command.call}")
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, turn.conversation))
    message = post.by_tool(room, turn, step, command.text, failed=command.failed)
    steps = (*turn.steps[:-1], structs.replace(step, seq=message.seq))
    turn = room.put_turn(seats.alive(room, structs.replace(turn, steps=steps), at.now))
    if turn.stopping:
        turn = _stop(room, turn)
    return Decision(draft.changes(), turn)


def _stop(room: Room, turn: Turn) -> Turn:
    stopped = post.cut_short(room, [structs.replace(turn, stopping=False)], {turn.id: turn.steps[-1].said})
    room.floor.resume(room, turn)
    obligations.move_on(room)
    return stopped[0]
