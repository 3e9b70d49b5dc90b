"""Transports to a hub: each carries the calls that sdk/ declares, and streams events.

There are two, and their callers need not know which they use: `SocketTransport` here, over the hub's socket in lines
of JSON, and `HttpTransport` (http.py). blocking_socket.py is for programs that make a few calls and exit.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator, Callable, Hashable
from functools import cache
from pathlib import Path
from typing import Any, Protocol, cast

from msgspec import Raw, Struct
from msgspec.json import Decoder

from moot import shapes
from moot.client.transport.refusal import error_from
from moot.errors import HubAbsent, MootError
from moot.host.pings import JsonLine, Peer, connect
from moot.model.hint import Act, Hint
from moot.sdk.call import DeclaredCall

MAX_UNREAD = 10_000
MAX_ASKED = 128
MAX_QUICK = 256
"""Calls of one transport that are under way; more would only wait in buffers."""
GREETING_SECONDS = 10.0

PARTS: Decoder[dict[str, Raw]] = Decoder(dict[str, Raw])
"""The parts of a line; the value of an answer is decoded once, as the type that the caller expects."""
NUMBER, FACT, ANYTHING = Decoder(int), Decoder(dict[str, Any]), Decoder(Any)


class Voice(Struct, frozen=True):
    """As whom and in which turn a call is made; by default, as the caller itself and in none."""

    speaker: str | None = None
    turn: str | None = None


class Transport(Protocol):
    asking: asyncio.Semaphore
    """Limits the questions under way, so that quick calls do not wait behind them."""

    async def call(self, call: DeclaredCall, voice: Voice, /, **arguments: Any) -> Any:
        """Call a method of the hub; the answer is decoded as the declared type."""

    def follow(self, voice: Voice, /, **filters: Any) -> AsyncIterator[shapes.Event]:
        """Stream events."""

    async def close(self) -> None: ...


class SocketTransport:
    """Over the hub's socket."""

    def __init__(self) -> None:
        self.asking = asyncio.Semaphore(MAX_ASKED)
        self._quick = asyncio.Semaphore(MAX_QUICK)
        self._numbers = itertools.count(1)
        self._pending: dict[int, asyncio.Future[Any]] = {}
        self._streams: dict[int, asyncio.Queue[Any]] = {}
        self._visits: dict[int, tuple[Callable[[Any], None], Callable[[], None]]] = {}
        self.gone: Callable[[], None] | None = None
        """Called when the hub has gone."""
        self._greeting: asyncio.Future[JsonLine] = asyncio.get_running_loop().create_future()
        self._peer: Peer | None = None

    async def open(self, path: Path, door: str = "sdk") -> JsonLine:
        """Connect by a door; returns what the hub says of itself."""
        try:
            self._peer = await connect(path, self._on_line, self._on_gone, PARTS)
        except OSError as error:
            raise HubAbsent(f"no hub at {path}: {error.strerror}", fix=(Hint(Act.START_HUB),)) from None
        self._peer.send({"hello": 1, "door": door})
        try:
            async with asyncio.timeout(GREETING_SECONDS):
                return await self._greeting
        except TimeoutError:
            self._peer.close()
            raise HubAbsent(
                f"the process listening at {path} is not a Moot hub", fix=(Hint(Act.RUN_DOCTOR),)
            ) from None

    async def close(self) -> None:
        if self._peer is not None:
            self._peer.close()
        await asyncio.sleep(0)

    async def call(self, call: DeclaredCall, voice: Voice, /, **arguments: Any) -> Any:
        request = {"do": call.name, "as": voice.speaker, "in": voice.turn, "with": arguments}
        if call.waits:
            answer = await self._call(request)
        else:
            async with self._quick:
                answer = await self._call(request)
        return decoder(cast(Hashable, call.answer)).decode(answer)

    async def _call(self, request: JsonLine) -> Any:
        number = next(self._numbers)
        self._pending[number] = waiting = asyncio.get_running_loop().create_future()
        try:
            self._send({"call": number, **request})
            return await waiting
        except asyncio.CancelledError:  # tell the hub that the answer is not wanted any more
            if self._peer is not None and self._peer.transport is not None:
                self._peer.send({"shut": number})
            raise
        finally:
            self._pending.pop(number, None)

    async def follow(self, voice: Voice, /, **filters: Any) -> AsyncIterator[shapes.Event]:
        number = next(self._numbers)
        events: asyncio.Queue[Any] = asyncio.Queue(MAX_UNREAD)
        self._streams[number] = events
        self._send({"follow": number, "as": voice.speaker, "with": filters})
        try:
            while True:
                event = await events.get()
                if isinstance(event, MootError):
                    raise event
                yield shapes.Event(**event)
        finally:
            self._streams.pop(number, None)
            if self._peer is not None:
                self._peer.send({"unfollow": number})

    async def visit(
        self, what: str, on_message: Callable[[Any], None], on_shut: Callable[[], None], **whence: Any
    ) -> tuple[int, JsonLine]:
        """Come in by a door of the hub: its number here, and what the hub says of it. `on_shut` is called when nobody
        answers there any more, although the hub is still there."""
        number = next(self._numbers)
        self._pending[number] = waiting = asyncio.get_running_loop().create_future()
        self._visits[number] = (on_message, on_shut)
        try:
            self._send({"open": number, "what": what, "with": whence})
            return number, FACT.decode(await waiting)
        except BaseException:  # whatever went wrong, nobody listens any more
            self._visits.pop(number, None)
            raise
        finally:
            self._pending.pop(number, None)

    def say(self, number: int, message: Any) -> None:
        """Send a message through an open door."""
        self._send({"to": number, "said": message})

    def _send(self, line: JsonLine) -> None:
        if self._peer is None or self._peer.transport is None:
            raise HubAbsent("the hub has stopped", fix=(Hint(Act.START_HUB),))
        self._peer.send(line)

    # --- what comes back ---------------------------------------------------------------------------------

    def _on_line(self, line: dict[str, Raw], peer: Peer) -> None:
        if "answer" in line:
            self._on_answer(NUMBER.decode(line["answer"]), line)
        elif "event" in line and (events := self._streams.get(NUMBER.decode(line["event"]))) is not None:
            events.put_nowait(FACT.decode(line["value"]))
        elif "from" in line and (visited := self._visits.get(NUMBER.decode(line["from"]))) is not None:
            visited[0](ANYTHING.decode(line["said"]))
        elif "shut" in line and (visited := self._visits.pop(NUMBER.decode(line["shut"]), None)) is not None:
            visited[1]()
        elif "hello" in line and not self._greeting.done():
            self._greeting.set_result(FACT.decode(line["hello"]))

    def _on_answer(self, number: int, line: dict[str, Raw]) -> None:
        waiting = self._pending.get(number)
        if waiting is not None and not waiting.done():
            if "error" in line:
                waiting.set_exception(error_from(FACT.decode(line["error"])))
            else:
                waiting.set_result(line["value"])
        elif number in self._streams and "error" in line:
            self._streams[number].put_nowait(error_from(FACT.decode(line["error"])))

    def _on_gone(self, peer: Peer) -> None:
        error = HubAbsent(
            "the hub stopped during the request", fix=(Hint(Act.START_HUB), Hint(Act.RUN_DOCTOR))
        )
        for waiting in [*self._pending.values(), self._greeting]:
            if not waiting.done():
                waiting.set_exception(error)
                waiting.exception()
        for events in self._streams.values():
            if not events.full():
                events.put_nowait(error)
        if self.gone is not None:
            self.gone()


@cache
def decoder(answer: Hashable) -> Decoder[Any]:
    return Decoder(cast(Any, answer), strict=False)
