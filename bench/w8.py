"""W8, idle-fleet: 1,000 agents registered and hosted in one process, idle for 20 s, then one message each.

Memory is what the process really has (RSS) over what a hub with one agent has that answered once, divided by the agents.
Beside it the limit: a task that waits on a queue, and a connection. A process per agent comes later, with its peers.
"""

import asyncio
import sys
from statistics import median
from typing import Any

from msgspec import json

from bench.measure import Table, load

AGENTS = 1000
SECONDS = 20.0
ROUNDS = 2


async def fleet(*words: str) -> dict[str, float]:
    child = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "bench.fleet", *words, stdout=asyncio.subprocess.PIPE
    )
    told, _ = await child.communicate()
    found: dict[str, float] = json.decode(told)
    return found


async def run(rounds: int = ROUNDS) -> list[str]:
    table = Table("W8 idle-fleet", "B/agent")
    seen: list[dict[str, float]] = []

    async def ours() -> float:
        seen.append(await fleet("hub", str(AGENTS), str(SECONDS)))
        return seen[-1]["each"] * 1024

    async def limit() -> float:
        return (await fleet("bare", str(AGENTS)))["each"] * 1024

    contenders: dict[str, Any] = {"moot": ours, "task, queue and connection": limit}
    await table.run(contenders, rounds)
    middle = {key: median(one[key] for one in seen) for key in seen[0]}
    table.notes["moot over the limit"] = table.ratio("moot", "task, queue and connection")
    table.notes["an agent, at once / after 20 s"] = f"{middle['each']:.1f} / {middle['each_idle']:.1f} KiB"
    table.notes["the hub with one agent"] = f"{middle['base'] / 1024:.1f} MiB"
    table.notes["processor while idle"] = f"{middle['cpu']:.2%} of one core"
    table.notes["one message for each"] = f"all answered in {middle['woken']:.2f} s"
    table.notes["machine"] = load()
    table.save()
    lines = [f"W8 idle-fleet ({AGENTS:,} hosted agents, idle {SECONDS:.0f} s; smaller is better)"]
    table.show(lines)
    return lines
