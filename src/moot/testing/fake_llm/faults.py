"""How an answer reaches the client, or does not."""

import asyncio
import zlib
from collections.abc import Iterator
from typing import Final

from moot.testing.fake_llm.answers import MEBIBYTE, Answer, Fault, Spent
from moot.testing.fake_llm.http import Outgoing
from moot.testing.fake_llm.requests import Request
from moot.testing.fake_llm.wires import Speech, packed

JSON: Final = "application/json"
SSE: Final = "text/event-stream"
HTML: Final = b"<!doctype html><title>Sign in</title><h1>Please accept the terms of this network</h1>"
METADATA: Final = "http://169.254.169.254/latest/meta-data/iam/security-credentials/"
SLOW_SECONDS: Final = 30.0
DRIP_SECONDS: Final = 10.0
SETTLE_SECONDS: Final = 0.02
"""Long enough for a client on loopback to have read what was sent before the connection is reset."""


class OutgoingReply:
    """One answer on its way out."""

    def __init__(self, out: Outgoing, speech: Speech, answer: Answer, request: Request, spent: Spent) -> None:
        self.out = out
        self.speech = speech
        self.answer = answer
        self.request = request
        self.spent = spent

    @property
    def kind(self) -> str:
        return SSE if self.request.streams else JSON

    def parts(self) -> list[bytes]:
        """The events of a stream, or the one body."""
        if self.request.streams:
            return list(self.speech.events(self.answer, self.request, self.spent))
        return [packed(self.speech.whole(self.answer, self.request, self.spent))]

    async def well(self) -> None:
        if not self.request.streams:
            await self.out.whole(200, self.parts()[0])
            return
        self.out.begin(SSE, cache_control="no-cache")
        for part in self.speech.events(self.answer, self.request, self.spent):
            if self.answer.chunk_delay:
                await asyncio.sleep(self.answer.chunk_delay)
            await self.out.chunk(part)
        await self.out.end()

    async def half(self) -> None:
        """The first half of the events; of a whole body, its first half."""
        parts = self.parts()
        self.out.begin(self.kind)
        if len(parts) == 1:
            await self.out.chunk(parts[0][: len(parts[0]) // 2])
        for part in parts[: len(parts) // 2]:
            await self.out.chunk(part)

    async def failed(self, status: int, message: str, **headers: str | None) -> None:
        await self.out.whole(status, packed(self.speech.failure(status, message)), JSON, **headers)


async def send(out: Outgoing, speech: Speech, answer: Answer, request: Request, spent: Spent) -> None:
    """The answer, in the way its fault says."""
    reply = OutgoingReply(out, speech, answer, request, spent)
    if not (await _refused(reply) or await _broken_body(reply) or await _broken_connection(reply)):
        await reply.well()


async def _refused(reply: OutgoingReply) -> bool:
    """Faults that are a status."""
    answer, request = reply.answer, reply.request
    match answer.fault:
        case Fault.RATE_LIMITED:
            await reply.failed(429, "too many requests", retry_after=answer.retry_after)
        case Fault.STORM:
            await reply.failed(answer.status, "the server has a bad day")
        case Fault.BAD_KEY:
            sent = request.headers.get("authorization", request.headers.get("x-api-key", "none"))
            await reply.failed(401, f"invalid key: {sent}")
        case Fault.TOO_LONG:
            await reply.failed(400, "prompt is too long: 300000 tokens > 200000 maximum")
        case Fault.REDIRECT_METADATA:
            await reply.failed(307, "elsewhere", location=METADATA)
        case Fault.REDIRECT_LOOPBACK:
            await reply.failed(307, "elsewhere", location=f"http://{request.headers.get('host', '')}/stolen")
        case _:
            return False
    return True


async def _broken_body(reply: OutgoingReply) -> bool:
    """Faults that are in what the body holds."""
    out, answer = reply.out, reply.answer
    match answer.fault:
        case Fault.HTML:
            await out.whole(200, HTML, "text/html; charset=utf-8")
        case Fault.BAD_UTF8:
            out.begin(reply.kind)
            parts = reply.parts()
            for number, part in enumerate(parts):
                await out.chunk(_spoilt(part) if number == len(parts) // 2 else part)
            await out.end()
        case Fault.HUGE_BODY:
            out.begin(reply.kind)
            await out.chunk(b'data: {"filler": "' if reply.request.streams else b'{"filler": "')
            for _ in range(answer.size // MEBIBYTE):
                await out.chunk(b"x" * MEBIBYTE)
            await out.chunk(b'"}\n\n')
            await out.end()
        case Fault.GZIP_BOMB:
            out.begin(reply.kind, content_encoding="gzip")
            for part in _bomb(answer.size):
                await out.chunk(part)
            await out.end()
        case _:
            return False
    return True


async def _broken_connection(reply: OutgoingReply) -> bool:
    """Faults that are in when bytes come, or no longer come."""
    out, answer = reply.out, reply.answer
    match answer.fault:
        case Fault.HANG:
            await asyncio.Event().wait()
        case Fault.SLOW_START:
            await asyncio.sleep(SLOW_SECONDS if answer.seconds is None else answer.seconds)
            await reply.well()
        case Fault.STALL:
            await reply.half()
            await asyncio.Event().wait()
        case Fault.DRIP:
            await _drip(reply)
        case Fault.RESET:
            await reply.half()
            await asyncio.sleep(SETTLE_SECONDS)
            await out.reset()
        case Fault.TRUNCATED:
            await reply.half()
            if reply.request.streams:
                parts = reply.parts()
                torn = parts[len(parts) // 2]
                await out.chunk(torn[: len(torn) // 2])
            await out.end()
        case Fault.STREAM_ERROR:
            if not reply.request.streams:
                await reply.failed(529, "overloaded")
                return True
            await reply.half()
            await out.chunk(reply.speech.failed_event("overloaded"))
            await out.end()
        case _:
            return False
    return True


async def _drip(reply: OutgoingReply) -> None:
    seconds = DRIP_SECONDS if reply.answer.seconds is None else reply.answer.seconds
    reply.out.begin(reply.kind)
    for part in reply.parts():
        for byte in part:
            await asyncio.sleep(seconds)
            await reply.out.chunk(bytes([byte]))
    await reply.out.end()


def _spoilt(part: bytes) -> bytes:
    """Bytes that are no UTF-8, inside a JSON text."""
    return part.replace(b'": "', b'": "\xff\xfe\xc3(', 1) if b'": "' in part else b"\xff\xfe" + part


def _bomb(size: int) -> Iterator[bytes]:
    """A proper gzip file of zeros, made block by block: each block stands alone, so one is made and repeated."""
    block = b"\0" * MEBIBYTE
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    packed_block = packer.compress(block) + packer.flush(zlib.Z_FULL_FLUSH)
    check = 0
    yield b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff"
    for _ in range(size // MEBIBYTE):
        check = zlib.crc32(block, check)
        yield packed_block
    total = size // MEBIBYTE * MEBIBYTE
    yield b"\x03\x00" + check.to_bytes(4, "little") + (total & 0xFFFFFFFF).to_bytes(4, "little")
