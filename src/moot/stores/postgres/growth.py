"""Hints that the log has grown: sent to other hubs after each commit by NOTIFY, and received from them by LISTEN.

At most one hint per commit, sent after it on a connection of its own: inside the transaction it would make all hubs
commit one after the other. A hub that receives one waits until no smaller event can appear. A lost hint costs only
time: the sweep looks again. What is shown live and not stored (notify_lane.py) goes the same way. The connection does
not wait for its commits to be synced: it stores nothing. Above: store.py.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from moot.stores.postgres.notify_lane import NotifyLane
from moot.stores.postgres.server import FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS, Connection, Server
from moot.stores.postgres.statements import LOCK

log = structlog.get_logger("moot.store")

CHANNEL = "moot_log"
LIVE_CHANNEL = "moot_live"
LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 30.0
"""How long to wait for a slow transaction; after that the sweep finds its events."""


class Growth:
    """One connection that listens and notifies; it reconnects when it is lost."""

    def __init__(
        self, server: Server, reach: Callable[[], Awaitable[tuple[int, int]]], on_growth: Callable[[], None]
    ) -> None:
        self._server = server
        self._reach = reach
        self._on_growth = on_growth
        self._channel = f"{CHANNEL}_{server.address.schema}"
        self._live_channel = f"{LIVE_CHANNEL}_{server.address.schema}"
        self._work = asyncio.Event()
        self.lane = NotifyLane(self._work.set)
        self._to_notify = 0
        """The newest event of which other hubs must be notified; 0 for none."""
        self._announced = 0
        """The newest event that any hub has announced."""
        self._reached = 0
        """The event up to which everything was readable when `on_growth` was called last."""
        self._has_news = asyncio.Event()
        self._tasks = [asyncio.create_task(self._notify()), asyncio.create_task(self._look())]

    def committed(self, event: int) -> None:
        """This hub has stored events up to this one."""
        self._to_notify = max(self._to_notify, event)
        self._work.set()
        self._announce(event)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _announce(self, event: int) -> None:
        """Our own hints come back to us too: what was reached needs no further look."""
        if event > self._reached:
            self._announced = max(self._announced, event)
            self._has_news.set()

    def _on_notification(self, connection: Connection, pid: int, channel: str, payload: str) -> None:
        if payload.isdecimal():
            self._announce(int(payload))

    def _on_live_line(self, connection: Connection, pid: int, channel: str, payload: str) -> None:
        if pid != connection.get_server_pid():
            for listener in self.lane.listeners:
                listener(payload)

    async def _notify(self) -> None:
        clock = asyncio.get_running_loop().time
        pause = FIRST_PAUSE_SECONDS
        while True:
            began = clock()
            try:
                connection = await self._server.connect()
                try:
                    await connection.execute(LOCK.unsynced)
                    await connection.add_listener(self._channel, self._on_notification)
                    self._on_growth()  # events may have been missed meanwhile
                    await self._notify_through(connection)
                finally:
                    connection.terminate()
            except Exception as trouble:  # nobody else notifies other hubs, so it goes on whatever happened
                log.warning("other hubs cannot be told", action="notify_failed", error=str(trouble))
                if clock() - began > MAX_PAUSE_SECONDS:
                    pause = FIRST_PAUSE_SECONDS
                await asyncio.sleep(pause)
                pause = min(pause * 2, MAX_PAUSE_SECONDS)

    async def _notify_through(self, connection: Connection) -> None:
        listens = False
        while not connection.is_closed():
            if self.lane.listeners and not listens:
                listens = True
                await connection.add_listener(self._live_channel, self._on_live_line)
            if not self.lane and not self._to_notify:
                with suppress(TimeoutError):
                    async with asyncio.timeout(MAX_PAUSE_SECONDS):
                        await self._work.wait()
            self._work.clear()
            if lines := self.lane.some():
                await connection.execute(LOCK.show, self._live_channel, lines)
            if self._to_notify:
                event = self._to_notify
                await connection.execute(LOCK.notify, self._channel, str(event))
                if self._to_notify == event:
                    self._to_notify = 0

    async def _look(self) -> None:
        """For each announced event, call `on_growth` once all events up to it are readable."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._has_news.wait()
            self._has_news.clear()
            event, until = self._announced, clock() + PATIENCE_SECONDS
            try:
                while (reached := (await self._reach())[0]) < event and clock() < until:  # noqa: ASYNC110  the server knows
                    await asyncio.sleep(LOOK_SECONDS)
                self._reached = reached
            except Exception as trouble:  # nobody else looks; the sweep finds what is missed
                log.warning("the log cannot be looked at", action="look_failed", error=str(trouble))
                await asyncio.sleep(FIRST_PAUSE_SECONDS)
            self._on_growth()
