"""Waiting for something that another task does, without guessing how long it takes."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

T = TypeVar("T")


async def until(look: Callable[[], Awaitable[T]], is_so: Callable[[T], bool], seconds: float = 5.0) -> T:
    """Look again and again until it is so; fails with what was seen last."""
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    while not is_so(seen := await look()):
        assert loop.time() < end, f"still {seen!r} after {seconds} s"
        await asyncio.sleep(0.005)
    return seen
