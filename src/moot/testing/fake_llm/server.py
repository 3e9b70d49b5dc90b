"""The server itself: connections, what is recorded, and which answer goes out."""

import asyncio
import contextlib
import time
from collections.abc import Coroutine
from types import TracebackType
from typing import Final, Self, cast

from moot.testing.fake_llm import persona
from moot.testing.fake_llm.answers import shaped
from moot.testing.fake_llm.cache import PromptCache, layout, tokens
from moot.testing.fake_llm.faults import send
from moot.testing.fake_llm.http import BadRequest, Outgoing, read_request
from moot.testing.fake_llm.requests import Request, Wire
from moot.testing.fake_llm.script import Player, Script, ScriptEnded
from moot.testing.fake_llm.wires import packed, speech_of

LOOPBACK: Final = "127.0.0.1"
KEPT: Final = 1000
"""So many requests and disconnects are remembered, the newest."""
MODELS: Final = ("fake-model",)


class FakeLLM:
    """`port` 0 takes a free one."""

    def __init__(self, script: Script = persona.reply, *, port: int = 0) -> None:
        self.requests: list[Request] = []
        self.disconnects: list[float] = []
        self.errors: list[Exception] = []
        """What scripts raised; the client saw a 500."""
        self._player = Player(script)
        self._cache = PromptCache()
        self._count = 0
        self._left = 0
        self._changed = asyncio.Event()
        self._port = port
        self._server: asyncio.Server | None = None
        self._connections: set[_Connection] = set()

    @property
    def url(self) -> str:
        """For Anthropic clients, and for coding CLIs."""
        return f"http://{LOOPBACK}:{self._port}"

    @property
    def openai_url(self) -> str:
        """For OpenAI clients, whose base URL ends in the version."""
        return f"{self.url}/v1"

    async def until_asked(self, times: int = 1) -> None:
        """Wait until so many requests have come."""
        while self._count < times:
            await self._changed.wait()

    async def left(self, times: int = 1) -> None:
        """Wait until so many clients have gone away in the middle of an answer."""
        while self._left < times:
            await self._changed.wait()

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: _Connection(self), LOOPBACK, self._port)
        self._port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._server is not None:
            self._server.close()
        for connection in list(self._connections):
            connection.drop()
        tasks = [c.serving for c in self._connections if c.serving is not None]
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._server is not None:
            await self._server.wait_closed()

    async def _serve(self, connection: "_Connection") -> None:
        """One connection, request after request, until the client is done with it."""
        out = Outgoing(connection.writer)
        try:
            while True:
                found = await read_request(connection.reader)
                if found is None:
                    return
                method, path, headers, raw = found
                self._count += 1
                request = Request(method, path, headers, raw, time.monotonic(), self._count)
                self.requests.append(request)
                del self.requests[:-KEPT]
                self._wake()
                await connection.answer(self._answer(out, request))
                if headers.get("connection", "").lower() == "close" or out.broken:
                    return
        except BadRequest as problem:
            await out.whole(400, packed({"error": {"message": str(problem)}}))
        finally:
            connection.writer.close()

    async def _answer(self, out: Outgoing, request: Request) -> None:
        if request.wire is Wire.MODELS:
            listed = [{"id": name, "object": "model", "type": "model", "owned_by": "moot"} for name in MODELS]
            await out.whole(200, packed({"object": "list", "data": listed, "has_more": False}))
        elif request.wire is Wire.OTHER or request.method != "POST":
            counted = request.path.endswith("/count_tokens")
            counts = {"input_tokens": tokens(layout(request)[0])} if counted else {}
            await out.whole(200, packed(counts))
        else:
            await self._speak(out, request)

    async def _speak(self, out: Outgoing, request: Request) -> None:
        speech = speech_of(request.wire)
        try:
            scripted = await self._player.answer(request)
        except ScriptEnded as ended:
            await out.whole(500, packed(speech.failure(500, str(ended))))
            return
        except Exception as error:  # a script is a test's own code: the test reads it in `errors`
            self.errors.append(error)
            await out.whole(500, packed(speech.failure(500, f"the script raised {type(error).__name__}")))
            return
        answer = shaped(scripted, request.number, request.tools)
        await send(out, speech, answer, request, self._cache.spent(request, answer))

    def _went_away(self) -> None:
        self.disconnects.append(time.monotonic())
        del self.disconnects[:-KEPT]
        self._left += 1
        self._wake()

    def _wake(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()


class _Connection(asyncio.StreamReaderProtocol):
    """Sees at once when its client goes away: an answer under way is dropped, and the moment noted."""

    def __init__(self, llm: FakeLLM) -> None:
        self.reader = asyncio.StreamReader(limit=1 << 16)
        self.serving: asyncio.Task[None] | None = None
        self._answering: asyncio.Task[None] | None = None
        self._llm = llm
        super().__init__(self.reader, None)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        loop = asyncio.get_running_loop()
        # uvloop's transports are no asyncio.Transport by class, only by what they do
        self.writer = asyncio.StreamWriter(cast(asyncio.Transport, transport), self, self.reader, loop)
        self._llm._connections.add(self)
        self.serving = loop.create_task(self._serve())

    async def _serve(self) -> None:
        try:
            with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._llm._serve(self)
        finally:
            self._llm._connections.discard(self)

    async def answer(self, answering: Coroutine[object, object, None]) -> None:
        self._answering = asyncio.get_running_loop().create_task(answering)
        try:
            await self._answering
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            raise ConnectionResetError("the client went away") from None
        finally:
            self._answering.cancel()
            self._answering = None

    def eof_received(self) -> bool:
        self._gone()
        super().eof_received()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        self._gone()
        super().connection_lost(exc)

    def _gone(self) -> None:
        if self._answering is not None and not self._answering.done() and not self._answering.cancelling():
            self._llm._went_away()
            self._answering.cancel()

    def drop(self) -> None:
        """The server stops: no more waiting for anybody."""
        if self.serving is not None:
            self.serving.cancel()
        self.writer.transport.abort()
