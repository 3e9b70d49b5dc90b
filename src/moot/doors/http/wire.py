"""uvicorn's WebSocket with three things ASGI has no words for: frames written down once for everybody, a pong taken
as the receipt of all that went before, and a goodbye to who does not read.

A server's frames are not masked, so that the same bytes do for every reader. The answer to a ping comes in order:
whoever answers has received what was sent before it. Also here: hostile peers that uvicorn lets hang, or would log
with a traceback.

Above: socket.py, which gets it by the scope. Below: uvicorn, and websockets, which knows the protocol.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

EXTENSION: Final = "moot.wire"
LONGEST_REASON = 123
"""Bytes of a close frame that are left for words."""
_PLACE = struct.Struct("!Q")
"""Told apart from uvicorn's own pings by its length."""
SWITCHING = 101
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def framed(text: str) -> bytes:
    """A text as it goes over the wire, to everybody alike."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


class Wire(WebSocketsSansIOProtocol):
    def __init__(self, *arguments: Any, **more: Any) -> None:
        super().__init__(*arguments, **more)
        self.received: Callable[[int], None] = lambda place: None
        """Called with the place of a ping once everything before it has arrived."""
        self.closed_by_both: Callable[[], None] = lambda: None
        """Called when the other side has answered our goodbye: everything has arrived."""
        self.drained: Callable[[], None] = lambda: None
        """Called when a reader that was slow has taken nearly all that waited."""
        self._owed = b""

    @property
    def is_open(self) -> bool:
        return self.conn.state is State.OPEN and not self.disconnected

    @property
    def waiting(self) -> int:
        """Bytes that the reader has not taken yet, besides what the kernels hold."""
        return self.transport.get_write_buffer_size()

    def tell(self, written: bytes) -> None:
        """Write what was framed before. It never waits; who calls looks at `waiting`."""
        if written and self.is_open:
            self.transport.write(written)

    def ask(self, place: int) -> None:
        """Ping; the answer comes to `received`."""
        if self.is_open:
            self.transport.write(Frame(Opcode.PING, _PLACE.pack(place)).serialize(mask=False))

    def say_goodbye(self, code: int, reason: str) -> None:
        """Behind everything that was told; the reader gets it once it has read that."""
        if not self.is_open:
            return
        self.conn.send_close(code, _shortened(reason))
        self.transport.write(b"".join(self.conn.data_to_send()))
        self.stop_keepalive()
        self.close_sent = True
        if self.read_paused:
            self.read_paused = False
            self.transport.resume_reading()
        self.close_timer = self.loop.call_later(self.close_timeout, self._leave)

    # --- what uvicorn calls ------------------------------------------------------------------------------

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == SWITCHING:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[EXTENSION] = self

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # by a refusal; uvicorn would take it for a failure of ours

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.handshake_initiated = True
            self.transport.write(BAD_REQUEST)
            self.transport.close()

    def handle_pong(self, event: Frame) -> None:
        if len(event.data) == _PLACE.size:
            self.received(_PLACE.unpack(event.data)[0])
        else:
            super().handle_pong(event)

    def handle_ping(self) -> None:
        """Who asks on and on and takes no answer gets one for the last time it asked, once it reads again."""
        if self.writable.is_set():
            super().handle_ping()
        else:
            self._owed = b"".join(self.conn.data_to_send())

    def handle_close(self, event: Frame) -> None:
        if self.close_sent:
            self.closed_by_both()
        super().handle_close(event)

    def send_receive_event_to_app(self) -> None:
        if self.curr_msg_data_type == "text" and not _is_text(self.frames):
            self.conn.fail(CloseCode.INVALID_DATA, "a text frame must be UTF-8")
            self.handle_parser_exception()
            return
        super().send_receive_event_to_app()

    def resume_writing(self) -> None:
        super().resume_writing()
        owed, self._owed = self._owed, b""
        self.tell(owed)
        self.drained()

    def _leave(self) -> None:
        self.close_timer = None
        self.transport.close()


def _is_text(pieces: list[bytes]) -> bool:
    try:
        b"".join(pieces).decode()
    except UnicodeDecodeError:
        return False
    return True


def _shortened(reason: str) -> str:
    return reason.encode()[:LONGEST_REASON].decode(errors="ignore")
