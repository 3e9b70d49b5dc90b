"""Read positions of open sockets: asked for and stored together, about once a second while messages flow.

A ping asks a reader how far it has read, and only what it has answered for is stored: what was merely written to a
socket may be lost with it. One commit stores the positions of all readers. Nothing runs while no messages are sent.
"""

import asyncio
from contextlib import suppress
from typing import Protocol

import structlog

from moot.errors import MootError
from moot.hub import Hub
from moot.model.records.bookmark import Bookmark, BookmarkKey

EVERY_SECONDS = 0.5
"""A message is asked about in the next round and its position noted in the one after: within about a second."""

log = structlog.get_logger("moot.http")


class Reader(Protocol):
    def ask(self) -> bool:
        """Ask how far it has read; False if there is nothing to wait for."""
        ...

    def end(self, why: str) -> None: ...


class Marks:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._restless: set[Reader] = set()
        self._unwritten: dict[BookmarkKey, Bookmark] = {}
        self._readers: dict[BookmarkKey, Reader] = {}
        self._round: asyncio.Task[None] | None = None
        self._left = asyncio.Event()

    def take(self, key: BookmarkKey, reader: Reader) -> None:
        """Register a client's reader. An older connection of the same client is closed."""
        before = self._readers.get(key)
        if before is not None:
            before.end("replaced")
            self._unwritten.pop(key, None)
        self._readers[key] = reader

    async def leave(self, key: BookmarkKey, reader: Reader) -> None:
        """Unregister a reader and store its position."""
        self._restless.discard(reader)
        if self._readers.get(key) is reader:
            del self._readers[key]
            self._left.set()
        if key in self._unwritten:
            await self.write()

    def on_sent(self, reader: Reader) -> None:
        """Note that a message was sent to a reader."""
        self._restless.add(reader)
        if self._round is None:
            self._round = asyncio.get_running_loop().create_task(self._rounds())

    def note(self, bookmark: Bookmark) -> None:
        self._unwritten[bookmark.key] = bookmark

    async def write(self) -> None:
        """Store all noted positions in one commit. If that fails, they are stored with the next."""
        batch, self._unwritten = self._unwritten, {}
        if not batch:
            return
        try:
            await self._hub.conversations.bookmarks.move(list(batch.values()))
        except MootError as trouble:
            log.warning("bookmarks were not written", action="bookmarks_failed", error=str(trouble))
            self._unwritten = {**batch, **self._unwritten}

    async def wait_until_idle(self, seconds: float) -> None:
        """Return when all readers have gone and their positions are stored, or after a timeout."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self._readers:
                    self._left.clear()
                    await self._left.wait()

    async def close(self) -> None:
        if (round_ := self._round) is not None:
            round_.cancel()
            await asyncio.wait([round_])
        await self.write()

    async def _rounds(self) -> None:
        try:
            while self._restless or self._unwritten:
                await asyncio.sleep(EVERY_SECONDS)
                await self.write()
                self._restless = {reader for reader in self._restless if reader.ask()}
        finally:
            self._round = None
