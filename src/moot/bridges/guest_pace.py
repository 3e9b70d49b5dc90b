"""How often a guest is answered: what guests may not do is told to them, and not a thousand times.

Messages of guests have an allowance in the store (flow/hear.py). This is about everything else they type: commands,
refused ones too, and wrong words. Whatever is beyond it is taken in, not done and not answered, so that a flood costs
neither the chat's own limits nor the place of what agents say. It counts in memory: a restart forgets it.
"""

from collections import Counter

from moot.ports import Clock

MINUTE = 60


class GuestPace:
    def __init__(self, clock: Clock, per_minute: int) -> None:
        self._clock = clock
        self._per_minute = per_minute
        self._minute = 0
        self._answered: Counter[str] = Counter()

    def passes(self, account: str) -> bool:
        """Whether this account gets one more answer in this minute; it is counted."""
        minute = int(self._clock.now() // MINUTE)
        if minute != self._minute:
            self._minute = minute
            self._answered.clear()
        self._answered[account] += 1
        return self._answered[account] <= self._per_minute
