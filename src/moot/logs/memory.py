"""The log in its plainest form: it keeps nothing, each follower reads the store from where it stood.

For the memory store and for tests, and the measure of the embedded log: one contract suite holds both.
"""

import asyncio
from collections.abc import Callable, Iterable

from moot.errors import MootError
from moot.logs.followers import Followers, Subscription, reset
from moot.model.event import Commit, Event
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.outbox import LogFigures
from moot.ports import EventReads

READ = 500


class MemoryLog:
    """`Log` over a store that is read at no cost."""

    refusal: MootError | None = None

    def __init__(self, events: EventReads) -> None:
        self._events = events
        self._followers = Followers()
        self._watchers: list[Callable[[list[Event]], None]] = []
        self._last = 0
        self._catching_up = asyncio.Lock()
        self._looks: set[asyncio.Task[None]] = set()

    @property
    def last(self) -> int:
        return self._last

    async def start(self) -> None:
        self._last = await self._events.last_event()

    def watch(self, watcher: Callable[[list[Event]], None]) -> None:
        self._watchers.append(watcher)

    def watch_records(self, watcher: Callable[[list[Event]], None]) -> None:
        """Its records are its events."""
        self.watch(watcher)

    def subscribe(self, after: int | None = None, conversation: ConversationId | None = None) -> Subscription:
        return self._followers.add(self, after, conversation)

    def committed(self, commit: Commit) -> None:
        """Read it, whoever wrote it."""
        if commit.events:
            look = asyncio.get_running_loop().create_task(self.catch_up())
            self._looks.add(look)
            look.add_done_callback(self._looks.discard)

    async def catch_up(self) -> None:
        async with self._catching_up:
            while True:
                events, reached = await self.read(self._last, None, await self._events.last_event())
                if reached <= self._last:
                    return
                self._last = reached
                if events:
                    for watcher in self._watchers:
                        watcher(events)
                    self._followers.wake(events)

    async def since(self, after: int, conversation: ConversationId | None) -> tuple[list[Event], int]:
        horizon = await self._events.horizon()
        if after < min(horizon, self._last):
            return [reset(horizon)], horizon
        return await self.read(after, conversation, self._last)

    async def read(
        self, after: int, conversation: ConversationId | None, end: int
    ) -> tuple[list[Event], int]:
        """A piece of what lies behind a position and not beyond `end`, and how far that reaches."""
        events = await self._events.events(after=after, conversation=conversation, limit=READ)
        reached = min(end, events[-1].id) if len(events) == READ else end
        return [event for event in events if event.id <= reached], max(after, reached)

    async def serve(self, host: HostId, agents: Iterable[ParticipantId], *, watches: bool) -> None:
        """Nothing to do: every commit arrives here by itself."""

    def live(self, event: Event) -> None:
        self._followers.live(event)

    def figures(self) -> LogFigures | None:
        return None

    async def close(self) -> None:
        for look in self._looks:
            look.cancel()
        await asyncio.gather(*self._looks, return_exceptions=True)
