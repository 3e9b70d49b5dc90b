"""Sessions that their client's hooks wake: what each moment of one means for what waits for its agent.

    Stop               its turn ends: what waits is handed over, and the turn goes on for it, once
    UserPromptSubmit   its turn begins: what waits goes along with the prompt
    SessionStart       nobody reads yet: it is told how much waits, and the first prompt brings it

What is handed over is handed out, as by `check`. But a hook is a process of its own, which its client may end at any
time, throwing away what it wrote: what it was given counts as read once it says that it has written it
(`note_spoken`) and the turn that was to read it has come to its end. Until then it is given again, and so is what an
earlier session left open. What the session has read is noted in `run/hooks` (delivered.py).
"""

from collections.abc import Sequence
from typing import Final

from moot import shapes
from moot.errors import BadValue
from moot.hub.core import Core
from moot.hub.external import handover
from moot.hub.external.delivered import handovers_of
from moot.hub.external.handover import CheckRequest
from moot.model.participant import Participant
from moot.model.turn import OPEN

MOMENTS: Final = ("Stop", "UserPromptSubmit", "SessionStart")


async def moment(
    core: Core, participant: Participant, event: str, *, again: bool, limit: int
) -> shapes.Hooked:
    """`again`: a hook has already extended this turn, so nothing more is added to it."""
    if event not in MOMENTS:
        raise BadValue(f'unknown session event "{event}"', detail=f"events are {', '.join(MOMENTS)}")
    handovers = handovers_of(core.parts.home, participant)
    if event == "SessionStart":
        handovers.begin()
        open_turns = await core.parts.store.turns(agent=participant.id, states=tuple(OPEN))
        return shapes.Hooked(participant.name, len(open_turns), first=True)
    # A turn that ends was not broken off: it has read what it began with, or went on with.
    before = handovers.taken() if event == "Stop" else handovers.read()
    if event == "Stop" and again:
        return shapes.Hooked(participant.name)
    handed = await handover.hand_out(core, CheckRequest(participant.id, limit, before.read, by_hook=True))
    return shapes.Hooked(participant.name, found=handed, first=not before.greeted)


def note_spoken(core: Core, participant: Participant, handed: Sequence[str]) -> None:
    """A hook has written to its client what it was given."""
    handovers_of(core.parts.home, participant).note_spoken(tuple(handed))
