"""Agents on machines of their own, over one PostgreSQL: killed in the middle of a turn, and cut off from the database.

A machine is a process in a namespace of its own: its process id says nothing to the others. Where the system grants no
namespaces, it is a process like any other, and the line is cut in a relay.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from moot import Hub
from moot.flow.hold_shares import HELD_SECONDS
from moot.model.records.share import SHARES
from tests.support.beneath import store_of
from tests.support.postgres import empty_database
from tests.support.processes import NIGHTLY, ROOT, kept_on_failure, path_of_imports
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE, until, within

pytestmark = [pytest.mark.req("K-12"), pytest.mark.alone]

LEASE = 4.0
ROOMS = 100
PARTS = 4
ENDED = ("said", "passed", "failed", "expired", "cancelled")
CUT_SECONDS = 20.0 if NIGHTLY else 6.0
SETTINGS = f"""
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
agent_turns_per_hour = 10000
[host]
lease_seconds = {LEASE}
sweep_seconds = 1.0
"""


@cache
def own_namespace() -> tuple[str, ...]:
    """What a command begins with that runs on a machine of its own, as far as process ids go."""
    words = ("unshare", "--pid", "--fork", "--kill-child")
    works = shutil.which("unshare") and subprocess.run([*words, "true"], check=False, capture_output=True)
    return words if works and works.returncode == 0 else ()


class Machine:
    """A process that runs agents, with a home of its own."""

    def __init__(self, folder: Path, url: str, place: str) -> None:
        self.home = home_on(folder / place, url)
        self.place = place
        self.process: asyncio.subprocess.Process

    async def start(self, agents: str, partitions: int = 1, *, within: tuple[str, ...] = ()) -> None:
        words = [*within, *own_namespace(), sys.executable, "-m", "tests.faults.instance"]
        self.process = await asyncio.create_subprocess_exec(
            *words, str(self.home), self.place, agents, str(partitions),
            cwd=ROOT, env={**os.environ, "PYTHONPATH": path_of_imports()}, stdin=-1, stdout=-1,
        )  # fmt: skip
        assert await self.line() == "ready"

    async def line(self) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(PATIENCE):
            return (await self.process.stdout.readline()).decode().strip()

    async def kill(self) -> None:
        if self.process.returncode is None:
            self.process.kill()
            await self.process.wait()

    async def stop(self) -> None:
        if self.process.returncode is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            try:
                await asyncio.wait_for(self.process.wait(), PATIENCE)
            except TimeoutError:
                await self.kill()


def home_on(home: Path, url: str) -> Path:
    home.mkdir()
    (home / "moot.toml").write_text(f'{SETTINGS}[store]\nurl = "{url}"\n', encoding="utf-8")
    return home


@asynccontextmanager
async def running(*machines: Machine) -> AsyncIterator[None]:
    try:
        yield
    finally:
        await asyncio.gather(*(each.stop() for each in machines if hasattr(each, "process")))


async def answers(hub: Hub, rooms: list[str]) -> Counter[str]:
    """How many messages of agents there are, by room."""
    found = await asyncio.gather(*(hub.messages(room) for room in rooms))
    return Counter(
        {room: sum(m.kind == "agent" for m in said) for room, said in zip(rooms, found, strict=True)}
    )


async def shared_out(hub: Hub) -> None:
    async def parts() -> Counter[str]:
        return Counter(share.host for share in await store_of(hub).records(SHARES.all()) if share.until)

    await until(parts, lambda held: sorted(held.values()) == [PARTS // 2, PARTS // 2])


async def test_an_instance_that_is_killed_in_a_turn_is_replaced(tmp_path: Path) -> None:
    url = await empty_database()
    one, two = Machine(tmp_path, url, "one"), Machine(tmp_path, url, "two")
    with kept_on_failure("machines-kill", tmp_path):
        async with Hub.open(home_on(tmp_path / "here", url)) as hub, running(one, two):
            await asyncio.gather(one.start("arya", PARTS), two.start("arya", PARTS))
            rooms = [f"room-{number}" for number in range(ROOMS)]
            await asyncio.gather(*(hub.conversations.create(room, participants=["arya"]) for room in rooms))
            await shared_out(hub)
            await hub.post(rooms[0], "@arya hang")
            note = tmp_path / "hung"
            await until(lambda: asyncio.to_thread(note.exists), bool)
            hung = one if note.read_text() == "one" else two
            await hung.kill()
            watch = Stopwatch()
            await asyncio.gather(*(hub.post(room, "@arya go on") for room in rooms[1:]))
            await asyncio.gather(*(hub.settled(room, timeout=40) for room in rooms[1:]))
            others = watch.seconds()
            await hub.settled(rooms[0], timeout=40)
            cut = watch.seconds()
            print(f"other conversations went on after {others:.1f} s, the cut turn after {cut:.1f} s")
            assert set((await answers(hub, rooms)).values()) == {1}
            assert others < 10.0
            assert cut < max(LEASE, HELD_SECONDS) + 5.0


async def test_five_agents_on_three_machines_see_one_order(tmp_path: Path) -> None:
    url = await empty_database()
    places = {"one": "arya,bran", "two": "catelyn,davos", "three": "eddard"}
    machines = {place: Machine(tmp_path, url, place) for place in places}
    names = [name for some in places.values() for name in some.split(",")]
    async with Hub.open(home_on(tmp_path / "here", url)) as hub:
        for name in names:
            await hub.agents.create(name)
        many = {"max_agent_turns_per_message": len(names)}
        await hub.conversations.create("order", participants=names, settings=many)
        async with running(*machines.values()):
            await asyncio.gather(*(machine.start(places[place]) for place, machine in machines.items()))
            everybody = " ".join(f"@{name}" for name in names)
            for number in range(4):
                await hub.post("order", f"{everybody} number {number}")
                await hub.settled("order", timeout=40)
            said = [message.id for message in await hub.messages("order")]
            assert len(said) == 4 * (1 + len(names))
            for machine in machines.values():
                assert [await machine.line() for _ in said] == said


# --- a line that is cut --------------------------------------------------------------------------------------


class Line:
    """Between two machines: up until it is cut, and again when it is mended."""

    host = "127.0.0.1"
    within: tuple[str, ...] = ()

    def __init__(self) -> None:
        self.is_up = asyncio.Event()
        self.is_up.set()

    async def cut(self) -> None:
        self.is_up.clear()

    async def mend(self) -> None:
        self.is_up.set()

    @asynccontextmanager
    async def relay(self, url: str) -> AsyncIterator[str]:
        """The address by which the far machine reaches the database."""
        parts = urlsplit(url)

        async def copy(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                while data := await reader.read(65536):
                    await self.is_up.wait()
                    writer.write(data)
                    await writer.drain()
            except OSError:
                pass  # one end has gone: so does the other
            finally:
                writer.close()

        async def carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            there, back = await asyncio.open_connection(parts.hostname, parts.port)
            await asyncio.gather(copy(reader, back), copy(there, writer))

        def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            carried.append(asyncio.ensure_future(carry(reader, writer)))

        carried: list[asyncio.Future[None]] = []
        server = await asyncio.start_server(connected, self.host, 0)
        port = server.sockets[0].getsockname()[1]
        try:
            yield url.replace(f"{parts.hostname}:{parts.port}", f"{self.host}:{port}")
        finally:
            server.close()
            for each in carried:
                each.cancel()
            await asyncio.gather(*carried, return_exceptions=True)


class NamespaceLine(Line):
    """A pair of network devices; the far one lies in a network namespace of its own."""

    def __init__(self) -> None:
        super().__init__()
        number = os.getpid() % 250 + 2
        self.name = f"moot{os.getpid()}"
        self.host, self._far = f"10.213.{number}.1", f"10.213.{number}.2"
        self._near_end, self._far_end = f"mn{os.getpid()}", f"mf{os.getpid()}"
        self.within = ("ip", "netns", "exec", self.name)

    def make(self) -> bool:
        return ip("netns", "add", self.name) and all(
            ip(*words.split())
            for words in (
                f"link add {self._near_end} type veth peer name {self._far_end} netns {self.name}",
                f"addr add {self.host}/24 dev {self._near_end}",
                f"link set {self._near_end} up",
                f"-n {self.name} addr add {self._far}/24 dev {self._far_end}",
                f"-n {self.name} link set {self._far_end} up",
            )
        )

    def remove(self) -> None:
        ip("link", "del", self._near_end)
        ip("netns", "del", self.name)

    async def cut(self) -> None:
        assert await asyncio.to_thread(ip, "link", "set", self._near_end, "down")

    async def mend(self) -> None:
        assert await asyncio.to_thread(ip, "link", "set", self._near_end, "up")


def ip(*words: str) -> bool:
    return (
        bool(shutil.which("ip"))
        and not subprocess.run(["ip", *words], check=False, capture_output=True).returncode
    )


@contextmanager
def line() -> Iterator[Line]:
    far = NamespaceLine()
    try:
        yield far if far.make() else Line()
    finally:
        far.remove()


async def unanswered(hub: Hub) -> list[str]:
    return [turn.state for turn in await hub.turns() if turn.state not in ENDED]


async def reachability(hub: Hub) -> str:
    return (await hub.agents.get("arya")).reachability


async def test_a_machine_that_is_cut_off_and_comes_back_loses_and_doubles_nothing(tmp_path: Path) -> None:
    url = await empty_database()
    with kept_on_failure("machines-cut", tmp_path), line() as between:
        async with between.relay(url) as there, Hub.open(home_on(tmp_path / "here", url)) as hub:
            far = Machine(tmp_path, there, "far")
            async with running(far):
                await far.start("arya", within=between.within)
                rooms = [f"room-{number}" for number in range(10)]
                for room in rooms:
                    await hub.conversations.create(room, participants=["arya"])
                await asyncio.gather(*(hub.post(room, "@arya before") for room in rooms))
                await asyncio.gather(*(hub.settled(room, timeout=40) for room in rooms))
                await between.cut()
                since_cut = Stopwatch()
                receipts = await asyncio.gather(*(hub.post(room, "@arya meanwhile") for room in rooms))
                assert len(receipts) == len(rooms)
                await within(LEASE + 5, lambda: reachability(hub), lambda found: found == "away")
                missed = since_cut.seconds()
                await asyncio.sleep(max(0.0, CUT_SECONDS - missed))
                await between.mend()
                since_mended = Stopwatch()
                await asyncio.gather(*(hub.post(room, "@arya after") for room in rooms))
                await until(lambda: unanswered(hub), lambda turns: not turns, seconds=60)
                back = since_mended.seconds()
                kind = type(between).__name__
                print(
                    f"{kind}: cut for {CUT_SECONDS:.0f} s, missed after {missed:.1f} s, all said {back:.1f} s after"
                )
                said = await asyncio.gather(*(hub.messages(room) for room in rooms))
                for messages in said:
                    heard = [message.text for message in messages if message.kind == "agent"]
                    assert heard[0] == "far heard arya before"
                    assert heard[-1] == "far heard arya after"
                    assert len(heard) == len(set(heard)), "nothing is answered twice"
                assert await reachability(hub) == "live"
