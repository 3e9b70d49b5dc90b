"""One request to an endpoint: pieces are passed on as they come, and every error becomes `ModelTrouble`.

Above: the adapters, each with its own request. Below: answer.py, provider_errors.py. Imported late, with the
providers' libraries. Not here: trying again (retry.py).

`ModelTrouble` is raised outside the `except`, so that it has no reference to the library's error, which holds the key.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from typing import TypeVar

from moot.brains.llm.answer import PartialAnswer
from moot.brains.llm.endpoint import ModelEndpoint
from moot.brains.llm.provider_errors import trouble_of
from moot.brains.llm.trouble import ModelTrouble
from moot.model.prompt import ModelAnswer, Usage

T = TypeVar("T")
Pieces = AsyncGenerator[str, None]
"""Pieces of text as they come, and an empty piece for every other sign of life."""


async def read_answer(
    endpoint: ModelEndpoint,
    ask: Callable[[PartialAnswer], Pieces],
    on_piece: Callable[[str], Awaitable[None]],
) -> ModelAnswer:
    """The answer, when it is complete. Errors of `on_piece` are not changed."""
    answer = PartialAnswer(endpoint.model)
    async with aclosing(_read_pieces(endpoint, ask(answer), answer)) as pieces:
        async for piece in pieces:
            await on_piece(piece)
    return answer.finished()


async def _read_pieces(endpoint: ModelEndpoint, pieces: Pieces, answer: PartialAnswer) -> Pieces:
    trouble: ModelTrouble | None = None
    try:
        async with aclosing(pieces):
            async for piece in pieces:
                yield piece
    except Exception as error:  # a library of others may raise anything: all of it is ModelTrouble here
        trouble = trouble_of(error, endpoint, answer.usage)
    trouble = trouble or endpoint.trouble_with(answer)
    if trouble is not None:
        raise trouble


async def query(endpoint: ModelEndpoint, answer: Awaitable[T]) -> T:
    """The result of a request that costs nothing."""
    try:
        return await answer
    except Exception as error:  # as above
        trouble = trouble_of(error, endpoint, Usage())
    raise trouble
