"""`moot mcp` between a client's pipes and a hub: light, and it outlives the hub.

Messages pass through unread, except that the shim remembers which requests have no answer yet and how the client
introduced itself. With a hub running it is a thin line to that hub. Without one it opens the home itself; the SDK is
imported only then. When the hub goes, the shim finds the next way in, introduces the client again, asks again what can
be asked twice, and says of the rest that nobody knows what became of it.
"""

from __future__ import annotations

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from typing import Any, Final, Protocol

from msgspec import DecodeError
from msgspec.json import Decoder, Encoder

from moot.client.transport.socket_transport import SocketTransport
from moot.errors import HubAbsent, MootError
from moot.model.json import Json, JsonObject
from moot.settings.home import Home

RpcMessage = JsonObject
ASKED_AGAIN: Final = frozenset(
    {
        "check_messages",
        "list_agents",
        "read_conversation",
        "read_shared_note",
        "search",
        "wait_for_messages",
        "why",
    }
)
"""Tools that can be called twice for once; a test holds this against the table of tools."""
CALL: Final = "tools/call"
PARSE_ERROR, LOST = -32700, -32000
LAST_SECONDS: Final = 2.0
"""For how long what was asked is still answered when the client has closed its end."""
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
_read: Decoder[object] = Decoder()
_encode = Encoder().encode


class Way(Protocol):
    """A way to whoever answers."""

    def say(self, message: RpcMessage) -> None: ...
    async def close(self) -> None: ...


class ThroughHub:
    """Over the socket of a running hub."""

    def __init__(self, transport: SocketTransport, number: int) -> None:
        self._transport = transport
        self._number = number

    @classmethod
    async def open(
        cls,
        home: Home,
        whence: RpcMessage,
        on_message: Callable[[RpcMessage], None],
        gone: Callable[[], None],
        on_shut: Callable[[], None],
    ) -> ThroughHub:
        transport = SocketTransport()
        await transport.open(home.hub_sock)
        try:
            number, _ = await transport.visit("mcp", on_message, on_shut, **whence)
        except BaseException:  # it has no door for us, since it is being stopped, or we are
            await transport.close()
            raise
        transport.gone = gone
        return cls(transport, number)

    def say(self, message: RpcMessage) -> None:
        self._transport.say(self._number, message)

    async def close(self) -> None:
        self._transport.gone = None
        await self._transport.close()


class InProcess:
    """The home opened here; for where no hub runs."""

    def __init__(self, visit: Any, opened: AsyncExitStack, on_shut: Callable[[], None]) -> None:
        self._visit = visit
        self._opened = opened
        self._watching = asyncio.get_running_loop().create_task(visit.until_ended())
        self._watching.add_done_callback(lambda watching: None if watching.cancelled() else on_shut())

    @classmethod
    async def open(
        cls,
        home: Home,
        whence: RpcMessage,
        on_message: Callable[[RpcMessage], None],
        on_shut: Callable[[], None],
    ) -> InProcess:
        from moot.doors.mcp.start import opener  # noqa: PLC0415
        from moot.hub import Hub  # noqa: PLC0415

        async with AsyncExitStack() as opened:
            hub = await opened.enter_async_context(Hub.open(home.path))
            visit = await opened.enter_async_context(opener(hub)(whence, on_message))
            return cls(visit, opened.pop_all(), on_shut)
        raise AssertionError("unreachable")

    def say(self, message: RpcMessage) -> None:
        self._visit.on_message(message)

    async def close(self) -> None:
        self._watching.cancel()
        await self._opened.aclose()


