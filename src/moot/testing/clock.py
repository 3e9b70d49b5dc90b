"""A clock that moves only when told to."""

import asyncio
from collections.abc import Awaitable, Callable


class ManualClock:
    """`start` is UTC seconds. `advance` runs what became due, then returns."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._moved = asyncio.Event()
        self._watchers: list[Callable[[], Awaitable[None]]] = []

    def now(self) -> float:
        return self._now

    async def sleep_until(self, moment: float) -> None:
        while self._now < moment:
            await self._moved.wait()

    def watch(self, due: Callable[[], Awaitable[None]]) -> None:
        """`due` is awaited after each move of time: it does what the new time made due."""
        self._watchers.append(due)

    def unwatch(self, due: Callable[[], Awaitable[None]]) -> None:
        self._watchers.remove(due)

    def set(self, moment: float) -> None:
        """Move without running anything, backwards too."""
        self._now = moment
        self._moved.set()
        self._moved = asyncio.Event()

    async def advance(self, seconds: float) -> None:
        self.set(self._now + seconds)
        for due in list(self._watchers):
            await due()
