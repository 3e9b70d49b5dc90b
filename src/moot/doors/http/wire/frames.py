"""uvicorn's WebSocket with three things that ASGI lacks: frames encoded once for all readers, a pong as the receipt of
all frames before it, and a goodbye to a client that does not read.

A server's frames are not masked, so the same bytes serve every reader. The answer to a ping comes in order: a client
that answers has received what was sent before it. Also here: hostile peers that uvicorn would leave hanging or log with
a traceback, and limits on frames without content.

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
MAX_REASON_BYTES = 123
"""What a close frame has room for."""
_PLACE = struct.Struct("!Q")
"""The payload of our pings; uvicorn's own have another length."""
SWITCHING = 101
PIECE = 4096
"""Bytes that are parsed before other connections get their turn: some hundred frames."""
MAX_UNKNOWN = 32
"""Frames from a connection that has not shown a token: its first frame should be the token."""
MAX_CONTROLS = 100
"""Pings and pongs in a second."""
MAX_PIECES = 1024
"""Of one message."""
BAD_REQUEST = b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"


def encode_frame(text: str) -> bytes:
    """A text as a frame, the same for every reader."""
    return Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


class SocketWire(WebSocketsSansIOProtocol):
    _intake: Intake

    def __init__(self, *, server_state: Any, **more: Any) -> None:
        super().__init__(server_state=server_state, **more)
        self._strangers: Strangers = server_state.strangers
        self._frames_seen = 0
        self._controls, self._counted_from = 0, 0.0
        self.on_received: Callable[[int], None] = lambda place: None
        """Called with the place of a ping once everything before it has arrived."""
        self.closed_by_both: Callable[[], None] = lambda: None
        """Called when the other side has answered our goodbye: everything has arrived."""
        self.on_drained: Callable[[], None] = lambda: None
        """Called when a reader that was slow has taken nearly all that waited."""
        self._owed_pong = b""

    @property
    def is_open(self) -> bool:
        return self.conn.state is State.OPEN and not self.disconnected

    @property
    def waiting(self) -> int:
        """Bytes that the reader has not taken yet, besides what the kernels hold."""
        return self.transport.get_write_buffer_size()

    def write(self, frame: bytes) -> None:
        """Write an encoded frame. This never waits; the caller watches `waiting`."""
        if frame and self.is_open:
            self.transport.write(frame)

    def ask(self, place: int) -> None:
        """Ping; the answer comes to `on_received`."""
        if self.is_open:
            self.transport.write(Frame(Opcode.PING, _PLACE.pack(place)).serialize(mask=False))

    def say_goodbye(self, code: int, reason: str) -> None:
        """Close after everything that was sent; the reader gets it once it has read that."""
        if not self.is_open:
            return
        self.conn.send_close(code, _shorten(reason))
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
            feed=self._feed,
            may_feed=lambda: True,
            resume=self._read_on,
            piece=PIECE,
        )

    def connection_lost(self, exc: Exception | None) -> None:
        self._strangers.remove(self.transport)
        self._intake.drop()
        super().connection_lost(exc)

    def handle_connect(self, event: Request) -> None:
        super().handle_connect(event)
        if self.response.status_code == SWITCHING:
            extensions: dict[str, Any] = self.scope["extensions"]
            extensions[EXTENSION] = self
            extensions[KNOWN] = self._intake.on_recognised

    async def send(self, message: Any) -> None:
        await super().send(message)
        if self.initial_response is not None and self.close_sent:
            self.handshake_complete = (
                True  # by a refusal; uvicorn would take it for an error in the application
            )

    def data_received(self, data: bytes) -> None:
        if not self.handshake_initiated:
            self._feed(data)
        else:
            self._intake.take(data)

    def _read_on(self) -> None:
        if not self.read_paused:
            self.transport.resume_reading()

    def _feed(self, data: bytes) -> None:
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
            self.on_received(_PLACE.unpack(event.data)[0])
        else:
            super().handle_pong(event)

    def handle_ping(self) -> None:
        """A client that pings on and on without reading gets one pong, for its last ping, once it reads again."""
        if not self._may_ask_more():
            return
        if self.writable.is_set():
            super().handle_ping()
        else:
            self._owed_pong = b"".join(self.conn.data_to_send())

    def _may_ask_more(self) -> bool:
        """Whether pings and pongs are within their limit per second."""
        now = self.loop.time()
        if now - self._counted_from > 1.0:
            self._controls, self._counted_from = 0, now
        self._controls += 1
        if self._controls > MAX_CONTROLS:
            self._enough()
        return self._may_say_more()

    def _may_say_more(self) -> bool:
        """Whether a connection without a token may send more; callers with one are limited elsewhere."""
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
        pong, self._owed_pong = self._owed_pong, b""
        self.write(pong)
        self.on_drained()

    def _leave(self) -> None:
        self.close_timer = None
        self.transport.close()


def _is_text(pieces: list[bytes]) -> bool:
    try:
        b"".join(pieces).decode()
    except UnicodeDecodeError:
        return False
    return True


def _shorten(reason: str) -> str:
    return reason.encode()[:MAX_REASON_BYTES].decode(errors="ignore")
