"""How often one principal may send requests: a token bucket each, filled at `limits.requests_per_second`, five seconds
deep."""

from collections.abc import Callable

BURST = 5.0
MAX_KNOWN = 10_000


class Buckets:
    def __init__(self, per_second: float, clock: Callable[[], float]) -> None:
        self._rate = per_second
        self._clock = clock
        self._left: dict[str, tuple[float, float]] = {}
        """What is left, and as of when."""

    def take(self, caller: str) -> float:
        """0 if there was one left, otherwise the seconds until there is."""
        now, full = self._clock(), self._rate * BURST
        left, since = self._left.get(caller, (full, now))
        left = min(full, left + (now - since) * self._rate)
        if len(self._left) >= MAX_KNOWN:
            self._forget_the_full(now)
        if left < 1:
            self._left[caller] = (left, now)
            return (1 - left) / self._rate
        self._left[caller] = (left - 1, now)
        return 0.0

    def _forget_the_full(self, now: float) -> None:
        self._left = {
            caller: (left, since) for caller, (left, since) in self._left.items() if now - since < BURST
        }
