"""As much HTTP/1.1 as clients of a model need: requests read whole, answers whole or in chunks."""

import asyncio
import socket
import struct
from http import HTTPStatus
from typing import Final

MAX_HEADERS: Final = 200
MAX_BODY: Final = 64 << 20
QUERY: Final = ":query"
"""Where among the headers what stands behind the path is found."""


class BadRequest(Exception):
    """Not HTTP as this server knows it."""


Found = tuple[str, str, dict[str, str], bytes]


async def read_request(reader: asyncio.StreamReader) -> Found | None:
    """Method, path, headers and body; None when the client is done."""
    line = await _line(reader)
    if not line:
        return None
    words = line.split(" ")
    if len(words) != 3:  # noqa: PLR2004  method, target, version
        raise BadRequest("this is not HTTP")
    headers: dict[str, str] = {}
    for _ in range(MAX_HEADERS):
        line = await _line(reader)
        if not line:
            path, _, headers[QUERY] = words[1].partition("?")
            return words[0], path, headers, await _body(reader, headers)
        name, _, value = line.partition(":")
        headers[name.strip().lower()] = value.strip()
    raise BadRequest("too many headers")


async def _line(reader: asyncio.StreamReader) -> str:
    try:
        return (await reader.readline()).decode("latin-1").rstrip("\r\n")
    except ValueError:
        raise BadRequest("a line is too long") from None


async def _body(reader: asyncio.StreamReader, headers: dict[str, str]) -> bytes:
    if headers.get("transfer-encoding", "").lower() != "chunked":
        return await reader.readexactly(_length(headers.get("content-length", "0"), 10))
    body = bytearray()
    while size := _length(await _line(reader), 16):
        body += await reader.readexactly(size)
        await _line(reader)
        _length(f"{len(body)}", 10)
    await _line(reader)
    return bytes(body)


def _length(text: str, radix: int) -> int:
    try:
        length = int(text.partition(";")[0], radix)
    except ValueError:
        raise BadRequest("a length is not a number") from None
    if not 0 <= length <= MAX_BODY:
        raise BadRequest("the body is too large")
    return length


class Outgoing:
    """Answers on one connection, one after the other."""

    def __init__(self, writer: asyncio.StreamWriter) -> None:
        self._writer = writer
        self.broken = False
        """The last answer did not end: the connection cannot be used again."""

    async def whole(
        self, status: int, body: bytes, kind: str = "application/json", **headers: str | None
    ) -> None:
        self._head(status, {"content-type": kind, "content-length": str(len(body)), **headers})
        self._writer.write(body)
        await self._writer.drain()

    def begin(self, kind: str, **headers: str | None) -> None:
        """A body in chunks, to be ended by `end`."""
        self.broken = True
        self._head(200, {"content-type": kind, "transfer-encoding": "chunked", **headers})

    async def chunk(self, data: bytes) -> None:
        if data:
            self._writer.write(b"%x\r\n%b\r\n" % (len(data), data))
            await self._writer.drain()
            await asyncio.sleep(
                0
            )  # drain may return at once: others, and a client that leaves, get their turn

    async def end(self) -> None:
        self.broken = False
        self._writer.write(b"0\r\n\r\n")
        await self._writer.drain()

    async def reset(self) -> None:
        """RST in place of a goodbye: what the client has not read yet is lost to it."""
        self.broken = True
        sock = self._writer.get_extra_info("socket")
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._writer.transport.abort()

    def _head(self, status: int, headers: dict[str, str | None]) -> None:
        try:
            phrase = HTTPStatus(status).phrase
        except ValueError:
            phrase = "Overloaded"
        lines = [f"HTTP/1.1 {status} {phrase}"]
        lines += [
            f"{name.replace('_', '-')}: {value}" for name, value in headers.items() if value is not None
        ]
        self._writer.write("\r\n".join([*lines, "", ""]).encode("latin-1"))
