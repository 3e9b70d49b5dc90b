"""Asking a model with patience: three attempts at most, all of them inside the caller's deadline.

Above: brains that think with a model. Below: the `Model` and `Clock` ports, trouble.py, breaker.py.
Not here: how long a silence is too long; the connection knows its bytes (transport.py), this knows only the deadline.

An attempt that has shown text is not repeated: the reader would see two beginnings. Pauses double, are jittered so
that agents who failed together do not come back together, and are at least what the provider asked for. Where a
pause would not end before the deadline there is none: the trouble is told at once.
"""

import asyncio
import random
from collections.abc import Awaitable, Callable
from typing import Final

from moot.brains.llm.brain_string import parse_brain
from moot.brains.llm.breaker import Breakers
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.errors import BadValue
from moot.model.prompt import Answered, Prompt, Usage
from moot.ports import Clock, Model

ATTEMPTS: Final = 3
FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 20.0
CLEAN_UP_SECONDS: Final = 2.0

Say = Callable[[str], Awaitable[None]]


class Patience:
    """One for a process: its breakers remember which endpoints are in trouble."""

    def __init__(
        self,
        clock: Clock,
        *,
        chance: Callable[[], float] = random.random,
        breakers: Breakers | None = None,
        first_pause: float = FIRST_PAUSE,
    ) -> None:
        self._clock = clock
        self._chance = chance
        self._first_pause = first_pause
        self.breakers = breakers if breakers is not None else Breakers(clock.now)

    def now(self) -> float:
        return self._clock.now()

    async def complete(self, model: Model, prompt: Prompt, on_piece: Say, *, deadline: float) -> Answered:
        """The answer, with the usage of all attempts; or the last trouble, with the same."""
        asking = _Attempts(on_piece)
        breaker = self.breakers.of(_endpoint(model.name))
        while True:
            try:
                with breaker.attempt():
                    answered = await self._once(model, prompt, asking, deadline)
                return asking.whole(answered)
            except ModelTrouble as trouble:
                caught = trouble
            caught.usage = asking.add(caught.usage)
            pause = self._pause(asking, caught)
            if not asking.may_go_on(caught) or breaker.is_open or self._clock.now() + pause >= deadline:
                raise caught
            await self._clock.sleep_until(self._clock.now() + pause)

    async def _once(self, model: Model, prompt: Prompt, asking: "_Attempts", deadline: float) -> Answered:
        """One attempt, ended by the deadline; whoever cancels this cancels it."""
        attempt = asyncio.ensure_future(model.complete(prompt, asking.show))
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
                attempt.exception()  # looked at, so that nobody warns of it later
        words = f"{model.name}: no answer before the turn's time was up"
        raise ModelTrouble(TroubleKind.TIMEOUT, words, retryable=False)

    def _pause(self, asking: "_Attempts", trouble: ModelTrouble) -> float:
        """Between half and all of the doubled pause, and no shorter than what was asked for."""
        longest = min(LONGEST_PAUSE, self._first_pause * 2.0 ** (asking.failures - 1))
        jittered = longest * (0.5 + self._chance() / 2)
        return jittered if trouble.retry_after is None else trouble.retry_after + jittered / 4


class _Attempts:
    """What is known of the attempts so far."""

    def __init__(self, on_piece: Say) -> None:
        self.failures = 0
        self._on_piece = on_piece
        self._shown = False
        self._spent = Usage()

    async def show(self, text: str) -> None:
        self._shown = self._shown or bool(text)
        await self._on_piece(text)

    def add(self, usage: Usage) -> Usage:
        self.failures += 1
        self._spent = self._spent.plus(usage)
        return self._spent

    def whole(self, answered: Answered) -> Answered:
        usage = self._spent.plus(answered.usage)
        return Answered(answered.text, answered.calls, usage, answered.cut)

    def may_go_on(self, trouble: ModelTrouble) -> bool:
        return trouble.retryable and not self._shown and self.failures < ATTEMPTS


def _endpoint(name: str) -> str:
    """Models made elsewhere, such as a test's, each stand for themselves."""
    try:
        return parse_brain(name).endpoint
    except BadValue:
        return name
