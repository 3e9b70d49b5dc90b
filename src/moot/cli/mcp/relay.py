"""`moot mcp` between a client's pipes and a hub: light, and it outlives the hub.

Messages pass through unread, except that the shim remembers which requests have no answer yet and how the client
introduced itself. With a hub running it only forwards. Without one it opens the home itself; the SDK is imported only
then. When the hub goes, the shim opens the next way in, introduces the client again, repeats what can be repeated, and
answers the other open requests with an error that says their outcome is unknown.
"""

from __future__ import annotations

import asyncio
import itertools
import re
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
REPEATABLE_TOOLS: Final = frozenset(
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
"""Tools that may be called twice; a test compares this with the table of tools."""
CALL: Final = "tools/call"
PARSE_ERROR, INVALID_REQUEST, LOST = -32700, -32600, -32000
_NUMBER: Final = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\]{1,200}")'
FIRST_NUMBER: Final = re.compile(rb'\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?' + _NUMBER)
LAST_NUMBER: Final = re.compile(_NUMBER + rb'\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}\s*\Z')
LAST_ANSWER_SECONDS: Final = 2.0
"""How long open requests may still be answered after the client has closed its end."""
CLIENT_KEY: Final = "io.modelcontextprotocol/clientInfo"
_read: Decoder[object] = Decoder()
_encode = Encoder().encode


class Way(Protocol):
    """A connection to the MCP server: a running hub, or this process."""

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
        on_gone: Callable[[], None],
        on_shut: Callable[[], None],
    ) -> ThroughHub:
        transport = SocketTransport()
        await transport.open(home.hub_sock)
        try:
            number, _ = await transport.visit("mcp", on_message, on_shut, **whence)
        except BaseException:  # the hub or this process is being stopped
            await transport.close()
            raise
        transport.gone = on_gone
        return cls(transport, number)

    def say(self, message: RpcMessage) -> None:
        self._transport.say(self._number, message)

    async def close(self) -> None:
        self._transport.gone = None
        await self._transport.close()


