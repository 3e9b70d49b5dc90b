"""The peers of W7, each a process: `python -m bench.fan starlette` and `python -m bench.fan raw`.

Starlette on uvicorn as its documentation would have it: a queue for each connection, an iterator or a loop that reads
it. Raw: a uvloop server that writes the same bytes to every transport it has. Both keep nothing and ask nobody who
they are. The first line on standard output is the port.
"""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any, cast

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket, WebSocketDisconnect

from bench.processes import end

LONG = 2**20


def bound() -> socket.socket:
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listener.bind(("127.0.0.1", 0))
    listener.listen(1024)
    sys.stdout.write(f"{listener.getsockname()[1]}\n")
    sys.stdout.flush()
    return listener


class Commonly:
    """Starlette, a queue per connection."""

    def __init__(self) -> None:
        self.queues: dict[str, set[asyncio.Queue[str]]] = {"events": set(), "sockets": set()}
        self.app = Starlette(
            routes=[
                Route("/say/{kind}", self.say, methods=["POST"]),
                Route("/events", self.events),
                WebSocketRoute("/ws", self.socket),
            ]
        )

    async def say(self, request: Request) -> Response:
        text = (await request.body()).decode()
        for queue in self.queues[request.path_params["kind"]]:
            queue.put_nowait(text)
        return Response()

    async def events(self, request: Request) -> StreamingResponse:
        return StreamingResponse(self._told(), media_type="text/event-stream")

    async def _told(self) -> AsyncIterator[str]:
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.queues["events"].add(queue)
        try:
            yield ": following\n\n"
            while True:
                yield f"data: {await queue.get()}\n\n"
        finally:
            self.queues["events"].discard(queue)

    async def socket(self, socket: WebSocket) -> None:
        await socket.accept()
        queue: asyncio.Queue[str] = asyncio.Queue()
        self.queues["sockets"].add(queue)
        try:
            await socket.send_text(": following")
            while True:
                await socket.send_text(await queue.get())
        except WebSocketDisconnect:
            pass
        finally:
            self.queues["sockets"].discard(queue)


class Barely(asyncio.Protocol):
    """Whoever says `listen` is told what anybody says."""

    everybody: set[asyncio.Transport] = set()  # noqa: RUF012  one server, one process

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast(asyncio.Transport, transport)
        self._heard = b""

    def data_received(self, data: bytes) -> None:
        self._heard += data
        if not self._heard.endswith(b"\n"):
            return
        heard, self._heard = self._heard, b""
        if heard == b"listen\n":
            self.everybody.add(self._transport)
            self._transport.write(b": following")
            return
        for transport in self.everybody:
            transport.write(heard)

    def connection_lost(self, exc: Exception | None) -> None:
        self.everybody.discard(self._transport)


async def serve(kind: str) -> None:
    if kind == "raw":
        server = await asyncio.get_running_loop().create_server(Barely, sock=bound())
        await server.serve_forever()
    config = uvicorn.Config(
        Commonly().app, log_level="error", lifespan="off", access_log=False, ws_per_message_deflate=False
    )
    await uvicorn.Server(config).serve(sockets=[bound()])


@contextmanager
def served(kind: str) -> Iterator[int]:
    """A peer as a process; gives its port."""
    process = subprocess.Popen([sys.executable, "-m", "bench.fan", kind], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        yield int(process.stdout.readline())
    finally:
        end(process)


def main(arguments: list[Any]) -> None:
    uvloop.run(serve(arguments[0]))


if __name__ == "__main__":
    main(sys.argv[1:])
