"""A circuit breaker per endpoint: after five failures in a row it is not asked for a while.

Above: retry.py. Below: trouble.py. Not here: when to try again within one answer.

    closed ──five failures in a row──▸ open ──the rest is over──▸ trying ──it succeeded──▸ closed
                                        ▴                           │
                                        └────it failed: twice the rest┘

Only trouble that says something about the endpoint counts: a refused key or a long prompt does not.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from typing import Final

from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.model.prompt import Usage

FAILURES: Final = 5
REST_SECONDS: Final = 30.0
MAX_REST_SECONDS: Final = 300.0
MAX_ENDPOINTS: Final = 1000

COUNTS: Final = frozenset(
    [
        TroubleKind.RATE_LIMITED,
        TroubleKind.OVERLOADED,
        TroubleKind.TIMEOUT,
        TroubleKind.CONNECTION,
        TroubleKind.BAD_ANSWER,
    ]
)


class State(StrEnum):
    CLOSED = "closed"
    OPEN = "open"
    TRYING = "trying"
    """One attempt is let through to test the endpoint."""


class Breaker:
    def __init__(self, now: Callable[[], float], rest_seconds: float = REST_SECONDS) -> None:
        self._now = now
        self._first_rest = rest_seconds
        self._rest = rest_seconds
        self._failures = 0
        self._until = 0.0
        self._is_trying = False
        self.state = State.CLOSED

    @property
    def is_open(self) -> bool:
        return self.state is State.OPEN

    @contextmanager
    def attempt(self) -> Iterator[None]:
        """Wraps each attempt; raises while the endpoint rests, or while another attempt is testing it."""
        if self.state is State.OPEN and self._now() >= self._until:
            self.state = State.TRYING
        if self.state is State.OPEN or (self.state is State.TRYING and self._is_trying):
            raise self._resting()
        tries = self._is_trying = self.state is State.TRYING
        try:
            yield
            self._on_success()
        except ModelTrouble as trouble:
            self._on_failure(trouble)
            raise
        finally:
            if tries:  # also after a cancelled attempt, which proves nothing: the next one tests
                self._is_trying = False

    def _on_success(self) -> None:
        self.state, self._failures, self._rest = State.CLOSED, 0, self._first_rest

    def _on_failure(self, trouble: ModelTrouble) -> None:
        if trouble.kind not in COUNTS:
            self._on_success()  # the endpoint works: it answered
            return
        self._failures += 1
        if self.state is State.TRYING:
            self._rest = min(MAX_REST_SECONDS, self._rest * 2)
        if self.state is State.TRYING or self._failures >= FAILURES:
            self.state, self._until = State.OPEN, self._now() + self._rest

    def _resting(self) -> ModelTrouble:
        left = max(0.0, self._until - self._now())
        words = f"its model failed {self._failures} times in a row and is not asked"
        later = f" for another {left:.0f} s" if left else " until another attempt succeeds"
        return ModelTrouble(TroubleKind.RESTING, words + later, retry_after=left, usage=Usage())


class Breakers:
    """One breaker per endpoint, made with its first request."""

    def __init__(self, now: Callable[[], float], rest_seconds: float = REST_SECONDS) -> None:
        self._now = now
        self._rest_seconds = rest_seconds
        self._breakers: dict[str, Breaker] = {}

    def of(self, endpoint: str) -> Breaker:
        if endpoint not in self._breakers:
            if len(self._breakers) >= MAX_ENDPOINTS:
                del self._breakers[next(iter(self._breakers))]
            self._breakers[endpoint] = Breaker(self._now, self._rest_seconds)
        return self._breakers[endpoint]
