"""A worker of W11: runs agents of a home on PostgreSQL and Kafka until its input ends. `python -m bench.worker HOME AGENTS PARTITIONS`.

A line in asks it what it has: memory, threads and connections, as JSON.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from msgspec import json

from bench.fleet import resident
from moot import Hub
from moot.brains.code import AgentSpec


async def think(turn: Any) -> str:
    return "here"


def names(agents: int) -> list[str]:
    return [f"worker-{number}" for number in range(agents)]


def held() -> dict[str, int]:
    links = [os.readlink(one) for one in Path("/proc/self/fd").iterdir() if one.exists() or one.is_symlink()]
    sockets = {link.removeprefix("socket:[").rstrip("]") for link in links if link.startswith("socket:[")}
    lines = [line.split() for line in Path("/proc/self/net/tcp").read_text().splitlines()[1:]]
    return {
        "kib": resident(),
        "threads": len(list(Path("/proc/self/task").iterdir())),
        "connections": sum(line[9] in sockets for line in lines),
    }


async def main(home: str, agents: int, partitions: int) -> None:
    specs = [AgentSpec(name, think, partitions=partitions) for name in names(agents)]
    async with Hub.open(home, agents=specs):
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        while await asyncio.to_thread(sys.stdin.readline):
            sys.stdout.write(json.encode(held()).decode() + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3])))
