"""W3, mcp-path: 1 and 8 pairs by the official MCP client over streamable HTTP, each cycle a send tool, then a read tool.

Beside it mcp_agent_mail from PyPI in an environment of its own, and the limit: a server on the same SDK with the same
transport settings that answers with constants. Moot reads in two ways: `check_messages`, which hands over what is new
and commits that it did, and `read_conversation`, which only reads, as the peer's `fetch_inbox` does. Each round has
new pairs, for everybody alike: our pair limiter remembers a minute of sends, and a run would fill that as no agent
could. Which brakes are raised is in bench/mcp_pairs.py.
"""

import asyncio
import statistics
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

LIMIT = "SDK no-op"
CYCLES = {1: 60, 8: 240}
CYCLES_OF_MAIL = {1: 8, 8: 16}
"""Fewer, because each takes so much longer."""
KILLED_AFTER = 500
"""Acknowledged messages."""
numbers = count(1)


class Seen:
    """What came of the calls, beside their rate."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        """The server's."""
        self.costs: list[float] = []
        """Its processor time, ms a cycle, a figure per round."""
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

        await asyncio.gather(*(one(pair, 2, Seen(seen.pid)) for pair in range(pairs)))
        done, begun, cost = 0, time.perf_counter(), processes.processor_seconds(seen.pid)
        await asyncio.gather(*(one(pair, total // pairs, seen) for pair in range(pairs)))
        seen.costs.append((processes.processor_seconds(seen.pid) - cost) / max(done, 1) * 1000)
        return max(done, 1) / (time.perf_counter() - begun)


async def beside_each_other(servers: dict[str, tuple[int, Opened]], pairs: int, rounds: int) -> Table:
    """Of servers by name: the pid of each, and how a pair comes in there."""
    table = Table(f"W3 mcp-path {pairs}", "cycles/s")
    seen = {name: Seen(pid) for name, (pid, _) in servers.items()}
    totals = dict.fromkeys(servers, CYCLES[pairs])
    if "mcp_agent_mail" in totals:
        totals["mcp_agent_mail"] = CYCLES_OF_MAIL[pairs]
    contenders: dict[str, Any] = {
        name: lambda n=name, o=opener: cycles(o, pairs, totals[n], seen[n])
        for name, (_, opener) in servers.items()
    }
    await table.run(contenders, rounds)
    for name, found in seen.items():
        p50, p99 = middle_and_late(found.taken)
        table.notes[f"{name}, p50 / p99"] = f"{p50:.1f} / {p99:.1f} ms"
        cost = statistics.median(found.costs)
        share = statistics.median([b / a for a, b in zip(found.costs, seen[LIMIT].costs, strict=True)])
        table.notes[f"{name}, processor"] = f"{cost:.1f} ms of the server a cycle: a share of {share:.2f}"
        first = f", first: {found.failures[0][:120]}" if found.failures else ""
        table.notes[f"{name}, failed calls"] = f"{len(found.failures)} of {found.calls}{first}"
    for ours in [name for name in servers if name.startswith("moot")]:
        for name in [name for name in servers if not name.startswith("moot")]:
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
            servers: dict[str, tuple[int, Opened]] = {
                "moot": (hub.pid, AtMoot.opener(hub, owner)),
                "moot, only reading": (hub.pid, AtMootReading.opener(hub, owner)),
                LIMIT: (limit[0], AtNoop.opener(limit[1])),
            }
            if mailing is not None:
                servers["mcp_agent_mail"] = (mailing[0], AtMail.opener(*mailing[1:]))
            for pairs in CYCLES:
                table = await beside_each_other(servers, pairs, rounds)
                if pairs > 1:
                    table.notes["kill -9 mid-run"] = await killed(pairs)
                table.save()
                lines.append(f" {pairs} pairs")
                table.show(lines)
    if mailing is None:
        lines.append(f"  {MAIL} could not be installed: nothing was measured beside it")
    return lines
