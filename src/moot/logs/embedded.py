"""The embedded log: readers of the stored events, woken by commits of this process and by hints from others.

A subscription is a cursor over the store's events, of all or of one conversation, so nothing is missed, whatever
happens to a wake-up. Recent events are kept at hand, so that following costs no reads; who follows one conversation
is neither woken by the others nor looks at what happened there. Live-only events (deltas) ride along, unstored.
"""

import asyncio
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import AsyncIterator, Callable

from moot.model.event import Event, EventType
from moot.model.ids import ConversationId
from moot.ports import Events

RECENT = 4096
"""Events kept at hand, at least; followers that are further behind read the store."""
MOST_LIVE = 512
READ = 500
RESET = EventType.RESET
"""Told to who has read less far than the log reaches back: what lies between is gone, begin anew from here."""


class Subscription:
    """One reader's place in the log."""

    def __init__(self, log: "EmbeddedLog", after: int, conversation: ConversationId | None) -> None:
        self._log = log
        self.after = after
        self.conversation = conversation
        self._live: deque[tuple[int, Event]] = deque(maxlen=MOST_LIVE)
        """Each with the newest stored event of its moment: it is told behind that one and before the next."""
        self._woken = asyncio.Event()

    def wake(self, live: Event | None = None) -> None:
        if live is not None:
            self._live.append((self._log.last, live))
        self._woken.set()

    async def __aiter__(self) -> AsyncIterator[Event]:
        try:
            while True:
                self._woken.clear()
                events, reached = await self._log.since(self.after, self.conversation)
                for event in events:
                    while self._live and self._live[0][0] < event.id:
                        yield self._live.popleft()[1]
                    self.after = event.id or self.after
                    yield event
                self.after = max(self.after, reached)
                while self._live and self._live[0][0] <= self.after:
                    yield self._live.popleft()[1]
                if self.after >= self._log.last and not self._live:
                    await self._woken.wait()
        finally:
            self.close()

    def close(self) -> None:
        """Nobody follows here any more."""
        self._log.forget(self)


class EmbeddedLog:
    def __init__(self, events: Events) -> None:
        self._events = events
        self._recent: list[Event] = []
        self._recent_of: dict[ConversationId | None, list[Event]] = defaultdict(list)
        """The same, by conversation."""
        self._subscriptions: dict[ConversationId | None, set[Subscription]] = {}
        """By the conversation they follow; None for all."""
        self._watchers: list[Callable[[list[Event]], None]] = []
        self.last = 0
        """Newest event this process knows of."""
        self._catching_up = asyncio.Lock()
        self._tasks: set[asyncio.Task[None]] = set()

    async def start(self) -> None:
        self.last = await self._events.last_event()

    def watch(self, watcher: Callable[[list[Event]], None]) -> None:
        """Called in order with every stored event, from whichever process."""
        self._watchers.append(watcher)

    def committed(self, events: list[Event]) -> None:
        """This process committed; if another one did in between, what it told is fetched first."""
        if events and events[0].id == self.last + 1:
            self._tell(events)
        else:
            task = asyncio.get_running_loop().create_task(self.catch_up())
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def catch_up(self) -> None:
        """Read what other processes told. Safe to call at any time."""
        async with self._catching_up:
            while events := await self._events.events(after=self.last, limit=READ):
                self._tell([event for event in events if event.id > self.last])

    def live(self, event: Event) -> None:
        for subscription in self._followers([event]):
            subscription.wake(event)

    def _tell(self, events: list[Event]) -> None:
        if not events:
            return
        self._keep(events)
        self.last = events[-1].id
        for watcher in self._watchers:
            watcher(events)
        for subscription in self._followers(events):
            subscription.wake()

    def _keep(self, events: list[Event]) -> None:
        self._recent += events
        if len(self._recent) > 2 * RECENT:
            del self._recent[:-RECENT]
            self._recent_of.clear()
            events = self._recent
        for event in events:
            self._recent_of[event.conversation].append(event)

    def _followers(self, events: list[Event]) -> list[Subscription]:
        """Those who follow everything, and those who follow a conversation of these events."""
        told = {None, *[event.conversation for event in events]}
        return [follower for where in told for follower in self._subscriptions.get(where, ())]

    async def since(self, after: int, conversation: ConversationId | None) -> tuple[list[Event], int]:
        """What a follower was not told yet, and up to which event that is all there is for it."""
        last = self.last
        if after >= last:
            return [], after
        if self._recent and self._recent[0].id <= after + 1:
            recent = self._recent if conversation is None else self._recent_of.get(conversation, [])
            return recent[bisect_right(recent, after, key=lambda event: event.id) :], last
        horizon = await self._events.horizon()
        if after < horizon:
            return [Event(RESET, 0.0, body={"after": horizon})], horizon
        events = await self._events.events(after=after, conversation=conversation, limit=READ)
        if len(events) == READ:
            last = min(last, events[-1].id)
        # The store may hold more by now. Nobody is told of that before the watchers, nor ahead of what is live.
        return [event for event in events if event.id <= last], last

    def subscribe(self, after: int | None = None, conversation: ConversationId | None = None) -> Subscription:
        subscription = Subscription(self, self.last if after is None else after, conversation)
        self._subscriptions.setdefault(conversation, set()).add(subscription)
        return subscription

    def forget(self, subscription: Subscription) -> None:
        followers = self._subscriptions.get(subscription.conversation, set())
        followers.discard(subscription)
        if not followers:
            self._subscriptions.pop(subscription.conversation, None)
