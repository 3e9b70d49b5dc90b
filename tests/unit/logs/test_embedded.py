"""Following the log: all of it, or one conversation without being woken by the others."""

import asyncio
from collections.abc import Sequence
from contextlib import aclosing

from moot.logs.embedded import RECENT, EmbeddedLog
from moot.logs.followers import Subscription
from moot.model.event import Commit, Event, EventType
from moot.model.ids import ConversationId
from tests.support.waiting import PATIENCE

HERE, THERE = ConversationId("here"), ConversationId("there")


class Kept:
    """The events of a store; counts how often it was read."""

    def __init__(self) -> None:
        self.events_: list[Event] = []
        self.reads = 0
        self.forgotten = 0

    def add(self, *where: ConversationId) -> Commit:
        first = len(self.events_) + 1
        new = [
            Event(type=EventType.MESSAGE_POSTED, at=0.0, conversation=one, id=first + n)
            for n, one in enumerate(where)
        ]
        self.events_ += new
        return Commit(new, follows=first - 1)

    async def events(
        self,
        *,
        after: int,
        conversation: ConversationId | None = None,
        types: Sequence[str] = (),
        limit: int = 500,
    ) -> list[Event]:
        self.reads += 1
        return [
            e
            for e in self.events_
            if e.id > after and (conversation is None or e.conversation == conversation)
        ][:limit]

    async def last_event(self) -> int:
        return len(self.events_)

    async def horizon(self) -> int:
        return self.forgotten


async def told(subscription: Subscription, count: int) -> list[int]:
    """The ids of the next events a follower is told."""
    ids: list[int] = []
    async with asyncio.timeout(PATIENCE), aclosing(aiter(subscription)) as events:
        while len(ids) < count:
            ids.append((await anext(events)).id)
    return ids


async def test_who_follows_one_conversation_is_told_of_it_alone_and_in_order() -> None:
    kept = Kept()
    log = EmbeddedLog(kept)
    follower, everything = log.subscribe(conversation=HERE), log.subscribe()
    log.committed(kept.add(HERE, THERE, HERE))
    log.committed(kept.add(THERE, HERE))
    assert await told(follower, 3) == [1, 3, 5]
    assert await told(everything, 5) == [1, 2, 3, 4, 5]
    assert kept.reads == 0


async def test_who_follows_one_conversation_is_not_woken_by_another() -> None:
    kept = Kept()
    log = EmbeddedLog(kept)
    follower = log.subscribe(conversation=HERE)
    log.committed(kept.add(THERE))
    log.live(Event(type=EventType.TURN_DELTA, at=0.0, conversation=THERE))
    assert not follower._woken.is_set()
    log.committed(kept.add(HERE))
    assert follower._woken.is_set()


async def test_who_is_far_behind_reads_its_own_conversation_from_the_store() -> None:
    kept = Kept()
    kept.add(HERE, THERE, HERE)
    log = EmbeddedLog(kept)
    await log.start()
    assert await told(log.subscribe(after=0, conversation=HERE), 2) == [1, 3]
    assert kept.reads == 1


async def test_what_is_kept_at_hand_stays_bounded_and_nothing_is_missed() -> None:
    kept = Kept()
    log = EmbeddedLog(kept)
    follower = log.subscribe(conversation=HERE)
    log.committed(kept.add(HERE))
    for _ in range(5):
        log.committed(kept.add(*[THERE] * (RECENT // 2)))
    log.committed(kept.add(HERE))
    assert await told(follower, 2) == [1, len(kept.events_)]
    assert sum(map(len, log._recent_of.values())) == len(log._recent) <= 2 * RECENT


async def test_a_live_event_comes_behind_what_was_stored_before_it() -> None:
    kept = Kept()
    log = EmbeddedLog(kept)
    follower = log.subscribe(conversation=HERE)
    log.committed(kept.add(HERE, THERE))
    log.live(Event(type=EventType.TURN_DELTA, at=0.0, conversation=HERE))
    log.committed(kept.add(HERE))
    assert await told(follower, 3) == [1, 0, 3]


async def test_who_is_behind_what_is_kept_is_reset_once_and_goes_on() -> None:
    kept = Kept()
    kept.add(HERE, HERE, HERE, HERE)
    kept.forgotten = 2
    kept.events_ = kept.events_[2:]
    log = EmbeddedLog(kept)
    log._last = 4
    log._recent_after = 4
    seen: list[Event] = []
    async for event in log.subscribe(after=1):
        seen.append(event)
        if event.id == log.last:
            break
    assert [(event.type, event.id) for event in seen[1:]] == [("message.posted", 3), ("message.posted", 4)]
    assert (seen[0].type, seen[0].body) == ("reset", {"after": 2})


async def test_nobody_is_handed_what_this_log_has_not_taken_in_yet() -> None:
    kept = Kept()
    kept.add(HERE, HERE)
    log = EmbeddedLog(kept)
    await log.start()
    watched: list[int] = []
    log.watch(lambda events: watched.extend(event.id for event in events))
    kept.add(THERE, HERE)  # by another process, which nobody has told us of
    assert [event.id for event in (await log.since(0, HERE))[0]] == [1, 2]
    assert (await log.since(0, None))[1] == log.last == 2
    follower = log.subscribe(after=0, conversation=HERE)
    log.live(Event(type=EventType.TURN_DELTA, at=0.0, conversation=HERE))
    assert await told(follower, 3) == [1, 2, 0]
    assert watched == []
    await log.catch_up()
    assert watched == [3, 4]
    assert await told(log.subscribe(after=follower.after, conversation=HERE), 1) == [4]


async def test_following_costs_no_reads_though_ids_have_gaps() -> None:
    kept = Kept()
    log = EmbeddedLog(kept)
    follower = log.subscribe(conversation=HERE)
    log.committed(
        Commit(
            [
                Event(EventType.MESSAGE_POSTED, 0.0, HERE, id=5),
                Event(EventType.MESSAGE_POSTED, 0.0, HERE, id=9),
            ],
            [],
            0,
        )
    )
    log.committed(Commit([Event(EventType.MESSAGE_POSTED, 0.0, HERE, id=20)], [], 9))
    assert await told(follower, 3) == [5, 9, 20]
    assert await told(log.subscribe(after=7, conversation=HERE), 2) == [9, 20]
    assert kept.reads == 0


async def test_what_this_process_stores_while_it_reads_is_handed_out_once() -> None:
    """Between numbers that nobody has, it looks whether events were forgotten: meanwhile the same may come anyway."""

    class Meanwhile(Kept):
        async def last_event(self) -> int:
            return self.events_[-1].id

        async def horizon(self) -> int:
            log.committed(Commit(self.events_[:1], follows=0))
            return 0

    kept = Meanwhile()
    log = EmbeddedLog(kept)
    heard: list[int] = []
    log.watch(lambda events: heard.extend(event.id for event in events))
    kept.events_ = [Event(type=EventType.MESSAGE_POSTED, at=0.0, conversation=HERE, id=n) for n in (5, 9)]
    await log.catch_up()
    assert heard == [5, 9]
