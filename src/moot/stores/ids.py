"""New conversation ids: `c`, nine characters of time, five of chance. They sort by when they were made."""

import secrets
import threading
import time
from collections.abc import Callable

from moot.model.ids import ConversationId

ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"
"""Crockford's base 32: no two characters look alike."""
TIME_CHARACTERS = 9
RANDOM_CHARACTERS = 5
_RANDOM_END = 32**RANDOM_CHARACTERS
_TIME_END = 32**TIME_CHARACTERS


def base32(number: int, characters: int) -> str:
    digits = []
    for _ in range(characters):
        number, digit = divmod(number, 32)
        digits.append(ALPHABET[digit])
    return "".join(reversed(digits))


class ConversationIds:
    """Gives ids that rise within a process, also in one millisecond and when the clock is set back."""

    def __init__(
        self, now: Callable[[], float] = time.time, chance: Callable[[int], int] = secrets.randbelow
    ) -> None:
        self._now = now
        self._chance = chance
        self._guard = threading.Lock()
        self._last = 0

    def __call__(self) -> ConversationId:
        with self._guard:
            moment = int(self._now() * 1000) % _TIME_END
            drawn = moment * _RANDOM_END + self._chance(_RANDOM_END)
            if drawn <= self._last:
                drawn = self._last + 1 + self._chance(1024)
            self._last = drawn
        return ConversationId("c" + base32(drawn, TIME_CHARACTERS + RANDOM_CHARACTERS))
