"""Ask a model with retries: at most three attempts, all within the caller's deadline.

Above: brains that think with a model. Below: the `Model` and `Clock` ports, trouble.py, breaker.py.
Not here: timeouts of a silent connection (transport.py).

An attempt that has shown text is not repeated: the reader would see two beginnings. Pauses double, have a random part
so that agents that failed together do not come back together, and are at least what the provider asks for. If a pause
would not end before the deadline, the error is raised at once.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from moot.brains.llm.brain_string import parse_brain
from moot.brains.llm.breaker import Breakers
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.errors import BadValue
from moot.model.prompt import ModelAnswer, Prompt, Usage
from moot.ports import Clock, Model

MAX_ATTEMPTS: Final = 3
FIRST_PAUSE_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 20.0
CLEAN_UP_SECONDS: Final = 2.0

Say = Callable[[str], Awaitable[None]]


class Retries:
    """One per process: its breakers remember which endpoints fail."""

    def __init__(
        self,
        clock: Clock,
        *,
        random_fraction: Callable[[], float] = random.random,
        breakers: Breakers | None = None,
        first_pause: float = FIRST_PAUSE_SECONDS,
    ) -> None:
        self._clock = clock
        self._random_fraction = random_fraction
        self._first_pause = first_pause
        self.breakers = breakers if breakers is not None else Breakers(clock.now)

    def now(self) -> float:
        return self._clock.now()

    async def complete(self, model: Model, prompt: Prompt, on_piece: Say, *, deadline: float) -> ModelAnswer:
        """The answer, with the usage of all attempts. Raises the last ModelTrouble, with the same usage."""
        attempts = _Attempts(on_piece)
        breaker = self.breakers.of(_endpoint(model.name))
        while True:
            try:
                with breaker.attempt():
                    answer = await self._attempt(model, prompt, attempts, deadline)
                return attempts.with_usage(answer)
            except ModelTrouble as trouble:
                last = trouble
            last.usage = attempts.add(last.usage)
            pause = self._pause(attempts, last)
            if not attempts.may_retry(last) or breaker.is_open or self._clock.now() + pause >= deadline:
                raise last
            await self._clock.sleep_until(self._clock.now() + pause)

    async def _attempt(
        self, model: Model, prompt: Prompt, attempts: "_Attempts", deadline: float
    ) -> ModelAnswer:
        """One attempt, ended by the deadline or a cancellation."""
        attempt = asyncio.ensure_future(model.complete(prompt, attempts.show))
        alarm = asyncio.ensure_future(self._clock.sleep_until(deadline))
        try:
            await asyncio.wait({attempt, alarm}, return_when=asyncio.FIRST_COMPLETED)
            if attempt.done():
                return attempt.result()
        finally:
            alarm.cancel()
            attempt.cancel()
            await asyncio.wait({attempt, alarm}, timeout=CLEAN_UP_SECONDS)
            if attempt.done() and not attempt.cancelled():
                attempt.exception()  # retrieved, so that asyncio does not warn about it later
        words = f"{model.name}: no answer before the turn's time was up"
        raise ModelTrouble(TroubleKind.TIMEOUT, words, retryable=False)

    def _pause(self, attempts: "_Attempts", trouble: ModelTrouble) -> float:
        """Between half and all of the doubled pause, and no shorter than the provider asks for."""
        pause = min(MAX_PAUSE_SECONDS, self._first_pause * 2.0 ** (attempts.failures - 1))
        jittered = pause * (0.5 + self._random_fraction() / 2)
        return jittered if trouble.retry_after is None else trouble.retry_after + jittered / 4


class _Attempts:
    """The attempts so far: how many failed, what they cost, and whether text was shown."""

    def __init__(self, on_piece: Say) -> None:
        self.failures = 0
        self._on_piece = on_piece
        self._has_shown_text = False
        self._usage = Usage()

    async def show(self, text: str) -> None:
        self._has_shown_text = self._has_shown_text or bool(text)
        await self._on_piece(text)

    def add(self, usage: Usage) -> Usage:
        self.failures += 1
        self._usage = self._usage.plus(usage)
        return self._usage

    def with_usage(self, answer: ModelAnswer) -> ModelAnswer:
        usage = self._usage.plus(answer.usage)
        return ModelAnswer(answer.text, answer.calls, usage, answer.cut)

    def may_retry(self, trouble: ModelTrouble) -> bool:
        return trouble.retryable and not self._has_shown_text and self.failures < MAX_ATTEMPTS


def _endpoint(name: str) -> str:
    """A model with another name, such as a test's, is an endpoint of its own."""
    try:
        return parse_brain(name).endpoint
    except BadValue:
        return name
