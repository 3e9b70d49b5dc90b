"""One WebSocket: who connects, to which conversation; then others' messages go out and its own come in.

The token comes with the handshake (`Authorization`, or `Sec-WebSocket-Protocol: moot, bearer.TOKEN` from a browser),
or as the first frame. A conversation of two is created by the decision on its first message: opening a socket
creates nothing, and a refused message leaves nothing behind. A refusal before the end of the handshake is an HTTP
answer; after it, a close code, which is 4000 plus the HTTP status. A refused message is answered by a frame, and the
connection stays open.

Above: app.py mounts it. Below: reader.py sends, the hub posts. Not here: what frames look like (text_frames.py).
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import Any
from uuid import uuid4

import structlog
from msgspec import Struct
from msgspec.structs import replace
from starlette.requests import HTTPConnection

from moot import shapes
from moot.doors.credentials import still_good
from moot.doors.http.api.problems import FAILED, problem, status_of
from moot.doors.http.api.query import query
from moot.doors.http.api.route import HttpDoor, SocketRoute
from moot.doors.http.api.schema import SocketQuery
from moot.doors.http.gate.auth import Gate
from moot.doors.http.gate.origin import deny_handshake
from moot.doors.http.streams.fanout import STUCK_SECONDS, StreamFollower, Wants
from moot.doors.http.streams.reader import Listener, ReadPosition
from moot.doors.http.streams.resume import position_of
from moot.doors.http.streams.text_frames import PAIRS, MessageFrames, refusal, warning
from moot.doors.http.wire.frames import EXTENSION, SocketWire, encode_frame
from moot.doors.lookup import without_hints
from moot.errors import BadText, BadValue, MootError, RateLimited
from moot.flow.steps.admission import THE_HUB, Admission, InConversation, Subject
from moot.hub import Hub
from moot.hub.commands.tokens import MAX_TOKEN_CHARACTERS
from moot.hub.process.owner_token import MIN_CHARACTERS
from moot.model.answer import Receipt
from moot.model.entrance import DoorName
from moot.model.records.bookmark import Bookmark
from moot.rules.access import NOBODY, Action, Principal, Standing
from moot.rules.words.redact import redacted

log = structlog.get_logger("moot.http")

DOOR = "ws"
PROTOCOL = "moot"
BEARER = "bearer."
TOKEN_SECONDS = 10.0
"""How long to wait for the first frame if the handshake brought no token."""
MAX_UNKNOWN = 64
"""Sockets that may be open at once without having said who they are."""
PAGE = 200
BEGINNINGS = frozenset({"conversation.created"})
LOOK_AGAIN_SECONDS = 600.0
"""Between looks for a conversation that does not exist yet; only in case the event of its creation was lost."""
BY_STATUS = 4000
SWITCHING = 101

GOODBYES = {
    "lagged": (4000, "you read too slowly; reconnect with the same client id"),
    "server_restarting": (1012, "the hub is stopping; reconnect later"),
    "renamed": (1012, "your name has changed; reconnect"),
    "revoked": (4401, "the token was revoked"),
    "left": (4403, "you are no longer in this conversation"),
    "deleted": (4404, "the conversation was deleted"),
    "moved": (1012, "you two now talk in another conversation; reconnect"),
    "replaced": (4409, "the same client id connected again"),
}
LATE = (4408, "no token was sent in time")
BROKEN = (1011, "internal error in the hub; see its log")


class SocketGone(Exception):
    """The other side has disconnected."""


class Place(Struct, frozen=True):
    """A conversation, and the position from which it is read."""

    where: shapes.Conversation
    begin: ReadPosition
    bookmark: Bookmark | None = None


class Party(Struct, frozen=True):
    """Who was admitted, and where."""

    caller: Principal
    hub: Hub
    """Speaks as the caller."""
    voice: Hub
    """The same for its posts: each post's decision settles whether it may."""
    place: Place | None
    """None until the caller and the other participant have talked."""
    find: Callable[[], Awaitable[Place | None]]
    """Looks for the place again, and reads it from its first message on."""
    other: str = ""
    """The participant that receives everything sent here, if the path names one."""


