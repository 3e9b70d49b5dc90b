"""Answers as bytes, for doors that would only write them down again: the newest messages, and what happens.

Above: process/rpc.py, and the streams over HTTP. Below: tails.py keeps the newest messages as they were written once.
"""

from collections.abc import AsyncIterator, Sequence

from msgspec import Raw, Struct, json

from moot import shapes
from moot.hub.core import Core
from moot.hub.queries import event_stream
from moot.hub.tails import json_array
from moot.model.event import Event
from moot.ports import ConversationVersion

_encode = json.Encoder().encode


class EncodedEvent(Struct):
    """`shapes.Event`, its body written down before."""

    id: str | None
    type: str
    at: str | None
    conversation: str | None
    by: str | None
    body: Raw


class StreamedEvent(Struct, frozen=True):
    """An event, for whoever passes it on to many."""

    event: shapes.Event
    """Without a body where `message` is."""
    message: bytes | None = None
    """The message it is about, as JSON."""

    def to_json(self) -> bytes:
        event = self.event
        if self.message is None:
            return _encode(event)
        body = Raw(self.message)
        return _encode(EncodedEvent(event.id, event.type, event.at, event.conversation, event.by, body))


class StreamedPage(Struct, frozen=True):
    """A piece of what happened, and up to which event that is all there is."""

    events: list[StreamedEvent]
    reached: int


class Encoded:
    """The same methods as `Hub`'s, as one participant may call them; each answer is JSON."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def newest(self, conversation: str, limit: int = 50) -> Raw:
        lines = await self._core.tails.newest(conversation, limit)
        if lines is None:
            await self._core.directory.conversation(conversation)  # refuses, with names that come near
        return Raw(json_array(lines or []))

    async def newest_at(self, version: ConversationVersion, limit: int) -> bytes:
        """The same of a conversation that was looked at this moment."""
        return json_array(await self._core.tails.newest_at(version, limit))

    async def events(
        self,
        *,
        conversation: str | None = None,
        agent: str | None = None,
        types: Sequence[str] = (),
        after: str | int | None = None,
    ) -> AsyncIterator[Raw]:
        start = None if after is None else int(after)
        async for event in event_stream.occurrences(
            self._core, conversation=conversation, agent=agent, types=types, after=start
        ):
            yield Raw((await self._streamed(event)).to_json())

    async def stream(self, after: int) -> AsyncIterator[StreamedEvent]:
        """Everything that happens from an event on."""
        happens = event_stream.occurrences(self._core, conversation=None, agent=None, types=(), after=after)
        with self._core.tails.streamed():
            async for event in happens:
                yield await self._streamed(event)

    async def past(self, after: int) -> StreamedPage:
        """What has happened after an event, a page of it."""
        events, reached = await event_stream.page(self._core, after)
        return StreamedPage([await self._streamed(event) for event in events], reached)

    async def _streamed(self, event: Event) -> StreamedEvent:
        core = self._core
        if not (event.seq and event.conversation):
            return StreamedEvent(await event_stream.to_shape(core, event))
        line = await core.tails.message(event.conversation, event.seq)
        return StreamedEvent(shapes.Event.of(event, core.directory.name, {}), line or b"{}")
