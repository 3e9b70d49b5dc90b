"""W10, turn-rate, embedded: groups of 4 agents with a zero-cost code brain, sequential floor, cooldown 0.

One human message per group, all groups at once: until every turn is done. Each round is three said turns (the slots).
Beside it the limit: W1's raw writer doing the writes those turns need.
"""

import asyncio
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from bench.measure import Table
from bench.w1 import raw
from moot import Hub, agent

GROUPS = (1, 3, 10, 100, 1000)
WRITES_PER_TURN = 1.3
NAMES = ("ann", "ben", "cat", "dan")
SETTINGS = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
agent_turns_per_hour = 1000000
"""


def speaker(name: str):  # type: ignore[no-untyped-def]
    @agent(name, concurrency=1000)
    async def speak(turn):  # type: ignore[no-untyped-def]
        return f"{name} answers at some length to what was said before"

    return speak


async def turn_rate(groups: int, rounds_each: int, latencies: list[float]) -> float:
    """Turns per second over so many groups."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "moot.toml").write_text(SETTINGS)
        async with Hub.open(folder, agents=[speaker(name) for name in NAMES]) as hub:
            rooms = [
                (await hub.conversations.create(f"g{n}", participants=list(NAMES))).id for n in range(groups)
            ]

            async def one(room: str) -> None:
                for _ in range(rounds_each):
                    start = time.perf_counter()
                    await hub.post(room, "what do you say?")
                    await hub.settled(room, timeout=120)
                    latencies.append(time.perf_counter() - start)

            start = time.perf_counter()
            await asyncio.gather(*(one(room) for room in rooms))
            taken = time.perf_counter() - start
            said = sum([len(await hub.turns(conversation=room, state="said")) for room in rooms[:5]])
            assert said == 3 * rounds_each * min(groups, 5), f"{said} turns were said"
            return groups * rounds_each * 3 / taken


async def run(rounds: int = 3) -> list[str]:
    lines = ["W10 turn-rate, embedded (turns/s; every turn durable)"]
    for groups in GROUPS:
        each = max(1, 60 // groups)
        table = Table(f"W10 turn-rate {groups}", "turns/s")
        latencies: list[float] = []
        contenders: dict[str, Any] = {"moot": lambda g=groups, e=each: turn_rate(g, e, latencies)}
        if groups in (10, 100):
            contenders["raw writes"] = lambda g=groups: raw(min(g, 256), 3000)
        await table.run(contenders, rounds)
        quantiles = statistics.quantiles(latencies, n=100) if len(latencies) > 1 else [0.0] * 99
        table.notes["round p50 / p99"] = f"{quantiles[49] * 1000:.1f} / {quantiles[98] * 1000:.1f} ms"
        if "raw writes" in table.figures:
            limit = table.median("raw writes") / WRITES_PER_TURN
            table.notes["share of raw ÷ writes per turn"] = f"{table.median('moot') / limit:.2f}"
        table.save()
        lines.append(f" {groups} groups")
        table.show(lines)
    return lines
