"""The input of a connection, fed to its parser in pieces: a stranger's when it is its turn, everybody else's in pieces
short enough for the others to wait.

A parser finishes what it is fed before other connections get their turn. A packet may hold thousands of requests or
frames, so it is cut; while a connection has more than it may be fed, nothing more is read from it.
"""

import asyncio
import time
from collections.abc import Callable
from typing import Any, Final

from moot.doors.http.wire.unauthenticated import Stranger, Strangers

STRANGERS_PIECE: Final = 512
"""Bytes: a few dozen frames, or some twenty of the smallest requests."""
EVENT_SECONDS: Final = 0.00003
"""Cost of a piece besides its parsing."""


class Intake:
    def __init__(
        self,
        strangers: Strangers,
        transport: Any,
        *,
        feed: Callable[[bytes], None],
        may_feed: Callable[[], bool],
        resume: Callable[[], None],
        piece: int,
    ) -> None:
        self._strangers = strangers
        self._transport = transport
        self._feed = feed
        self._may_feed = may_feed
        self._resume = resume
        self._piece = piece
        self._buffer = b""
        self._at = 0
        self._planned = False
        self.stranger: Stranger | None = strangers.of(transport)

    def take(self, data: bytes) -> None:
        """Input has arrived. Most connections have shown a token and send little at a time: they are fed at once."""
        if self.stranger is None and not self._buffer and len(data) <= self._piece and self._may_feed():
            self._feed(data)
            return
        self._buffer, self._at = self._buffer[self._at :] + data, 0
        self._transport.pause_reading()
        if not self._planned:
            self.go_on()

    def go_on(self) -> None:
        """Feed the next piece as soon as possible."""
        self._planned = False
        if not self._buffer or self._transport.is_closing() or not self._may_feed():
            return
        self._planned = True
        if self.stranger is None:
            self._step()
        else:
            self._strangers.do(self.stranger.cost, self._step)

    def _step(self) -> None:
        self._planned = False
        if self._transport.is_closing():
            self.drop()
            return
        piece = self._piece if self.stranger is None else STRANGERS_PIECE
        part = self._buffer[self._at : self._at + piece]
        self._at += len(part)
        # Not by the clock: what other processes took of the core is nobody's debt.
        started = time.thread_time()
        self._feed(part)
        if self.stranger is not None:
            self._strangers.charge(self.stranger, time.thread_time() - started + EVENT_SECONDS)
        if self._at < len(self._buffer):
            self._planned = True
            asyncio.get_running_loop().call_soon(self.go_on)
        elif self._buffer:
            self._buffer, self._at = b"", 0
            if not self._transport.is_closing():
                self._resume()

    def cost(self, seconds: float) -> None:
        """Charge a stranger for input that takes more work than reading it."""
        if self.stranger is not None:
            self._strangers.charge(self.stranger, seconds)

    def on_recognised(self) -> None:
        if self.stranger is not None:
            self._strangers.recognise(self.stranger)
            self.stranger = None

    def drop(self) -> None:
        """Feed nothing more: the connection has ended or has another protocol now."""
        self._buffer, self._at = b"", 0
