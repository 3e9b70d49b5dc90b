"""Answers as bytes, for doors that would only write them down again: the newest messages, and what happens.

Above: process/rpc.py. Below: tails.py keeps the newest messages as they were written down once.
"""

from collections.abc import AsyncIterator, Sequence

from msgspec import Raw, Struct, json

from moot.hub.core import Core
from moot.hub.queries import event_stream
from moot.hub.tails import listed
from moot.model.event import Event
from moot.shapes import when

_encode = json.Encoder().encode


class Written(Struct):
    """`shapes.Event`, its body written down before."""

    id: str | None
    type: str
    at: str | None
    conversation: str | None
    by: str | None
    body: Raw


class Encoded:
    """The same methods as `Hub`'s, as one participant may call them; each answer is JSON."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def newest(self, conversation: str, limit: int = 50) -> Raw:
        lines = await self._core.tails.newest(conversation, limit)
        if lines is None:
            await self._core.directory.conversation(conversation)  # refuses, with names that come near
        return Raw(listed(lines or []))

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
            yield await self._event(event)

    async def _event(self, event: Event) -> Raw:
        core = self._core
        if event.seq and event.conversation:
            body = await core.tails.message(event.conversation, event.seq) or b"{}"
        else:
            body = _encode((await event_stream.told(core, event)).body)
        by = core.directory.name(event.by) if event.by else None
        id = str(event.id) if event.id else None
        return Raw(_encode(Written(id, event.type, when(event.at), event.conversation, by, Raw(body))))
