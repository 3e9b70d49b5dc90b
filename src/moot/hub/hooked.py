"""Sessions that their client's hooks wake: what each moment of one means for what waits for its agent.

    Stop               its turn ends: what waits is handed over, and the turn goes on for it, once
    UserPromptSubmit   its turn begins: what waits goes along with the prompt
    SessionStart       nobody reads yet: it is told how much waits, and the first prompt brings it

What is handed over is handed out, as by `check`. A hook is a process of its own, so what hooks handed over is noted in
`run/hooks`: the session's server takes it for read. A new session is given again what the last one left open.
"""

from typing import Final

from moot import shapes
from moot.errors import BadValue
from moot.hub import handing
from moot.hub.core import Core
from moot.hub.handing import Ask
from moot.hub.handovers import Handovers, handovers_of, session_of
from moot.model.participant import Participant
from moot.model.turn import OPEN, TurnState

MOMENTS: Final = ("Stop", "UserPromptSubmit", "SessionStart")


async def moment(core: Core, who: Participant, event: str, *, again: bool, limit: int) -> shapes.Hooked:
    """`again`: the turn goes on already because of a hook, and nothing more is added to it."""
    if event not in MOMENTS:
        raise BadValue(f'"{event}" is no moment of a session', detail=f"they are {', '.join(MOMENTS)}")
    kept, session = handovers_of(core.parts.home, who.id), session_of(who)
    before = kept.read()
    running = await _running(core, who)
    if event == "SessionStart":
        kept.write(Handovers(session, unread=running))
        open_turns = await core.parts.store.turns(agent=who.id, states=tuple(OPEN))
        return shapes.Hooked(who.name, len(open_turns), first=True)
    if event == "Stop" and again:
        return shapes.Hooked(who.name)
    first = before.session != session
    unread = running if first else before.unread
    seen = tuple(turn for turn in running if turn not in unread) if unread else None
    found = await handing.check(core, Ask(who.id, limit, seen))
    kept.write(Handovers(session, handed=found.handed))
    return shapes.Hooked(who.name, found=found, first=first)


async def _running(core: Core, who: Participant) -> tuple[str, ...]:
    found = await core.parts.store.turns(agent=who.id, states=(TurnState.RUNNING,))
    return tuple(str(turn.id) for turn in found)
