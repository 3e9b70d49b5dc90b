"""Telling other hubs that the log has grown, through whatever happens to the connection."""

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest

from moot.stores.postgres.growth import Growth
from moot.stores.postgres.statements import LOCK
from tests.support.waiting import until


class Line:
    """In place of a connection."""

    def __init__(self, troubles: list[Exception]) -> None:
        self._troubles = troubles
        self.notified: list[str] = []
        self.listeners: dict[str, Callable[..., None]] = {}

    async def execute(self, statement: str, *values: Any) -> None:
        if statement == LOCK.notify:
            if self._troubles:
                raise self._troubles.pop()
            self.notified.append(values[1])

    async def add_listener(self, channel: str, listener: Callable[..., None]) -> None:
        self.listeners[channel] = listener

    def is_closed(self) -> bool:
        return False

    def terminate(self) -> None: ...


class Server:
    def __init__(self, *, connecting: list[Exception], notifying: list[Exception]) -> None:
        self.address = SimpleNamespace(schema="moot")
        self._connecting = connecting
        self.line = Line(notifying)

    async def connect(self) -> Line:
        if self._connecting:
            raise self._connecting.pop()
        return self.line


def trouble() -> list[Exception]:
    return [
        asyncpg.CannotConnectNowError("the database system is in recovery mode"),
        asyncpg.OutOfMemoryError("out of memory"),
    ]


@pytest.mark.parametrize("when", ["connecting", "notifying"])
async def test_other_hubs_are_told_whatever_was_wrong_before(when: str) -> None:
    troubles: dict[str, list[Exception]] = {"connecting": [], "notifying": []} | {when: trouble()}
    server: Any = Server(**troubles)

    async def reach() -> tuple[int, int]:
        return 7, 7

    growth = Growth(server, reach, lambda: None)
    try:
        growth.committed(7)

        async def notified() -> list[str]:
            return list(server.line.notified)

        assert await until(notified, bool) == ["7"]
    finally:
        await growth.close()


async def test_a_look_that_fails_is_not_the_last_one() -> None:
    server: Any = Server(connecting=[], notifying=[])
    looks: list[int] = []

    async def reach() -> tuple[int, int]:
        looks.append(1)
        if len(looks) == 1:
            raise asyncpg.OutOfMemoryError("out of memory")
        return 8, 8

    growth = Growth(server, reach, lambda: None)
    try:
        growth.committed(7)
        await until(lambda: asyncio.sleep(0, len(looks)), lambda count: count == 1)
        growth.committed(8)
        await until(lambda: asyncio.sleep(0, len(looks)), lambda count: count >= 2)
    finally:
        await growth.close()


async def test_our_own_hint_that_comes_back_is_not_looked_for_again() -> None:
    server: Any = Server(connecting=[], notifying=[])
    looks: list[int] = []

    async def reach() -> tuple[int, int]:
        looks.append(1)
        return 7, 7

    growth = Growth(server, reach, lambda: None)
    try:
        growth.committed(7)
        await until(lambda: asyncio.sleep(0, list(server.line.notified)), bool)
        await until(lambda: asyncio.sleep(0, len(looks)), lambda count: count == 1)
        server.line.listeners["moot_log_moot"](server.line, 1, "moot_log_moot", "7")
        for _ in range(10):
            await asyncio.sleep(0)
        assert len(looks) == 1
    finally:
        await growth.close()
