"""W2, pair-path: 1, 8 and 64 pairs over the Unix socket, each cycle a send, its synced commit, the receiver's wake-up,
its pull of the last 20, and its acknowledgement to the sender, who then sends the next.

The acknowledgement is the bench's own and costs nothing: nobody writes it. The senders are the owner, so that no brake
waits; the receivers are agents reached from outside. Beside it PostgreSQL, which inserts and notifies in one statement
and runs no rules, and the bare limit: a commit and two socket round trips. Other peers come later.
"""

import asyncio
import time
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench import bare, guard, processes
from bench.measure import Table, load, middle_and_late
from bench.pairs import SETTINGS, WINDOW, ByBareLimit, ByMoot, ByPostgres, Way, fill, text
from bench.posts import open_store
from moot.client import RemoteHub
from moot.errors import HubAbsent

CYCLES = {1: 300, 8: 800, 64: 1920}
KILLED_AFTER = 2.0
numbers = count(1)


async def cycles(way: Way, pairs: int, total: int, taken: list[float]) -> float:
    """Cycles per second of all pairs together."""

    async def one(pair: int) -> None:
        acked = asyncio.Semaphore(0)
        sent = ""

        async def receive() -> None:
            for _ in range(total // pairs):
                await way.woken(pair)
                found = await way.newest(pair)
                assert len(found) == WINDOW
                assert found[-1] == sent
                acked.release()

        receiving = asyncio.create_task(receive())
        for _ in range(total // pairs):
            sent = text(pair, next(numbers))
            begun = time.perf_counter()
            await way.send(pair, sent)
            await acked.acquire()
            taken.append(time.perf_counter() - begun)
        await receiving

    begun = time.perf_counter()
    await asyncio.gather(*(one(pair) for pair in range(pairs)))
    return total / (time.perf_counter() - begun)


async def beside_each_other(
    socket: Path, postgres: str | None, limit: Path, pairs: int, rounds: int, *, where: str = ""
) -> Table:
    table = Table(f"W2 pair-path{where} {pairs}", "cycles/s")
    total = CYCLES[pairs]
    async with AsyncExitStack() as stack:
        ways: dict[str, Way] = {"moot": await stack.enter_async_context(ByMoot.open(socket, pairs))}
        if postgres is not None:
            ways["PostgreSQL NOTIFY"] = await stack.enter_async_context(ByPostgres.open(postgres, pairs))
        ways["bare limit"] = await stack.enter_async_context(ByBareLimit.open(limit, pairs))
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for way in ways.values():
            await fill(way, pairs)
            await cycles(way, pairs, total // 4 // pairs * pairs, [])
        contenders: dict[str, Any] = {
            name: lambda n=name, w=way: cycles(w, pairs, total, taken[n]) for name, way in ways.items()
        }
        await table.run(contenders, rounds)
    for name in ways:
        p50, p99 = middle_and_late(taken[name])
        table.notes[f"{name}, p50 / p99"] = f"{p50:.2f} / {p99:.2f} ms, {p99 / p50:.1f} times"
    for name in list(ways)[1:]:
        table.notes[f"moot over {name}"] = table.ratio("moot", name)
    table.notes["machine"] = load()
    return table


async def killed(pairs: int = 8) -> str:
    """What became of a hub that was killed while pairs wrote to it, in one line."""
    with TemporaryDirectory() as folder, processes.hub(Path(folder) / "home", SETTINGS) as hub:
        acked: list[list[str]] = []

        async def write(sender: RemoteHub, pair: int) -> None:
            await sender.agents.create(f"r{pair}", external=True)
            room = (await sender.conversations.implicit([f"r{pair}"])).id
            try:
                for n in range(10**9):
                    key = f"{pair}-{n}"
                    receipt = await sender.post(room, text(pair, n), idempotency_key=key)
                    acked.append([receipt.conversation, str(receipt.seq), key])
            except HubAbsent:
                return

        async with AsyncExitStack() as stack:
            senders = [await stack.enter_async_context(RemoteHub.open(hub.socket)) for _ in range(pairs)]
            writing = [asyncio.create_task(write(sender, pair)) for pair, sender in enumerate(senders)]
            await asyncio.sleep(KILLED_AFTER)
            hub.process.kill()
            await asyncio.gather(*writing)
        store, _ = await open_store(hub.home, 0)
        wrong = await guard.found_wrong(store, acked)
        await store.close()
    verdict = "; ".join(wrong[:3]) or "every one there, in order, once"
    return f"{len(acked):,} messages acknowledged to {pairs} senders: {verdict}"


async def run(rounds: int = 5) -> list[str]:
    lines = ["W2 pair-path (cycles/s: send, synced commit, wake, pull of the last 20; 512 bytes)"]
    with (
        TemporaryDirectory() as folder,
        processes.hub(Path(folder) / "home", SETTINGS) as hub,
        processes.postgres() as postgres,
        bare.served() as limit,
    ):
        for pairs in CYCLES:
            table = await beside_each_other(hub.socket, postgres, limit, pairs, rounds)
            if pairs == 8:
                table.notes["kill -9 mid-run"] = await killed()
            table.save()
            lines.append(f" {pairs} pairs")
            table.show(lines)
    if postgres is None:
        lines.append("  PostgreSQL is not installed: pip install -e '.[bench]'")
    return lines
