"""From a script to the answer for one request."""

import inspect
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from moot.testing.fake_llm.answers import Answer, Fault
from moot.testing.fake_llm.requests import Request

Function: TypeAlias = Callable[[Request], Answer | Awaitable[Answer]]
Script: TypeAlias = Answer | Sequence[Answer] | Function | Mapping[str, "Script"]

ANY_MODEL = "*"


class ScriptEnded(Exception):
    """A list has no more answers, or a dict does not know the model."""


class Player:
    """Plays a script; remembers how far each list in it has come."""

    def __init__(self, script: Script) -> None:
        self._script = script
        self._used: dict[int, int] = {}

    async def answer(self, request: Request) -> Answer:
        return await self._play(self._script, request)

    async def _play(self, script: Script, request: Request) -> Answer:
        if isinstance(script, Answer):
            return script
        if isinstance(script, Mapping):
            chosen = script.get(request.model, script.get(ANY_MODEL))
            if chosen is None:
                raise ScriptEnded(f"the script has no answer for the model {request.model!r}")
            return await self._play(chosen, request)
        if isinstance(script, Sequence):
            return self._next(script)
        made = script(request)
        return await made if inspect.isawaitable(made) else made

    def _next(self, answers: Sequence[Answer]) -> Answer:
        used = self._used.get(id(answers), 0)
        if used >= len(answers):
            raise ScriptEnded(f"the script had {len(answers)} answers, and all of them are used")
        self._used[id(answers)] = used + 1
        return answers[used]


def storm(times: int, then: Answer, status: int = 503) -> Function:
    """So many 5xx, and then the answer for ever."""
    left = times

    def play(_: Request) -> Answer:
        nonlocal left
        if left <= 0:
            return then
        left -= 1
        return Answer(fault=Fault.STORM, status=status)

    return play
