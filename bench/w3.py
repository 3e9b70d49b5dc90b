"""W3, mcp-path: 1 and 8 pairs by the official MCP client over streamable HTTP, each cycle a send tool, then a read tool.

Beside it mcp_agent_mail from PyPI in an environment of its own, and the limit: a server on the same SDK with the same
transport settings that answers with constants. Moot reads in two ways: `check_messages`, which hands over what is new
and commits that it did, and `read_conversation`, which only reads, as the peer's `fetch_inbox` does. Each round has
new pairs, for everybody alike: our pair limiter remembers a minute of sends, and a run would fill that as no agent
could. Which brakes are raised is in bench/mcp_pairs.py.
"""

import asyncio
import time
from contextlib import AsyncExitStack
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx2
from mcp.shared.exceptions import MCPError

from bench import guard, peers, processes
from bench.mcp_pairs import MAIL, SETTINGS, AtMail, AtMoot, AtMootReading, AtNoop, Failed, Opened, mail, noop
from bench.measure import Table, load, middle_and_late
from bench.pairs import text
from bench.posts import open_store
from moot.client import RemoteHub

CYCLES = {1: 120, 8: 480}
CYCLES_OF_MAIL = {1: 10, 8: 24}
"""Fewer, because each takes so much longer."""
KILLED_AFTER = 500
"""Acknowledged messages."""
numbers = count(1)


class Seen:
    """What came of the calls, beside their rate."""

    def __init__(self) -> None:
        self.taken: list[float] = []
        self.failures: list[str] = []
        self.calls = 0


async def cycles(opened: Opened, pairs: int, total: int, seen: Seen) -> float:
    """Cycles per second of all pairs together; one that fails counts as none, and where all do, as one."""
    async with AsyncExitStack() as stack:
        talking = [await opened(stack) for _ in range(pairs)]
        done = 0

        async def one(number: int, times: int, into: Seen) -> None:
            nonlocal done
            for _ in range(times):
                sent, begun = text(number, next(numbers)), time.perf_counter()
                into.calls += 2
                try:
                    await talking[number].send(sent)
                    if await talking[number].read() != sent:
                        raise Failed("the newest message is not the one just sent")
                except (Failed, MCPError) as failure:
                    into.failures.append(str(failure))
                    continue
                into.taken.append(time.perf_counter() - begun)
                done += 1

        await asyncio.gather(*(one(pair, 2, Seen()) for pair in range(pairs)))
        done, begun = 0, time.perf_counter()
        await asyncio.gather(*(one(pair, total // pairs, seen) for pair in range(pairs)))
        return max(done, 1) / (time.perf_counter() - begun)


async def beside_each_other(openers: dict[str, Opened], pairs: int, rounds: int) -> Table:
    table = Table(f"W3 mcp-path {pairs}", "cycles/s")
    seen = {name: Seen() for name in openers}
    totals = dict.fromkeys(openers, CYCLES[pairs])
    if "mcp_agent_mail" in totals:
        totals["mcp_agent_mail"] = CYCLES_OF_MAIL[pairs]
    contenders: dict[str, Any] = {
        name: lambda n=name, o=opener: cycles(o, pairs, totals[n], seen[n])
        for name, opener in openers.items()
    }
    await table.run(contenders, rounds)
    for name, found in seen.items():
        p50, p99 = middle_and_late(found.taken)
        table.notes[f"{name}, p50 / p99"] = f"{p50:.1f} / {p99:.1f} ms"
        first = f", first: {found.failures[0][:120]}" if found.failures else ""
        table.notes[f"{name}, failed calls"] = f"{len(found.failures)} of {found.calls}{first}"
    for ours in [name for name in openers if name.startswith("moot")]:
        for name in [name for name in openers if not name.startswith("moot")]:
            table.notes[f"{ours} over {name}"] = table.ratio(ours, name)
    table.notes["machine"] = load()
    return table


async def killed(pairs: int = 8) -> str:
    """What became of a hub that was killed while pairs wrote to it, in one line."""
    with TemporaryDirectory() as folder, processes.hub(Path(folder) / "home", SETTINGS) as hub:
        acked: list[list[str]] = []

        async def write(opened: Opened, number: int) -> None:
            """Everything of a pair in one task: a client whose server is gone takes down the task it lives in."""
            try:
                async with AsyncExitStack() as stack:
                    pair = await opened(stack)
                    for n in range(10**9):
                        sent = text(number, n)
                        where, _, seq = (await pair.send(sent)).rpartition(":")
                        acked.append([where, seq, sent])
            except* (httpx2.HTTPError, MCPError):
                pass

        async with RemoteHub.open(hub.socket) as owner:
            opened = AtMoot.opener(hub, owner)
            writing = [asyncio.create_task(write(opened, number)) for number in range(pairs)]
            while len(acked) < KILLED_AFTER:
                await asyncio.wait(writing, timeout=0.05)
            hub.process.kill()
            await asyncio.gather(*writing)
        store, _ = await open_store(hub.home, 0)
        wrong = await guard.found_wrong(store, acked, mark=lambda message: message.text)
        await store.close()
    verdict = "; ".join(wrong[:3]) or "every one there, in order, once"
    return f"{len(acked):,} messages acknowledged to {pairs} senders: {verdict}"


async def run(rounds: int = 5) -> list[str]:
    lines = ["W3 mcp-path (cycles/s: send tool, then read tool, by the official client; 512 bytes)"]
    peer = await asyncio.to_thread(peers.python_with, MAIL)
    with (
        TemporaryDirectory() as folder,
        processes.hub(Path(folder) / "home", SETTINGS) as hub,
        mail(peer) as mailing,
        noop() as limit,
    ):
        async with RemoteHub.open(hub.socket) as owner:
            openers: dict[str, Opened] = {
                "moot": AtMoot.opener(hub, owner),
                "moot, only reading": AtMootReading.opener(hub, owner),
                "SDK no-op": AtNoop.opener(limit),
            }
            if mailing is not None:
                openers["mcp_agent_mail"] = AtMail.opener(*mailing)
            for pairs in CYCLES:
                table = await beside_each_other(openers, pairs, rounds)
                if pairs > 1:
                    table.notes["kill -9 mid-run"] = await killed(pairs)
                table.save()
                lines.append(f" {pairs} pairs")
                table.show(lines)
    if mailing is None:
        lines.append(f"  {MAIL} could not be installed: nothing was measured beside it")
    return lines
