"""Wake-ups between the processes on one home, over Unix sockets: what happened where, and never more than that.

Every process that hosts agents or watches has a socket. After a commit a process pings exactly the hosts of the agents
concerned and the processes that watch; it never waits for them. A line is JSON:

    {"notify": {"conv_id": "c1…", "from": "arya", "seq": 12}}      something was stored; pull it
    {"live": {…}}                                                a piece of a reply that is being spoken
    {"ping": 7}   →   {"pong": 7, "pid": 4711, "agents": ["arya"], "ready": true}

A ping that is lost costs time, not messages: everyone sweeps. Above: hub/core.py. Below: the kernel, which says who is
at the other end. Not here: what to do about a ping.
"""

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, cast

from msgspec import DecodeError
from msgspec.json import Decoder, Encoder

MAX_ADDRESS_BYTES = 100
MAX_LINE_BYTES = 1 << 21
MAX_BUFFERED_BYTES = 1 << 20
"""With more waiting for a peer that does not read, it is disconnected; the sweep finds what it missed."""
MAX_WAITING = 64
ROUNDS_TO_OPEN = 4
"""Passes of the loop until a new connection is open."""
CLOSE_SECONDS = 1.0
"""How long a peer may take to read what was written before closing; then it is disconnected."""

JsonLine = dict[str, Any]
OnLine = Callable[[JsonLine, "Peer"], None]
READER: Decoder[JsonLine] = Decoder(JsonLine)
_encode = Encoder().encode


class Peer(asyncio.Protocol):
    """One end of a connection: lines in, lines out."""

    def __init__(
        self, on_line: OnLine, on_gone: Callable[["Peer"], None], reader: Decoder[Any] = READER
    ) -> None:
        self._on_line = on_line
        self._on_gone = on_gone
        self._read = reader.decode
        self._buffer = bytearray()
        self._closed = False
        self.transport: asyncio.Transport | None = None
        self.lost = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        both_ways = cast(asyncio.Transport, transport)  # uvloop's are such, though not by inheritance
        if self._closed or not _same_user(both_ways):
            both_ways.abort()
            return
        self.transport = both_ways

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        if len(self._buffer) > MAX_LINE_BYTES:
            self._drop("sent a line that is too long")
            return
        if b"\n" not in data:
            return
        *lines, self._buffer = self._buffer.split(b"\n")
        for line in lines:
            self._take(line)

    def _take(self, line: bytearray) -> None:
        try:
            message = self._read(line)
        except DecodeError:
            self._drop("does not speak Moot's protocol")
            return
        self._on_line(message, self)

    def send(self, line: JsonLine) -> None:
        transport = self.transport
        if transport is None or transport.is_closing():
            return
        if transport.get_write_buffer_size() > MAX_BUFFERED_BYTES:
            self._drop("does not read")
            return
        transport.write(_encode(line) + b"\n")

    def connection_lost(self, exc: Exception | None) -> None:
        self.transport = None
        self.lost.set()
        self._on_gone(self)

    def close(self) -> None:
        """Close after sending what was written. A connection that is not open yet will not open."""
        self._closed = True
        if self.transport is not None:
            self.transport.close()

    def _drop(self, why: str) -> None:
        import structlog  # noqa: PLC0415  every client imports this module, and next to none needs to log

        structlog.get_logger("moot.pings").info("peer dropped", action="peer_let_go", reason=why)
        if self.transport is not None:
            self.transport.abort()


class PingSocket:
    """This process's own socket."""

    def __init__(self, path: Path, on_line: OnLine) -> None:
        self.path = path
        self.on_gone: Callable[[Peer], None] = _ignore_gone
        self._on_line = on_line
        self._peers: set[Peer] = set()
        self._server: asyncio.Server | None = None

    @property
    def is_open(self) -> bool:
        return self._server is not None

    async def open(self) -> None:
        with suppress(FileNotFoundError):
            self.path.unlink()
        with short(self.path) as path:
            self._server = await asyncio.get_running_loop().create_unix_server(self._peer, path=path)
        os.chmod(self.path, 0o600)

    def _peer(self) -> Peer:
        peer = Peer(self._on_line, self._forget)
        self._peers.add(peer)
        if self._server is None:
            peer.close()  # accepted just before closing
        return peer

    def _forget(self, peer: Peer) -> None:
        self._peers.discard(peer)
        self.on_gone(peer)

    async def close(self) -> None:
        """Accept no more connections; those already waiting are accepted first, because a server that closes would
        forget them."""
        if self._server is None:
            return
        server, self._server = self._server, None
        with suppress(FileNotFoundError):
            self.path.unlink()
        for _ in range(ROUNDS_TO_OPEN):
            await asyncio.sleep(0)
        server.close()
        await _close_all(list(self._peers))


