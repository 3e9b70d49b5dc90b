"""The gateway of a fake Discord: sessions that identify, receive events, and resume where they broke off."""

import asyncio
import zlib
from contextlib import suppress
from typing import Any, Final
from uuid import uuid4

from msgspec import json
from websockets.asyncio.server import Server, ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from moot.model.json import JsonObject
from moot.testing.fake_discord.server_state import APP_ID, BOT_ID, ServerState, user_of

HELLO, IDENTIFY, RESUME, HEARTBEAT, ACK, DISPATCH, INVALID = 10, 2, 6, 1, 11, 0, 9
BEAT_MS: Final = 41_250
WRONG_TOKEN, MISSING_INTENT = 4004, 4014
MESSAGE_CONTENT: Final = 1 << 15


class Line:
    """One connection; its frames are one compressed stream if the client asks for that."""

    def __init__(self, connection: ServerConnection) -> None:
        self.connection = connection
        request = connection.request
        is_compressed = request is not None and "compress=zlib-stream" in request.path
        self._packer = zlib.compressobj() if is_compressed else None

    async def send(self, payload: Any) -> None:
        data = json.encode(payload)
        if self._packer is None:
            await self.connection.send(data.decode())
        else:
            await self.connection.send(self._packer.compress(data) + self._packer.flush(zlib.Z_SYNC_FLUSH))


class Gateway:
    def __init__(self, state: ServerState, tokens: set[str]) -> None:
        self._state = state
        self._tokens = tokens
        self._server: Server | None = None
        self.url = ""
        self.sessions: dict[str, int] = {}
        """Session → the index of its first event."""
        self.connections: set[ServerConnection] = set()
        self.allows_message_content = True
        self.resumed = 0

    async def open(self) -> None:
        self._server = await serve(self._on_connection, "127.0.0.1", 0)
        port = next(iter(self._server.sockets)).getsockname()[1]
        self.url = f"ws://127.0.0.1:{port}"

    async def close(self) -> None:
        if self._server is not None:
            self._server.close(close_connections=True)
            await self._server.wait_closed()

    @property
    def due_events(self) -> int | None:
        """How many events the newest session is due since it began; None if nobody is connected."""
        if not self.connections or not self.sessions:
            return None
        return len(self._state.events) - [*self.sessions.values()][-1]

    async def cut(self, code: int = 4000) -> None:
        """Break every connection; a client that resumes receives what it missed. Some codes forbid to reconnect."""
        for connection in list(self.connections):
            await connection.close(code)

    async def forget(self) -> None:
        """End every session: none can be resumed, and what was missed is not sent."""
        self.sessions.clear()
        await self.cut()

    async def _on_connection(self, connection: ServerConnection) -> None:
        self.connections.add(connection)
        line = Line(connection)
        sending: asyncio.Task[None] | None = None
        with suppress(ConnectionClosed):
            await line.send({"op": HELLO, "d": {"heartbeat_interval": BEAT_MS}})
            async for frame in connection:
                message = json.decode(frame)
                match message["op"]:
                    case 1:
                        await line.send({"op": ACK})
                    case 2 if sending is None:
                        sending = await self._identify(line, message["d"])
                    case 6 if sending is None:
                        sending = await self._resume(line, message["d"])
        self.connections.discard(connection)
        if sending is not None:
            sending.cancel()
            await asyncio.gather(sending, return_exceptions=True)

    async def _identify(self, line: Line, d: JsonObject) -> asyncio.Task[None] | None:
        if d["token"].removeprefix("Bot ") not in self._tokens:
            await line.connection.close(WRONG_TOKEN, "Authentication failed.")
            return None
        if d["intents"] & MESSAGE_CONTENT and not self.allows_message_content:
            await line.connection.close(MISSING_INTENT, "Disallowed intent(s).")
            return None
        session = uuid4().hex
        self.sessions[session] = len(self._state.events)
        ready = {
            "v": 10,
            "user": {**user_of(BOT_ID, "moot"), "bot": True, "mfa_enabled": False, "verified": True},
            "guilds": [],
            "session_id": session,
            "resume_gateway_url": self.url,
            "shard": [0, 1],
            "application": {"id": APP_ID, "flags": 0},
        }
        await line.send({"op": DISPATCH, "t": "READY", "s": 1, "d": ready})
        return asyncio.ensure_future(self._send_events(line, session, 0))

    async def _resume(self, line: Line, d: JsonObject) -> asyncio.Task[None] | None:
        if d["session_id"] not in self.sessions:
            await line.send({"op": INVALID, "d": False})
            return None
        self.resumed += 1
        return asyncio.ensure_future(
            self._send_events(line, d["session_id"], int(d["seq"]) - 1, resumed=True)
        )

    async def _send_events(self, line: Line, session: str, sent: int, *, resumed: bool = False) -> None:
        """Send everything after `sent`; event n of a session has the number n + 1, since READY is its first."""
        start = self.sessions[session]
        with suppress(ConnectionClosed):
            while True:
                while start + sent < len(self._state.events):
                    kind, body = self._state.events[start + sent]
                    sent += 1
                    await line.send({"op": DISPATCH, "t": kind, "s": sent + 1, "d": body})
                if resumed:
                    await line.send({"op": DISPATCH, "t": "RESUMED", "s": sent + 1, "d": {}})
                    resumed = False
                await asyncio.sleep(0.005)
