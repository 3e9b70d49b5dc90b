"""An event stream: first the events since the reader's cursor, from the store; then new events, from the fan.

`lagged`, `reset` and `server_restarting` carry the cursor to resume from. So does `cursor`, which is sent after the
past events and then every 15 s without events: it shows proxies and readers that the connection is alive.
"""

import asyncio
from collections.abc import Iterable
from contextlib import suppress
from typing import Any

from moot.doors.credentials import still_good
from moot.doors.http.streams.fanout import (
    REASONS_TO_COME_BACK,
    STUCK_SECONDS,
    Fan,
    Frame,
    StreamFollower,
    Wants,
    control,
)
from moot.doors.http.wire.direct_writer import EXTENSION, DirectWriter
from moot.errors import Unauthenticated
from moot.rules.access import Principal

HEARTBEAT_SECONDS = 15.0
PIECE = 64 * 1024
HEADERS = [
    (b"content-type", b"text/event-stream"),
    (b"cache-control", b"no-store"),
    (b"x-content-type-options", b"nosniff"),
    (b"x-accel-buffering", b"no"),
]


class StreamGone(Exception):
    """The reader has disconnected."""


class Stream:
    def __init__(self, fan: Fan, caller: Principal, *, after: int | None, **wants: Any) -> None:
        self._fan = fan
        self._wants = Wants(caller, **wants)
        self._after = after
        self._writer: DirectWriter | None = None
        self._cursor = 0
        """The newest event that the reader has surely been sent."""
        fan.enter(caller)

    async def run(self, scope: Any, receive: Any, send: Any) -> None:
        self._writer = scope.get("extensions", {}).get(EXTENSION)
        try:
            async with asyncio.TaskGroup() as tasks:
                sending = tasks.create_task(self._send_events(send))
                watching = tasks.create_task(until_gone(receive))
                await asyncio.wait([sending, watching], return_when=asyncio.FIRST_COMPLETED)
                sending.cancel()
                watching.cancel()
        finally:
            self._fan.leave(self._wants.caller)

    async def _send_events(self, send: Any) -> None:
        with suppress(StreamGone, OSError):
            await send({"type": "http.response.start", "status": 200, "headers": HEADERS})
            await self._send(send, b"retry: 1000\n\n")
            self._fan.start()
            await self._catch_up(send)
            follower = StreamFollower(self._wants, self._cursor, self._writer)
            self._fan.add(follower)  # nothing is awaited since the fan was caught up with: there is no gap
            try:
                await still_good(
                    self._fan.hub, self._wants.caller
                )  # from here on the fan hears of a revocation
                await self._send(send, self._here(b"following"))
                await self._follow(follower, send)
            except Unauthenticated:
                pass  # it was revoked while it read the past; the stream just ends
            finally:
                self._fan.drop(follower)
            await send({"type": "http.response.body", "body": b"", "more_body": False})

    async def _catch_up(self, send: Any) -> None:
        """Send from the store everything that the fan has handed out already."""
        hub, fan = self._fan.hub, self._fan
        self._cursor = hub.position if self._after is None else self._after
        if self._cursor > hub.position:  # it may have read from another hub what is not known here yet
            await hub.history.catch_up()
        if self._cursor > hub.position:
            await self._reset(send, hub.position)
        elif self._cursor < (horizon := await hub.history.horizon()):
            await self._reset(send, horizon)
        while self._cursor < fan.position:
            past = await hub.encoded.past(self._cursor)
            if self._cursor < (
                horizon := await hub.history.horizon()
            ):  # it moved while we read: the page may have a gap
                await self._reset(send, horizon)
                continue
            await self._send_frames(send, [await fan.frame(event) for event in past.events])
            self._cursor = max(self._cursor, past.reached)

    async def _reset(self, send: Any, cursor: int) -> None:
        self._cursor = cursor
        await self._send(send, control("reset", cursor))

    async def _follow(self, follower: StreamFollower, send: Any) -> None:
        while True:
            frames = await follower.take(HEARTBEAT_SECONDS)
            self._cursor = follower.cursor
            fresh = [frame for frame in frames if not frame.id or frame.id > self._cursor]
            await self._send_frames(send, fresh)
            follower.cursor = self._cursor
            if follower.ending is not None and not frames:
                if follower.ending in REASONS_TO_COME_BACK:
                    await self._send(send, control(follower.ending, self._cursor))
                return
            if not frames:
                await self._send(send, self._here(b"still here"))

    def _here(self, comment: bytes) -> bytes:
        """The cursor, also as data: parsers drop an event that has none."""
        return b": %s\nid: %d\n%s" % (comment, self._cursor, control("cursor", self._cursor))

    async def _send_frames(self, send: Any, frames: Iterable[Frame]) -> None:
        piece, size, upto = [], 0, self._cursor
        for frame in frames:
            upto = max(upto, frame.id)
            if self._wants(frame):
                piece.append(frame.data)
                size += len(frame.data)
            if size > PIECE:
                await self._send(send, b"".join(piece))
                self._cursor = upto
                piece, size = [], 0
        if piece:
            await self._send(send, b"".join(piece))
        self._cursor = upto

    async def _send(self, send: Any, data: bytes) -> None:
        try:
            async with asyncio.timeout(STUCK_SECONDS):
                await send({"type": "http.response.body", "body": data, "more_body": True})
        except TimeoutError:
            raise StreamGone from None


async def until_gone(receive: Any) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
