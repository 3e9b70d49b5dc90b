"""Waiting for something that another task does, without guessing how long it takes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tests.support.stopwatch import Stopwatch

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


async def within(seconds: float, look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool]) -> T:
    """Look until it is so, which is promised within so many seconds; fails with what was seen last."""
    watch = Stopwatch()
    while not is_so(seen := await look()):
        assert not watch.is_over(seconds), f"still {seen!r} after {seconds} s"
        await asyncio.sleep(0.005)
    return seen
