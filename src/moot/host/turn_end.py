"""Ending a turn: once, and once more where its reply was refused, with what that takes to be entered in the audit.

Refused replies are rare, and what is needed to enter them is not loaded for all the others. A turn that was interrupted
leaves what was said so far.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import structlog
from msgspec import structs

from moot.errors import Stale
from moot.flow import finish, leave_partial
from moot.flow.finish import Finish, ReplyRefused
from moot.host.hosted import Running
from moot.host.trace import frames
from moot.model.answer import Finished

log = structlog.get_logger("moot.host")

Transact = Callable[[Any, Any], Awaitable[Any]]
"""Carries out a verb."""


async def finished(transact: Transact, command: Finish) -> Finished:
    try:
        done: Finished = await transact(finish, command)
    except ReplyRefused as refused:
        done = await transact(finish, structs.replace(command, refused_to=refused.agent))
    return done


def failed(run: Running, error: Exception) -> finish.Failed:
    """What becomes of a turn whose brain raised something."""
    turn, notice, where = run.turn, str(getattr(error, "notice", "")), frames(error)
    log.warning("brain failed", action="brain_failed", agent=turn.agent, turn=turn.id, error=repr(error))
    log.debug("where it failed", action="brain_failed", turn=turn.id, trace=where)
    why = notice or f"{type(error).__name__}: {error}"
    return finish.Failed(error=why, usage=run.spent, notice=notice, trace=where)


async def left_partial(transact: Transact, run: Running) -> None:
    """Keep what it had said when it was cut short."""
    text = run.speaking.said if run.speaking is not None else ""
    if text.strip():
        with suppress(Stale):
            await transact(leave_partial, leave_partial.LeavePartial(run.turn.id, run.turn.fence, text))
