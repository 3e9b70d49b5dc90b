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


def serve(session: Session, whence: JsonObject) -> None:
    set_up_logs(session)
    asyncio.run(_serve(Shim(home_of(session), whence, _writer())))


async def _serve(shim: Shim) -> None:
    await shim.run(_lines())


def _writer() -> Callable[[bytes], None]:
    out = sys.stdout.buffer
    sys.stdout = sys.stderr  # other output must not get between the messages

    def write(line: bytes) -> None:
        out.write(line)
        out.flush()

    return write


async def _lines() -> AsyncIterator[bytes]:
    """Standard input, line by line. A file or `/dev/null` is read directly: it never has to be waited for."""
    mode = os.fstat(0).st_mode
    if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode) or os.isatty(0)):
        for line in sys.stdin.buffer:
            yield line
        return
    reader = asyncio.StreamReader(limit=MAX_LINE_BYTES)
    loop = asyncio.get_running_loop()
    transport, _ = await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
    try:
        while line := await reader.readline():
            yield line
    finally:
        transport.close()
