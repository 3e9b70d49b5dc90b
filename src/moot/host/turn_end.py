"""Ending a turn: once, and again if its reply was refused, to record that in the audit.

Refused replies are rare, so what is needed to record one is loaded only then. An interrupted turn keeps the text so
far.
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
    """The same for verbs on which a whole turn depends: retried while the store is away. If another host has got the
    turn meanwhile, the verb raises Stale."""

    async def retry(verb: Any, command: Any) -> Any:
        while True:
            try:
                return await transact(verb, command)
            except StoreUnwritable as trouble:
                log.warning("a turn waits for the store", action="turn_waits_for_store", error=str(trouble))
                await clock.sleep_until(clock.now() + STORE_AWAY_SECONDS)

    return retry


async def finish_turn(transact: Transact, command: Finish) -> Finished:
    try:
        result: Finished = await transact(finish, command)
    except ReplyRefused as refusal:
        result = await transact(finish, structs.replace(command, refused_to=refusal.agent))
    return result


def failure_of(run: Running, error: Exception) -> finish.Failed:
    """The outcome of a turn whose brain raised an error."""
    turn, notice, where = run.turn, str(getattr(error, "notice", "")), frames(error)
    log.warning("brain failed", action="brain_failed", agent=turn.agent, turn=turn.id, error=repr(error))
    log.debug("where it failed", action="brain_failed", turn=turn.id, trace=where)
    why = notice or f"{type(error).__name__}: {error}"
    return finish.Failed(error=why, usage=run.spent, notice=notice, trace=where)


async def keep_partial(transact: Transact, run: Running) -> None:
    """Store what an interrupted turn had said."""
    text = run.speaking.said if run.speaking is not None else ""
    if text.strip():
        with suppress(Stale):
            await transact(leave_partial, leave_partial.LeavePartial(run.turn.id, run.turn.fence, text))