class InProcess:
    """The home opened in this process, when no hub runs."""

    def __init__(self, visit: Any, stack: AsyncExitStack, on_shut: Callable[[], None]) -> None:
        self._visit = visit
        self._stack = stack
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

        async with AsyncExitStack() as stack:
            hub = await stack.enter_async_context(Hub.open(home.path))
            visit = await stack.enter_async_context(opener(hub)(whence, on_message))
            return cls(visit, stack.pop_all(), on_shut)
        raise AssertionError("unreachable")

    def say(self, message: RpcMessage) -> None:
        self._visit.on_message(message)

    async def close(self) -> None:
        self._watching.cancel()
        await self._stack.aclose()


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
        """`initialize` and what followed it; empty for a client of the newer protocol."""
        self._swallowed: set[object] = set()
        self._numbers = itertools.count(1)
        self._way_lock = asyncio.Lock()
        self._quiet = asyncio.Event()
        """Set when the last open request is answered."""

    async def run(self, lines: AsyncIterator[bytes]) -> None:
        """Serve until the client closes its end."""
        reconnecting = asyncio.get_running_loop().create_task(self._reconnect_forever())
        try:
            async for line in lines:
                await self._from_client(line)
            await self._wait_for_answers()
        finally:
            reconnecting.cancel()
            await asyncio.wait([reconnecting])
            if self._way is not None:
                await self._way.close()

    async def _wait_for_answers(self) -> None:
        """After the client closed its end, wait a moment for the answers to its open requests."""
        if self._open_requests:
            with suppress(TimeoutError):
                async with asyncio.timeout(LAST_ANSWER_SECONDS):
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
        async with self._way_lock:
            if self._way is None:
                self._whence = {**self._whence, **_client_of(self._whence, message)}
                self._way = await self._open_way()
                self._introduce(self._way)
        self._remember(message)
        self._pass_on(message)

    def refuse_long_line(self, begin: bytes, end: bytes, limit: int) -> None:
        """Nobody has read it whole; its request is answered where its number can be told."""
        number = FIRST_NUMBER.match(begin) or LAST_NUMBER.search(end)
        text = (
            f"this message is longer than {limit >> 20} MiB, and was not read; send less at once, or in parts"
        )
        self._send(_error(_read.decode(number[1]) if number else None, INVALID_REQUEST, text))

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
        except HubAbsent:  # it has just gone; _reconnect_forever handles what is open
            self._broken.set()

    # --- to the client -----------------------------------------------------------------------------------

    def _on_message(self, message: RpcMessage) -> None:
        number = message.get("id")
        if "method" not in message and number in self._swallowed:
            self._swallowed.discard(number)
            return
        if "method" not in message:
            self._close_request(number)
        self._send(message)

    def _close_request(self, number: object) -> None:
        self._open_requests.pop(number, None)
        if not self._open_requests:
            self._quiet.set()

    def _send(self, message: RpcMessage) -> None:
        self._write(_encode(message) + b"\n")

    # --- the way -----------------------------------------------------------------------------------------

    async def _open_way(self) -> Way:
        try:
            return await ThroughHub.open(
                self._home, self._whence, self._on_message, self._broken.set, self._on_shut
            )
        except HubAbsent:
            return await InProcess.open(self._home, self._whence, self._on_message, self._on_shut)

    def _on_shut(self) -> None:
        self._is_shut = True
        self._broken.set()

    async def _reconnect_forever(self) -> None:
        """Whenever the hub has gone, open another way in and repeat or fail the open requests."""
        while True:
            await self._broken.wait()
            async with self._way_lock:
                self._broken.clear()
                way, self._way = self._way, None
                if self._is_shut:
                    await self._end_failed(way)
                    continue
                try:
                    self._way = await self._open_way()
                except MootError as trouble:  # the next message of the client tries again
                    self._fail_open_requests(trouble.title)
                    continue
                self._introduce(self._way)
                self._repeat_open_requests(self._way)

    async def _end_failed(self, way: Way | None) -> None:
        """What was open is answered as failed and not asked again, since it could end the next session too. The next
        message of the client opens that."""
        self._is_shut = False
        if way is not None:
            await way.close()
        self._fail_open_requests(
            "Moot's MCP session failed before it answered; check what was done before you repeat it"
        )

    def _repeat_open_requests(self, way: Way) -> None:
        for number, request in list(self._open_requests.items()):
            if _is_repeatable(request):
                way.say(request)
            else:
                self._send(_lost_answer(number, request))
                self._close_request(number)

    def _fail_open_requests(self, why: str) -> None:
        for number in list(self._open_requests):
            self._send(_error(number, LOST, why))
            self._close_request(number)

    def _introduce(self, way: Way) -> None:
        for message in self._introduction:
            if message.get("method") == "initialize" and message["id"] not in self._open_requests:
                number = f"moot-{next(self._numbers)}"
                self._swallowed.add(number)
                way.say({**message, "id": number})
            elif "id" not in message:
                way.say(message)


def _client_of(whence: RpcMessage, message: object) -> RpcMessage:
    """The client's name as it introduced itself, unless it was given before."""
    if whence.get("name") or whence.get("client") or not isinstance(message, dict):
        return {}
    params = message.get("params")
    params = params if isinstance(params, dict) else {}
    meta = params.get("_meta")
    info = params.get("clientInfo") or (meta.get(CLIENT_KEY) if isinstance(meta, dict) else None)
    name = info.get("name") if isinstance(info, dict) else None
    return {"client": name} if isinstance(name, str) and name else {"client": "mcp"}


def _is_repeatable(request: RpcMessage) -> bool:
    params = request.get("params")
    return request.get("method") != CALL or (
        isinstance(params, dict) and params.get("name") in REPEATABLE_TOOLS
    )


def _lost_answer(number: object, request: RpcMessage) -> RpcMessage:
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
