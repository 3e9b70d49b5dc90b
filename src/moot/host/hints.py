"""Hints between the processes on one home, over a Unix socket: "the log has grown". Never more than that.

The hub listens; others connect. A hint that is lost costs time, not messages: everyone sweeps.
"""

import asyncio
import os
import socket
import struct
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

GROWN = b"grown\n"
LONGEST_ADDRESS = 100


class HintServer:
    """The hub's end: passes every hint on to everybody else."""

    def __init__(self, path: Path, hinted: Callable[[], None]) -> None:
        self._path = path
        self._hinted = hinted
        self._peers: set[asyncio.StreamWriter] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        with suppress(FileNotFoundError):
            self._path.unlink()
        with _short(self._path) as path:
            self._server = await asyncio.start_unix_server(self._serve, path=path)
        os.chmod(self._path, 0o600)

    @property
    def connected(self) -> bool:
        return True

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if not _same_user(writer):
            writer.close()
            return
        self._peers.add(writer)
        try:
            while await reader.readline():
                self._hinted()
                self.tell(but=writer)
        except (ConnectionError, asyncio.LimitOverrunError, ValueError):
            pass
        finally:
            self._peers.discard(writer)
            writer.close()

    def tell(self, but: asyncio.StreamWriter | None = None) -> None:
        for peer in self._peers:
            if peer is not but and not peer.is_closing():
                peer.write(GROWN)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for peer in list(self._peers):
            peer.close()
        with suppress(FileNotFoundError):
            self._path.unlink()


class HintClient:
    """Everybody else's end. Silent when no hub runs."""

    def __init__(self, path: Path, hinted: Callable[[], None]) -> None:
        self._path = path
        self._hinted = hinted
        self._writer: asyncio.StreamWriter | None = None
        self._listening: asyncio.Task[None] | None = None

    async def start(self) -> None:
        try:
            with _short(self._path) as path:
                reader, self._writer = await asyncio.open_unix_connection(path)
        except OSError:
            return
        self._listening = asyncio.get_running_loop().create_task(self._listen(reader))

    @property
    def connected(self) -> bool:
        return self._writer is not None

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        with suppress(ConnectionError):
            while await reader.readline():
                self._hinted()
        self._writer = None

    def tell(self) -> None:
        if self._writer is not None and not self._writer.is_closing():
            self._writer.write(GROWN)

    async def close(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            await asyncio.gather(self._listening, return_exceptions=True)
        if self._writer is not None:
            self._writer.close()


@contextmanager
def _short(path: Path) -> Iterator[str]:
    """A name for the socket that fits: the kernel takes 107 bytes, homes may lie deeper than that."""
    if len(os.fsencode(path)) <= LONGEST_ADDRESS:
        yield str(path)
        return
    folder = os.open(path.parent, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield f"/proc/self/fd/{folder}/{path.name}"
    finally:
        os.close(folder)


def _same_user(writer: asyncio.StreamWriter) -> bool:
    """Only processes of the hub's own user are heard."""
    peer = writer.get_extra_info("socket")
    try:
        credentials = peer.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i"))
    except (AttributeError, OSError):
        return False
    _, uid, _ = struct.unpack("3i", credentials)
    return bool(uid in (os.getuid(), 0))
