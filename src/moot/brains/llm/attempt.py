"""Asking an endpoint once: what comes is passed on, and whatever goes wrong is trouble of that endpoint.

Above: the adapters, each with its own way of asking. Below: answer.py, provider_errors.py. Imported late, with the
providers' libraries. Not here: trying again (retry.py).

Trouble is raised outside the `except`, so that it carries no trace of the library's error, which holds the key.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from moot.brains.llm.answer import Hearing
from moot.brains.llm.endpoint import ModelEndpoint
from moot.brains.llm.provider_errors import recognised
from moot.brains.llm.trouble import ModelTrouble
from moot.model.prompt import Answered, Usage

T = TypeVar("T")
Pieces = AsyncGenerator[str, None]
"""Text as it comes, and an empty piece for every other sign of life."""


async def listen(
    endpoint: ModelEndpoint, ask: Callable[[Hearing], Pieces], on_piece: Callable[[str], Awaitable[None]]
) -> Answered:
    """The answer, when it is whole. What goes wrong in `on_piece` is its owner's, and passes as it is."""
    hearing = Hearing(endpoint.model)
    async with aclosing(_heard(endpoint, ask(hearing), hearing)) as pieces:
        async for piece in pieces:
            await on_piece(piece)
    return hearing.answered()


async def _heard(endpoint: ModelEndpoint, pieces: Pieces, hearing: Hearing) -> Pieces:
    trouble: ModelTrouble | None = None
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except Exception as error:  # another's library on another's bytes: all of it is trouble here
        trouble = recognised(error, endpoint, hearing.usage)
    trouble = trouble or endpoint.verdict(hearing)
    if trouble is not None:
        raise trouble


async def look_up(endpoint: ModelEndpoint, answer: Awaitable[T]) -> T:
    """Something that is asked of the endpoint and costs nothing."""
    try:
        return await answer
    except Exception as error:  # as above
        trouble = recognised(error, endpoint, Usage())
    raise trouble
