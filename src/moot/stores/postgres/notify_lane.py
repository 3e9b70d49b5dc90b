"""What is shown live and not stored, carried to hubs on other machines by NOTIFY: bounded, lossy, never blocking.

Above: hub/process/live_lane.py decides what to carry. Below: growth.py has the connection and sends what waits here
whenever it is free; when the queue is full, the oldest lines are dropped.
"""

from collections import deque
from collections.abc import Callable
from typing import Final

MAX_LINES: Final = 256
"""Lines that may wait to be sent."""
MAX_BYTES: Final = 7900
"""PostgreSQL takes less than 8,000 in one notification."""
MAX_AT_ONCE: Final = 64


class NotifyLane:
    """`FarLane` over a database server."""

    def __init__(self, wake: Callable[[], None]) -> None:
        self._wake = wake
        self._waiting: deque[str] = deque(maxlen=MAX_LINES)
        self.listeners: list[Callable[[str], None]] = []
        self.dropped = 0

    def send(self, line: str) -> None:
        if len(line) * 4 > MAX_BYTES and len(line.encode()) > MAX_BYTES:
            self.dropped += 1
            return
        self.dropped += len(self._waiting) == MAX_LINES
        self._waiting.append(line)
        self._wake()

    def hear(self, listener: Callable[[str], None]) -> None:
        self.listeners.append(listener)
        self._wake()

    def some(self) -> list[str]:
        """The lines to send next."""
        return [self._waiting.popleft() for _ in range(min(MAX_AT_ONCE, len(self._waiting)))]

    def __bool__(self) -> bool:
        return bool(self._waiting)
