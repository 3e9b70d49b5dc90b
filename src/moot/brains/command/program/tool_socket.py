"""A socket on which one process's Moot tools are served, for agents that start MCP servers themselves (ACP).

Above: acp.py. Below: tool_server.py answers; the agent starts tool_relay.py. No token is needed: only the owner can
enter the socket's folder, and the socket serves exactly one agent.
"""

import asyncio
import os
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final
from uuid import uuid4

from msgspec import DecodeError, json

from moot.brains.command.driver import CliSetup
from moot.brains.command.program import tool_relay, tool_server
from moot.model.json import JsonObject

MAX_LINE_BYTES: Final = 16 << 20
MAX_PATH_BYTES: Final = 100
"""The longest path of a socket that every system accepts."""


class ToolSocket:
    def __init__(self, setup: CliSetup, folder: Path) -> None:
        self._setup = setup
        self.folder = folder
        """One per socket: a process in a sandbox sees this folder, and no other agent's."""
        self._path = folder / "s"
        self._server: asyncio.Server | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._connections: dict[asyncio.StreamWriter, asyncio.Task[None]] = {}

    @classmethod
    async def open(cls, setup: CliSetup) -> "ToolSocket":
        tool_socket = cls(setup, _own_folder(setup.run_folder))
        opening = asyncio.ensure_future(
            asyncio.start_unix_server(tool_socket._accept, tool_socket._path, limit=MAX_LINE_BYTES)
        )
        try:
            tool_socket._server = await asyncio.shield(opening)
        except asyncio.CancelledError:
            tool_socket._server = await opening
            await tool_socket.close()
            raise
        os.chmod(tool_socket._path, 0o600)
        return tool_socket

    @property
    def server(self) -> JsonObject:
        """The MCP server, in the form of ACP's `session/new`."""
        words = ["-I", "-S", tool_relay.__file__, str(self._path)]
        return {"name": "moot", "command": sys.executable, "args": words, "env": []}

    async def close(self) -> None:
        if self._server is not None:
            await _stop_accepting(self._server)
            self._server.close()
        for task in self._tasks:
            task.cancel()
        reading = list(self._connections.values())
        for writer in self._connections:
            writer.transport.abort()
        await asyncio.gather(*reading, return_exceptions=True)
        self._path.unlink(missing_ok=True)
        with suppress(OSError):  # it is not empty
            self.folder.rmdir()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if (
            self._server is None or not self._server.is_serving()
        ):  # it had come, and was not seen before the end
            writer.transport.abort()
            return
        serving = asyncio.get_running_loop().create_task(self._serve(reader, writer))
        self._connections[writer] = serving
        serving.add_done_callback(lambda _: self._connections.pop(writer, None))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            with suppress(
                ConnectionError, ValueError
            ):  # the client went away, or sent a line that is too long
                while line := await reader.readline():
                    with suppress(DecodeError):
                        message = json.decode(line)
                        if isinstance(message, dict):
                            task = asyncio.get_running_loop().create_task(self._answer(message, writer))
                            self._tasks.add(task)
                            task.add_done_callback(self._tasks.discard)
        finally:
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()

    async def _answer(self, message: JsonObject, writer: asyncio.StreamWriter) -> None:
        answer = await tool_server.respond(self._setup, message)
        if answer is not None:
            with suppress(ConnectionError):
                writer.write(json.encode(answer) + b"\n")
                await writer.drain()


async def _stop_accepting(server: asyncio.Server) -> None:
    """asyncio never closes a connection that was accepted but not yet handed over when its server closes. So accept no
    more, and let those be handed over first."""
    loop = asyncio.get_running_loop()
    for listener in server.sockets:
        loop.remove_reader(listener.fileno())
    for _ in range(3):  # accepted, made a connection, handed over
        await asyncio.sleep(0)


def _own_folder(run: Path) -> Path:
    """In the home's run folder, or in a private temporary folder if that path is too long for a socket."""
    run.mkdir(mode=0o700, exist_ok=True)
    folder = run / uuid4().hex[:8]
    if len(os.fsencode(folder / "s")) > MAX_PATH_BYTES:
        return Path(tempfile.mkdtemp(prefix="moot-"))
    folder.mkdir(mode=0o700)
    return folder
