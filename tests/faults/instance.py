"""A process that runs agents on a machine of its own, for tests: HOME PLACE AGENT,AGENT… PARTITIONS.

It says `ready`, then a line for each message it sees in the conversation `order`, until its input ends. An agent asked
to hang does so once, wherever it runs first, and leaves a note of it in the folder above the home.
"""

import asyncio
import os
import sys
from pathlib import Path
from typing import Any

from moot import Hub
from moot.brains.code import AgentSpec

TALK_SECONDS = 0.02


def agent(name: str, place: str, notes: Path, partitions: int) -> AgentSpec:
    async def think(turn: Any) -> str:
        if "hang" in turn.text and _first(notes / "hung", place):
            await asyncio.Event().wait()
        await asyncio.sleep(TALK_SECONDS)
        return f"{place} heard {turn.text.replace('@', '')}"

    return AgentSpec(name, think, partitions=partitions)


def _first(note: Path, place: str) -> bool:
    try:
        file = os.open(note, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
    except FileExistsError:
        return False
    os.write(file, place.encode())
    os.close(file)
    return True


async def main(home: Path, place: str, names: str, partitions: str) -> None:
    agents = [agent(name, place, home.parent, int(partitions)) for name in names.split(",")]
    async with Hub.open(home, agents=agents) as hub:
        seeing = asyncio.create_task(see(hub, hub.position))
        print("ready", flush=True)
        await asyncio.to_thread(sys.stdin.read)
        seeing.cancel()


async def see(hub: Hub, after: int) -> None:
    if any(each.name == "order" for each in await hub.conversations.list()):
        async for event in hub.events(conversation="order", types=("message.posted",), after=after):
            print(event.body["id"], flush=True)


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), *sys.argv[2:5]))