class SocketEndpoint:
    """Everything at one path. `unknown` is shared by all paths: the connections that have not authenticated yet."""

    def __init__(self, row: SocketRoute, door: HttpDoor, gate: Gate, unknown: set[object]) -> None:
        self._row = row
        self._door = door
        self._gate = gate
        self._unknown = unknown

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()  # the request to connect
        started, request = time.perf_counter(), HTTPConnection(scope)
        wire: SocketWire = scope["extensions"][EXTENSION]
        offered = [one for one in scope["subprotocols"] if one.startswith(BEARER)]
        subprotocol = PROTOCOL if PROTOCOL in scope["subprotocols"] else None
        status = SWITCHING
        try:
            if offered or "authorization" in request.headers:
                token = offered[0].removeprefix(BEARER) if offered else None
                party = await self._admit(request, token)
                await self._accept(send, subprotocol)
            else:
                party = await self._admit_by_first_frame(request, wire, receive, send, subprotocol)
            await SocketTalk(party, wire, self._door, self._gate, request.url.path).run(receive)
        except _SocketRefusal as refused:
            status = status_of(refused.error)
            if wire.handshake_complete:
                wire.say_goodbye(BY_STATUS + status, refused.error.title)
            else:
                await deny_handshake(problem(refused.error), send)
        except (SocketGone, OSError):
            pass
        except Exception as error:  # the border of the process: the others go on
            status = FAILED
            log_failure(error, self._row.path)
            wire.say_goodbye(*BROKEN)
        finally:
            self._door.meters.count_answer("GET", self._row.path, status, time.perf_counter() - started)

    async def _accept(self, send: Any, subprotocol: str | None) -> None:
        await send({"type": "websocket.accept", "subprotocol": subprotocol})

    async def _admit_by_first_frame(
        self, request: HTTPConnection, wire: SocketWire, receive: Any, send: Any, subprotocol: str | None
    ) -> Party:
        """By the first frame. Until it arrives, nothing is sent and nothing else is accepted."""
        if len(self._unknown) >= MAX_UNKNOWN:
            raise _SocketRefusal(
                RateLimited("too many connections without a token; send it with the handshake")
            )
        self._unknown.add(wire)
        try:
            await self._accept(send, subprotocol)
            async with asyncio.timeout(TOKEN_SECONDS):
                token = await _text(receive)
        except TimeoutError:
            wire.say_goodbye(*LATE)
            raise SocketGone from None
        finally:
            self._unknown.discard(wire)
        return await self._admit(request, (token or "").strip())

    async def _admit(self, request: HTTPConnection, token: str | None) -> Party:
        """By a token of its own, or by the usual header."""
        caller, gate = NOBODY, self._gate
        try:
            if token is None:
                caller = await gate.principal(request, DOOR)
            else:
                caller = await gate.admit(token, request, DOOR)
            return await self._party(request, caller)
        except MootError as error:
            raise _SocketRefusal(without_hints(error, caller)) from error
        except Exception as error:  # the border of the process: a caller gets an answer whatever happened
            raise _SocketRefusal(log_failure(error, self._row.path)) from error

    async def _party(self, request: HTTPConnection, caller: Principal) -> Party:
        hub = self._gate.voice(caller, DoorName.WS)
        options = query(request.scope["query_string"], self._row.query)
        if options.received is not None and options.client is None:
            raise BadValue("received is the number of messages a client has received; it requires client=ID")
        path = request.path_params
        place = await self._place(hub, caller, path, options)
        find = partial(self._place, hub, caller, path, replace(options, after=0, received=None))
        other = path.get("name", "")
        subject = THE_HUB if place is None or other else InConversation(place.where.id)
        return Party(caller, hub, self._voice(hub, caller, subject), place, find, other)

    async def _place(
        self, hub: Hub, caller: Principal, path: Mapping[str, str], options: SocketQuery
    ) -> Place | None:
        where = await self._row.find(hub, caller, path)
        if where is None:
            return None
        if options.client is None:
            head = max((message.seq for message in await hub.newest(where.id, 1)), default=0)
            begin = head if options.after is None else min(options.after, head)
            return Place(where, ReadPosition(begin, 0))
        await self._door.marks.write()
        reading = await hub.conversations.bookmarks.open(where.id, options.client, after=options.after)
        mark = reading.bookmark
        begin_at = ReadPosition(mark.seq, mark.frames)
        if options.received is not None:
            begin_at = await position_of(hub, where.id, begin_at, options.received)
        return Place(where, begin_at, mark)

    def _voice(self, hub: Hub, caller: Principal, subject: Subject) -> Hub:
        if caller.standing is not Standing.PARTICIPANT:
            return hub
        token = None if caller.by_owner else caller.token
        return hub.admitted(Admission(caller.id, Action.POST, subject, token))


