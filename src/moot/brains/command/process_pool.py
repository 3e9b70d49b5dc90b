"""Bounds how many CLIs run at once: the others wait in line; idle ones make room, or end after a while.

Above: command_brain.py takes a seat for every process. One pool per home in each process of Moot. Below: nothing.
"""

import asyncio
import os
from collections import deque
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Final

MIN_PROCESSES: Final = 2
LOOK_SECONDS: Final = 1.0


def default_max() -> int:
    """The number of cores, but at least two."""
    return max(MIN_PROCESSES, os.cpu_count() or MIN_PROCESSES)


class ProcessSeat:
    """Room for one process. The process is closed before the seat is free."""

    def __init__(self, close: Callable[[], Awaitable[None]]) -> None:
        self.close = close
        self.resting = False
        self.timer: asyncio.TimerHandle | None = None


class ProcessPool:
    def __init__(self, max_processes: int = 0, idle_seconds: float = 600.0) -> None:
        self.max_processes = max_processes or default_max()
        self.idle_seconds = idle_seconds
        self._seats: list[ProcessSeat] = []
        """The one that has been idle longest comes first."""
        self._queue: deque[object] = deque()
        self._changed = asyncio.Event()
        self._tasks: set[asyncio.Task[None]] = set()

    @property
    def taken(self) -> int:
        return len(self._seats)

    async def take(
        self, close: Callable[[], Awaitable[None]], on_wait: Callable[[str], Awaitable[None]]
    ) -> ProcessSeat:
        """A seat, as soon as it is this caller's turn. `on_wait` is called while it waits."""
        ticket = object()
        self._queue.append(ticket)
        try:
            while self._queue[0] is not ticket or not await self._has_room():
                self._changed.clear()
                await on_wait(f"a free process ({self.taken} of {self.max_processes} are running)")
                with suppress(TimeoutError):
                    async with asyncio.timeout(LOOK_SECONDS):
                        await self._changed.wait()
            seat = ProcessSeat(close)
            self._seats.append(seat)
            return seat
        finally:
            self._queue.remove(ticket)
            self._changed.set()

    async def _has_room(self) -> bool:
        while len(self._seats) >= self.max_processes:
            resting = next((seat for seat in self._seats if seat.resting), None)
            if resting is None:
                return False
            await self.leave(resting)
        return True

    def rest(self, seat: ProcessSeat) -> None:
        """Its process has nothing to do: it stays for a while, and is ended if another needs the room."""
        if seat not in self._seats:
            return
        self._seats.remove(seat)
        self._seats.append(seat)
        seat.resting = True
        seat.timer = asyncio.get_running_loop().call_later(self.idle_seconds, self._on_idle, seat)
        self._changed.set()

    def wake(self, seat: ProcessSeat) -> bool:
        """Use a resting process again; False if it was ended meanwhile."""
        if seat not in self._seats:
            return False
        seat.resting = False
        if seat.timer is not None:
            seat.timer.cancel()
        return True

    async def leave(self, seat: ProcessSeat) -> None:
        """End the process, then free the seat."""
        if seat.timer is not None:
            seat.timer.cancel()
        seat.resting = False
        try:
            await seat.close()
        finally:
            if seat in self._seats:
                self._seats.remove(seat)
            self._changed.set()

    def _on_idle(self, seat: ProcessSeat) -> None:
        if seat.resting:
            task = asyncio.get_running_loop().create_task(self.leave(seat))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)
