"""The transport of one answer: its head goes out together with the beginning of its body, in one write.

uvicorn writes the head of an answer and then its body, and uvloop passes each on to the kernel at once: two system
calls, and a client that may be woken twice. The head of a stream, which has no body yet, is sent at the end of the
current step of the event loop.

Above: direct_writer.py gives one to each answer. Below: the connection's transport. Not here: waiting for slow readers,
which stays with the connection.
"""

from asyncio import AbstractEventLoop, Handle, Transport


class AnswerTransport:
    """What uvicorn uses of a transport to answer: write, close, is_closing."""

    __slots__ = ("_connection", "_flushing", "_has_started", "_head", "_loop")

    def __init__(self, connection: Transport, loop: AbstractEventLoop) -> None:
        self._connection = connection
        self._loop = loop
        self._head = b""
        self._flushing: Handle | None = None
        self._has_started = False

    def write(self, data: bytes) -> None:
        if self._has_started:
            self._connection.write(data)
        elif self._flushing is None:
            self._head = data
            self._flushing = self._loop.call_soon(self._flush)
        else:
            self._send(self._head + data)

    def close(self) -> None:
        self._flush()
        self._connection.close()

    def is_closing(self) -> bool:
        return self._connection.is_closing()

    def _flush(self) -> None:
        if self._flushing is not None and not self._connection.is_closing():
            self._send(self._head)

    def _send(self, data: bytes) -> None:
        if self._flushing is not None:
            self._flushing.cancel()
        self._flushing, self._head, self._has_started = None, b"", True
        self._connection.write(data)