class Shim:
    def __init__(self, home: Home, whence: RpcMessage, write: Callable[[bytes], None]) -> None:
        self._home = home
        self._whence = whence
        self._write = write
        self._way: Way | None = None
        self._broken = asyncio.Event()
        self._is_shut = False
        """The session failed while whoever ran it is still there: one of its requests may be the cause."""
        self._open_requests: dict[object, RpcMessage] = {}
        self._introduction: list[RpcMessage] = []
        """`initialize` and what followed it; a client of the newer protocol needs none."""
        self._swallowed: set[object] = set()
        self._numbers = itertools.count(1)
        self._changing = asyncio.Lock()
        self._quiet = asyncio.Event()
        """Set whenever an answer leaves nothing open."""

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Until the client closes its end."""
        mending = asyncio.get_running_loop().create_task(self._mend())
        try:
            async for line in lines:
                await self._from_client(line)
            await self._answered()
        finally:
            mending.cancel()
            await asyncio.wait([mending])
            if self._way is not None:
                await self._way.close()

    async def _answered(self) -> None:
        """The client says no more; it may still want to hear what it asked for."""
        if self._open_requests:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_SECONDS):
                    await self._quiet.wait()

    # --- from the client ---------------------------------------------------------------------------------

    async def _from_client(self, line: bytes) -> None:
        if not line.strip():
            return
        try:
            message = _read.decode(line)
        except (DecodeError, RecursionError) as wrong:
            self._send(_error(None, PARSE_ERROR, f"this is not JSON: {wrong}"))
            return
        async with self._changing:
            if self._way is None:
                self._whence = {**self._whence, **_client_named(self._whence, message)}
                self._way = await self._opened()
                self._introduce(self._way)
        self._remember(message)
        self._pass_on(message)

    def _remember(self, message: object) -> None:
        if not isinstance(message, dict):
            return
        method = message.get("method")
        if method == "initialize":
            self._introduction = [message]
        elif method == "notifications/initialized":
            self._introduction.append(message)
        if isinstance(method, str) and isinstance(message.get("id"), str | int):
            self._open_requests[message["id"]] = message
            self._quiet.clear()

    def _pass_on(self, message: Json) -> None:
        try:
            if self._way is not None:
                self._way.say(message)
        except HubAbsent:  # it has just gone; what is open is taken up by _mend
            self._broken.set()

    # --- to the client -----------------------------------------------------------------------------------

    def _on_message(self, message: RpcMessage) -> None:
        number = message.get("id")
        if "method" not in message and number in self._swallowed:
            self._swallowed.discard(number)
            return
        if "method" not in message:
            self._close(number)
        self._send(message)

    def _close(self, number: object) -> None:
        self._open_requests.pop(number, None)
        if not self._open_requests:
            self._quiet.set()

    def _send(self, message: RpcMessage) -> None:
        self._write(_encode(message) + b"\n")

    # --- the way -----------------------------------------------------------------------------------------

    async def _opened(self) -> Way:
        try:
            return await ThroughHub.open(
                self._home, self._whence, self._on_message, self._broken.set, self._on_shut
            )
        except HubAbsent:
            return await InProcess.open(self._home, self._whence, self._on_message, self._on_shut)

    def _on_shut(self) -> None:
        self._is_shut = True
        self._broken.set()

    async def _mend(self) -> None:
        """When the hub has gone: another way in, and what was open is asked again, or told to be lost."""
        while True:
            await self._broken.wait()
            async with self._changing:
                self._broken.clear()
                way, self._way = self._way, None
                if self._is_shut:
                    await self._end_failed(way)
                    continue
                try:
                    self._way = await self._opened()
                except MootError as trouble:  # the next message of the client tries again
                    self._give_up(trouble.title)
                    continue
                self._introduce(self._way)
                self._take_up(self._way)

    async def _end_failed(self, way: Way | None) -> None:
        """What was open is answered as failed and not asked again, since it could end the next session too. The next
        message of the client opens that."""
        self._is_shut = False
        if way is not None:
            await way.close()
        self._give_up(
            "Moot's MCP session failed before it answered; check what was done before you repeat it"
        )

    def _take_up(self, way: Way) -> None:
        for number, request in list(self._open_requests.items()):
            if _can_be_asked_again(request):
                way.say(request)
            else:
                self._send(_lost(number, request))
                self._close(number)

    def _give_up(self, why: str) -> None:
        for number in list(self._open_requests):
            self._send(_error(number, LOST, why))
            self._close(number)

    def _introduce(self, way: Way) -> None:
        for message in self._introduction:
            if message.get("method") == "initialize" and message["id"] not in self._open_requests:
                number = f"moot-{next(self._numbers)}"
                self._swallowed.add(number)
                way.say({**message, "id": number})
            elif "id" not in message:
                way.say(message)


def _client_named(whence: RpcMessage, message: object) -> RpcMessage:
    """Which client it is, as it says itself, where nobody said it before."""
    if whence.get("name") or whence.get("client") or not isinstance(message, dict):
        return {}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    info = params.get("clientInfo") or (meta.get(CLIENT_KEY) if isinstance(meta, dict) else None)
    name = info.get("name") if isinstance(info, dict) else None
    return {"client": name} if isinstance(name, str) and name else {"client": "mcp"}


def _can_be_asked_again(request: RpcMessage) -> bool:
    params = request.get("params")
    return request.get("method") != CALL or (isinstance(params, dict) and params.get("name") in ASKED_AGAIN)


def _lost(number: object, request: RpcMessage) -> RpcMessage:
    text = (
        "the hub stopped before it answered, so this may or may not have been done; check with "
        "check_messages or read_conversation before you repeat it"
    )
    if request.get("method") != CALL:
        return _error(number, LOST, text)
    result = {"content": [{"type": "text", "text": text}], "isError": True}
    return {"jsonrpc": "2.0", "id": number, "result": result}


def _error(number: object, code: int, text: str) -> RpcMessage:
    return {"jsonrpc": "2.0", "id": number, "error": {"code": code, "message": text}}
