"""Records doubled, reordered and dropped, and relays that hand over: nobody loses or doubles a message."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import asyncpg
import pytest

from moot import Hub
from moot.flow import create, enrol, post
from moot.flow.enrol import Newcomer
from moot.hub.telemetry.vitals import vitals_of
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster
from moot.logs.kafka.outlet import Outlet
from moot.logs.kafka.places import Places
from moot.logs.kafka.relay import LEASE_SECONDS, Relay
from moot.model.ids import HostId, ParticipantId
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.ports import Page
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.testing import ManualClock
from tests.kafka.conftest import KafkaHome, homes_on_one_store
from tests.kafka.mutator import Mutator
from tests.kafka.test_records import answered, echo
from tests.support.beneath import store_of
from tests.support.kafka import broker, fresh_prefix
from tests.support.postgres import empty_database, server
from tests.support.processes import NIGHTLY
from tests.support.relaying import relayed
from tests.support.topics import SLOW, Topics, all_published, once, reading
from tests.support.waiting import until

USER = ParticipantId("user")
HAND_OVERS = 200 if NIGHTLY else 20
SEEDS = range(10 if NIGHTLY else 1)


@pytest.mark.req("K-15", "K-07")
@pytest.mark.parametrize("seed", SEEDS)
async def test_row_8_whatever_becomes_of_records_every_message_is_answered_once(
    any_home: KafkaHome, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    made: list[Mutator] = []

    def mutator(brokers: Brokers) -> Outlet:
        made.append(Mutator(brokers, seed))
        return made[-1]

    monkeypatch.setattr("moot.logs.kafka.log.Outlet", mutator)
    names = ["arya", "bob", "cersei"]
    async with any_home.hub(*map(echo, names)) as hub:
        rooms = [await hub.conversations.create(f"room-{name}", participants=[name]) for name in names]
        for _ in range(5):
            for room, name in zip(rooms, names, strict=True):
                await hub.post(room.id, f"@{name} and now?")
            await asyncio.gather(*(hub.settled(room.id, timeout=SLOW) for room in rooms))
        await all_published(hub)
        for room in rooms:
            said = await hub.messages(room.id)
            assert [message.seq for message in said] == list(range(1, 11))
            assert [message.kind for message in said] == ["human", "agent"] * 5
        used, _ = made  # the second is for topics that refuse
        assert min(used.doubled, used.moved, used.dropped) > 0
        for name in names:
            assert (await hub.inspector.replay(name)).equal
        await answered(hub, rooms[0].id, 10)


async def differing(hub: Hub, room: str) -> list[int]:
    """Messages that a view of this process has otherwise than the store."""
    views, store = vitals_of(hub).views, store_of(hub)
    assert views is not None
    conversation = await store.conversation(room)
    stored = await store.messages(conversation.id, Page(limit=1000))
    kept = await views.messages(conversation, 0, conversation.head)
    assert len(kept) == len(stored)
    return [one.seq for one, other in zip(kept, stored, strict=True) if one != other]


@pytest.mark.req("K-07")
@pytest.mark.parametrize("seed", SEEDS)
async def test_views_on_two_machines_are_the_stores_whatever_becomes_of_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr("moot.logs.kafka.log.Outlet", lambda brokers: Mutator(brokers, seed))
    homes = await homes_on_one_store(tmp_path, "one", "two")
    async with homes[0].hub(echo("arya")) as one, homes[1].hub(echo("bob")) as two:
        await reading(one, f"{homes[0].prefix}agent-arya")
        room = await one.conversations.create("room", participants=["arya", "bob"])
        for number in range(8):
            said = await (one, two)[number % 2].post(room.id, f"@arya @bob number {number}")
            await one.settled(room.id, timeout=SLOW)
            await (two, one)[number % 2].edit(said.id, f"@arya @bob edited {number}", version=1)
        await all_published(one)
        for hub in (one, two):
            views = vitals_of(hub).views
            assert views is not None
            assert len(views) == 1, "it has a view, and did not read the store for each turn"
            assert await differing(hub, room.id) == []

        async def noticed() -> int:
            views = [found for hub in (one, two) if (found := vitals_of(hub).views) is not None]
            return sum(found.counts.repeats + found.counts.gaps + found.counts.late for found in views)

        await until(noticed, bool, SLOW)
        for hub, name in ((one, "arya"), (two, "bob")):
            assert (await hub.inspector.replay(name)).equal


class Outbox:
    """A store on PostgreSQL whose outbox relays publish by hand, to topics of their own."""

    def __init__(self, store: PostgresStore, clock: ManualClock) -> None:
        self.store = store
        self.clock = clock
        self.prefix = fresh_prefix()
        self._brokers = Brokers(broker().address)
        self._cluster = Cluster(self._brokers)
        self._outlets: list[Outlet] = []
        self.rooms: list[str] = []

    async def begin(self, rooms: int) -> None:
        people = (Newcomer("user", Kind.HUMAN), Newcomer("arya", Kind.AGENT))
        await self.store.transact(enrol, enrol.Enrol(people))
        orders = [create.Create(USER, f"g{number}", ("arya",)) for number in range(rooms)]
        self.rooms = [str((await self.store.transact(create, order)).id) for order in orders]

    async def say(self, room: str, text: str) -> None:
        await self.store.transact(post, post.posting(USER, room, text))

    async def relay(self, host: str) -> Relay:
        self._outlets.append(Outlet(self._brokers))
        places = Places(self.store, self._cluster, self.prefix)
        instance = await self.store.instance()
        outlet = self._outlets[-1]
        return Relay(
            self.store, self.clock, outlet, places, trial=outlet, host=HostId(host), instance=instance
        )

    async def told(self) -> list[tuple[str, int]]:
        """Conversation and seq of everything that was said, as the topics have it."""
        records = await Topics(broker().address, self.prefix).records()
        return [(one["conversation_id"], one["seq"]) for _, one in records if one["action"] == "append"]

    async def close(self) -> None:
        for outlet in self._outlets:
            await outlet.close()
        self._cluster.close()
        await self.store.close()


@pytest.fixture
async def outbox() -> AsyncIterator[Outbox]:
    clock = ManualClock()
    source = Source(clock.now, Terms(), ConversationIds(clock.now), has_outbox=True)
    found = Outbox(await PostgresStore.open(address_of(await empty_database()), source), clock)
    yield found
    await found.close()


@pytest.mark.req("K-15")
async def test_row_7_relays_that_sleep_through_their_leases_hand_over_and_lose_nothing(
    outbox: Outbox,
) -> None:
    await outbox.begin(rooms=3)
    relays = [await outbox.relay("h1"), await outbox.relay("h2")]
    left = []
    for number in range(HAND_OVERS):
        holder, other = relays[number % 2], relays[(number + 1) % 2]
        for room in outbox.rooms:
            await outbox.say(room, f"number {number}")
        await holder.hold()
        asleep = holder.lease
        assert asleep is not None
        assert holder.is_held
        await holder.check()
        rows = await outbox.store.unpublished(100)
        topics = await holder._places.of({row.topic for row in rows})
        published = (await holder._publish(rows, topics, holder._outlet)).finished
        await outbox.clock.advance(LEASE_SECONDS + 1)  # it sleeps between its records and their mark
        await other.hold()
        assert other.is_held
        if number % 2:
            await relayed(other)
        await holder._mark(asleep, published, topics)  # it wakes up, and is refused
        left.append(len(await outbox.store.unpublished(100)))
    assert any(left), "the mark of one who slept counts for nothing"
    await outbox.clock.advance(LEASE_SECONDS + 1)
    while await relayed(relays[0]):
        pass
    assert await outbox.store.unpublished(1) == []
    first = list(dict.fromkeys(await outbox.told()))
    for room in outbox.rooms:
        assert [seq for where, seq in first if where == room] == list(range(1, HAND_OVERS + 1))


@pytest.mark.req("K-15")
async def test_row_15_a_row_that_becomes_visible_late_is_published_all_the_same(outbox: Outbox) -> None:
    await outbox.begin(rooms=2)
    early, late = outbox.rooms
    await outbox.say(early, "its transaction takes its time")
    relay = await outbox.relay("h1")
    connection = await asyncpg.connect(server().url())
    try:
        row = await connection.fetchrow("DELETE FROM moot.outbox WHERE seq = 1 RETURNING *")
        assert row is not None
        transaction = connection.transaction()
        await transaction.start()
        places = ", ".join(f"${number}" for number in range(1, len(row) + 1))
        await connection.execute(f"INSERT INTO moot.outbox VALUES ({places})", *row.values())
        await outbox.say(late, "and this one is visible first")
        await relayed(relay)
        assert await outbox.store.unpublished(1) == []
        assert once(await outbox.told()) == [(late, 1)]
        await transaction.commit()
    finally:
        await connection.close()
    await relayed(relay)
    assert once(await outbox.told()) == [(late, 1), (early, 1)]
