"""One reader of a conversation over a WebSocket: its position, and the wire to the client.

It follows the fan. While it catches up from the store, a message from the fan only says that there is more; after that
the fan writes each message to the wire at once, without waking a task. A client that does not read is sent nothing more
until it does. `seq` has no gaps, so a missing message is noticed and read from the store.
"""

import asyncio
from contextlib import suppress

from moot.doors.http.streams.acks import Marks
from moot.doors.http.streams.fanout import MAX_BYTES, MAX_EVENTS, Frame, Wants
from moot.doors.http.streams.text_frames import MessageFrames
from moot.doors.http.wire.frames import SocketWire
from moot.model.records.bookmark import Bookmark
from moot.rules.access import Principal

TYPES = frozenset({"message.posted"})


class ReadPosition:
    """How far somebody has read: the seq, and the number of messages from others up to it."""

    __slots__ = ("frames", "seq")

    def __init__(self, seq: int, frames: int) -> None:
        self.seq = seq
        self.frames = frames


class Listener:
    def __init__(
        self, caller: Principal, where: str, wire: SocketWire, begin: ReadPosition, *, alone: bool
    ) -> None:
        self.wants = Wants(caller, where=where, types=TYPES)
        self._name = caller.name
        self.ending: str | None = None
        self.place = begin
        self.behind = True
        """The store has messages that were not sent here yet."""
        self._catching_up = True
        self._wire = wire
        self._alone = alone
        self._unread = self._unread_bytes = 0
        """Messages held back since the client stopped reading."""
        self._woken = asyncio.Event()
        self._marks: Marks | None = None
        self._bookmark: Bookmark | None = None
        self._pinged: ReadPosition | None = None
        wire.on_drained = self._on_drained

    # --- what the fan does -------------------------------------------------------------------------------

    def push(self, frame: Frame) -> bool:
        """False if the reader is too slow."""
        message, place = frame.message, self.place
        if message is None or message.seq <= place.seq:
            return True
        if not self._catching_up and not self._wire.writable.is_set():
            return self._hold_back(message)
        if self._catching_up or message.seq != place.seq + 1:
            self.behind = True
            self._woken.set()
            return True
        self.show(message)
        return True

    def _hold_back(self, message: MessageFrames) -> bool:
        """Leave the message in the store until the client has read what was sent before, up to a limit."""
        self.behind = True
        self._unread += 1
        self._unread_bytes += len(message.frame(alone=self._alone))
        if self._unread <= MAX_EVENTS and self._unread_bytes <= MAX_BYTES:
            return True
        self.end("lagged")
        return False

    def end(self, why: str) -> None:
        if self.ending is None:
            self.ending = why
        if why == "replaced":
            self._marks = None  # the other connection now says how far the client has read
        self._woken.set()

    # --- what the socket does ----------------------------------------------------------------------------

    def show(self, message: MessageFrames) -> None:
        """Advance to the next message, and send it if somebody else wrote it."""
        place = self.place
        place.seq = message.seq
        if message.author == self._name:
            return
        place.frames += message.counts
        self._wire.write(message.frame(alone=self._alone))
        if self._marks is not None:
            self._marks.on_sent(self)

    def caught_up(self) -> bool:
        """Switch to the fan if nothing is missing. Nothing may be awaited between the last read and this."""
        if self.behind:
            return False
        self._catching_up = False
        return True

    async def wait_for_more(self) -> None:
        """Returns when it has ended, or when something has to be read from the store and the reader can take it."""
        while self.ending is None and not (self.behind and self._wire.writable.is_set()):
            self._woken.clear()
            await self._woken.wait()
        self._catching_up = True

    async def room(self, seconds: float) -> bool:
        """Wait until the reader has taken nearly everything; False if it does not."""
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._wire.writable.wait()
                return True
        return False

    def _on_drained(self) -> None:
        self._unread = self._unread_bytes = 0
        if self.behind:
            self._woken.set()

    # --- its bookmark ------------------------------------------------------------------------------------

    def keep(self, marks: Marks, bookmark: Bookmark) -> None:
        """From now on the reader's position is stored."""
        self._marks, self._bookmark = marks, bookmark
        self._wire.on_received = self._on_received
        self._wire.closed_by_both = self._on_all_received

    def ask(self) -> bool:
        """Have the reader answer for what it was sent; False if it already has."""
        if self._bookmark is None or self._bookmark.seq >= self.place.seq:
            return False
        if self._pinged is None or self._pinged.seq < self.place.seq:
            self._pinged = ReadPosition(self.place.seq, self.place.frames)
            self._wire.ask(self._pinged.seq)
        return self._wire.is_open

    def _on_received(self, seq: int) -> None:
        if self._pinged is not None and self._pinged.seq == seq:
            self._note(self._pinged)

    def _on_all_received(self) -> None:
        self._note(self.place)

    def _note(self, place: ReadPosition) -> None:
        if self._marks is None or self._bookmark is None or place.seq <= self._bookmark.seq:
            return
        mark = self._bookmark
        self._bookmark = Bookmark(mark.participant, mark.client, mark.conversation, place.seq, place.frames)
        self._marks.note(self._bookmark)
