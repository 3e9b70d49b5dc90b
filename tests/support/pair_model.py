"""A model of the pair limiter, written from its rules alone: how long an agent's messages to another one are held."""

from __future__ import annotations

DELAYS = (2.0, 4.0, 8.0, 16.0, 30.0)
QUICK, RESET, WINDOW, MAX_MESSAGES = 5.0, 30.0, 60.0, 10


class PairLimiter:
    """One sender, one receiver."""

    def __init__(self) -> None:
        self._sent: list[float] = []
        self._level = 0
        self._due = 0.0

    def send(self, now: float) -> float | None:
        """The seconds for which the message is held; None where it is refused, which counts nowhere."""
        if sum(now - at < WINDOW for at in self._sent) >= MAX_MESSAGES:
            return None
        gap = now - self._sent[-1] if self._sent else RESET
        delay = 0.0
        if gap >= RESET:
            self._level = 0
        elif gap < QUICK:
            delay = DELAYS[min(self._level, len(DELAYS) - 1)]
            self._level += 1
        self._due = max(self._due, now + delay)
        self._sent.append(now)
        return self._due - now
