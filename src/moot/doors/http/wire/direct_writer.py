"""uvicorn's HTTP connection, written to directly by event streams: an event goes to all that follow it at once.

ASGI would wake a task for each reader, which costs several times the writing. Only a stream that waits and a peer that
keeps up are written to in this way; everything else goes through ASGI, which waits for slow ones.
"""

from asyncio import Transport
from typing import Any, Final, cast

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from moot.doors.http.wire.answer_transport import AnswerTransport
from moot.doors.http.wire.http1 import BoundedProtocol
from moot.doors.http.wire.unauthenticated import KNOWN

EXTENSION: Final = "moot.direct_writer"


class StreamProtocol(BoundedProtocol):
    def _start_asgi_task(self, cycle: RequestResponseCycle, app: Any) -> None:
        cycle.transport = cast(Transport, AnswerTransport(cycle.transport, self.loop))
        extensions: dict[str, Any] = cycle.scope.setdefault("extensions", {})
        extensions[EXTENSION] = DirectWriter(cycle)
        extensions[KNOWN] = self._intake.on_recognised
        super()._start_asgi_task(cycle, app)


class DirectWriter:
    """A response under way, written to past ASGI."""

    __slots__ = ("_cycle",)

    def __init__(self, cycle: RequestResponseCycle) -> None:
        self._cycle = cycle

    def write(self, chunk: bytes) -> bool:
        """Write a chunk directly; False if it must go through ASGI."""
        cycle = self._cycle
        if cycle.disconnected or cycle.flow.write_paused or not cycle.chunked_encoding:
            return False
        cycle.transport.write(chunk)
        return True


def as_chunk(data: bytes) -> bytes:
    """Data as a chunk of HTTP/1.1, for an answer without a length."""
    return b"%x\r\n%b\r\n" % (len(data), data)
