"""The sweeper alone, on a clock that moves when told to."""

import asyncio
from contextlib import suppress
from typing import Any

from moot.host.sweeper import Sweeper
from moot.testing import ManualClock
from tests.support.waiting import PATIENCE

EVERY = 15.0


class Idle:
    """No turn ever comes due."""

    async def next_due(self) -> float | None:
        return None

    async def due(self, now: float) -> list[Any]:
        return []


async def test_what_comes_due_during_a_look_is_looked_at_next() -> None:
    clock, looks = ManualClock(), asyncio.Queue[float]()
    start = clock.now()

    async def look() -> None:
        looks.put_nowait(clock.now())
        if clock.now() == start:
            clock.set(start + 2 * EVERY)

    idle: Any = Idle()
    sweeping = asyncio.create_task(Sweeper(idle, idle, clock, EVERY, look).run())
    async with asyncio.timeout(PATIENCE):
        assert [await looks.get(), await looks.get()] == [start, start + 2 * EVERY]
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping


class Open(Idle):
    """Turns are open, and looking for them takes as long as it is told to."""

    def __init__(self) -> None:
        self.asked = asyncio.Event()
        self.let_on = asyncio.Event()

    async def turns(self, **which: Any) -> list[Any]:
        self.asked.set()
        await self.let_on.wait()
        return []


async def test_who_waits_for_what_is_due_waits_for_a_look_under_way_too() -> None:
    """Else time would go on while another look is about to judge what a clock that was set back means."""
    clock, turns = ManualClock(), Open()
    found: Any = turns
    sweeper = Sweeper(found, found, clock, EVERY)
    await sweeper.run_due()
    clock.set(clock.now() - 3600)
    first = asyncio.create_task(sweeper.run_due())
    await turns.asked.wait()
    second = asyncio.create_task(sweeper.run_due())
    await asyncio.wait([second], timeout=0.05)
    assert not second.done()
    turns.let_on.set()
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(first, second)
