"""How many CLIs run at once: at most so many, the others wait in line; those that rest make room, or end after a while.

Above: command_brain.py takes a seat for every process. One pool for a home and process of ours. Below: nothing.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

LEAST: Final = 2
LOOK_SECONDS: Final = 1.0


def usual_most() -> int:
    """As many as there are cores, and two at least."""
    return max(LEAST, os.cpu_count() or LEAST)


class ProcessSeat:
    """Room for one process. Its holder closes the process before it leaves."""

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self.close = close
        self.resting = False
        self.timer: asyncio.TimerHandle | None = None


class ProcessPool:
    def __init__(self, most: int = 0, idle_seconds: float = 600.0) -> None:
        self.most = most or usual_most()
        self.idle_seconds = idle_seconds
        self._seats: list[ProcessSeat] = []
        """The one that rested longest first."""
        self._line: deque[object] = deque()
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def taken(self) -> int:
        return len(self._seats)

    async def take(
        self, close: Callable[[], Awaitable[None]], waiting: Callable[[str], Awaitable[None]]
    ) -> ProcessSeat:
        """A seat, as soon as it is this caller's turn for one. `waiting` is called while it is not."""
        place = object()
        self._line.append(place)
        try:
            while self._line[0] is not place or not await self._has_room():
                self._changed.clear()
                await waiting(f"a free process ({self.taken} of {self.most} are running)")
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._changed.wait()
            seat = ProcessSeat(close)
            self._seats.append(seat)
            return seat
        finally:
            self._line.remove(place)
            self._changed.set()

    async def _has_room(self) -> bool:
        while len(self._seats) >= self.most:
            resting = next((seat for seat in self._seats if seat.resting), None)
            if resting is None:
                return False
            await self.leave(resting)
        return True

    def rest(self, seat: ProcessSeat) -> None:
        """Its process has nothing to do: it stays for a while, and goes if another needs the room."""
        if seat not in self._seats:
            return
        self._seats.remove(seat)
        self._seats.append(seat)
        seat.resting = True
        seat.timer = asyncio.get_running_loop().call_later(self.idle_seconds, self._rested, seat)
        self._changed.set()

    def wake(self, seat: ProcessSeat) -> bool:
        """Work for a resting process; False where it has gone meanwhile."""
        if seat not in self._seats:
            return False
        seat.resting = False
        if seat.timer is not None:
            seat.timer.cancel()
        return True

    async def leave(self, seat: ProcessSeat) -> None:
        """Its process ends, and then the seat is free."""
        if seat.timer is not None:
            seat.timer.cancel()
        seat.resting = False
        try:
            await seat.close()
        finally:
            if seat in self._seats:
                self._seats.remove(seat)
            self._changed.set()

    def _rested(self, seat: ProcessSeat) -> None:
        if seat.resting:
            task = asyncio.get_running_loop().create_task(self.leave(seat))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
