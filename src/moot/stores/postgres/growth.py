"""Telling that the log has grown: to other hubs after each commit, by NOTIFY, and here when they say so, by LISTEN.

A hint, once per commit at most, sent behind it on a connection of its own: inside the transaction it would make all
hubs commit one after the other. Whoever hears of an event waits until no smaller one can come. A hint that is lost
costs time only: the sweep looks again. What is shown and not stored (notify_lane.py) goes the same way. The connection
need not wait for its commits to be synced: it stores nothing. Above: store.py.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress

import structlog

from moot.stores.postgres.notify_lane import NotifyLane
from moot.stores.postgres.server import FIRST_PAUSE, LONGEST_PAUSE, Connection, Server
from moot.stores.postgres.statements import LOCK

log = structlog.get_logger("moot.store")

CHANNEL = "moot_log"
LIVE_CHANNEL = "moot_live"
LOOK_SECONDS = 0.01
PATIENCE_SECONDS = 30.0
"""So long a straggling transaction is waited for; then the sweep has it."""


class Growth:
    """One connection that listens and tells, made again when it is lost."""

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
        """The newest event that others are to be told of."""
        self._heard = 0
        """The newest event that somebody has spoken of."""
        self._news = asyncio.Event()
        self._tasks = [asyncio.create_task(self._notify()), asyncio.create_task(self._look())]

    def committed(self, event: int) -> None:
        """This hub has stored events up to this one."""
        self._to_notify = max(self._to_notify, event)
        self._work.set()
        self._hear(event)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _hear(self, event: int) -> None:
        self._heard = max(self._heard, event)
        self._news.set()

    def _notified(self, connection: Connection, pid: int, channel: str, payload: str) -> None:
        if payload.isdecimal():
            self._hear(int(payload))

    def _shown(self, connection: Connection, pid: int, channel: str, payload: str) -> None:
        if pid != connection.get_server_pid():
            for listener in self.lane.listeners:
                listener(payload)

    async def _notify(self) -> None:
        clock = asyncio.get_running_loop().time
        pause = FIRST_PAUSE
        while True:
            began = clock()
            try:
                connection = await self._server.connect()
                try:
                    await connection.execute(LOCK.unsynced)
                    await connection.add_listener(self._channel, self._notified)
                    self._on_growth()  # whatever was said meanwhile
                    await self._notify_through(connection)
                finally:
                    connection.terminate()
            except Exception as trouble:  # whatever it was: nobody else tells other hubs, so it goes on
                log.warning("other hubs cannot be told", action="notify_failed", error=str(trouble))
                if clock() - began > LONGEST_PAUSE:
                    pause = FIRST_PAUSE
                await asyncio.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)

    async def _notify_through(self, connection: Connection) -> None:
        listens = False
        while not connection.is_closed():
            if self.lane.listeners and not listens:
                listens = True
                await connection.add_listener(self._live_channel, self._shown)
            if not self.lane and not self._to_notify:
                with suppress(TimeoutError):
                    async with asyncio.timeout(LONGEST_PAUSE):
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
        """Each time somebody speaks of an event: say so once everything up to it can be read."""
        clock = asyncio.get_running_loop().time
        while True:
            await self._news.wait()
            self._news.clear()
            event, until = self._heard, clock() + PATIENCE_SECONDS
            try:
                while (await self._reach())[0] < event and clock() < until:  # noqa: ASYNC110  only the server knows
                    await asyncio.sleep(LOOK_SECONDS)
            except Exception as trouble:  # nobody else looks; the sweep has what is missed
                log.warning("the log cannot be looked at", action="look_failed", error=str(trouble))
                await asyncio.sleep(FIRST_PAUSE)
            self._on_growth()
