"""Ending a turn: once, and once more where its reply was refused, with what that takes to be entered in the audit.

Refused replies are rare, and what is needed to enter them is not loaded for all the others. A turn that was interrupted
leaves what was said so far.
"""

from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, Final

import structlog
from msgspec import structs

from moot.errors import Stale, StoreUnwritable
from moot.flow import finish, leave_partial
from moot.flow.finish import Finish, ReplyRefused
from moot.host.hosted import Running
from moot.host.trace import frames
from moot.model.answer import Finished
from moot.ports import Clock

log = structlog.get_logger("moot.host")

STORE_AWAY_SECONDS: Final = 1.0

Transact = Callable[[Any, Any], Awaitable[Any]]
"""Carries out a verb."""


def patient(transact: Transact, clock: Clock) -> Transact:
    """The same for verbs on which a whole turn hangs: carried out again and again while the store is away. Where the
    turn was given to another meanwhile the verb is stale, and that ends it."""

    async def carried_out(verb: Any, command: Any) -> Any:
        while True:
            try:
                return await transact(verb, command)
            except StoreUnwritable as trouble:
                log.warning("a turn waits for the store", action="turn_waits_for_store", error=str(trouble))
                await clock.sleep_until(clock.now() + STORE_AWAY_SECONDS)

    return carried_out


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
