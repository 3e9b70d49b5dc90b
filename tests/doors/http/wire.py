"""HTTP by hand: any bytes can be sent, and what comes back is read without forgiveness."""

import asyncio
from collections.abc import Iterable

from msgspec import Struct

from tests.support.waiting import PATIENCE


class Reply(Struct, frozen=True):
    status: int
    headers: dict[str, str]
    body: bytes


class Wire:
    """One connection after another to one port; a closed one is opened anew."""

    def __init__(self, port: int, token: str) -> None:
        self._port = port
        self._always = [
            f"Host: 127.0.0.1:{port}".encode(),
            f"Authorization: Bearer {token}".encode(),
        ]
        self._reader: asyncio.StreamReader | None = None
        self._writer: asyncio.StreamWriter | None = None

    async def ask(
        self,
        method: str,
        target: bytes,
        body: bytes | None = None,
        headers: Iterable[bytes] = (b"Content-Type: application/json", b"If-Match: 1"),
        instead: Iterable[bytes] | None = None,
    ) -> Reply:
        """`instead` replaces Host and Authorization."""
        lines = [
            method.encode() + b" " + target + b" HTTP/1.1",
            *(self._always if instead is None else instead),
        ]
        lines += headers
        if body is not None:
            lines.append(b"Content-Length: %d" % len(body))
        return await self.send(b"\r\n".join(lines) + b"\r\n\r\n" + (body or b""), head=method == "HEAD")

    async def send(self, raw: bytes, *, head: bool = False) -> Reply:
        if self._writer is None or self._reader is None or self._reader.at_eof():
            await self.close()
            self._reader, self._writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._writer.write(raw)
        async with asyncio.timeout(PATIENCE):
            reply = await read_reply(self._reader, head=head)
        if reply.headers.get("connection") == "close" or reply.status in (400, 408, 413, 431):
            await self.close()
        return reply

    async def close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            self._writer = self._reader = None


async def read_reply(reader: asyncio.StreamReader, *, head: bool = False) -> Reply:
    lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    headers = {
        name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:] if line)
    }
    length = 0 if head else int(headers.get("content-length", "0"))
    return Reply(int(lines[0].split()[1]), headers, await reader.readexactly(length))
