"""S15: five hundred readers of one conversation, by events and by WebSocket, while the hub is killed under them, and
while fifty never read. Nobody misses anything or hears it twice; who does not read is let go and comes back.
"""

from __future__ import annotations

import asyncio
import math
import re
import signal
import socket
import statistics
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from copy import copy
from pathlib import Path
from typing import Any, NamedTuple

import httpx2
import pytest
from msgspec import json
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed

from moot.doors.http.streams.fanout import STUCK_SECONDS
from tests.doors.http.up import Up
from tests.support.processes import SCALE, Server, end, start
from tests.support.waiting import PATIENCE

READERS = 500
NEVER_READ = 50
MESSAGES = 80 * SCALE
KILLS = 2 * SCALE
PAIRS = 80
LARGE = 128 * 1024
ENOUGH = 80
"""Large messages after which whoever does not read must lag: what kernels hold, and what the hub holds."""
SCOUTS = 2
AHEAD = 6
"""Large messages that scouts have had before the others come; the hub holds eight for each."""
NARROW = (socket.SOL_SOCKET, socket.SO_RCVBUF, 64 * 1024)
"""What the kernel keeps for one that does not read. Left to itself it tunes each connection by megabytes of difference,
more than scouts are ahead."""
MAX_RATIO = 1.10
SELDOM = PAIRS // 2 - 3 * math.isqrt(PAIRS) // 2
"""Three deviations below half of the pairs: heads come up so seldom once in a thousand times."""
SETTINGS = "[limits]\nrequests_per_second = 100000.0\n"


class Hall:
    """A hub as a process, a conversation in it, and somebody who speaks there."""

    def __init__(self, up: Up) -> None:
        self.up = up
        self.name = "hall"
        self.token = ""
        self.speaker = ""
        self.said = 0
        self.client = httpx2.AsyncClient(timeout=60, limits=httpx2.Limits(max_connections=None))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.up.port}"

    async def open(self) -> None:
        self.up.home.mkdir(parents=True)
        (self.up.home / "moot.toml").write_text(SETTINGS)
        self.up.start()
        self.token = self.up.token["Authorization"].split()[1]
        await self.ask("/api/agents", {"name": "karl", "kind": "human"})
        self.speaker = (await self.ask("/api/agents/karl/tokens", {}))["token"]
        await self.ask("/api/conversations", {"name": self.name, "participants": ["karl"]})

    async def beside(self, name: str) -> Hall:
        """Another conversation of the same hub."""
        found = copy(self)
        found.name, found.said = name, 0
        await self.ask("/api/conversations", {"name": name, "participants": ["karl"]})
        return found

    async def ask(self, path: str, body: Any = None, **headers: str) -> Any:
        sent = {"Authorization": f"Bearer {self.token}", **headers}
        method = "POST" if body is not None else "GET"
        answer = await self.client.request(method, self.url + path, json=body, headers=sent)
        assert answer.status_code < 300, answer.text
        return answer.json()

    async def say(self, padding: int = 0) -> float:
        """The next number, once; asks again with the same key until the hub is there. When it was first asked."""
        self.said += 1
        begun, body = time.monotonic(), {"text": f"number {self.said} {'x' * padding}"}
        headers = {"Authorization": f"Bearer {self.speaker}", "Idempotency-Key": f"{self.name}-{self.said}"}
        async with asyncio.timeout(PATIENCE):
            while True:
                try:
                    await self.ask(f"/api/conversations/{self.name}/messages", body, **headers)
                except httpx2.TransportError:
                    await asyncio.sleep(0.02)
                else:
                    return begun


@pytest.fixture
async def hall(tmp_path: Path) -> AsyncIterator[Hall]:
    found = Hall(Up(tmp_path / "home"))
    await found.open()
    yield found
    await found.client.aclose()
    if found.up.process is not None and found.up.process.poll() is None:
        found.up.end(signal.SIGKILL)


class Crowds:
    """Readers in processes of their own: half by events, half by sockets."""

    def __init__(self, servers: list[Server]) -> None:
        self._servers = servers

    async def ask(self, do: str, **fields: Any) -> list[Any]:
        return list(await asyncio.gather(*(asyncio.to_thread(s.ask, do=do, **fields) for s in self._servers)))


