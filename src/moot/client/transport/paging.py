"""Methods that take more than one request over HTTP: long lists come in pages, long waits in pieces."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from moot import shapes
from moot.client.transport.refusal import error_from
from moot.errors import TimedOut
from moot.sdk import CALLS
from moot.sdk.request import HttpCall

PAGE = 500
"""The most that the door gives at once."""
PIECE_SECONDS = 60.0
"""The longest wait of one request; a longer wait continues in the next."""
BEYOND_ALL = 2**53
"""Above the seq of any message."""
SETTLED_EVERYWHERE = HttpCall("GET", "/api/settled")
"""`settled` without a conversation."""


class Fetch(Protocol):
    """One request: the answer, read as this type."""

    async def __call__(self, http: HttpCall, answer: Any, /, **arguments: Any) -> Any: ...


def _http(method: str) -> HttpCall:
    return CALLS[method].over_http()


async def messages(fetch: Fetch, answer: Any, *, limit: int, **arguments: Any) -> Any:
    """Ascending; with `before` alone, the newest below it."""
    if arguments.get("before") is not None and not arguments.get("after"):
        return await _newest_before(fetch, answer, limit, **arguments)
    all_messages: list[shapes.Message] = []
    while len(all_messages) < limit:
        page_size = min(PAGE, limit - len(all_messages))
        page = await fetch(_http("messages"), answer, limit=page_size, **arguments)
        all_messages += page
        if len(page) < page_size:
            break
        arguments["after"] = page[-1].seq
    return all_messages


async def _newest_before(fetch: Fetch, answer: Any, limit: int, **arguments: Any) -> list[shapes.Message]:
    all_messages: list[shapes.Message] = []
    while len(all_messages) < limit:
        page_size = min(PAGE, limit - len(all_messages))
        page = await fetch(_http("messages"), answer, limit=page_size, **arguments)
        all_messages = [*page, *all_messages]
        if len(page) < page_size:
            break
        arguments["before"] = page[0].seq
    return all_messages


async def newest(fetch: Fetch, answer: Any, *, limit: int, conversation: str) -> Any:
    return await _newest_before(fetch, answer, limit, conversation=conversation, before=BEYOND_ALL)


async def turns(fetch: Fetch, answer: Any, **arguments: Any) -> Any:
    return await _all(fetch, "turns", answer, lambda turn: int(turn.id), **arguments)


async def conversations(fetch: Fetch, answer: Any, **arguments: Any) -> Any:
    return await _all(fetch, "conversations.list", answer, lambda one: one.id, **arguments)


async def _all(
    fetch: Fetch, method: str, answer: Any, cursor: Callable[[Any], Any], **arguments: Any
) -> list[Any]:
    items: list[Any] = []
    while True:
        page = await fetch(_http(method), answer, limit=PAGE, **arguments)
        items += page
        if len(page) < PAGE:
            return items
        arguments["after"] = cursor(page[-1])


# --- waits -----------------------------------------------------------------------------------------------


class Until:
    """A wait in pieces."""

    def __init__(self, seconds: float) -> None:
        self._clock = asyncio.get_running_loop().time
        self._end = self._clock() + seconds

    @property
    def over(self) -> bool:
        return self._clock() >= self._end

    @property
    def piece(self) -> float:
        return max(0.0, min(PIECE_SECONDS, self._end - self._clock()))


class SettledReply(shapes.Shape, frozen=True):
    settled: bool
    open: tuple[shapes.Turn, ...]


async def settled(fetch: Fetch, answer: Any, *, timeout: float, conversation: str | None) -> None:  # noqa: ASYNC109
    until = Until(timeout)
    while True:
        look = await _settled_reply(fetch, conversation, until.piece)
        if look.settled:
            return
        if until.over:
            raise shapes.still_open(look.open, timeout)


async def unsettled(fetch: Fetch, answer: Any, *, conversation: str | None) -> list[shapes.Turn]:
    return list((await _settled_reply(fetch, conversation, 0.0)).open)


async def _settled_reply(fetch: Fetch, conversation: str | None, seconds: float) -> SettledReply:
    where = {"conversation": conversation} if conversation else {}
    http = _http("settled") if conversation else SETTLED_EVERYWHERE
    reply: SettledReply = await fetch(http, SettledReply, timeout=seconds, **where)
    return reply


class AskOutcome(shapes.Shape, frozen=True):
    outcome: str
    message: shapes.Message | None
    error: dict[str, Any] | None


async def answer_to(fetch: Fetch, answer: Any, *, timeout: float, target: str, **arguments: Any) -> Any:  # noqa: ASYNC109
    """Each piece asks with the same key: the question is posted once, and an answer in between is not missed."""
    until = Until(timeout)
    while True:
        reply: AskOutcome = await fetch(
            _http("ask"), AskOutcome, target=target, timeout=until.piece, **arguments
        )
        if reply.error is None:
            return reply.message
        outcome = error_from(reply.error)
        if not isinstance(outcome, TimedOut):
            raise outcome
        if until.over:
            title = f"{target} did not answer within {timeout:g} s"
            raise TimedOut(title, detail=outcome.detail, **outcome.facts)


SEVERAL: dict[str, Callable[..., Awaitable[Any]]] = {
    "messages": messages,
    "newest": newest,
    "turns": turns,
    "conversations.list": conversations,
    "settled": settled,
    "inspector.unsettled": unsettled,
    "ask": answer_to,
}
