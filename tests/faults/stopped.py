"""A family of processes, each the host of one agent on the same home, for tests that stop them and let them go on.

It says the ids of its children, and `ready` once all of them are there; a child ends with its parent.
"""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from msgspec import json

from moot.brains.code import AgentSpec
from moot.hub import Hub
from tests.support.clocks import SharedClock


async def host(home: Path, name: str, parent: int, ready: int) -> None:
    async def think(turn: Any) -> str:
        """Done as soon as the test says so: in mid-turn while its host is stopped, and done just after it goes on."""
        while not (home / turn.text).exists():  # noqa: ASYNC110  another process makes it
            await asyncio.sleep(0.01)
        return f"heard {turn.text}"

    async with Hub.open(home, agents=[AgentSpec(name, think)], clock=SharedClock(home / "clock")):
        os.write(ready, b".")
        await asyncio.to_thread(os.read, parent, 1)


def main(home: str, count: str) -> None:
    lives, held = os.pipe()
    ready, told = os.pipe()
    children = []
    for n in range(int(count)):
        pid = os.fork()
        if pid == 0:
            os.close(held)
            asyncio.run(host(Path(home), f"a{n}", lives, told))
            os._exit(0)
        children.append(pid)
    print(json.encode(children).decode(), flush=True)
    for _ in children:
        os.read(ready, 1)
    print("ready", flush=True)
    sys.stdin.readline()
    os.close(held)


if __name__ == "__main__":
    main(*sys.argv[1:])
