"""Who follows a log: cursors over stored events, of all or of one conversation, with live events in their place.

Above: the logs, which say what lies behind a position (`since`) and wake who is concerned. A follower missed nothing
whatever happens to a wake-up, since it asks again from where it stood.
"""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator
from typing import Protocol

from moot.model.event import Event
from moot.model.ids import ConversationId
from moot.ports import RESET

MAX_LIVE = 512
"""Live events that wait for a slow follower; older ones are lost to it."""


class FollowedLog(Protocol):
    """The log as its followers see it."""

    @property
    def last(self) -> int: ...
    async def since(self, after: int, conversation: ConversationId | None) -> tuple[list[Event], int]:
        """What a follower was not handed yet, and up to which event that is all there is for it."""
        ...


class Subscription:
    """One reader's place in the log."""

    def __init__(
        self, source: FollowedLog, followers: "Followers", after: int, conversation: ConversationId | None
    ) -> None:
        self._source = source
        self._followers = followers
        self.after = after
        self.conversation = conversation
        self._live: deque[tuple[int, Event]] = deque(maxlen=MAX_LIVE)
        """Each with the newest stored event of its moment: it comes behind that one and before the next."""
        self._woken = asyncio.Event()

    def wake(self, live: Event | None = None) -> None:
        if live is not None:
            self._live.append((self._source.last, live))
        self._woken.set()

    async def __aiter__(self) -> AsyncGenerator[Event, None]:
        try:
            while True:
                self._woken.clear()
                events, reached = await self._source.since(self.after, self.conversation)
                for event in events:
                    while self._live and self._live[0][0] < event.id:
                        yield self._live.popleft()[1]
                    self.after = event.id or self.after
                    yield event
                self.after = max(self.after, reached)
                while self._live and self._live[0][0] <= self.after:
                    yield self._live.popleft()[1]
                if self.after >= self._source.last and not self._live:
                    await self._woken.wait()
        finally:
            self.close()

    def close(self) -> None:
        """Stop following."""
        self._followers.remove(self)


class Followers:
    """Those who follow now, by the conversation they follow; None for all."""

    def __init__(self) -> None:
        self._by_conversation: dict[ConversationId | None, set[Subscription]] = {}

    def __len__(self) -> int:
        return sum(map(len, self._by_conversation.values()))

    def add(
        self, source: FollowedLog, after: int | None, conversation: ConversationId | None
    ) -> Subscription:
        new = Subscription(source, self, source.last if after is None else after, conversation)
        self._by_conversation.setdefault(conversation, set()).add(new)
        return new

    def remove(self, subscription: Subscription) -> None:
        here = self._by_conversation.get(subscription.conversation, set())
        here.discard(subscription)
        if not here:
            self._by_conversation.pop(subscription.conversation, None)

    def wake(self, events: list[Event]) -> None:
        """Wake those who follow everything, and those who follow a conversation of these events."""
        for follower in self._concerned(events):
            follower.wake()

    def live(self, event: Event) -> None:
        for follower in self._concerned([event]):
            follower.wake(event)

    def _concerned(self, events: list[Event]) -> list[Subscription]:
        where = {None, *[event.conversation for event in events]}
        return [follower for one in where for follower in self._by_conversation.get(one, ())]


def reset(horizon: int) -> Event:
    """Reset followers that have read less than the log reaches back."""
    return Event(RESET, 0.0, body={"after": horizon})
