"""Call a tool: written down before the tool runs, so that after a crash it is known that it may have run.

Above: host/agent_turn.py, on behalf of a brain. The result comes in by tool_result.py; while it is awaited the turn
is not interrupted.
"""

from msgspec import Struct, structs

from moot.errors import Braked, Conflict
from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.model.turn import Step, Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats

MAX_STEPS = 128
"""Tool calls in one turn, whatever the brain's own limit is."""


class CallTool(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    call: str
    tool: str
    arguments: str
    answer: int = 0
    said: str = ""
    idempotent: bool = False


def scope(command: CallTool) -> Scope:
    return Scope(turns=(command.turn,))


def decide(command: CallTool, seen: Seen, at: Moment) -> Decision[Turn]:
    turn = find.running(seen, command.turn, command.fence)
    if turn.open_step is not None:
        raise Conflict(f"turn {turn.id} is still waiting for {turn.open_step.tool}; one tool runs at a time")
    if len(turn.steps) >= MAX_STEPS:
        raise Braked(f"turn {turn.id} has called {len(turn.steps)} tools, the maximum for one turn")
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, turn.conversation))
    step = Step(
        call=command.call,
        tool=command.tool,
        arguments=command.arguments,
        at=at.now,
        answer=command.answer,
        said=command.said,
        idempotent=command.idempotent,
    )
    turn = room.put_turn(seats.alive(room, structs.replace(turn, steps=(*turn.steps, step)), at.now))
    return Decision(draft.changes(), turn)