@asynccontextmanager
async def crowds(readers: int, hall: Hall, *more: Hall) -> AsyncIterator[Crowds]:
    """So many in each of the halls."""
    after = (await hall.ask("/api/status"))["position"]
    processes = [start("tests.faults.readers") for _ in range(2)]
    try:
        for process, kind in zip(processes, ("events", "socket"), strict=True):
            told = {
                "kind": kind,
                "where": [where.name for where in (hall, *more)],
                "count": readers // 2,
                "port": hall.up.port,
                "token": hall.token,
            }
            assert process.stdin is not None
            process.stdin.write(json.encode({**told, "after": after}) + b"\n")
        found = Crowds([Server(process) for process in processes])
        await found.ask("ready", times=1)
        yield found
    finally:
        for process in processes:
            end(process)


@pytest.mark.req("S-13", "K-11")
@pytest.mark.timeout(300 * SCALE)
async def test_killing_the_hub_under_five_hundred_readers_costs_none_of_them_anything(hall: Hall) -> None:
    begun, kills = time.monotonic(), 0
    async with crowds(READERS, hall) as readers:
        for number in range(1, MESSAGES + 1):
            if number % (MESSAGES // (KILLS + 1) + 1) == 0:
                kills += 1
                await readers.ask("ready", times=kills)
                saying = asyncio.create_task(hall.say())
                await asyncio.to_thread(hall.up.end, signal.SIGKILL)
                await asyncio.to_thread(hall.up.start)
                await saying
            else:
                await hall.say()
        await readers.ask("until", where=hall.name, last=MESSAGES)
        verdicts = await readers.ask("verdict", where=hall.name, first=1, last=MESSAGES)
    connects = [verdict["connects"] for verdict in verdicts]
    print(f"{MESSAGES} messages, {KILLS} kills, connections {connects}, {time.monotonic() - begun:.1f} s")
    assert [verdict["wrong"] for verdict in verdicts] == [{}, {}]
    assert all(count >= READERS // 2 * (KILLS + 1) for count in connects), "each came back after each kill"


class NeverReads:
    """One that connects and takes nothing, until it is told to."""

    def __init__(self, hall: Hall, name: str) -> None:
        self.hall = hall
        self.name = name
        self.heard: list[int] = []

    async def opened(self, stack: AsyncExitStack) -> None: ...
    async def read_on(self) -> str:
        """Everything that was waiting; and how it ended."""
        raise NotImplementedError


class NeverReadsEvents(NeverReads):
    async def opened(self, stack: AsyncExitStack) -> None:
        self.after = (await self.hall.ask("/api/status"))["position"]
        await self._open(stack)

    async def _open(self, stack: AsyncExitStack) -> None:
        at = f"{self.hall.url}/api/events?conversation={self.hall.name}&types=message.posted&after={self.after}"
        token = {"Authorization": f"Bearer {self.hall.token}"}
        narrow = httpx2.AsyncHTTPTransport(socket_options=[NARROW])
        client = await stack.enter_async_context(httpx2.AsyncClient(timeout=60, transport=narrow))
        stream = await stack.enter_async_context(client.stream("GET", at, headers=token))
        self.lines = stream.aiter_lines()

    async def read_on(self) -> str:
        kind = ""
        async for line in self.lines:
            if line.startswith("event: "):
                kind = line.removeprefix("event: ")
                if kind not in ("message.posted", "cursor"):
                    return kind
            if line.startswith("id: "):
                self.after = int(line[4:])
            if line.startswith("data: ") and kind == "message.posted":
                self.heard.append(int(json.decode(line[6:])["body"]["text"].split()[1]))
                if self.heard[-1] == self.hall.said:
                    return "all"
        return "cut off"

    async def again(self, stack: AsyncExitStack) -> None:
        await self._open(stack)


class NeverReadsSocket(NeverReads):
    connection: ClientConnection

    async def opened(self, stack: AsyncExitStack, received: str = "") -> None:
        at = f"ws://127.0.0.1:{self.hall.up.port}/ws/conversations/{self.hall.name}?client={self.name}{received}"
        offered: Any = ["moot", f"bearer.{self.hall.token}"]
        narrow = socket.socket()
        narrow.setsockopt(*NARROW)
        narrow.setblocking(False)
        await asyncio.get_running_loop().sock_connect(narrow, ("127.0.0.1", self.hall.up.port))
        self.connection = await stack.enter_async_context(
            connect(
                at,
                sock=narrow,
                subprotocols=offered,
                compression=None,
                proxy=None,
                ping_interval=None,
                max_queue=1,
                close_timeout=1,
            )
        )
        stack.callback(self.connection.transport.abort)  # it does not even answer a goodbye

    async def read_on(self) -> str:
        try:
            async for frame in self.connection:
                self.heard.append(int(frame.split()[2]))
                if self.heard[-1] == self.hall.said:
                    return "all"
        except ConnectionClosed:
            pass
        return "lagged" if self.connection.close_code == 4000 else f"closed {self.connection.close_code}"

    async def again(self, stack: AsyncExitStack) -> None:
        await self.opened(stack, f"&received={len(self.heard)}")


def never_readers(hall: Hall, count: int, start: int = 0) -> Iterator[Any]:
    for n in range(start, start + count):
        yield (NeverReadsEvents if n % 2 else NeverReadsSocket)(hall, f"never-{n}")


@pytest.mark.alone
@pytest.mark.req("S-13", "K-11")
@pytest.mark.timeout(300 * SCALE)
async def test_fifty_that_never_read_cost_the_others_nothing_they_would_notice(hall: Hall) -> None:
    """Two conversations with as many readers each, in one of them also fifty that take nothing and whose buffers are
    full. Messages go to both in turn, so that whatever else the machine does meets both alike.

    What they cost is the work of the hub, which no other process adds to: what disturbs only ever makes it more, so
    that of each the best quarter is compared. That nobody waits for them beyond that can only be seen in time, which
    others do take: there each pair is a throw. If the median were over the bound, most pairs would be."""
    other = await hall.beside("other")
    spent: dict[str, list[Spent]] = {hall.name: [], other.name: []}
    async with AsyncExitStack() as stack:
        await clogged(hall, stack)
        assert await lagged(hall) == SCOUTS, "all fifty are there"
        first = hall.said + 1
        readers = await stack.enter_async_context(crowds(READERS - NEVER_READ, hall, other))
        for n in range(PAIRS):
            for where in (hall, other) if n % 2 else (other, hall):
                spent[where.name].append(await delivered(where, readers))
        wrong = await readers.ask("verdict", where=hall.name, first=first, last=hall.said)
        wrong += await readers.ask("verdict", where=other.name, first=1, last=other.said)
    assert [one["wrong"] for one in wrong] == [{}] * 4
    beside, alone = spent[hall.name], spent[other.name]
    work = _best([one.work for one in beside]) / _best([one.work for one in alone])
    in_time = sum(one.seconds <= MAX_RATIO * two.seconds for one, two in zip(beside, alone, strict=True))
    print(f"{work:.3f} of the work, {in_time} of {PAIRS} in time")
    assert work <= MAX_RATIO
    assert in_time > SELDOM


class Spent(NamedTuple):
    """On one message, until the last reader has it."""

    seconds: float
    work: float
    """Seconds of a core, by the hub."""


async def delivered(hall: Hall, readers: Crowds) -> Spent:
    before = hall.up.work
    begun = await hall.say()
    heard = await readers.ask("until", where=hall.name, last=hall.said)
    return Spent(max(one["at"] for one in heard) - begun, hall.up.work - before)


async def clogged(hall: Hall, stack: AsyncExitStack) -> None:
    """Those who do not read, each with so much that waits for it that it is about to be let go. When that is, two
    scouts say, one of either kind: they have had a few messages more, and are let go first."""
    for never in never_readers(hall, SCOUTS, NEVER_READ):
        await never.opened(stack)
    for _ in range(AHEAD):
        await hall.say(LARGE)
    for never in never_readers(hall, NEVER_READ):
        await never.opened(stack)
    for _ in range(2 * ENOUGH):
        await hall.say(LARGE)
        if await lagged(hall) >= SCOUTS:
            return
    raise AssertionError("nobody lags")


async def lagged(hall: Hall) -> int:
    numbers = (await hall.client.get(f"{hall.url}/metrics", headers=hall.up.token)).text
    [found] = re.findall(r"^moot_streams_lagged_total (\S+)", numbers, re.MULTILINE)
    return int(float(found))


def _best(taken: list[float]) -> float:
    return statistics.median(sorted(taken)[: len(taken) // 4])


@pytest.mark.req("S-13", "K-11")
async def test_who_never_reads_is_let_go_as_lagged_and_comes_back_without_loss(hall: Hall) -> None:
    async with AsyncExitStack() as stack:
        slow = list(never_readers(hall, NEVER_READ))
        for never in slow:
            await never.opened(stack)
        begun = time.monotonic()
        for _ in range(ENOUGH):
            await hall.say(LARGE)
        gone = {"closed 1006", "cut off"} if time.monotonic() - begun > STUCK_SECONDS else set()
        endings = await asyncio.gather(*(never.read_on() for never in slow))
        assert set(endings) <= {"lagged", *gone}, "on a slow machine nothing was taken for too long, too"
        for never in slow:
            await never.again(stack)
        assert set(await asyncio.gather(*(never.read_on() for never in slow))) == {"all"}
    expected = list(range(1, ENOUGH + 1))
    assert [never.name for never in slow if never.heard != expected] == []
