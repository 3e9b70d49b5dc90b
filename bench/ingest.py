"""The servers beside us in W6, each a process: `python -m bench.ingest NAME HOME` says on a line where it listens and which
rooms there are, and then answers `POST /api/conversations/ROOM/messages`.

`bare` and `fastapi` write through our own store, rules included, and check nothing of HTTP: no token, no Host, no limit.
`aiosqlite` writes the same rows by itself, a transaction per message, as a small program would.
"""

import asyncio
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from importlib import import_module
from importlib.util import find_spec
from itertools import count
from pathlib import Path
from typing import Any

import aiosqlite
import uvicorn
from msgspec import Struct, json

from bench.posts import USER, open_store
from bench.raw import CALLS, CONVERSATION, EVENT, HASH, MESSAGE, NOW, PLAN, PROBE, TURN, RawWriter
from moot.flow import post
from moot.hub.process.tuning import run, tune_process

ROOMS = 50
CREATED = 201
numbers = count(1)
Write = Callable[[str, str], Awaitable[Any]]


class Said(Struct):
    text: str


def room_of(path: str) -> str:
    return path.split("/")[3]


async def by_store(home: Path) -> tuple[Write, list[str]]:
    store, rooms = await open_store(home, ROOMS)

    async def write(room: str, text: str) -> Any:
        posted = await store.transact(post, post.posting(USER, room, text, key=f"k{next(numbers)}"))
        return posted.receipt()

    return write, [str(room) for room in rooms]


async def by_aiosqlite(home: Path) -> tuple[Write, list[str]]:
    rooms = [f"c0k3v9z8x2ab4{n:02}" for n in range(ROOMS)]
    turns = {where: n + 1 for n, where in enumerate(rooms)}
    writer = RawWriter(home, rooms, turns, by_table=False)
    await writer.close()
    db = await aiosqlite.connect(home / "moot.db", timeout=60, isolation_level=None)
    await db.execute("PRAGMA synchronous = FULL")
    one_at_a_time = asyncio.Lock()

    async def write(room: str, text: str) -> Any:
        async with one_at_a_time:
            number = next(numbers)
            await db.execute("BEGIN IMMEDIATE")
            await db.execute(PROBE, ("user", f"k{number}"))
            found = await db.execute("SELECT next_seq FROM conversations WHERE id = ?", (room,))
            seq = (await found.fetchone())[0]  # type: ignore[index]
            row = (room, seq, "user", "human", text, f"{room}:{seq}", 0, 0, '["b"]', 0, "", 1, None, seq, 0, "{}", PLAN,
                   f"k{number}", HASH, seq, HASH)  # fmt: skip
            await db.execute(MESSAGE, row)
            await db.execute(CONVERSATION, (seq + 1, HASH, seq, NOW, seq, room))
            await db.execute(TURN, (CALLS[seq % 2], "must", turns[room]))
            await db.execute(EVENT, ("message.posted", 0, room, "user", seq, None, None, number))
            await db.execute("COMMIT")
        return {"id": f"{room}:{seq}", "seq": seq}

    return write, rooms


def bare(write: Write) -> Any:
    decode = json.Decoder(Said).decode

    async def app(scope: Any, receive: Any, send: Any) -> None:
        body = b""
        while True:
            piece = await receive()
            body += piece["body"]
            if not piece["more_body"]:
                break
        answer = json.encode(await write(room_of(scope["path"]), decode(body).text))
        headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(answer))]
        await send({"type": "http.response.start", "status": CREATED, "headers": headers})
        await send({"type": "http.response.body", "body": answer})

    return app


def starlette(write: Write) -> Any:
    from starlette.applications import Starlette  # noqa: PLC0415
    from starlette.requests import Request  # noqa: PLC0415
    from starlette.responses import JSONResponse  # noqa: PLC0415
    from starlette.routing import Route  # noqa: PLC0415

    async def said(request: Request) -> JSONResponse:
        body = await request.json()
        return JSONResponse(await write(request.path_params["room"], body["text"]), status_code=CREATED)

    return Starlette(routes=[Route("/api/conversations/{room}/messages", said, methods=["POST"])])


def fastapi(write: Write) -> Any:
    library: Any = import_module("fastapi")
    import pydantic  # noqa: PLC0415
    from msgspec import to_builtins  # noqa: PLC0415

    class Body(pydantic.BaseModel):
        text: str

    app = library.FastAPI()

    @app.post("/api/conversations/{room}/messages", status_code=CREATED)  # type: ignore[untyped-decorator]
    async def said(room: str, body: Body) -> Any:
        return to_builtins(await write(room, body.text))

    return app


SERVERS: dict[str, tuple[Callable[[Path], Awaitable[tuple[Write, list[str]]]], Callable[[Write], Any]]] = {
    "bare": (by_store, bare),
    "fastapi": (by_store, fastapi),
    "aiosqlite": (by_aiosqlite, starlette),
}


def installed() -> list[str]:
    return [name for name in SERVERS if name != "fastapi" or find_spec("fastapi") is not None]


async def serve(name: str, home: Path) -> None:
    make_writer, make_app = SERVERS[name]
    write, rooms = await make_writer(home)
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen()
    config = uvicorn.Config(
        make_app(write), log_config=None, access_log=False, lifespan="off", server_header=False
    )
    told = {"port": listener.getsockname()[1], "rooms": rooms, "pid": os.getpid()}
    sys.stdout.write(json.encode(told).decode() + "\n")
    sys.stdout.flush()
    await uvicorn.Server(config).serve(sockets=[listener])


if __name__ == "__main__":
    tune_process()
    run(serve(sys.argv[1], Path(sys.argv[2])))
