"""T-KILL: a hub is killed at random while eight clients write, again and again; what it acknowledged is there.

Each client keeps several messages under way and repeats, with the same key, what got no answer. Some posts are
to be refused, some messages are edited, a reader follows everything. In the end the ledger has no violation.
"""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
from collections.abc import Callable
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from tests.faults.server import AGENTS, ASKED, POLLED, ROOMS
from tests.support import checker, remains
from tests.support.ledger import FAIL, INFO, OK, Ledger, Op, acked, body_sha, now
from tests.support.processes import ROOT, SCALE, kept_on_failure, path_of_imports, seed_of_this_run

WRITERS = 8
UNDER_WAY = 8
"""Messages each writer has on the way at once."""
KILLS = 20 * SCALE
ACKED = 10_000 * SCALE
UPTIME = 0.5
MAX_SECONDS = 200.0 * SCALE
"""Seconds in which it has to be done: twenty seconds are enough where nobody else needs the machine."""
SETTLING = 60.0
READY = 60.0


class Gone(Exception):
    """The server went away before it answered."""


class Line:
    """One connection to a server that may die at any time; questions are answered in any order."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self._numbers = count(1)
        self._waiting: dict[int, asyncio.Future[dict[str, Any]]] = {}
        self._listening = asyncio.create_task(self._listen(reader))
        self.gone = False

    async def _listen(self, reader: asyncio.StreamReader) -> None:
        try:
            while line := await reader.readline():
                answer = json.decode(line)
                self._waiting.pop(answer["n"]).set_result(answer)
        except (ConnectionError, json_error):
            pass
        self.gone = True
        for waiting in self._waiting.values():
            waiting.set_exception(Gone())

    async def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        if self.gone:
            raise Gone
        number = next(self._numbers)
        self._waiting[number] = asyncio.get_running_loop().create_future()
        self._writer.write(json.encode({"n": number, "do": do, "with": fields}) + b"\n")
        return await self._waiting[number]

    async def close(self) -> None:
        self._writer.close()
        self._listening.cancel()
        await asyncio.gather(self._listening, return_exceptions=True)


json_error = ValueError


class Place:
    """The server wherever it is in its many lives, and a line to it for each client."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.socket = home.parent / "s"
        self.process: asyncio.subprocess.Process | None = None
        self.up = asyncio.Event()
        self._lines: list[Line] = []

    async def start(self) -> None:
        self.process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "tests.faults.server", str(self.home), str(self.socket),
            cwd=ROOT, env={"PYTHONPATH": path_of_imports()}, stdout=asyncio.subprocess.PIPE,
        )  # fmt: skip

    async def ready(self) -> None:
        assert self.process is not None
        assert self.process.stdout is not None
        async with asyncio.timeout(READY):
            told = await self.process.stdout.readline()
        assert told == b"ready\n", "the server did not come up"
        self.up.set()

    async def kill(self) -> None:
        """By its own id, and waited for: a dead process that nobody waited for still counts as alive."""
        self.up.clear()
        if self.process is not None:
            self.process.send_signal(signal.SIGKILL)
            await self.process.wait()
            self.process = None
        for line in self._lines:
            await line.close()
        self._lines.clear()

    async def line(self) -> Line:
        while True:
            await self.up.wait()
            try:
                line = Line(*await asyncio.open_unix_connection(str(self.socket)))
            except OSError:
                await asyncio.sleep(0)
            else:
                self._lines.append(line)
                return line


class Client:
    """Keeps a line open, and repeats what got no answer."""

    def __init__(self, name: str, place: Place, book: Ledger, chance: random.Random) -> None:
        self.name = name
        self.place = place
        self.book = book
        self.chance = chance
        self._line: Line | None = None
        self._connecting = asyncio.Lock()

    async def ask(self, do: str, **fields: Any) -> dict[str, Any]:
        async with self._connecting:
            if self._line is None or self._line.gone:
                self._line = await self.place.line()
        return await self._line.ask(do, **fields)

    async def until_answered(
        self, note: Callable[[dict[str, Any] | None], None], do: str, **fields: Any
    ) -> Any:
        """Ask until there is an answer, noting each attempt."""
        while True:
            try:
                answer = await self.ask(do, **fields)
            except (Gone, ConnectionError):
                note(None)
                continue
            note(answer)
            if answer["type"] != INFO:
                return answer

    async def post(self, conv: str, key: str, text: str) -> dict[str, Any]:
        begun = now()

        def note(answer: dict[str, Any] | None) -> None:
            told = answer or {"type": INFO}
            place = (told.get("id", ""), told.get("seq", 0))
            self.book.add(Op("post", conv, "user", told["type"], key, body_sha(text), begun, now(), *place))

        answer: dict[str, Any] = await self.until_answered(note, "post", conv=conv, key=key, text=text)
        return answer

    async def edit(self, conv: str, posted: dict[str, Any], text: str) -> None:
        begun = now()
        tried = [0]

        def note(answer: dict[str, Any] | None) -> None:
            tried[0] += 1
            told = answer or {"type": INFO}
            known = INFO if tried[0] > 1 and told["type"] == FAIL else told["type"]
            fields = (begun, now(), posted["id"], posted["seq"])
            self.book.add(Op("edit", conv, "user", known, "", body_sha(text), *fields))

        await self.until_answered(note, "edit", id=posted["id"], text=text, version=1)


