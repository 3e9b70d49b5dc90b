"""W4, wake: a receiver that already waits, at a random phase; from the send until it has the text: by the hub's socket,
as a server-sent event, and by MCP.

The wake-up carries the text everywhere: an event of Moot's stream, the answer of `wait_for_messages` (which commits
that it was handed over), the payload of PostgreSQL's NOTIFY, a line of the bare limit (one synced commit, one hop).
Then the proof that nobody polls: how often the threads of an idle hub wake in 20 s, once as it is set up, once with
heartbeat and sweep so rare that what is left would be polling. The other peers are not here yet.
"""

import asyncio
import random
import statistics
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import json

from bench import bare, mcp_pairs, processes
from bench.measure import Table, load, middle_and_late
from bench.pairs import ByBareLimit, ByMoot, ByPostgres, Way, text
from moot.client import RemoteHub
from moot.settings import HostSettings

WAKES = 150
MIN_PAUSE_SECONDS = 0.02
"""By then whoever is going to wait does."""
MAX_PAUSE_SECONDS = 0.04
IDLE_SECONDS = 20.0
CONNECTED = 10
RARELY = "[host]\nlease_seconds = 3600.0\nsweep_seconds = 3600.0\n"
AGENTS = "".join(f'[[agents]]\nname = "idle{n}"\nbrain = "demo"\n' for n in range(10))


class ByEvents:
    """The same hub; the sender uses its socket, the receiver follows `/api/events`."""

    def __init__(self, sender: RemoteHub, room: str, reader: asyncio.StreamReader) -> None:
        self._sender = sender
        self._room = room
        self._reader = reader

    @classmethod
    @asynccontextmanager
    async def open(cls, hub: processes.Served) -> AsyncIterator["ByEvents"]:
        port = json.decode((hub.home / "run" / "hub.json").read_bytes())["port"]
        token = (hub.home / "run" / "token").read_text().strip()
        async with RemoteHub.open(hub.socket) as sender:
            await sender.agents.create("by-events", external=True)
            room = (await sender.conversations.implicit(["by-events"])).id
            reader, writer = await asyncio.open_connection("127.0.0.1", port, limit=2**20)
            asked = f"GET /api/events?conversation={room}&types=message.posted HTTP/1.1\r\n"
            writer.write(f"{asked}Host: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
            await reader.readuntil(b": following\n\n")
            try:
                yield cls(sender, room, reader)
            finally:
                writer.close()

    async def send(self, pair: int, text: str) -> None:
        await self._sender.post(self._room, text)

    async def woken(self, pair: int) -> str:
        await self._reader.readuntil(b"\ndata: ")
        told = json.decode(await self._reader.readuntil(b"\n"))
        return str(told["body"]["text"])

    async def newest(self, pair: int) -> list[str]:
        return []


async def wakes(way: Way, taken: list[float]) -> float:
    """Microseconds from the send until the receiver has the text, median."""
    chance, mine = random.Random(4), []
    for number in range(WAKES):
        waiting = asyncio.create_task(_timed(way))
        await asyncio.sleep(chance.uniform(MIN_PAUSE_SECONDS, MAX_PAUSE_SECONDS))
        sent, begun = text(0, number), time.perf_counter()
        await way.send(0, sent)
        heard, at = await waiting
        assert heard == sent
        mine.append(at - begun)
    taken += mine
    return statistics.median(mine) * 1e6


async def _timed(way: Way) -> tuple[str, float]:
    return await way.woken(0), time.perf_counter()


def woken_so_far(pid: int) -> int:
    """How often the threads of a process went to sleep and were woken again."""
    counts = 0
    for status in Path(f"/proc/{pid}/task").glob("*/status"):
        found = [line for line in status.read_text().splitlines() if line.startswith("voluntary_ctxt")]
        counts += int(found[0].split()[1])
    return counts


async def idle_wakes(home: Path, settings: str) -> int:
    """Of a hub with ten agents and ten clients that follow everything, while nothing happens."""
    with processes.hub(home, settings + AGENTS) as hub:
        async with AsyncExitStack() as stack:
            for _ in range(CONNECTED):
                client = await stack.enter_async_context(RemoteHub.open(hub.socket))
                following = asyncio.ensure_future(anext(client.events(types=["message.posted"])))
                stack.callback(following.cancel)
            await asyncio.sleep(1.0)
            before = woken_so_far(hub.pid)
            await asyncio.sleep(IDLE_SECONDS)
            return woken_so_far(hub.pid) - before


async def idle() -> dict[str, str]:
    host = HostSettings()
    with TemporaryDirectory() as folder:
        usual, rare = await asyncio.gather(
            idle_wakes(Path(folder) / "usual", ""), idle_wakes(Path(folder) / "rare", RARELY)
        )
    beats, sweeps = IDLE_SECONDS / (host.lease_seconds / 3), IDLE_SECONDS / host.sweep_seconds
    return {
        f"idle {IDLE_SECONDS:.0f} s": f"{usual} wake-ups of all threads for {beats:.0f} heartbeats, {sweeps:.1f} sweeps",
        "heartbeat and sweep each hour": f"{rare} wake-ups",
    }


async def run(rounds: int = 5) -> list[str]:
    table = Table("W4 wake", "µs")
    taken: dict[str, list[float]] = {}
    with (
        TemporaryDirectory() as folder,
        processes.hub(Path(folder) / "home", mcp_pairs.SETTINGS) as hub,
        processes.postgres() as postgres,
        bare.served() as limit,
    ):
        async with AsyncExitStack() as stack:
            enter = stack.enter_async_context
            ways: dict[str, Way] = {"moot": await enter(ByMoot.open(hub.socket, 1))}
            ways["moot by events"] = await enter(ByEvents.open(hub))
            ways["moot by MCP"] = await enter(mcp_pairs.ByMcp.open(hub))
            if postgres is not None:
                ways["PostgreSQL NOTIFY"] = await enter(ByPostgres.open(postgres, 1, carries_text=True))
            ways["bare limit"] = await enter(ByBareLimit.open(limit, 1, carries_text=True))
            taken = {name: [] for name in ways}
            for way in ways.values():
                await wakes(way, [])
            contenders: dict[str, Any] = {
                name: lambda n=name, w=way: wakes(w, taken[n]) for name, way in ways.items()
            }
            await table.run(contenders, rounds)
    for name in taken:
        p50, p99 = middle_and_late(taken[name])
        table.notes[f"{name}, p50 / p99"] = f"{p50:.2f} / {p99:.2f} ms"
    for ours in [name for name in taken if name.startswith("moot")]:
        for name in [name for name in taken if not name.startswith("moot")]:
            table.notes[f"{ours} over {name}"] = table.ratio(ours, name)
    table.notes["machine"] = load()
    table.notes |= await idle()
    table.save()
    lines = ["W4 wake (send until the waiting receiver has the text; smaller is better)"]
    table.show(lines)
    return lines
