"""The sweeper alone, on a clock that moves when told to."""

import asyncio
from contextlib import suppress
from typing import Any

from moot.host.sweeper import Sweeper
from moot.testing import ManualClock

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
    async with asyncio.timeout(5):
        assert [await looks.get(), await looks.get()] == [start, start + 2 * EVERY]
    sweeping.cancel()
    with suppress(asyncio.CancelledError):
        await sweeping
