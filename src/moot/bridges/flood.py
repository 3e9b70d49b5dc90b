"""The pace of posts: each chat has its own, and waits as long as its chat app says.

Above: dispatch.py asks before each post. Below: the hub's clock.
"""

from collections import deque

from moot.bridges.bridge import FloodRule
from moot.ports import Clock

MINUTE = 60.0


class FloodGate:
    """The pace of one chat."""

    def __init__(self, clock: Clock, rule: FloodRule) -> None:
        self._clock = clock
        self._rule = rule
        self._posted: deque[float] = deque()
        self._closed_until = 0.0

    def next_at(self) -> float:
        """When the next post may go out."""
        now = self._clock.now()
        while self._posted and self._posted[0] <= now - MINUTE:
            self._posted.popleft()
        soonest = max(now, self._closed_until)
        if self._posted:
            soonest = max(soonest, self._posted[-1] + self._rule.seconds)
        if len(self._posted) >= self._rule.per_minute:
            soonest = max(soonest, self._posted[-self._rule.per_minute] + MINUTE)
        return soonest

    @property
    def is_idle(self) -> bool:
        """Whether it holds nobody back: a new one would do the same."""
        now = self._clock.now()
        return self._closed_until <= now and (not self._posted or self._posted[-1] <= now - MINUTE)

    async def wait_for_turn(self) -> None:
        """Wait until one more post may go out, and count it."""
        while (at := self.next_at()) > self._clock.now():
            await self._clock.sleep_until(at)
        self._posted.append(self._clock.now())

    def close_for(self, seconds: float) -> None:
        self._closed_until = max(self._closed_until, self._clock.now() + seconds)
