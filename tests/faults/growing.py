"""A hub in a process of its own that is asked to work, and says after each piece what the process holds by then.

Lines of JSON: `{"do": "connect" | "turns" | "host" | "look", "times": n}` in, `{"turns", "files", "threads", …}` out.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
import itertools
import os
import sys
import threading
from copy import copy
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import json

from moot.brains.code import AgentSpec
from moot.client import RemoteHub
from moot.hub import Hub
from moot.hub.process.tuning import run

ROOMS = 64
"""Many, so that many turns share a commit: it is not the disk that is tried here."""
AGENTS = ("ann", "ben", "cat")
AT_ONCE = 16
IN_MEMORY = "/dev/shm"
"""Where syncing costs nothing; what a process holds does not depend on it."""
QUIET_SECONDS = 0.5
"""After which nothing is under way any more, the full-text index included, unless the machine is busy."""
SETTINGS = (
    "[limits]\nagent_turns_per_hour = 10000000\n[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n"
)


thought = itertools.count()
connected = itertools.count()


async def think(turn: Any) -> str:
    next(thought)
    return "I have read it"


async def connect(socket: Path, times: int) -> None:
    """Each connection says hello, asks something, follows a little, and goes, every third without a word."""

    async def some(count: int) -> None:
        for n in range(count):
            async with RemoteHub.open(socket) as hub:
                next(connected)
                if n % 3 == 0:
                    await hub.conversations.get("room-0")
                if n % 3 == 1:
                    following = asyncio.ensure_future(anext(hub.events(conversation="room-0")))
                    await hub.newest("room-0", 1)
                    following.cancel()
                    await asyncio.gather(following, return_exceptions=True)

    await asyncio.gather(*(some(-(-times // AT_ONCE)) for _ in range(AT_ONCE)))


async def turns(hub: Hub, times: int) -> None:
    """Every agent of a room answers every message."""

    async def some(room: int, count: int) -> None:
        for _ in range(count):
            await hub.post(f"room-{room}", "what do you say?")
            await hub.settled(f"room-{room}", timeout=60)

    rounds = -(-times // (ROOMS * len(AGENTS)))
    await asyncio.gather(*(some(room, rounds) for room in range(ROOMS)))


def held() -> dict[str, int]:
    """What the process holds, without what the allocator merely keeps for later."""
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    status = Path("/proc/self/status").read_text()
    return {
        "turns": next(copy(thought)),
        "connects": next(copy(connected)),
        "files": len(os.listdir("/proc/self/fd")),
        "threads": threading.active_count(),
        "objects": len(gc.get_objects()),
        "kib": int(status.split("VmRSS:")[1].split()[0]),
    }


async def serve(home: Path) -> None:
    (home / "moot.toml").write_text(SETTINGS)
    socket = home / "run" / "hub.sock"
    agents = [AgentSpec(name, think, concurrency=ROOMS) for name in AGENTS]
    async with Hub.open(home, agents=agents, socket=socket) as hub:
        for room in range(ROOMS):
            await hub.conversations.create(f"room-{room}", participants=AGENTS)
        while line := await asyncio.to_thread(sys.stdin.buffer.readline):
            asked = json.decode(line)
            if asked["do"] == "connect":
                await connect(socket, asked["times"])
            elif asked["do"] == "turns":
                await turns(hub, asked["times"])
            elif asked["do"] == "host":
                await hub.host([AgentSpec(f"worker-{n:05}", think) for n in range(asked["times"])])
            await asyncio.sleep(QUIET_SECONDS)  # "look" does nothing else
            sys.stdout.buffer.write(json.encode(held()) + b"\n")
            sys.stdout.buffer.flush()


if __name__ == "__main__":
    with TemporaryDirectory(dir=IN_MEMORY if os.path.isdir(IN_MEMORY) else None) as folder:
        run(serve(Path(folder)))
