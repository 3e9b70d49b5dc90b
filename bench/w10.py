"""W10, turn-rate, embedded: groups of 4 agents with a zero-cost code brain, sequential floor, cooldown 0.

One human message per group, all groups at once: until every turn is done. Each round is three said turns (the slots).
Beside it AutoGen's group chat in memory, in a process and an environment of its own, and the limit: W1's raw writer
doing as many writes as those turns need.
"""

import asyncio
import statistics
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import json

from bench import peers
from bench.measure import Table, load
from bench.w1 import raw
from moot import Hub, agent

GROUPS = (1, 3, 10, 100, 1000)
ROUNDS_EACH = {1: 60, 3: 20, 10: 6, 100: 2, 1000: 1}
WRITES_PER_TURN = 5 / 3
"""Three turns of a round: the message, the first claim, and three finishes, which claim the next."""
AUTOGEN = "autogen-agentchat==0.7.5"
LIMIT = "raw writes"
PEER = Path(__file__).with_name("autogen_rounds.py")
MAX_PEER_GROUPS = 100
"""A thousand of its groups take longer than the workload may."""
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


async def turn_rate(groups: int, rounds_each: int, latencies: list[float], *, store: str = "") -> float:
    """Turns per second over so many groups; in the store that a `[store]` table names, else embedded."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "moot.toml").write_text(SETTINGS + store)
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


async def limit(groups: int) -> float:
    """Turns per second that W1's raw writer could write down, one write of each group at a time."""
    return await raw(min(groups, 256), 20 * min(groups, 256)) / WRITES_PER_TURN


async def by_autogen(python: Path, groups: int, rounds_each: int) -> float:
    """The same rounds in AutoGen's memory, turns per second."""
    process = await asyncio.create_subprocess_exec(
        python, PEER, str(groups), str(rounds_each), stdout=asyncio.subprocess.PIPE
    )
    told, _ = await process.communicate()
    assert process.returncode == 0, f"the peer ended with {process.returncode}"
    return float(json.decode(told)["rate"])


async def run(rounds: int = 5) -> list[str]:
    lines = [f"W10 turn-rate, embedded (turns/s; every turn durable; {load()})"]
    autogen = peers.python_with(AUTOGEN)
    for groups in GROUPS:
        each = ROUNDS_EACH[groups]
        table = Table(f"W10 turn-rate {groups}", "turns/s")
        latencies: list[float] = []
        contenders: dict[str, Any] = {
            "moot": lambda g=groups, e=each: turn_rate(g, e, latencies),
            LIMIT: lambda g=groups: limit(g),
        }
        if autogen is not None and groups <= MAX_PEER_GROUPS:
            contenders["autogen, in memory"] = lambda g=groups, e=each: by_autogen(autogen, g, e)
        await table.run(contenders, rounds)
        quantiles = statistics.quantiles(latencies, n=100)
        table.notes["round p50 / p99"] = f"{quantiles[49] * 1000:.1f} / {quantiles[98] * 1000:.1f} ms"
        table.notes["of the limit"] = table.ratio("moot", LIMIT)
        if "autogen, in memory" in table.figures:
            table.notes["over autogen"] = table.ratio("moot", "autogen, in memory")
        table.save()
        lines.append(f" {groups} groups")
        table.show(lines)
    return lines
