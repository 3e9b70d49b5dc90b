"""A clock that moves only when told to."""

import asyncio
from typing import Protocol

MAX_STOPS = 10_000
"""Moments on the way of one `advance`; what falls due after so many happens at its end."""
PASSES = 10
"""Of the loop, for whoever was woken to come to where it waits for something other than time."""


class Watcher(Protocol):
    """Who has something to do when its time has come, and can say when that is."""

    async def keep_up(self) -> None:
        """Give the signs of life that are due, before anybody judges who has given none."""

    async def run_due(self) -> None:
        """Do what is due by now."""

    async def next_due(self) -> float | None:
        """The next moment at which something will be."""


class ManualClock:
    """`start` is UTC seconds. `advance` goes from one moment at which something is due to the next."""

    def __init__(self, start: float = 1_800_000_000.0) -> None:
        self._now = start
        self._moved = asyncio.Event()
        self._sleeping: list[float] = []
        self._watchers: list[Watcher] = []

    def now(self) -> float:
        return self._now

    async def sleep_until(self, moment: float) -> None:
        self._sleeping.append(moment)
        try:
            while self._now < moment:
                await self._moved.wait()
        finally:
            self._sleeping.remove(moment)

    def watch(self, watcher: Watcher) -> None:
        self._watchers.append(watcher)

    def unwatch(self, watcher: Watcher) -> None:
        self._watchers.remove(watcher)

    def set(self, moment: float) -> None:
        """Leap there without running anything on the way, backwards too: as when a machine slept."""
        self._now = moment
        self._moved.set()
        self._moved = asyncio.Event()

    async def advance(self, seconds: float) -> None:
        """Let time pass: what falls due on the way happens on the way, in order and at its time."""
        end = self._now + seconds
        await self._run_due()  # it may have been set back
        for _ in range(MAX_STOPS):
            due, woken = await self._next_due(), self._next_waking()
            if min(due, woken) >= end:
                break
            await self._go_on_to(min(due, woken))
            if due <= self._now:
                await self._run_due()
        await self._go_on_to(end)
        await self._run_due()

    async def _next_due(self) -> float:
        found = [await watcher.next_due() for watcher in list(self._watchers)]
        return self._first([moment for moment in found if moment is not None])

    def _next_waking(self) -> float:
        return self._first(self._sleeping)

    def _first(self, moments: list[float]) -> float:
        return min((moment for moment in moments if moment > self._now), default=float("inf"))

    async def _go_on_to(self, moment: float) -> None:
        self.set(moment)
        for _ in range(PASSES):
            await asyncio.sleep(0)

    async def _run_due(self) -> None:
        for watcher in list(self._watchers):
            await watcher.keep_up()
        for watcher in list(self._watchers):
            await watcher.run_due()
