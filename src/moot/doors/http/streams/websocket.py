"""One WebSocket: who is it, which conversation; then what others say goes out and what it says goes in.

The token comes with the handshake (`Authorization`, or `Sec-WebSocket-Protocol: moot, bearer.TOKEN` from a browser),
or as the first frame. A conversation of two is made with its first message, in that decision: opening a socket makes
nothing, and a message that is refused leaves nothing behind. What is refused before the handshake is over is answered
as HTTP; after it, by a close code, which is 4000 and the status HTTP would give. What somebody says and may not is
refused by a frame, and the connection stays.

Above: app.py mounts it. Below: reader.py tells, the hub posts. Not here: what frames look like (text_frames.py).
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
from moot.doors.http.gate.origin import denied
from moot.doors.http.streams.fanout import STUCK_SECONDS, StreamFollower, Wants
from moot.doors.http.streams.reader import Listener, ReadPosition
from moot.doors.http.streams.resume import stood
from moot.doors.http.streams.text_frames import PAIRS, MessageFrames, refusal, warning
from moot.doors.http.wire.frames import EXTENSION, SocketWire, framed
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
"""In which the first frame must come, where the handshake brought no token."""
MAX_UNKNOWN = 64
"""Sockets that may be open at once without having said who they are."""
PAGE = 200
BEGINNINGS = frozenset({"conversation.created"})
LOOK_AGAIN_SECONDS = 600.0
"""For a conversation that is not there yet; its beginning is told, so that this is only for what got lost."""
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
    """A conversation, and from where on it is read."""

    where: shapes.Conversation
    begin: ReadPosition
    bookmark: Bookmark | None = None


class Party(Struct, frozen=True):
    """Who was admitted, and where."""

    who: Principal
    hub: Hub
    """Speaks as the caller."""
    voice: Hub
    """The same for what it posts: whether it may is settled with each post."""
    place: Place | None
    """None while the caller and the other one have never talked."""
    find: Callable[[], Awaitable[Place | None]]
    """Looks for it again, and reads it from its first message on."""
    other: str = ""
    """Whom everything said here is sent to, where the path names somebody."""


class SocketEndpoint:
    """Everything at one path. `unknown` is shared by all paths: the connections that have not authenticated yet."""

    def __init__(self, row: SocketRoute, door: HttpDoor, gate: Gate, unknown: set[object]) -> None:
        self._row = row
        self._door = door
        self._gate = gate
        self._unknown = unknown

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await receive()  # that somebody wants to connect
        begun, request = time.perf_counter(), HTTPConnection(scope)
        wire: SocketWire = scope["extensions"][EXTENSION]
        offered = [one for one in scope["subprotocols"] if one.startswith(BEARER)]
        chosen = PROTOCOL if PROTOCOL in scope["subprotocols"] else None
        status = SWITCHING
        try:
            if offered or "authorization" in request.headers:
                token = offered[0].removeprefix(BEARER) if offered else None
                party = await self._admitted(request, token)
                await self._accept(send, chosen)
            else:
                party = await self._admitted_late(request, wire, receive, send, chosen)
            await SocketTalk(party, wire, self._door, self._gate, request.url.path).run(receive)
        except _Refused as refused:
            status = status_of(refused.error)
            if wire.handshake_complete:
                wire.say_goodbye(BY_STATUS + status, refused.error.title)
            else:
                await denied(problem(refused.error), send)
        except (SocketGone, OSError):
            pass
        except Exception as error:  # the border of the process: the others go on
            status = FAILED
            failed(error, self._row.path)
            wire.say_goodbye(*BROKEN)
        finally:
            self._door.meters.answered("GET", self._row.path, status, time.perf_counter() - begun)

    async def _accept(self, send: Any, chosen: str | None) -> None:
        await send({"type": "websocket.accept", "subprotocol": chosen})

    async def _admitted_late(
        self, request: HTTPConnection, wire: SocketWire, receive: Any, send: Any, chosen: str | None
    ) -> Party:
        """By the first frame. Until it arrives, nothing is sent and nothing else is accepted."""
        if len(self._unknown) >= MAX_UNKNOWN:
            raise _Refused(RateLimited("too many connections without a token; send it with the handshake"))
        self._unknown.add(wire)
        try:
            await self._accept(send, chosen)
            async with asyncio.timeout(TOKEN_SECONDS):
                token = await _text(receive)
        except TimeoutError:
            wire.say_goodbye(*LATE)
            raise SocketGone from None
        finally:
            self._unknown.discard(wire)
        return await self._admitted(request, (token or "").strip())

    async def _admitted(self, request: HTTPConnection, token: str | None) -> Party:
        """By a token of its own, or by the usual header."""
        who, gate = NOBODY, self._gate
        try:
            if token is None:
                who = await gate.principal(request, DOOR)
            else:
                who = await gate.admitted(token, request, DOOR)
            return await self._party(request, who)
        except MootError as error:
            raise _Refused(without_hints(error, who)) from error
        except Exception as error:  # the border of the process: a caller gets an answer whatever happened
            raise _Refused(failed(error, self._row.path)) from error

    async def _party(self, request: HTTPConnection, who: Principal) -> Party:
        hub = self._gate.voice(who, DoorName.WS)
        wanted = query(request.scope["query_string"], self._row.query)
        if wanted.received is not None and wanted.client is None:
            raise BadValue("received is the number of messages a client has received; it requires client=ID")
        path = request.path_params
        place = await self._place(hub, who, path, wanted)
        find = partial(self._place, hub, who, path, replace(wanted, after=0, received=None))
        other = path.get("name", "")
        subject = THE_HUB if place is None or other else InConversation(place.where.id)
        return Party(who, hub, self._voice(hub, who, subject), place, find, other)

    async def _place(
        self, hub: Hub, who: Principal, path: Mapping[str, str], wanted: SocketQuery
    ) -> Place | None:
        where = await self._row.find(hub, who, path)
        if where is None:
            return None
        if wanted.client is None:
            head = max((message.seq for message in await hub.newest(where.id, 1)), default=0)
            begin = head if wanted.after is None else min(wanted.after, head)
            return Place(where, ReadPosition(begin, 0))
        await self._door.marks.write()
        opened = await hub.conversations.bookmarks.open(where.id, wanted.client, after=wanted.after)
        mark = opened.bookmark
        begin_at = ReadPosition(mark.seq, mark.frames)
        if wanted.received is not None:
            begin_at = await stood(hub, where.id, begin_at, wanted.received)
        return Place(where, begin_at, mark)

    def _voice(self, hub: Hub, who: Principal, subject: Subject) -> Hub:
        if who.standing is not Standing.PARTICIPANT:
            return hub
        token = None if who.by_owner else who.token
        return hub.admitted(Admission(who.id, Action.POST, subject, token))


class SocketTalk:
    """A socket that was admitted, until it closes."""

    def __init__(self, party: Party, wire: SocketWire, door: HttpDoor, gate: Gate, path: str) -> None:
        self._party = party
        self._wire = wire
        self._door = door
        self._gate = gate
        self._path = path
        self._gone = False
        self._listener: Listener | None = None
        """None until there is a conversation to hear."""
        self._bookmark: Bookmark | None = None

    async def run(self, receive: Any) -> None:
        fan, marks, party = self._door.fan, self._door.marks, self._party
        try:
            fan.enter(party.who)
        except RateLimited as refusal:
            raise _Refused(refusal) from refusal
        fan.start()
        try:
            if party.place is not None:
                self._listen(party.place)
            await self._both(receive)
        finally:
            if self._listener is not None:
                fan.drop(self._listener)
            fan.leave(party.who)
        try:
            if not self._gone:  # then we said goodbye: who answers has received everything
                await _until_gone(receive)
        finally:
            if self._bookmark is not None and self._listener is not None:
                await marks.leave(self._bookmark.key, self._listener)

    def _listen(self, place: Place) -> Listener:
        who, where = self._party.who, place.where
        alone = where.kind in PAIRS and who.name in {seat.name for seat in where.participants}
        self._listener = listener = Listener(who, where.id, self._wire, place.begin, alone=alone)
        self._bookmark = place.bookmark
        if place.bookmark is not None:
            self._door.marks.take(place.bookmark.key, listener)
            listener.keep(self._door.marks, place.bookmark)
        self._door.fan.add(listener)
        return listener

    async def _both(self, receive: Any) -> None:
        """Until either side ends it."""
        async with asyncio.TaskGroup() as tasks:
            sending = tasks.create_task(self._send_messages())
            hearing = tasks.create_task(self._hear(receive))
            await asyncio.wait([sending, hearing], return_when=asyncio.FIRST_COMPLETED)
            sending.cancel()
            hearing.cancel()

    # --- what others say ---------------------------------------------------------------------------------

    async def _send_messages(self) -> None:
        try:
            await still_good(self._door.hub, self._party.who)  # from here on the fan hears of a revocation
            ending = await self._follow(self._listener) if self._listener is not None else await self._begin()
        except MootError as error:
            self._wire.say_goodbye(BY_STATUS + status_of(error), error.title)
        except Exception as error:  # the border of the process: the others go on
            self._wire.say_goodbye(*BROKEN)
            failed(error, self._path)
        else:
            self._wire.say_goodbye(*GOODBYES[ending])

    async def _begin(self) -> str:
        """Nobody has said anything here yet: the conversation begins with the first message of either."""
        fan, party = self._door.fan, self._party
        newcomer = StreamFollower(Wants(party.who, types=BEGINNINGS))
        fan.add(newcomer)
        try:
            while newcomer.ending is None:
                place = await party.find()
                if place is not None:
                    return await self._follow(self._listen(place))
                await newcomer.taken(LOOK_AGAIN_SECONDS)
        finally:
            fan.drop(newcomer)
        return newcomer.ending

    async def _follow(self, listener: Listener) -> str:
        """Until it ends; returns why."""
        while listener.ending is None:
            await self._catch_up(listener)
            await listener.stirred()
        return listener.ending

    async def _catch_up(self, listener: Listener) -> None:
        """From the store, until nothing is left that the fan has handed out before."""
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
            self._gone = True

    async def _say(self, text: str | None) -> None:
        try:
            if text is None:
                raise BadText("only text frames can be posted", detail="got a binary frame")
            self._gate.count(self._party.who)
            await self._post(text)
        except MootError as error:
            self._wire.write(framed(refusal(without_hints(error, self._party.who))))
        except Exception as error:  # the border of the process: a caller gets an answer whatever happened
            self._wire.write(framed(refusal(failed(error, self._path))))

    async def _post(self, text: str) -> None:
        party = self._party
        if _may_be_token(text) and await self._gate.bearer(text.strip(), DOOR) is not None:
            raise BadText(
                "this is a token, so it was not posted", fix=("send a token only with the handshake",)
            )
        receipt = await self._posted(text)
        for warned in receipt.warnings:
            self._wire.write(framed(warning(warned)))
        if party.who.by_owner:
            await self._door.hub.history.acted_as(party.who.name, f"posted {receipt.id} over {self._path}")

    async def _posted(self, text: str) -> Receipt:
        """To the other one where they talk now, which is made with the first message; or into the conversation."""
        party = self._party
        if not party.other:
            assert party.place is not None
            return await party.voice.post(party.place.where.id, text)
        receipt = await party.voice.send(party.other, text)
        if self._listener is not None and receipt.conversation != self._listener.wants.where:
            self._listener.end("moved")
        return receipt


class _Refused(Exception):
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
    found: str | None = event.get("text")
    return found


async def _until_gone(receive: Any) -> None:
    with suppress(SocketGone):
        while True:
            await _text(receive)


def failed(error: Exception, path: str) -> MootError:
    number = uuid4().hex[:12]
    log.error("a socket failed", action="socket_failed", path=path, id=number, error=redacted(repr(error)))
    return MootError("internal error in the hub", detail=f"see its log, entry {number}")
