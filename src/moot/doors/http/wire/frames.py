"""uvicorn's WebSocket with three things ASGI has no words for: frames written down once for everybody, a pong taken
as the receipt of all that went before, and a goodbye to who does not read.

A server's frames are not masked, so that the same bytes do for every reader. The answer to a ping comes in order:
whoever answers has received what was sent before it. Also here: hostile peers that uvicorn lets hang, or would log
with a traceback, and how many frames may come that say nothing.

Above: streams/websocket.py, which gets it by the scope. Below: uvicorn, and websockets, which knows the protocol.
"""

import struct
from collections.abc import Callable
from typing import Any, Final

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol
from websockets.frames import CloseCode, Frame, Opcode
from websockets.http11 import Request
from websockets.protocol import State

from moot.doors.http.wire.intake import Intake
from moot.doors.http.wire.unauthenticated import KNOWN, Strangers

EXTENSION: Final = "moot.wire"
LONGEST_REASON = 123
"""Bytes of a close frame that are left for words."""
_PLACE = struct.Struct("!Q")
"""Told apart from uvicorn's own pings by its length."""
SWITCHING = 101
PIECE = 4096
"""Bytes that are parsed before anybody else is heard: some hundred frames."""
MAX_UNKNOWN = 32
"""Frames of somebody who has not shown a token: its first one is to be that."""
MAX_CONTROLS = 100
"""Pings and pongs in a second."""
MAX_PIECES = 1024
"""Of one message."""
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def framed(text: str) -> bytes:
    """A text as it goes over the wire, to everybody alike."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


class SocketWire(WebSocketsSansIOProtocol):
    _intake: Intake

    def __init__(self, *, server_state: Any, **more: Any) -> None:
        super().__init__(server_state=server_state, **more)
        self._strangers: Strangers = server_state.strangers
        self._frames_seen = 0
        self._controls, self._counted_from = 0, 0.0
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

    def write(self, written: bytes) -> None:
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

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._intake = Intake(
            self._strangers,
            transport,
            feed=self._fed,
            may_feed=lambda: True,
            resume=self._read_on,
            piece=PIECE,
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._strangers.left(self.transport)
        self._intake.drop()
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == SWITCHING:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[EXTENSION] = self
            extensions[KNOWN] = self._intake.recognised

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = True  # by a refusal; uvicorn would take it for a failure of ours

    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            self._fed(data)
        else:
            self._intake.take(data)

    def _read_on(self) -> None:
        if not self.read_paused:
            self.transport.resume_reading()

    def _fed(self, data: bytes) -> None:
        super().data_received(data)
        if self.conn.handshake_exc is not None and not self.handshake_initiated:
            self.handshake_initiated = True
            self.transport.write(BAD_REQUEST)
            self.transport.close()

    def handle_text(self, event: Frame) -> None:
        if self._may_say_more():
            super().handle_text(event)

    def handle_bytes(self, event: Frame) -> None:
        if self._may_say_more():
            super().handle_bytes(event)

    def handle_cont(self, event: Frame) -> None:
        if self._may_say_more() and len(self.frames) < MAX_PIECES:
            super().handle_cont(event)
        else:
            self._enough()

    def handle_pong(self, event: Frame) -> None:
        if not self._may_ask_more():
            return
        if len(event.data) == _PLACE.size:
            self.received(_PLACE.unpack(event.data)[0])
        else:
            super().handle_pong(event)

    def handle_ping(self) -> None:
        """Who asks on and on and takes no answer gets one for the last time it asked, once it reads again."""
        if not self._may_ask_more():
            return
        if self.writable.is_set():
            super().handle_ping()
        else:
            self._owed = b"".join(self.conn.data_to_send())

    def _may_ask_more(self) -> bool:
        """Pings and pongs: more than anybody needs in a second are too many."""
        now = self.loop.time()
        if now - self._counted_from > 1.0:
            self._controls, self._counted_from = 0, now
        self._controls += 1
        if self._controls > MAX_CONTROLS:
            self._enough()
        return self._may_say_more()

    def _may_say_more(self) -> bool:
        """Who has shown no token yet may say little; those inside are counted elsewhere."""
        if self._intake.stranger is None:
            return not self.close_sent
        self._frames_seen += 1
        if self._frames_seen > MAX_UNKNOWN:
            self._enough()
        return not self.close_sent

    def _enough(self) -> None:
        if not self.close_sent and self.is_open:
            self.frames = []
            self.conn.fail(CloseCode.POLICY_VIOLATION, "too many empty or control frames")
            self.handle_parser_exception()
            self._intake.drop()

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
        self.write(owed)
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
