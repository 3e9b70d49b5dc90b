"""A hub in a process of its own, spoken to over a Unix socket, to be killed at any moment.

Lines of JSON: `{"n", "do", …}` in, `{"n", "type", …}` out. `ok` is written only after the hub has acknowledged.
Three agents live in it; who is named answers.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from msgspec import json

from moot.brains.code import AgentSpec
from moot.errors import Conflict, MootError, Trouble
from moot.hub import Hub

AGENTS = ("ann", "ben", "cat")
PLAIN = ("plain-1", "plain-2", "plain-3")
"""Rooms where only people talk."""
ASKED = "asked"
"""A room where whoever is named answers."""
POLLED = "polled"
"""A room where everybody is asked."""
ROOMS = (*PLAIN, ASKED, POLLED)
READ_AT_ONCE = 200


def agents() -> list[AgentSpec]:
    async def think(turn: Any) -> str:
        return f"{turn.agent} has read {turn.trigger.id} and answers it in turn {turn.id}"

    return [AgentSpec(name, think) for name in AGENTS]


async def make_rooms(hub: Hub) -> dict[str, str]:
    """Name → id, made where a killed process did not get to it."""
    settings: dict[str, dict[str, Any]] = {
        ASKED: {"reply_strategy": "mention_only", "cooldown_seconds": 0.0},
        POLLED: {"cooldown_seconds": 0.0},
    }
    for name in ROOMS:
        members = AGENTS if name in settings else ()
        with suppress(Conflict):
            await hub.conversations.create(name, participants=members, settings=settings.get(name, {}))
    return {name: (await hub.conversations.get(name)).id for name in ROOMS}


class Answers:
    """What can be asked of it."""

    def __init__(self, hub: Hub, rooms: dict[str, str]) -> None:
        self._hub = hub
        self._rooms = rooms

    async def answer(self, asked: dict[str, Any]) -> dict[str, Any]:
        try:
            do: Callable[..., Awaitable[dict[str, Any]]] = getattr(self, asked["do"])
            return {"n": asked["n"], "type": "ok", **(await do(**asked["with"]))}
        except Trouble as trouble:
            return {"n": asked["n"], "type": "info", "code": trouble.code}
        except MootError as refusal:
            return {"n": asked["n"], "type": "fail", "code": refusal.code}

    async def rooms(self) -> dict[str, Any]:
        return {"rooms": self._rooms}

    async def post(self, conv: str, text: str, key: str) -> dict[str, Any]:
        receipt = await self._hub.post(conv, text, idempotency_key=key)
        return {"id": receipt.id, "seq": receipt.seq}

    async def edit(self, id: str, text: str, version: int) -> dict[str, Any]:
        return {"seq": (await self._hub.edit(id, text, version=version)).seq}

    async def read(self, conv: str, after: int) -> dict[str, Any]:
        found = await self._hub.messages(conv, after=after, limit=READ_AT_ONCE)
        return {"items": [(message.seq, message.text) for message in found]}

    async def settled(self, seconds: float) -> dict[str, Any]:
        await self._hub.settled(timeout=seconds)
        return {}


async def serve(home: Path, socket: Path) -> None:
    async with Hub.open(home, agents=agents()) as hub:
        answers = Answers(hub, await make_rooms(hub))

        async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            async with asyncio.TaskGroup() as group:
                async for asked in lines(reader):
                    group.create_task(one(asked, writer))
            writer.close()

        async def one(asked: dict[str, Any], writer: asyncio.StreamWriter) -> None:
            writer.write(json.encode(await answers.answer(asked)) + b"\n")

        server = await asyncio.start_unix_server(connected, path=str(socket))
        sys.stdout.write("ready\n")
        sys.stdout.flush()
        async with server:
            await server.serve_forever()


async def lines(reader: asyncio.StreamReader) -> AsyncIterator[dict[str, Any]]:
    while line := await reader.readline():
        yield json.decode(line)


def main(home: Path, socket: Path) -> None:
    socket.unlink(missing_ok=True)
    asyncio.run(serve(home, socket))


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
