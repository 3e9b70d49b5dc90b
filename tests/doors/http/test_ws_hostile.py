"""Frames that no decent client sends: the connection may end, the server goes on, and nothing is told of its inside."""

import asyncio
import base64
import logging
import os
import random
import struct
from collections.abc import Iterator
from contextlib import suppress

import pytest
from websockets.frames import Frame, Opcode

from moot.doors.http.wire.frames import SocketWire
from tests.doors.http.sockets import talking
from tests.doors.http.world import World
from tests.support.processes import SCALE
from tests.support.waiting import PATIENCE, until


def frame(opcode: int, data: bytes = b"", *, fin: bool = True, mask: bool = True, reserved: int = 0) -> bytes:
    """As written on the wire, whatever the protocol says about it."""
    head = bytes([(0x80 if fin else 0) | reserved | opcode])
    bit = 0x80 if mask else 0
    size = len(data)
    if size < 126:
        head += bytes([bit | size])
    elif size < 2**16:
        head += bytes([bit | 126]) + struct.pack("!H", size)
    else:
        head += bytes([bit | 127]) + struct.pack("!Q", size)
    return head + (bytes(4) + data if mask else data)


TEXT, BINARY, CLOSE, PING, PONG, CONT = 1, 2, 8, 9, 10, 0
NOTHING = -1
"""The connection stays."""
FRAMES: dict[str, tuple[bytes, set[int]]] = {
    "unmasked": (frame(TEXT, b"hello", mask=False), {1002}),
    "reserved bits": (frame(TEXT, b"hello", reserved=0x40), {1002}),
    "all reserved bits": (frame(TEXT, b"hello", reserved=0x70), {1002}),
    "unknown opcode": (frame(3, b"hello"), {1002}),
    "unknown control opcode": (frame(11, b"hello"), {1002}),
    "fragmented control": (frame(PING, b"x", fin=False), {1002}),
    "long control": (frame(PING, b"x" * 126), {1002}),
    "continuation of nothing": (frame(CONT, b"hello"), {1002}),
    "text within text": (frame(TEXT, b"a", fin=False) + frame(TEXT, b"b"), {1002}),
    "2^63 long": (b"\x81\xff" + struct.pack("!Q", 2**63) + bytes(4), {1002, 1009}),
    "2^63 - 1 long": (b"\x81\xff" + struct.pack("!Q", 2**63 - 1) + bytes(4), {1009}),
    "2 MiB": (frame(TEXT, b"x" * 2**21), {1009}),
    "2 MiB in pieces": (
        frame(TEXT, b"x" * 2**18, fin=False) + 7 * frame(CONT, b"x" * 2**18, fin=False), {1009},
    ),
    "bad UTF-8": (frame(TEXT, b"\xff\xfe"), {1007}),
    "half a character": (frame(TEXT, "é".encode()[:1]), {1007}),
    "a surrogate": (frame(TEXT, b"\xed\xa0\x80"), {1007}),
    "overlong": (frame(TEXT, b"\xc0\xaf"), {1007}),
    "bad UTF-8 in pieces": (frame(TEXT, b"a", fin=False) + frame(CONT, b"\xff"), {1007}),
    "close without a code": (frame(CLOSE), {1000, 1005}),
    "close with half a code": (frame(CLOSE, b"\x03"), {1002}),
    "close with a code nobody may send": (frame(CLOSE, struct.pack("!H", 1005)), {1002}),
    "close with code 0": (frame(CLOSE, struct.pack("!H", 0)), {1002}),
    "close with code 65535": (frame(CLOSE, struct.pack("!H", 65535)), {1002}),
    "close with a bad reason": (frame(CLOSE, struct.pack("!H", 1000) + b"\xff"), {1002, 1007}),
    "close twice": (frame(CLOSE, struct.pack("!H", 1000)) * 2, {1000}),
    "frames behind a close": (frame(CLOSE, struct.pack("!H", 1000)) + frame(TEXT, b"late"), {1000}),
    "unasked pongs": (frame(PONG, b"x") * 50 + frame(PONG, bytes(8)) * 50, {NOTHING}),
    "U+0000": (frame(TEXT, b"a\0b"), {NOTHING}),
    "300 KiB": (frame(TEXT, b"x" * 300 * 1024), {NOTHING}),
    "empty": (frame(TEXT), {NOTHING}),
    "binary": (frame(BINARY, b"\0\1\2"), {NOTHING}),
    "one byte a frame": (frame(TEXT, b"a", fin=False) + frame(CONT, b"b", fin=False) * 500 + frame(CONT), {NOTHING}),
    "a ping between pieces": (frame(TEXT, b"a", fin=False) + frame(PING, b"p") + frame(CONT, b"b"), {NOTHING}),
}  # fmt: skip


