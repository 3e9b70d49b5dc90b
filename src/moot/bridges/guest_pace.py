"""How often a guest is answered in a minute.

Messages of guests have an allowance in the store (flow/hear.py). This limits everything else they type: commands,
refused ones and mistakes. What exceeds it is taken in but neither carried out nor answered, so that a flood uses up
neither the chat app's limits nor the room for agents' posts. The count is in memory: a restart resets it.
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
        """Count one more answer; whether this account still gets it in this minute."""
        minute = int(self._clock.now() // MINUTE)
        if minute != self._minute:
            self._minute = minute
            self._answered.clear()
        self._answered[account] += 1
        return self._answered[account] <= self._per_minute