class SocketTalk:
    """A socket that was admitted, until it closes."""

    def __init__(self, party: Party, wire: SocketWire, door: HttpDoor, gate: Gate, path: str) -> None:
        self._party = party
        self._wire = wire
        self._door = door
        self._gate = gate
        self._path = path
        self._has_gone = False
        self._listener: Listener | None = None
        """None until there is a conversation to hear."""
        self._bookmark: Bookmark | None = None

    async def run(self, receive: Any) -> None:
        fan, marks, party = self._door.fan, self._door.marks, self._party
        try:
            fan.enter(party.caller)
        except RateLimited as refusal:
            raise _SocketRefusal(refusal) from refusal
        fan.start()
        try:
            if party.place is not None:
                self._listen(party.place)
            await self._both(receive)
        finally:
            if self._listener is not None:
                fan.drop(self._listener)
            fan.leave(party.caller)
        try:
            if not self._has_gone:  # we said goodbye: a client that answers has received everything
                await _until_gone(receive)
        finally:
            if self._bookmark is not None and self._listener is not None:
                await marks.leave(self._bookmark.key, self._listener)

    def _listen(self, place: Place) -> Listener:
        caller, where = self._party.caller, place.where
        alone = where.kind in PAIRS and caller.name in {seat.name for seat in where.participants}
        self._listener = listener = Listener(caller, where.id, self._wire, place.begin, alone=alone)
        self._bookmark = place.bookmark
        if place.bookmark is not None:
            self._door.marks.take(place.bookmark.key, listener)
            listener.keep(self._door.marks, place.bookmark)
        self._door.fan.add(listener)
        return listener

    async def _both(self, receive: Any) -> None:
        """Send and receive until either side ends it."""
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(self._send_messages())
            hearing = tasks.create_task(self._hear(receive))
            await asyncio.wait([sending, hearing], return_when=asyncio.FIRST_COMPLETED)
            sending.cancel()
            hearing.cancel()

    # --- what others say ---------------------------------------------------------------------------------

    async def _send_messages(self) -> None:
        try:
            await still_good(self._door.hub, self._party.caller)  # from here on the fan hears of a revocation
            ending = await self._follow(self._listener) if self._listener is not None else await self._begin()
        except MootError as error:
            self._wire.say_goodbye(BY_STATUS + status_of(error), error.title)
        except Exception as error:  # the border of the process: the others go on
            self._wire.say_goodbye(*BROKEN)
            log_failure(error, self._path)
        else:
            self._wire.say_goodbye(*GOODBYES[ending])

    async def _begin(self) -> str:
        """Wait for a conversation without messages to begin, which the first message of either side does."""
        fan, party = self._door.fan, self._party
        newcomer = StreamFollower(Wants(party.caller, types=BEGINNINGS))
        fan.add(newcomer)
        try:
            while newcomer.ending is None:
                place = await party.find()
                if place is not None:
                    return await self._follow(self._listen(place))
                await newcomer.take(LOOK_AGAIN_SECONDS)
        finally:
            fan.drop(newcomer)
        return newcomer.ending

    async def _follow(self, listener: Listener) -> str:
        """Send messages until the listener ends; returns why it ended."""
        while listener.ending is None:
            await self._catch_up(listener)
            await listener.wait_for_more()
        return listener.ending

    async def _catch_up(self, listener: Listener) -> None:
        """Send from the store everything that the fan has handed out already."""
        hub, where = self._party.hub, str(listener.wants.where)
        while listener.ending is None and not listener.caught_up():
            listener.behind = False
            page = await hub.messages(where, after=listener.place.seq, limit=PAGE)
            for message in page:
                if not await listener.room(STUCK_SECONDS):
                    listener.end("lagged")
                    return
                listener.show(MessageFrames.of(message))
            listener.behind = listener.behind or len(page) == PAGE

    # --- what it says ------------------------------------------------------------------------------------

    async def _hear(self, receive: Any) -> None:
        try:
            while True:
                await self._say(await _text(receive))
        except SocketGone:
            self._has_gone = True

    async def _say(self, text: str | None) -> None:
        try:
            if text is None:
                raise BadText("only text frames can be posted", detail="got a binary frame")
            self._gate.count(self._party.caller)
            await self._post(text)
        except MootError as error:
            self._wire.write(encode_frame(refusal(without_hints(error, self._party.caller))))
        except Exception as error:  # the border of the process: a caller gets an answer whatever happened
            self._wire.write(encode_frame(refusal(log_failure(error, self._path))))

    async def _post(self, text: str) -> None:
        party = self._party
        if _may_be_token(text) and await self._gate.bearer(text.strip(), DOOR) is not None:
            raise BadText(
                "this is a token, so it was not posted", fix=("send a token only with the handshake",)
            )
        receipt = await self._deliver(text)
        for warned in receipt.warnings:
            self._wire.write(encode_frame(warning(warned)))
        if party.caller.by_owner:
            await self._door.hub.history.acted_as(party.caller.name, f"posted {receipt.id} over {self._path}")

    async def _deliver(self, text: str) -> Receipt:
        """Post to the pair's conversation, which the first message creates, or to the conversation of the path."""
        party = self._party
        if not party.other:
            assert party.place is not None
            return await party.voice.post(party.place.where.id, text)
        receipt = await party.voice.send(party.other, text)
        if self._listener is not None and receipt.conversation != self._listener.wants.where:
            self._listener.end("moved")
        return receipt


class _SocketRefusal(Exception):
    def __init__(self, error: MootError) -> None:
        super().__init__(error.title)
        self.error = error


def _may_be_token(text: str) -> bool:
    return MIN_CHARACTERS <= len(text) <= MAX_TOKEN_CHARACTERS and len(text.split()) == 1


async def _text(receive: Any) -> str | None:
    """The next frame; None if it is not text."""
    event = await receive()
    if event["type"] != "websocket.receive":
        raise SocketGone
    text: str | None = event.get("text")
    return text


async def _until_gone(receive: Any) -> None:
    with suppress(SocketGone):
        while True:
            await _text(receive)


def log_failure(error: Exception, path: str) -> MootError:
    number = uuid4().hex[:12]
    log.error("a socket failed", action="socket_failed", path=path, id=number, error=redacted(repr(error)))
    return MootError("internal error in the hub", detail=f"see its log, entry {number}")
