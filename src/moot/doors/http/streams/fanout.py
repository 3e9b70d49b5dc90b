"""One reader of the log for all streams: every event is encoded once and handed to each follower that wants it and may
see it.

Nobody waits for a follower that does not keep up: beyond its limits it is told its position and disconnected. It can
reconnect with that cursor and misses nothing, since events are read from the store.
"""

import asyncio
from collections import deque
from contextlib import suppress
from typing import Any, Protocol

from msgspec import Struct, json

from moot import shapes
from moot.doors.http.api.hint_requests import event_in_words
from moot.doors.http.streams.members import ConversationTargets
from moot.doors.http.streams.text_frames import MessageFrames
from moot.doors.http.wire.direct_writer import DirectWriter, as_chunk
from moot.doors.open_limit import OpenAtOnce
from moot.hub import Hub
from moot.hub.queries.encoded import StreamedEvent
from moot.rules.access import HUB_TARGET, Action, ConversationTarget, Principal, Standing, may

MAX_EVENTS = 256
MAX_BYTES = 1024 * 1024
"""How far a stream may lag behind, in events and in bytes; beyond that it gets its position and is disconnected."""
STUCK_SECONDS = 30.0
"""A reader that takes nothing for this long is treated as gone."""
JOIN_EVENTS = frozenset({"conversation.joined", "conversation.created"})
"""Events that go to the members after them."""
LEAVE_EVENTS = frozenset({"conversation.left", "conversation.deleted"})
"""Events that go to the members before them."""
PUBLIC = "agent."
NOTE_EVENTS = "note."
"""Events that go to people, and to the agents that may read the note now."""
NOTE_SHARED = "note.shared"
"""Goes to only one agent: the one it names."""
EVENTS_FOR_ALL = frozenset({"token.revoked", "agent.renamed"})
"""Events that may end any stream, whatever it follows."""
REASONS_TO_COME_BACK = frozenset({"lagged", "server_restarting"})
"""Why a stream ends, where the reader should come back with its cursor."""

_encode = json.Encoder().encode


class Frame(Struct, frozen=True):
    """An event in its encoded form, and who may see it."""

    id: int
    """0 for live events, which are not stored."""
    type: str
    by: str | None
    target: ConversationTarget | None
    data: bytes
    chunk: bytes = b""
    """`data` as a chunk of HTTP/1.1."""
    message: MessageFrames | None = None
    """The message it is about, for those who read plain text."""
    readers: frozenset[str] = frozenset()
    """Agents that may read the note it is about, and may know of this event."""


def control(kind: str, after: int) -> bytes:
    """What a stream says about itself."""
    return b"event: %s\ndata: %s\n\n" % (kind.encode(), _encode({"after": str(after)}))


class Wants(Struct):
    """What a follower asked for, and who it is."""

    caller: Principal
    where: str | None = None
    agent: str | None = None
    types: frozenset[str] = frozenset()
    _judged: ConversationTarget | None = None
    _answer: bool = False

    def __call__(self, frame: Frame) -> bool:
        if self.where is not None and (frame.target is None or frame.target.ref != self.where):
            return False
        if self.agent is not None and frame.by != self.agent:
            return False
        if self.types and frame.type not in self.types:
            return False
        return self._may(frame)

    def _may(self, frame: Frame) -> bool:
        if frame.target is not None:
            if frame.target is not self._judged:  # the fan has a new one as soon as its members change
                self._judged, self._answer = frame.target, may(self.caller, Action.READ, frame.target)
            return self._answer
        if frame.type.startswith(PUBLIC):
            return may(self.caller, Action.LOOK, HUB_TARGET)
        if frame.type.startswith(NOTE_EVENTS):
            reads = self.caller.human or self.caller.name in frame.readers
            return reads and may(self.caller, Action.LOOK, HUB_TARGET)
        return self.caller.standing is Standing.OWNER


class StreamFollower:
    """One stream's place in the fan: a bounded queue, and whether it has ended."""

    def __init__(self, wants: Wants, cursor: int = 0, writer: DirectWriter | None = None) -> None:
        self.wants = wants
        self.ending: str | None = None
        """Why the stream ends."""
        self.cursor = cursor
        """The newest event that the reader has surely been sent."""
        self._writer = writer
        self._idle = False
        """Its task waits, and nothing of it is under way: who has something may write it there."""
        self._waiting: deque[Frame] = deque()
        self._bytes = 0
        self._woken = asyncio.Event()

    def push(self, frame: Frame) -> bool:
        """False if it did not fit: the follower lags."""
        if frame.id and frame.id <= self.cursor:
            return True  # it was sent from the store already
        if self._idle and self._writer is not None and not self._waiting and self._writer.write(frame.chunk):
            self.cursor = frame.id or self.cursor
            return True
        size = self._bytes + len(frame.data)
        if len(self._waiting) >= MAX_EVENTS or size > MAX_BYTES:
            if not frame.id:
                return True  # pieces of a reply are dropped before the follower is
            self.end("lagged")
            return False
        self._waiting.append(frame)
        self._bytes = size
        self._woken.set()
        return True

    def end(self, why: str) -> None:
        if self.ending is None:
            self.ending = why
        if why == "lagged":
            self._waiting.clear()
        self._woken.set()

    async def take(self, seconds: float) -> list[Frame]:
        """What is waiting, as soon as there is something; empty after a timeout or when it has ended."""
        if not self._waiting and self.ending is None:
            self._woken.clear()
            self._idle = True
            with suppress(TimeoutError):
                async with asyncio.timeout(seconds):
                    await self._woken.wait()
            self._idle = False
        frames = list(self._waiting)
        self._waiting.clear()
        self._bytes = 0
        return frames