class Pinger:
    """Pings other processes. Connections are made when needed and kept; nobody waits for one. `on_lost` is called when
    a process could not be reached or closed its connection: it may have died."""

    def __init__(self, on_lost: Callable[[], None] = lambda: None) -> None:
        self._on_lost = on_lost
        self._peers: dict[str, Peer] = {}
        self._waiting: dict[str, list[JsonLine]] = {}
        self._tasks: set[asyncio.Task[None]] = set()
        self._closed = False

    def send(self, address: str, line: JsonLine) -> None:
        if self._closed:
            return  # a connection opened now would never be closed
        peer = self._peers.get(address)
        if peer is not None:
            peer.send(line)
        elif address in self._waiting:
            if len(self._waiting[address]) < MAX_WAITING:
                self._waiting[address].append(line)
        else:
            self._waiting[address] = [line]
            task = asyncio.get_running_loop().create_task(self._connect(address))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _connect(self, address: str) -> None:
        try:
            peer = await connect(Path(address), _ignore_line, self._on_gone)
            self._peers[address] = peer
        except OSError:
            self._waiting.pop(address, None)
            self._on_lost()
            return
        for line in self._waiting.pop(address, []):
            peer.send(line)

    def _on_gone(self, peer: Peer) -> None:
        for address, known in list(self._peers.items()):
            if known is peer:
                del self._peers[address]
                self._on_lost()

    async def close(self) -> None:
        self._closed = True
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await _close_all(list(self._peers.values()))


async def _close_all(peers: list[Peer]) -> None:
    """Close each connection after it has sent what was written, unless the peer does not read: a connection must
    not outlive its loop."""
    for peer in peers:
        peer.close()
    open_ones = [peer for peer in peers if peer.transport is not None]
    with suppress(TimeoutError):
        async with asyncio.timeout(CLOSE_SECONDS):
            for peer in open_ones:
                await peer.lost.wait()
        return
    for peer in open_ones:
        if peer.transport is not None:
            peer.transport.abort()
    for peer in open_ones:
        await peer.lost.wait()


async def connect(
    path: Path, on_line: OnLine, on_gone: Callable[[Peer], None], reader: Decoder[Any] = READER
) -> Peer:
    loop = asyncio.get_running_loop()
    with short(path) as address:
        _, peer = await loop.create_unix_connection(lambda: Peer(on_line, on_gone, reader), path=address)
    if peer.transport is None:
        raise ConnectionResetError(
            f"the process listening at {path} closed the connection, or belongs to another user"
        )
    return peer


async def ask(path: Path, line: JsonLine, seconds: float) -> JsonLine | None:
    """Send one line and return the answer; None if none comes in time."""
    answer_future: asyncio.Future[JsonLine] = asyncio.get_running_loop().create_future()

    def on_line(answer: JsonLine, peer: Peer) -> None:
        if not answer_future.done():
            answer_future.set_result(answer)

    def on_gone(peer: Peer) -> None:
        answer_future.cancel()

    peer: Peer | None = None
    try:
        async with asyncio.timeout(seconds):
            peer = await connect(path, on_line, on_gone)
            peer.send(line)
            return await asyncio.shield(answer_future)
    except (OSError, TimeoutError, asyncio.CancelledError):
        if (task := asyncio.current_task()) is not None and task.cancelling():
            raise
        return None
    finally:
        if peer is not None:
            peer.close()


def _ignore_gone(peer: Peer) -> None:
    """A peer that only pinged has gone."""


def _ignore_line(line: JsonLine, peer: Peer) -> None:
    """Ignore what a peer sends on a connection that is only for sending."""


@contextmanager
def short(path: Path) -> Iterator[str]:
    """A name for the socket that fits the kernel's 107 bytes: homes may have longer paths."""
    if len(os.fsencode(path)) <= MAX_ADDRESS_BYTES:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _same_user(transport: asyncio.Transport) -> bool:
    """Accept only processes of the same user."""
    end = transport.get_extra_info("socket")
    try:
        credentials = end.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except (AttributeError, OSError):
        return False
    _, uid, _ = struct.unpack("3i", credentials)
    return bool(uid in (os.getuid(), 0))
