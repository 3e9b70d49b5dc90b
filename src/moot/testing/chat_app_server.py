"""A chat app's server for tests: on a loopback socket, with the bad luck that a test orders for the next posts.

Above: fake_telegram and fake_discord, each of which says what a request means. Below: fake_llm/http.py.
"""

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from msgspec import Struct, json

from moot.testing.fake_llm.http import Outgoing, read_request


class AnswerRefused(Exception):
    """The request is answered with an error."""

    def __init__(self, status: int, text: str, **more: Any) -> None:
        super().__init__(text)
        self.status = status
        self.more = more


class AnswerLost(Exception):
    """The connection ends before the answer."""


class WholeAnswer(Struct, frozen=True):
    status: int
    body: Any = None
    """None: nothing but the status."""
    headers: dict[str, str] = {}


class ChatAppServer(ABC):
    def __init__(self) -> None:
        super().__init__()
        self.url = ""
        self.floods: deque[float] = deque()
        """How long the next posts are told to wait."""
        self.refusals: deque[tuple[int, str]] = deque()
        """What the next posts are refused with."""
        self.breaks: deque[bool] = deque()
        """The next posts get no answer; whether they are there all the same."""
        self._server: asyncio.Server | None = None
        self._connections: set[asyncio.Task[None]] = set()

    @abstractmethod
    async def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> WholeAnswer:
        """What a request is answered with. Raises AnswerRefused or AnswerLost."""

    @abstractmethod
    def refused(self, refusal: AnswerRefused) -> WholeAnswer:
        """How this chat app says that."""

    @abstractmethod
    def flooded(self, seconds: float) -> AnswerRefused:
        """How this chat app says to wait."""

    def bad_luck(self) -> bool:
        """What a test ordered for this post; whether its answer will be lost though it is there."""
        if self.floods:
            raise self.flooded(self.floods.popleft())
        if self.refusals:
            raise AnswerRefused(*self.refusals.popleft())
        is_there = self.breaks.popleft() if self.breaks else None
        if is_there is False:
            raise AnswerLost
        return bool(is_there)

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._server is not None
        self._server.close()
        for task in list(self._connections):
            task.cancel()
        await asyncio.gather(*self._connections, return_exceptions=True)
        await self._server.wait_closed()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._connections.add(task)
        try:
            await self._serve(reader, Outgoing(writer))
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        except asyncio.CancelledError:  # by closing, which waits for it: nobody else cancels a connection
            pass
        finally:
            self._connections.discard(task)
            writer.close()
            with suppress(ConnectionError):
                await writer.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, out: Outgoing) -> None:
        while not out.broken and (request := await read_request(reader)) is not None:
            try:
                found = await self.answer(*request)
            except AnswerLost:
                await out.reset()
                return
            except AnswerRefused as refusal:
                found = self.refused(refusal)
            body = b"" if found.body is None else json.encode(found.body)
            await out.whole(found.status, body, **found.headers)