async def write(client: Client, rooms: dict[str, str], numbers: Callable[[], int | None]) -> None:
    """Post until enough is acknowledged; now and then something else."""
    while (number := numbers()) is not None:
        chance = client.chance.random()
        name = client.chance.choice(ROOMS[:3]) if chance > 0.03 else client.chance.choice((ASKED, POLLED))
        text = f"{client.name} says number {number}"
        if name == ASKED:
            text += f" to @{client.chance.choice(AGENTS)}"
        key = f"{client.name}-{number}"
        answer = await client.post(rooms[name], key, text)
        if chance > 0.99:
            await client.post(rooms[name], key, f"{text}, but otherwise")
        elif chance > 0.98:
            await client.post("nowhere", f"{key}-lost", text)
        elif chance > 0.97 and answer["type"] == OK:
            await client.edit(rooms[name], answer, f"{text}, corrected")


async def follow(client: Client, rooms: dict[str, str], stop: asyncio.Event) -> None:
    """Read everything from the beginning, at the end once more to the very end."""
    last = dict.fromkeys(rooms.values(), 0)
    grown = True
    while grown or not stop.is_set():
        ended = stop.is_set()
        grown = False
        for conv in last:
            back = client.chance.randrange(3) if client.chance.random() < 0.1 else 0
            after = max(0, last[conv] - back)
            answer = await client.until_answered(lambda _: None, "read", conv=conv, after=after)
            for seq, text in answer["items"]:
                client.book.add(Op("read", conv, client.name, OK, body_sha=body_sha(text), seq=seq))
                grown = grown or seq > last[conv]
                last[conv] = max(last[conv], seq)
        grown = grown or not ended


class Storm:
    """The whole run: kills on one side, clients on the other."""

    def __init__(self, home: Path, book: Ledger, seed: int) -> None:
        self.chance = random.Random(seed)
        self.place = Place(home)
        self.book = book
        self.kills = 0
        self.acked = 0
        self._given = 0
        self._until = time.monotonic() + MAX_SECONDS

    def next_number(self) -> int | None:
        """The next message's number, as long as there is more to do and time to do it."""
        over = self.kills >= KILLS and self._given >= ACKED
        if over or time.monotonic() > self._until:
            return None
        self._given += 1
        return self._given

    def client(self, name: str) -> Client:
        return Client(name, self.place, self.book, random.Random(self.chance.random()))

    async def kill_now_and_then(self) -> None:
        """Mostly while it serves, sometimes while it is still coming up."""
        while self.kills < KILLS and time.monotonic() < self._until:
            early = self.chance.random() < 0.2
            await self.place.start()
            if early:
                await asyncio.sleep(self.chance.random() * UPTIME)
            else:
                await self.place.ready()
                await asyncio.sleep(self.chance.random() * UPTIME)
            await self.place.kill()
            self.kills += 1
        await self.place.start()
        await self.place.ready()

    async def rooms(self) -> dict[str, str]:
        answer = await self.client("first").until_answered(lambda _: None, "rooms")
        return answer["rooms"]  # type: ignore[no-any-return]

    async def run(self) -> None:
        try:
            async with asyncio.timeout(MAX_SECONDS + SETTLING), asyncio.TaskGroup() as group:
                killing = group.create_task(self.kill_now_and_then())
                rooms = await self.rooms()
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
        finally:
            await self.place.kill()


@pytest.mark.timeout(300 * SCALE)
async def test_what_was_acknowledged_survives_any_number_of_kills(tmp_path: Path) -> None:
    seed = seed_of_this_run()
    home = tmp_path / "home"
    home.mkdir()
    begun = time.monotonic()
    with kept_on_failure("kill", home, seed), Ledger(home / "ledger.jsonl") as book:
        storm = Storm(home, book, seed)
        await storm.run()
        done = acked(book.ops)
        seconds = time.monotonic() - begun
        unanswered = sum(op.type == INFO for op in book.ops)
        print(f"{storm.kills} kills, {done} acked, {unanswered} repeated, {seconds:.1f} s")
        left = await remains.gather(home)
        assert checker.found(checker.check(book.ops, left)) == {}
        assert storm.kills >= KILLS
        assert done >= ACKED
        assert {op.type for op in book.ops if op.op == "post"} == {OK, FAIL, INFO}
