"""The processes of W8, one figure each as JSON on standard output: `python -m bench.fleet hub AGENTS SECONDS`, `… bare AGENTS`."""

import asyncio
import gc
import socket
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import json

from moot import Hub
from moot.brains.code import AgentSpec
from moot.hub.process.tuning import run, tune_process

SETTLE_SECONDS = 1.0
SETTINGS = "[limits]\nagent_turns_per_hour = 1000000\n"


def resident() -> int:
    """KiB of memory this process really has."""
    status = Path("/proc/self/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


async def think(turn: Any) -> str:
    return "here"


def worker(number: int) -> AgentSpec:
    return AgentSpec(f"worker-{number:04}", think)


async def hub(agents: int, seconds: float) -> dict[str, float]:
    """A hub that has answered once, then so many more agents; idle; then one message for each."""
    with TemporaryDirectory() as folder:
        (Path(folder) / "moot.toml").write_text(SETTINGS)
        sock = Path(folder) / "run" / "hub.sock"
        async with Hub.open(folder, agents=[worker(0)], socket=sock) as here:
            await here.ask("worker-0000", "are you there?")
            await here.settled()
            base = await quiet()
            await here.host([worker(number + 1) for number in range(agents)])
            with_fleet = await quiet()
            cpu = time.process_time()
            await asyncio.sleep(seconds)
            cpu = time.process_time() - cpu
            idle = resident()
            rooms = [
                (await here.conversations.implicit([worker(number + 1).name])).id for number in range(agents)
            ]
            begun = time.perf_counter()
            await asyncio.gather(*(here.post(room, "wake up") for room in rooms))
            await here.settled(timeout=120)
            woken = time.perf_counter() - begun
            said = len(await here.turns(state="said"))
            assert said >= min(agents, 100), f"only {said} answered"
            return {
                "base": base,
                "each": (with_fleet - base) / agents,
                "each_idle": (idle - base) / agents,
                "cpu": cpu / seconds,
                "woken": woken,
            }


async def bare(agents: int) -> dict[str, float]:
    """The limit: a task that waits on a queue, and a connection."""
    base = await quiet()
    loop = asyncio.get_running_loop()
    kept: list[Any] = []
    for _ in range(agents):
        ours, theirs = socket.socketpair()
        queue: asyncio.Queue[str] = asyncio.Queue()
        transport, _ = await loop.create_connection(asyncio.Protocol, sock=ours)
        kept += [theirs, transport, loop.create_task(queue.get())]
    each = (await quiet() - base) / agents
    for thing in kept:
        thing.cancel() if isinstance(thing, asyncio.Task) else thing.close()
    return {"base": base, "each": each}


async def quiet() -> int:
    await asyncio.sleep(SETTLE_SECONDS)
    gc.collect()
    return resident()


if __name__ == "__main__":
    tune_process()
    what, count = sys.argv[1], int(sys.argv[2])
    found = run(bare(count) if what == "bare" else hub(count, float(sys.argv[3])))
    sys.stdout.write(json.encode(found).decode() + "\n")
