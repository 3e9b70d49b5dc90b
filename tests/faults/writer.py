"""A process that opens a home and writes a given share into it, together with others doing the same.

It says `ready`, waits for a line, writes, and says what came of the keys it shares with the others; told to `wait`, it
waits for another line before it comes to those.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path
from typing import Any

from msgspec import json

from moot.errors import Conflict, MootError
from moot.hub import Hub
from tests.support.ledger import FAIL, OK, Ledger, Op, body_sha, now

ROOMS = tuple(f"room-{n}" for n in range(5))
SHARED = 50
"""Keys that all writers use, for the same text."""
UNDER_WAY = 16


async def post(hub: Hub, book: Ledger, room: str, key: str, text: str) -> Any:
    begun = now()
    try:
        receipt = await hub.post(room, text, idempotency_key=key)
    except Conflict:
        book.add(Op("post", room, "user", FAIL, key, body_sha(text), begun, now()))
        return None
    book.add(Op("post", room, "user", OK, key, body_sha(text), begun, now(), receipt.id, receipt.seq))
    return receipt


async def write(home: Path, name: str, posts: int, *, waits: bool) -> dict[str, int]:
    with Ledger(home / f"ledger-{name}.jsonl") as book:
        async with Hub.open(home) as hub:
            rooms = {room: (await hub.conversations.get(room)).id for room in ROOMS}
            say("ready")
            await asyncio.to_thread(sys.stdin.readline)
            todo = iter(range(posts))

            async def share() -> None:
                for n in todo:
                    await post(hub, book, rooms[ROOMS[n % 5]], f"{name}-{n}", f"{name} says number {n}")

            await asyncio.gather(*(share() for _ in range(UNDER_WAY)))
            if waits:
                await asyncio.to_thread(sys.stdin.readline)
            receipts = [
                await post(hub, book, rooms[ROOMS[n % 5]], f"both-{n}", f"both say {n}")
                for n in range(SHARED)
            ]
            rivals = [
                await post(hub, book, rooms[ROOMS[n % 5]], f"rival-{n}", f"{name} wins {n}")
                for n in range(SHARED)
            ]
    return {
        "first": sum(not receipt.replayed for receipt in receipts),
        "won": sum(receipt is not None for receipt in rivals),
    }


def say(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        home, name, posts, *waits = sys.argv[1:]
        say(json.encode(asyncio.run(write(Path(home), name, int(posts), waits=bool(waits)))).decode())
    except MootError as error:
        say(json.encode({"error": str(error)}).decode())