class Raw:
    """A connection on which anything can be written."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    @classmethod
    async def open(cls, world: World, *, token: bool = True) -> "Raw":
        raw = cls(*await asyncio.open_connection("127.0.0.1", world.at.port))
        key = base64.b64encode(os.urandom(16)).decode()
        lines = [
            "GET /ws/conversations/room HTTP/1.1", f"Host: 127.0.0.1:{world.at.port}", "Connection: Upgrade",
            "Upgrade: websocket", "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {key}",
            *([f"Authorization: Bearer {world.tokens['karl']}"] if token else []),
        ]  # fmt: skip
        raw.writer.write(("\r\n".join(lines) + "\r\n\r\n").encode())
        head = await asyncio.wait_for(raw.reader.readuntil(b"\r\n\r\n"), PATIENCE)
        assert head.startswith(b"HTTP/1.1 101")
        return raw

    async def closed(self, seconds: float = PATIENCE) -> int:
        """The code of the close frame; NOTHING when the connection stays."""
        try:
            async with asyncio.timeout(seconds):
                while True:
                    first, second = await self.reader.readexactly(2)
                    size = second & 0x7F
                    if size == 126:
                        [size] = struct.unpack("!H", await self.reader.readexactly(2))
                    data = await self.reader.readexactly(size)
                    if first & 0x0F == Opcode.CLOSE:
                        return struct.unpack("!H", data[:2])[0] if data else 1005
        except (asyncio.IncompleteReadError, ConnectionError):
            return 1006
        except TimeoutError:
            return NOTHING

    def close(self) -> None:
        self.writer.close()


@pytest.fixture(autouse=True)
def no_traceback(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """Whatever a test sends, nothing of it is worth an error in the log."""
    yield
    loud = [r.getMessage() for r in caplog.get_records("call") if r.levelno >= logging.ERROR or r.exc_info]
    assert loud == []


@pytest.mark.req("K-11", "P-06")
@pytest.mark.parametrize("name", FRAMES)
async def test_a_hostile_frame_harms_nobody_else(world: World, name: str) -> None:
    sent, codes = FRAMES[name]
    async with talking(world) as other:
        raw = await Raw.open(world)
        raw.writer.write(sent)
        code = await raw.closed(0.3 if codes == {NOTHING} else PATIENCE)
        assert code in codes | ({1006} if codes != {NOTHING} else set())
        raw.close()
        await world.hub.acting_as("karl").post("room", "the others go on")
        while "the others go on" not in await other.next():
            pass
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


async def test_a_flood_of_pings_that_nobody_reads_the_answers_of_takes_no_memory(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    wires: list[SocketWire] = []

    def remember(wire: SocketWire) -> None:
        wires.append(wire)

    monkeypatch.setattr(SocketWire, "start_keepalive", remember)
    raw = await Raw.open(world)
    raw.writer.transport.pause_reading()  # type: ignore[attr-defined]
    flood = frame(PING, b"x" * 125) * 2000
    with suppress(ConnectionError):
        for _ in range(60):
            raw.writer.write(flood)
            await raw.writer.drain()
            assert wires[0].waiting < 512 * 1024
    raw.writer.transport.resume_reading()  # type: ignore[attr-defined]
    assert await raw.closed() in {1008, 1006}, "and is shown out"
    raw.close()


def handshake(
    *lines: bytes, first: bytes = b"GET /ws/conversations/room", upgrade: bytes = b"websocket"
) -> bytes:
    head = [first + b" HTTP/1.1", b"Host: {host}", b"Connection: Upgrade", b"Upgrade: " + upgrade, *lines]
    return b"\r\n".join(head) + b"\r\n\r\n"


VERSION = b"Sec-WebSocket-Version: 13"
KEY = b"Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
HANDSHAKES = {
    "POST": handshake(VERSION, KEY, first=b"POST /ws/conversations/room"),
    "no version, no key": handshake(),
    "an old version": handshake(b"Sec-WebSocket-Version: 8", KEY),
    "no real key": handshake(VERSION, b"Sec-WebSocket-Key: nonsense"),
    "two keys": handshake(VERSION, KEY, KEY),
    "a token of bytes": handshake(VERSION, KEY, b"Sec-WebSocket-Protocol: \xff, bearer.\xfe"),
    "a long header": handshake(VERSION, KEY, b"X: " + b"a" * 20_000),
    "many headers": handshake(VERSION, KEY, *[b"A: b"] * 300),
    "a path of bytes": handshake(VERSION, KEY, first=b"GET /ws/%2e%2e/%00?client=\xff"),
    "several upgrades": handshake(VERSION, KEY, upgrade=b"h2c, websocket"),
    "a token of nobody": handshake(VERSION, KEY, b"Authorization: Bearer nonsense"),
    "a body": handshake(VERSION, KEY, b"Authorization: Bearer nonsense", b"Content-Length: 5") + b"hello",
}


@pytest.mark.parametrize("name", HANDSHAKES)
async def test_a_hostile_handshake_is_answered_or_dropped(world: World, name: str) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", world.at.port)
    writer.write(HANDSHAKES[name].replace(b"{host}", f"127.0.0.1:{world.at.port}".encode()))
    answer = await asyncio.wait_for(reader.read(200), PATIENCE)
    writer.close()
    assert answer.startswith(b"HTTP/1.1 4") or answer == b"", answer
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


async def test_half_a_frame_and_half_a_handshake_hold_nobody_up(world: World) -> None:
    """Slow loris: many that begin and never end. Others come in and are heard meanwhile."""
    halves: list[Raw] = []
    for _ in range(20):
        raw = await Raw.open(world)
        raw.writer.write(frame(TEXT, b"x" * 100)[:40])
        halves.append(raw)
        begun = Raw(*await asyncio.open_connection("127.0.0.1", world.at.port))
        begun.writer.write(b"GET /ws/conversations/room HTTP/1.1\r\nHost: 127")
        halves.append(begun)
    async with talking(world) as user, talking(world, "arya") as arya:
        await user.say("still heard")
        assert await arya.next() == "user: still heard"
    for raw in halves:
        raw.close()
    await until(lambda: _streams(world), lambda count: count == 0)


async def _streams(world: World) -> int:
    return int((await world.get("/api/status")).json()["streams"])


async def test_random_bytes_and_random_frames_do_no_harm(world: World) -> None:
    chance = random.Random(11)
    for n in range(60 * SCALE):
        raw = await Raw.open(world)
        if n % 2:
            raw.writer.write(chance.randbytes(chance.randrange(1, 400)))
        else:
            for _ in range(chance.randrange(1, 8)):
                data = chance.randbytes(chance.choice((0, 1, 5, 125, 126, 300)))
                bits = {"fin": chance.random() < 0.7, "mask": chance.random() < 0.9}
                raw.writer.write(frame(chance.randrange(16), data, **bits))
        await raw.closed(0.02)
        raw.close()
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


def test_our_own_frames_are_what_the_library_writes() -> None:
    for size in (0, 1, 125, 126, 65535, 65536):
        data = b"x" * size
        assert frame(TEXT, data, mask=False) == Frame(Opcode.TEXT, data).serialize(mask=False)
