"""uvicorn's HTTP protocol with limits: how long a request may take to arrive, how large its headers may be, and how
much is read ahead of the answers.

Above: listener.py gives it to uvicorn. Below: intake.py cuts the input, httptools parses it. Not here: the size of a
body (api/endpoint.py). A request that arrives in one piece, as most do, sets no timer.
"""

from asyncio import TimerHandle, Transport
from typing import Final

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from moot.doors.http.api.problems import PROBLEM, problem
from moot.doors.http.wire.intake import Intake
from moot.doors.http.wire.unauthenticated import Strangers
from moot.errors import BadValue

HEAD_BYTES: Final = 64 * 1024
HEADERS: Final = 200
HEAD_SECONDS: Final = 10.0
"""For all headers; and for the rest of a body that is no longer needed."""
BODY_SECONDS: Final = 30.0
MALFORMED, TOO_SLOW, TOO_LARGE = 400, 408, 431


PIECE: Final = 16 * 1024
"""Bytes that are parsed before other connections get their turn."""
REQUEST_SECONDS: Final = 0.0004
"""Cost of refusing a request without a token."""


class TooLarge(Exception):
    """The headers are too large."""


class BoundedProtocol(HttpToolsProtocol):
    _timer: TimerHandle | None = None
    _in_head = True
    _head_bytes = 0
    _refusal = MALFORMED
    _intake: Intake

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._strangers: Strangers = self.server_state.strangers  # type: ignore[attr-defined]
        self._strangers.add(transport)
        self._intake = Intake(
            self._strangers,
            transport,
            feed=self._feed,
            may_feed=lambda: not self.pipeline,
            resume=self._read_on,
            piece=PIECE,
        )
        self._wait(HEAD_SECONDS)

    def connection_lost(self, exc: Exception | None) -> None:
        self._strangers.remove(self.transport)
        self._intake.drop()
        self._wait_no_more()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._intake.take(data)

    def _read_on(self) -> None:
        if not self.flow.read_paused:
            self.transport.resume_reading()

    def _feed(self, data: bytes) -> None:
        if self._in_head:
            self._head_bytes += len(data)
        super().data_received(data)
        if (self._in_head and not self._head_bytes) or self.transport.is_closing():
            return
        if self._in_head and self._head_bytes > HEAD_BYTES:
            self._refuse(TOO_LARGE)
        elif self._timer is None:
            self._wait(HEAD_SECONDS if self._in_head else BODY_SECONDS)

    def handle_websocket_upgrade(self) -> None:
        self._intake.drop()  # nobody may speak before the handshake is answered
        super().handle_websocket_upgrade()
        self.transport.resume_reading()

    def on_headers_complete(self) -> None:
        self._wait_no_more()
        self._intake.cost(REQUEST_SECONDS)
        self._in_head, self._head_bytes = False, 0
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > HEAD_BYTES or len(self.headers) > HEADERS:
            self._refusal = TOO_LARGE
            raise TooLarge  # the parser stops; the refusal is sent below
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        super().on_message_complete()
        self._wait_no_more()
        self._in_head = True

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if not self._in_head:
            self._wait(HEAD_SECONDS)
        self.loop.call_soon(self._intake.go_on)

    def send_400_response(self, msg: str) -> None:
        self._refuse(self._refusal)

    # --- waiting and refusing ----------------------------------------------------------------------------

    def _wait(self, seconds: float) -> None:
        self._wait_no_more()
        self._timer = self.loop.call_later(seconds, self._refuse, TOO_SLOW)

    def _wait_no_more(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _refuse(self, status: int) -> None:
        """Send the refusal if no other answer is being sent, and close."""
        if self.transport.is_closing():
            return
        cycle = self.cycle
        if cycle is None or cycle.response_complete or not cycle.response_started:  # type: ignore[redundant-expr]
            body = problem(REFUSALS[status], status).body()
            lines = (
                STATUS_LINE[status],
                f"content-type: {PROBLEM}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode(),
                body,
            )
            self.transport.write(b"".join(lines))
        self.transport.close()


REFUSALS: Final = {
    MALFORMED: BadValue("this is not an HTTP request"),
    TOO_SLOW: BadValue(
        "the request arrived too slowly",
        detail=f"allowed: {HEAD_SECONDS:g} s for its headers, {BODY_SECONDS:g} s for its body",
    ),
    TOO_LARGE: BadValue(
        f"the request has more than {HEADERS} headers, or more than {HEAD_BYTES} bytes of headers"
    ),
}
