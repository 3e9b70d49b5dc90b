"""PostgreSQL is killed under load, and several hubs write to one database: the ledger has no violation.

As T-KILL and T-PROC do it for hubs on one home; here the hub lives on and the server dies, or each hub has a home of
its own and they share nothing but the database.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from msgspec import json

from moot.hub import Hub
from tests.contract.log.places import ids
from tests.faults.test_kill import SETTLING, Client, Storm, follow, write
from tests.faults.test_processes import go, line, make_rooms
from tests.faults.writer import ROOMS, SHARED
from tests.support import checker, ledger, remains
from tests.support.ledger import FAIL, INFO, OK, Ledger, acked
from tests.support.postgres import empty_database
from tests.support.processes import SCALE, end, kept_on_failure, seed_of_this_run, start
from tools.postgres_server import PostgresServer

KILLS = 5 * SCALE
UPTIME = 1.0
MAX_SECONDS = 200.0 * SCALE
WRITERS, UNDER_WAY = 4, 4
POSTS = 200 * SCALE
PAUSE = 0.05
"""Before a client asks again that was told to come back later."""


def home_on(url: str, folder: Path) -> Path:
    folder.mkdir()
    (folder / "moot.toml").write_text(f'[store]\nurl = "{url}"\n')
    return folder


# --- the server dies -----------------------------------------------------------------------------------------


class PatientClient(Client):
    async def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        answer = await super().ask(do, **fields)
        if answer["type"] == INFO:
            await asyncio.sleep(PAUSE)
        return answer


class ServerStorm(Storm):
    """The hub lives; what is killed is the server it writes to."""

    def __init__(self, home: Path, book: Ledger, seed: int, server: PostgresServer) -> None:
        super().__init__(home, book, seed)
        self._server = server
        self._end = time.monotonic() + MAX_SECONDS

    def next_number(self) -> int | None:
        if self.kills >= KILLS or time.monotonic() > self._end:
            return None
        self._given += 1
        return self._given

    def client(self, name: str) -> Client:
        return PatientClient(name, self.place, self.book, self.chance)

    async def kill_now_and_then(self) -> None:
        while self.kills < KILLS:
            await asyncio.sleep(UPTIME * (0.5 + self.chance.random()))
            await asyncio.to_thread(self._server.kill)
            await asyncio.sleep(UPTIME * self.chance.random() / 2)
            await asyncio.to_thread(self._server.start)
            self.kills += 1

    async def run(self) -> None:
        await self.place.start()
        try:
            await self.place.ready()
            async with asyncio.timeout(MAX_SECONDS + SETTLING), asyncio.TaskGroup() as group:
                rooms = await self.rooms()
                killing = group.create_task(self.kill_now_and_then())
                stop = asyncio.Event()
                group.create_task(follow(self.client("reader"), rooms, stop))
                clients = [self.client(f"w{n}") for n in range(WRITERS)]
                await asyncio.gather(
                    *(write(client, rooms, self.next_number) for client in clients for _ in range(UNDER_WAY))
                )
                await killing
                answer = await self.client("last").until_answered(lambda _: None, "settled", seconds=SETTLING)
                assert answer["type"] == OK, "the agents did not come to rest"
                stop.set()
            assert self.place.process is not None
            assert self.place.process.returncode is None, "the hub went with its server"
        finally:
            await self.place.kill()


@pytest.fixture
def server() -> Iterator[PostgresServer]:
    started = PostgresServer().start()
    yield started
    started.remove()


@pytest.mark.req("K-04")
@pytest.mark.timeout(300 * SCALE)
async def test_what_was_acknowledged_survives_a_server_that_is_killed(
    tmp_path: Path, server: PostgresServer
) -> None:
    seed = seed_of_this_run()
    home = home_on(server.url(), tmp_path / "home")
    begun = time.monotonic()
    with kept_on_failure("postgres-kill", home, seed), Ledger(home / "ledger.jsonl") as book:
        storm = ServerStorm(home, book, seed, server)
        await storm.run()
        unanswered = sum(op.type == INFO for op in book.ops)
        seconds = time.monotonic() - begun
        print(f"{storm.kills} kills, {acked(book.ops)} acked, {unanswered} repeated, {seconds:.1f} s")
        left = await remains.gather_from_postgres(server.url())
        assert checker.found(checker.check(book.ops, left)) == {}
        assert storm.kills == KILLS
        assert {op.type for op in book.ops if op.op == "post"} >= {OK, INFO}


# --- several hubs --------------------------------------------------------------------------------------------


@pytest.mark.req("K-04")
@pytest.mark.timeout(300 * SCALE)
async def test_hubs_that_share_nothing_but_a_database_lose_nothing(tmp_path: Path) -> None:
    url = await empty_database()
    names = [f"writer{n}" for n in range(3)]
    homes = {name: home_on(url, tmp_path / name) for name in names}
    await make_rooms(homes[names[0]])
    processes = [start("tests.faults.writer", str(homes[name]), name, str(POSTS)) for name in names]
    with kept_on_failure("postgres-hubs", tmp_path):
        try:
            assert [line(process) for process in processes] == [b"ready\n"] * len(names)
            for process in processes:
                go(process)
            answers = [json.decode(await asyncio.to_thread(line, process)) for process in processes]
        finally:
            for process in processes:
                end(process)
        assert [answer for answer in answers if "error" in answer] == []
        ops = ledger.read(*(homes[name] / f"ledger-{name}.jsonl" for name in names))
        left = await remains.gather_from_postgres(url)
        assert checker.found(checker.check(ops, left)) == {}
        assert acked(ops) == POSTS * len(names) + 2 * SHARED
        assert sum(answer["first"] for answer in answers) == SHARED, "a shared key is stored once"
        assert sum(answer["won"] for answer in answers) == SHARED, "of rival bodies exactly one is kept"
        assert {op.type for op in ops} == {OK, FAIL}


@pytest.mark.req("K-04")
@pytest.mark.timeout(300 * SCALE)
async def test_a_hub_hears_of_everything_that_others_store_once_and_in_order(tmp_path: Path) -> None:
    """Two others write at once; whoever follows here gets every event, though ids are drawn before the commit."""
    url = await empty_database()
    names = ["left", "right"]
    homes = {name: home_on(url, tmp_path / name) for name in (*names, "here")}
    await make_rooms(homes["here"])
    processes = [start("tests.faults.writer", str(homes[name]), name, str(POSTS)) for name in names]
    try:
        async with Hub.open(homes["here"]) as hub:
            follower = hub._core.parts.log.subscribe()
            first = follower.after

            for process in processes:
                assert await asyncio.to_thread(line, process) == b"ready\n"
                go(process)
            for process in processes:
                assert "error" not in json.decode(await asyncio.to_thread(line, process))
            stored = [event for event in await all_events(url) if event > first]
            heard = await ids(follower, len(stored))
    finally:
        for process in processes:
            end(process)
    assert heard == stored
    assert len(stored) >= 2 * POSTS + 2 * SHARED
    assert len(ROOMS) > 1


async def all_events(url: str) -> list[int]:
    connection = await asyncpg.connect(url)
    try:
        return [id for (id,) in await connection.fetch("SELECT id FROM moot.events ORDER BY id")]
    finally:
        await connection.close()
