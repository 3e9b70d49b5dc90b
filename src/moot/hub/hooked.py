"""Sessions that their client's hooks wake: what each moment of one means for what waits for its agent.

    Stop               its turn ends: what waits is handed over, and the turn goes on for it, once
    UserPromptSubmit   its turn begins: what waits goes along with the prompt
    SessionStart       nobody reads yet: it is told how much waits, and the first prompt brings it

What is handed over is handed out, as by `check`. A hook is a process of its own, so what hooks handed over is noted in
`run/hooks`: the session's server takes it for read, and a new session is given again what the last one left open.
"""

from typing import Final

from moot import shapes
from moot.errors import BadValue
from moot.hub import handing
from moot.hub.core import Core
from moot.hub.handing import Ask
from moot.hub.handovers import Handovers, handovers_of
from moot.model.participant import Participant
from moot.model.turn import OPEN, TurnState

MOMENTS: Final = ("Stop", "UserPromptSubmit", "SessionStart")


async def moment(core: Core, who: Participant, event: str, *, again: bool, limit: int) -> shapes.Hooked:
    """`again`: the turn goes on already because of a hook, and nothing more is added to it."""
    if event not in MOMENTS:
        raise BadValue(f'"{event}" is no moment of a session', detail=f"they are {', '.join(MOMENTS)}")
    kept = handovers_of(core.parts.home, who.id)
    running = await _running(core, who)
    if event == "SessionStart":
        kept.write(Handovers(unread=tuple(running)))
        open_turns = await core.parts.store.turns(agent=who.id, states=tuple(OPEN))
        return shapes.Hooked(who.name, len(open_turns))
    if event == "Stop" and again:
        return shapes.Hooked(who.name)
    unread = kept.read().unread
    seen = None if not unread else tuple(turn for turn in running if turn not in unread)
    found = await handing.check(core, Ask(who.id, limit, seen))
    kept.write(Handovers(handed=found.handed))
    return shapes.Hooked(who.name, found=found)


async def _running(core: Core, who: Participant) -> list[str]:
    found = await core.parts.store.turns(agent=who.id, states=(TurnState.RUNNING,))
    return [str(turn.id) for turn in found]
