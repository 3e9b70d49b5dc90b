"""`moot mcp` on standard input and output: lines in, lines out, for as long as the client keeps its end open."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator, Callable

from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.session import Session
from moot.cli.mcp.relay import Shim
from moot.model.json import JsonObject

MAX_LINE_BYTES = 1 << 23
MAX_END_BYTES = 1000
"""Of a line that is longer: enough to find the number of the request, which clients write first or last."""


def serve(session: Session, whence: JsonObject) -> None:
    set_up_logs(session)
    asyncio.run(_serve(Shim(home_of(session), whence, _writer())))


async def _serve(shim: Shim) -> None:
    await shim.run(_lines(lambda begin, end: shim.refuse_long_line(begin, end, MAX_LINE_BYTES)))


def _writer() -> Callable[[bytes], None]:
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # other output must not get between the messages

    def write(line: bytes) -> None:
        out.write(line)
        out.flush()

    return write


async def _lines(refuse: Callable[[bytes, bytes], None]) -> AsyncIterator[bytes]:
    """Standard input, line by line. A line that is too long is read to its end and refused: the next is fine again. A
    file or `/dev/null` is read directly: it never has to be waited for."""
    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0)):
        for line in sys.stdin.buffer:
            yield line
        return
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while not reader.at_eof():
            try:
                yield await reader.readuntil()
            except asyncio.IncompleteReadError as end:
                yield end.partial
            except asyncio.LimitOverrunError as long:
                refuse(*await _ends_of_long_line(reader, long.consumed))
    finally:
        transport.close()


async def _ends_of_long_line(reader: asyncio.StreamReader, known: int) -> tuple[bytes, bytes]:
    """How a line begins and ends of which `known` bytes are there, and no more is kept of it."""
    part = await reader.readexactly(known)
    begin, end = part[:MAX_END_BYTES], part[-MAX_END_BYTES:]
    while True:
        try:
            return begin, (end + await reader.readuntil())[-MAX_END_BYTES:]
        except asyncio.LimitOverrunError as long:
            end = (end + await reader.readexactly(long.consumed))[-MAX_END_BYTES:]
        except asyncio.IncompleteReadError as cut:
            return begin, (end + cut.partial)[-MAX_END_BYTES:]
