"""A brain that is a function: `@agent("name")` on an `async def` that takes the turn."""

from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from msgspec import Struct

from moot.model.prompt import Offered

Think = Callable[[Any], Awaitable[str | None]]
Close = Callable[[], Coroutine[Any, Any, None]]


async def nothing_to_close() -> None:
    """Most functions hold nothing that would have to be let go."""


class CodeBrain:
    def __init__(self, think: Think, name: str = "", close: Close = nothing_to_close) -> None:
        self._think = think
        self.name = name
        self.close = close

    async def think(self, turn: Any) -> str | None:
        reply = await self._think(turn)
        if reply is not None and not isinstance(reply, str):
            raise TypeError(f"an agent answers with text, PASS or None, not {type(reply).__name__}")
        return reply


class AgentSpec(Struct, frozen=True):
    """An agent given as code: its function and how it wants to be run."""

    name: str
    think: Think
    role: str = ""
    display: str = ""
    context_messages: int = 20
    context_tokens: int = 8000
    concurrency: int = 4
    on_busy: str = "queue"
    project: str | None = None
    brain: str = ""
    """What made it, where that is worth a mark on its messages (`demo/1`)."""
    prompted: bool = False
    """It thinks with a model: its window moves in blocks, so that the provider's cache can hit."""
    offered: Offered = Offered()
    close: Close = nothing_to_close
    """Called when its host stops."""

    async def __call__(self, turn: Any) -> str | None:
        """The function itself, for tests of the agent alone."""
        return await self.think(turn)


def agent(  # noqa: PLR0913  each is a setting an agent may have
    name: str,
    *,
    role: str = "",
    display: str = "",
    context_messages: int = 20,
    context_tokens: int = 8000,
    concurrency: int = 4,
    on_busy: str = "queue",
    project: str | None = None,
) -> Callable[[Think], AgentSpec]:
    """Make an agent of an `async def f(turn)`. What it returns is said; `PASS` or None is silence."""

    def decorate(think: Think) -> AgentSpec:
        return AgentSpec(
            name=name,
            think=think,
            role=role,
            display=display,
            context_messages=context_messages,
            context_tokens=context_tokens,
            concurrency=concurrency,
            on_busy=on_busy,
            project=project,
        )

    return decorate
