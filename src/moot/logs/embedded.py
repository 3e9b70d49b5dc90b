"""The embedded log: readers of the stored events, woken by commits of this process and by hints from others.

Recent events are kept at hand, so that following costs no reads; who follows one conversation is neither woken by
the others nor looks at what happened there. Live events (deltas) ride along, unstored. Below: followers.py.
"""

import asyncio
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress

from moot.errors import MootError, Trouble
from moot.logs.followers import Followers, Subscription, reset
from moot.model.event import Commit, Event
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.outbox import LogFigures
from moot.ports import EventReads

RECENT = 4096
"""Events kept at hand, at least; followers that are further behind read the store."""
READ = 500


class EmbeddedLog:
    """`Log` over the events of a store, for a process that commits much and reads little."""

    refusal: MootError | None = None

    def __init__(self, events: EventReads) -> None:
        self._events = events
        self._recent: list[Event] = []
        self._recent_after = 0
        """The position behind which all that happened is in `_recent`."""
        self._recent_of: dict[ConversationId | None, list[Event]] = defaultdict(list)
        """The same, by conversation."""
        self._followers = Followers()
        self._watchers: list[Callable[[list[Event]], None]] = []
        self._last = 0
        self._catching_up = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()
        self._to_look = False

    @property
    def last(self) -> int:
        """Newest event this process knows of; all that are smaller can be read."""
        return self._last

    async def start(self) -> None:
        self._last = self._recent_after = await self._events.last_event()

    def watch(self, watcher: Callable[[list[Event]], None]) -> None:
        """Called in order with every stored event, from whichever process."""
        self._watchers.append(watcher)

    def committed(self, commit: Commit) -> None:
        """This process committed; where others may have in between, what they stored is fetched first."""
        if not commit.events:
            return
        if commit.follows == self._last:
            self._take_in(commit.events)
        else:
            self.hinted()

    def hinted(self) -> None:
        """A hint that the log has grown: look soon. Hints that come before the next look count as one."""
        if self._to_look:
            return
        self._to_look = True
        task = asyncio.get_running_loop().create_task(self._look())
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _look(self) -> None:
        self._to_look = False
        with suppress(Trouble):  # a store out of reach is looked at again by the sweep, and when it is back
            await self.catch_up()

    def figures(self) -> LogFigures | None:
        return None

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def catch_up(self) -> None:
        """Read what other processes stored. Safe to call at any time."""
        async with self._catching_up:
            while self._last < (end := await self._events.last_event()):
                events = await self._events.events(after=self._last, limit=READ)
                fresh = [event for event in events if self._last < event.id <= end]
                if not fresh or fresh[0].id > self._last + 1:
                    await self._skip_forgotten()
                    fresh = [
                        event for event in fresh if event.id > self._last
                    ]  # some may have come in meanwhile
                if not fresh:
                    return  # the ids between were given to nobody, or taken in meanwhile
                self._take_in(fresh)

    async def _skip_forgotten(self) -> None:
        """Where events were forgotten before they were taken in, what is kept at hand has a hole: begin anew."""
        horizon = await self._events.horizon()
        if horizon > self._last:
            self._recent.clear()
            self._recent_of.clear()
            self._last = self._recent_after = horizon

    async def serve(self, host: HostId, agents: Iterable[ParticipantId], *, watches: bool) -> None:
        """Nothing to do: every commit of this process arrives here by itself."""

    def live(self, event: Event) -> None:
        self._followers.live(event)

    def _take_in(self, events: list[Event]) -> None:
        self._keep(events)
        self._last = events[-1].id
        for watcher in self._watchers:
            watcher(events)
        self._followers.wake(events)

    def _keep(self, events: list[Event]) -> None:
        self._recent += events
        if len(self._recent) > 2 * RECENT:
            self._recent_after = self._recent[-RECENT - 1].id
            del self._recent[:-RECENT]
            self._recent_of.clear()
            events = self._recent
        for event in events:
            self._recent_of[event.conversation].append(event)

    async def since(self, after: int, conversation: ConversationId | None) -> tuple[list[Event], int]:
        """What a follower was not handed yet, and up to which event that is all there is for it."""
        last = self._last
        if after >= last:
            return [], after
        if self._recent_after <= after:
            recent = self._recent if conversation is None else self._recent_of.get(conversation, [])
            return recent[bisect_right(recent, after, key=lambda event: event.id) :], last
        horizon = await self._events.horizon()
        if after < horizon:
            return [reset(horizon)], horizon
        events = await self._events.events(after=after, conversation=conversation, limit=READ)
        if len(events) == READ:
            last = min(last, events[-1].id)
        # The store may hold more by now. Nobody is told of that before the watchers, nor ahead of what is live.
        return [event for event in events if event.id <= last], last

    def watch_records(self, watcher: Callable[[list[Event]], None]) -> None:
        """Its records are its events."""
        self.watch(watcher)

    def subscribe(self, after: int | None = None, conversation: ConversationId | None = None) -> Subscription:
        return self._followers.add(self, after, conversation)