class Following(Protocol):
    """Anything that follows the fan."""

    wants: Wants

    def push(self, frame: Frame) -> bool:
        """False if it did not fit: the follower lags."""
        ...

    def end(self, why: str) -> None: ...


class Fan:
    """Hands each event, encoded once, to every stream and socket that may see it."""

    def __init__(self, hub: Hub, meters: Any, open_at_once: OpenAtOnce) -> None:
        self.hub = hub
        self.position = 0
        """The newest stored event that was handed out."""
        self.closing = False
        self.count = 0
        """Streams and sockets that are open."""
        self._meters = meters
        self._open_at_once = open_at_once
        self._followers: dict[str | None, set[Following]] = {}
        """By the conversation they follow; None for all."""
        self._targets = ConversationTargets(hub)
        self._pump: asyncio.Task[None] | None = None
        meters.count_streams(lambda: self.count)

    def enter(self, caller: Principal) -> None:
        """Count one more stream of somebody, unless they have too many open."""
        self._open_at_once.enter(caller)
        self.count += 1

    def leave(self, caller: Principal) -> None:
        self._open_at_once.leave(caller)
        self.count -= 1

    def start(self) -> None:
        if self._pump is None:
            self.position = self.hub.position
            self._targets.forget_all()  # changes were not noted while there were no followers
            self._pump = asyncio.get_running_loop().create_task(self._run())

    def add(self, follower: Following) -> None:
        if self.closing:
            follower.end("server_restarting")
        self._followers.setdefault(follower.wants.where, set()).add(follower)

    def drop(self, follower: Following) -> None:
        here = self._followers.get(follower.wants.where, set())
        here.discard(follower)
        if not here:
            self._followers.pop(follower.wants.where, None)

    def drain(self) -> None:
        """Tell all streams that the hub is stopping, and end them."""
        self.closing = True
        for follower in self._everybody():
            follower.end("server_restarting")

    async def close(self) -> None:
        self.drain()
        if (pump := self._pump) is not None:
            pump.cancel()
            await asyncio.wait([pump])

    async def _run(self) -> None:
        try:
            await self._hand_out()
        finally:  # the followers come back with their cursors, which starts a new pump
            self._pump = None
            self._end_all("lagged")

    def _end_all(self, why: str) -> None:
        for follower in self._everybody():
            follower.end(why)
        self._followers.clear()

    def _everybody(self) -> list[Following]:
        return [follower for here in self._followers.values() for follower in here]

    def _followers_of(self, event: shapes.Event) -> list[Following]:
        """Followers that may want it, or whose stream it may end."""
        if event.type in EVENTS_FOR_ALL:
            return self._everybody()
        followers = self._followers
        return [
            *followers.get(None, ()),
            *(followers.get(event.conversation, ()) if event.conversation else ()),
        ]

    async def _hand_out(self) -> None:
        async for streamed in self.hub.encoded.stream(self.position):
            event = streamed.event
            if event.type == "reset":  # the log was cut: each stream finds out itself what it missed
                self._end_all("lagged")
                self._targets.forget_all()
                self.position = max(self.position, int(event.body["after"]))
                continue
            frame = await self.frame(streamed)
            self.position = max(self.position, frame.id)
            for follower in self._followers_of(event):
                if follower.wants(frame) and not follower.push(frame):
                    self.drop(follower)
                    self._meters.count_lag()
                elif why := _reason_to_end(follower.wants, event):
                    follower.end(why)
                    self.drop(follower)

    async def frame(self, streamed: StreamedEvent) -> Frame:
        event = streamed.event
        number = int(event.id or 0)
        head = b"id: %d\n" % number if number else b""
        data = b"%sevent: %s\ndata: %s\n\n" % (head, event.type.encode(), _in_words(streamed).to_json())
        where = await self._target_of(event, is_news=number > self.position)
        posted = streamed.message if event.type == "message.posted" else None
        message = None if posted is None else MessageFrames.of_line(posted)
        readers = await self._readers(event)
        return Frame(number, event.type, event.by, where, data, as_chunk(data), message, readers)

    async def _readers(self, event: shapes.Event) -> frozenset[str]:
        if not event.type.startswith(NOTE_EVENTS):
            return frozenset()
        readers = await self.hub.notes.readers(event.body["name"], event.body["created_at"])
        # an agent need not know who else may read a note
        return readers & {event.body.get("agent")} if event.type == NOTE_SHARED else readers

    async def _target_of(self, event: shapes.Event, *, is_news: bool) -> ConversationTarget | None:
        """The members who may see an event. Notes changes: a stream that reads the past may be ahead of the pump."""
        where, kind = event.conversation, event.type
        if is_news and kind == "agent.renamed":
            self._targets.forget_all()
        if where is None:
            return None
        if is_news and kind in JOIN_EVENTS:
            self._targets.forget(where)
        target = await self._targets.of(where)
        if is_news and kind in LEAVE_EVENTS:
            self._targets.forget(where)
        return target


def _in_words(streamed: StreamedEvent) -> StreamedEvent:
    return streamed if streamed.message is not None else StreamedEvent(event_in_words(streamed.event))


def _reason_to_end(wants: Wants, event: shapes.Event) -> str:
    """Why an event ends a follower's stream; empty if it does not."""
    caller = wants.caller
    match event.type:
        case "token.revoked":
            return "revoked" if caller.token and event.body.get("token") == caller.token else ""
        case "agent.renamed":
            return "renamed" if event.body.get("previous_name") == caller.name else ""
        case "conversation.left" if wants.where == event.conversation:
            return "left" if caller.standing is not Standing.OWNER and event.by == caller.name else ""
        case "conversation.deleted" if wants.where == event.conversation:
            return "deleted"
    return ""
