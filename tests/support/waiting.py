"""Waiting for something that another task does, without guessing how long it takes."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from types import TracebackType
from typing import Self, TypeVar

T = TypeVar("T")

PATIENCE = 40.0
"""Seconds to wait for what comes at once on an idle machine: it may take long on a busy one, and only a test that hangs
waits so long. Below pytest's own limit, so that what was seen last is shown. What the product promises to do within a
time gets that time instead."""


async def until(look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool], seconds: float = PATIENCE) -> T:
    """Look again and again until it is so; fails with what was seen last."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not is_so(seen := await look()):
        assert loop.time() < end, f"still {seen!r} after {seconds} s"
        await asyncio.sleep(0.005)
    return seen


class OwnTime:
    """Seconds of this process's own, for what is promised within a time: those in which the machine let it run, or in
    which it wanted nothing. Those in which a busy machine ran others instead, and whoever is waited for as little as
    this process, are not counted."""

    STEP = 0.05

    def __init__(self) -> None:
        self.seconds = 0.0

    async def __aenter__(self) -> Self:
        self._counting = asyncio.ensure_future(self._count())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._counting.cancel()

    async def _count(self) -> None:
        loop = asyncio.get_running_loop()
        while True:
            began, ran = loop.time(), time.process_time()
            await asyncio.sleep(self.STEP)
            self.seconds += min(loop.time() - began, self.STEP + time.process_time() - ran)


async def within(seconds: float, look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool]) -> T:
    """Look until it is so, which is promised within so many seconds; fails with what was seen last."""
    async with OwnTime() as own:
        while not is_so(seen := await look()):
            assert own.seconds < seconds, f"still {seen!r} after {seconds} s"
            await asyncio.sleep(0.005)
    return seen
