"""The bare limit of a pair: a server that commits what it is sent to SQLite, wakes the receiver, and answers pulls.

`python -m bench.bare FOLDER` is the server: raw rows, full sync, posts that come together share a commit; no rules, no
values, no chain. Lines are JSON over a Unix socket, on uvloop like everybody here.
"""

import asyncio
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, cast

import apsw
import uvloop
from msgspec import json

from bench.processes import PATIENCE, end

SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = FULL;
CREATE TABLE messages (id INTEGER PRIMARY KEY, room INTEGER, seq INTEGER, content TEXT);
CREATE UNIQUE INDEX by_room ON messages (room, seq);
"""
INSERT = "INSERT INTO messages (room, seq, content) VALUES (?, ?, ?)"
LAST = "SELECT seq, content FROM messages WHERE room = ? ORDER BY seq DESC LIMIT 20"


class End(asyncio.Protocol):
    """One end of a connection: lines in, lines out."""

    def __init__(self, heard: Callable[[Any, "End"], None]) -> None:
        self._heard = heard
        self._rest = b""
        self._transport: asyncio.Transport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        *lines, self._rest = (self._rest + data).split(b"\n")
        for line in lines:
            self._heard(json.decode(line), self)

    def tell(self, said: Any) -> None:
        if self._transport is not None:
            self._transport.write(json.encode(said) + b"\n")

    def close(self) -> None:
        if self._transport is not None:
            self._transport.close()


class Server:
    """`["listen", room]`, `["post", room, text, with_text]` and `["pull", room]`."""

    def __init__(self, folder: Path) -> None:
        self._db = apsw.Connection(str(folder / "bare.db"))
        self._db.execute(SCHEMA).fetchall()
        self._listening: dict[int, End] = {}
        self._next: dict[int, int] = {}
        self._waiting: list[tuple[list[Any], End]] = []

    def heard(self, said: list[Any], peer: End) -> None:
        if said[0] == "listen":
            self._listening[said[1]] = peer
            peer.tell([])
        elif said[0] == "pull":
            peer.tell([row[1] for row in self._db.execute(LAST, (said[1],)).fetchall()[::-1]])
        else:
            self._waiting.append((said, peer))
            if len(self._waiting) == 1:
                asyncio.get_running_loop().call_soon(self._commit)

    def _commit(self) -> None:
        batch, self._waiting = self._waiting, []
        self._db.execute("BEGIN IMMEDIATE")
        for (_, room, text, _), _ in batch:
            self._next[room] = seq = self._next.get(room, 0) + 1
            self._db.execute(INSERT, (room, seq, text))
        self._db.execute("COMMIT")
        for (_, room, text, with_text), peer in batch:
            peer.tell("ok")
            if room in self._listening:
                self._listening[room].tell({"woken": text if with_text else ""})


async def serve(folder: Path) -> None:
    server = Server(folder)
    loop = asyncio.get_running_loop()
    listening = await loop.create_unix_server(lambda: End(server.heard), str(folder / "sock"))
    await listening.serve_forever()


@contextmanager
def served() -> Iterator[Path]:
    """The server as a process; gives its socket."""
    with TemporaryDirectory() as folder:
        process = subprocess.Popen([sys.executable, "-m", "bench.bare", folder])
        socket, until = Path(folder) / "sock", time.monotonic() + PATIENCE
        try:
            while not socket.exists():
                assert process.poll() is None
                assert time.monotonic() < until
                time.sleep(0.02)
            yield socket
        finally:
            end(process)


if __name__ == "__main__":
    uvloop.run(serve(Path(sys.argv[1])))
