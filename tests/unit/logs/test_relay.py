"""The relay over a store in memory: what is published leaves the outbox, once, whoever publishes and whatever fails."""

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import suppress

import pytest
from msgspec import json

from moot.flow import create, enrol, hold_relay, post, restate, stop_topic
from moot.flow.enrol import Newcomer
from moot.logs.kafka import relay as relay_module
from moot.logs.kafka.cluster import Answers, KafkaOutOfReach, Topic
from moot.logs.kafka.outlet import NotTaken
from moot.logs.kafka.places import Places
from moot.logs.kafka.record import Envelope
from moot.logs.kafka.relay import (
    ASIDE_SECONDS,
    GIVE_UP_SECONDS,
    LEASE_SECONDS,
    RENEW_SECONDS,
    STAND_BY_SECONDS,
    STOPPED_CHECK_SECONDS,
    Relay,
)
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.model.records.outbox import OutboxRow
from moot.model.records.relay import RELAYS
from moot.model.records.topic import TOPIC_TROUBLES, TopicTroubleKind
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.testing import ManualClock, MemoryStore
from tests.support.relaying import relayed
from tests.support.waiting import PATIENCE, until

USER = ParticipantId("user")


class Brokers:
    """In place of a cluster and of a producer: takes what it is told to take."""

    def __init__(self) -> None:
        self.published: list[tuple[str, str, bytes]] = []
        self.refuses: set[int] = set()
        """Which of the next batch are not acknowledged."""
        self.names: set[str] = set()
        self.identity = "A"
        self.repartitioned: dict[str, int] = {}
        self.lying: dict[str, list[Envelope]] = {}
        """What the newest records of topics are."""
        self.silent: set[str] = set()
        """Topics whose leader does not answer."""
        self.leaderless: set[str] = set()
        self.forbidden: dict[str, str] = {}
        """Topics that brokers neither let be made nor described, each with their reason."""
        self.full: dict[str, str] = {}
        """Topics whose records brokers refuse."""
        self.busy = asyncio.Event()
        self.free = asyncio.Event()
        self.free.set()

    async def publish(self, records: Sequence[tuple[str, str, bytes]]) -> list[NotTaken | None]:
        self.busy.set()
        await self.free.wait()
        refuses, self.refuses = self.refuses, set()
        self.published += records
        return [self._answer(topic, is_taken=n not in refuses) for n, (topic, _, _) in enumerate(records)]

    def _answer(self, topic: str, *, is_taken: bool) -> NotTaken | None:
        if topic in self.full:
            return NotTaken(self.full[topic], is_refused=True)
        return None if is_taken and topic not in self.silent | self.leaderless else NotTaken()

    async def make_topics(self, names: Iterable[str]) -> Answers[Topic]:
        wanted = list(names)
        self.names.update(name for name in wanted if name not in self.forbidden)
        return await self.topics(wanted)

    async def topics(self, names: Iterable[str]) -> Answers[Topic]:
        asked = list(names)
        found = {
            name: Topic(name, self.identity, self.repartitioned.get(name, 1), name not in self.leaderless)
            for name in asked
            if name in self.names and name not in self.forbidden
        }
        return Answers(found, {name: self.forbidden[name] for name in asked if name in self.forbidden})

    async def newest(self, topics: Iterable[Topic]) -> Answers[list[Envelope]]:
        asked = [one.name for one in topics if one.name not in self.silent | self.leaderless]
        return Answers({name: self.lying.get(name, []) for name in asked}, {})

    async def close(self) -> None: ...

    @property
    def told(self) -> list[tuple[str, int]]:
        found = [json.decode(value) for _, _, value in self.published]
        return [(one["action"], one["seq"]) for one in found]


class Stage:
    def __init__(self) -> None:
        self.clock = ManualClock()
        source = Source(self.clock.now, Terms(), ConversationIds(self.clock.now))
        source.has_outbox = True
        self.store = MemoryStore(source)
        self.brokers = Brokers()

    def relay(self, host: str, prefix: str = "", brokers: Brokers | None = None) -> Relay:
        used: object = brokers or self.brokers
        places = Places(self.store, used, prefix)  # type: ignore[arg-type]
        return Relay(self.store, self.clock, used, places, trial=used, host=HostId(host), instance="i1")  # type: ignore[arg-type]

    async def begin(self) -> str:
        people = (Newcomer("user", Kind.HUMAN), Newcomer("arya", Kind.AGENT), Newcomer("bob", Kind.AGENT))
        await self.store.transact(enrol, enrol.Enrol(people))
        order = create.Create(USER, "g", ("arya", "bob"))
        made = await self.store.transact(create, order)
        return str(made.id)

    async def remaining(self) -> float:
        """Seconds that the lease has yet."""
        [held] = await self.store.records(RELAYS.all())
        return held.until - self.clock.now()

    async def say(self, where: str, text: str) -> None:
        await self.store.transact(post, post.posting(USER, where, text))


@pytest.fixture
def stage() -> Stage:
    return Stage()


@pytest.mark.req("K-15")
async def test_what_is_committed_is_published_in_order_on_the_topic_of_its_home(stage: Stage) -> None:
    where = await stage.begin()
    await stage.say(where, "one")
    await stage.say(where, "two")
    await relayed(stage.relay("h1"))
    home = [one for one in stage.brokers.published if one[0] == "agent-arya"]
    assert [json.decode(value)["action"] for _, _, value in home] == ["create", "append", "append"]
    assert {key for _, key, _ in home} == {where}
    assert b"one" not in b"".join(value for _, _, value in home)
    assert await stage.store.unpublished(10) == []


async def test_who_comes_into_a_conversation_hears_of_it_on_its_own_topic(stage: Stage) -> None:
    await stage.begin()
    await relayed(stage.relay("h1"))
    [pointer] = [json.decode(value) for topic, _, value in stage.brokers.published if topic == "agent-bob"]
    assert pointer["action"] == "conversation.joined"


@pytest.mark.req("K-15")
async def test_what_was_not_acknowledged_stays_and_so_does_what_follows_it(stage: Stage) -> None:
    where = await stage.begin()
    await stage.say(where, "one")
    await stage.say(where, "two")
    rows = await stage.store.unpublished(10)
    stage.brokers.refuses = {n for n, row in enumerate(rows) if row.seq == 1}
    relay = stage.relay("h1")
    with pytest.raises(KafkaOutOfReach):
        await relayed(relay)
    assert [row.seq for row in await stage.store.unpublished(10)] == [1, 2]
    await stage.clock.advance(ASIDE_SECONDS)
    await relayed(relay)
    assert stage.brokers.told[-2:] == [("append", 1), ("append", 2)]
    assert await stage.store.unpublished(10) == []


async def test_one_publishes_and_the_others_stand_by_until_its_lease_has_ended(stage: Stage) -> None:
    where = await stage.begin()
    first, second = stage.relay("h1"), stage.relay("h2")
    await relayed(first)
    await stage.say(where, "one")
    published = len(stage.brokers.published)
    assert not await relayed(second)
    assert len(stage.brokers.published) == published
    await stage.clock.advance(LEASE_SECONDS + 1)
    await relayed(second)
    assert stage.brokers.told[-1] == ("append", 1)


@pytest.mark.req("K-15")
async def test_a_relay_that_slept_through_its_lease_marks_nothing(stage: Stage) -> None:
    where = await stage.begin()
    first = stage.relay("h1")
    await relayed(first)
    await stage.say(where, "one")
    asleep = first.lease
    assert asleep is not None
    await stage.clock.advance(LEASE_SECONDS + 1)
    other = await stage.store.transact(hold_relay, hold_relay.HoldRelay(HostId("h2"), LEASE_SECONDS))
    assert other.fence == asleep.fence + 1
    rows = await stage.store.unpublished(10)
    await first._mark(asleep, rows, first._places.topics)
    assert await stage.store.unpublished(10) == rows


async def test_a_topic_that_was_lost_is_made_again_and_what_waits_is_published(stage: Stage) -> None:
    where = await stage.begin()
    relay = stage.relay("h1")
    await relayed(relay)
    stage.brokers.names.clear()
    stage.brokers.identity = "B"
    await stage.say(where, "one")
    stage.brokers.refuses = {0}
    with pytest.raises(KafkaOutOfReach):
        await relayed(relay)
    await stage.clock.advance(ASIDE_SECONDS)
    await relayed(relay)
    assert stage.brokers.names >= {"agent-arya"}
    assert await stage.store.unpublished(10) == []


def envelope(instance: str, where: str = "c", seq: int = 1, event: int = 0) -> Envelope:
    node = f"{where}:{seq}"
    return Envelope(
        "1.0.0", where, "user", "", where, node, "append", seq=seq, instance=instance, event=event
    )


@pytest.mark.req("K-15")
async def test_row_18_a_topic_that_another_home_writes_to_stops_its_own_agent_and_nobody_else(
    stage: Stage,
) -> None:
    await stage.begin()
    stage.brokers.names.add("agent-arya")
    stage.brokers.lying = {"agent-arya": [envelope("another")]}
    relay = stage.relay("h1")
    await relayed(relay)
    assert {topic for topic, _, _ in stage.brokers.published} == {"agent-bob"}
    assert {row.topic for row in await stage.store.unpublished(10)} == {"arya"}
    [trouble] = relay._places.stopped.values()
    assert (trouble.agent, trouble.topic, trouble.kind) == ("arya", "agent-arya", TopicTroubleKind.TAKEN)
    stage.brokers.lying = {"agent-arya": [envelope(await stage.store.instance())]}
    await stage.clock.advance(STOPPED_CHECK_SECONDS + 1)
    await relayed(relay)
    assert await stage.store.unpublished(10) == []
    assert relay._places.stopped == {}


async def test_more_waiting_for_a_stopped_agent_than_is_read_at_once_keeps_nobody_waiting(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "AT_ONCE", 3)
    where = await stage.begin()
    stage.brokers.names.add("agent-arya")
    stage.brokers.lying = {"agent-arya": [envelope("another")]}
    for number in range(5):
        await stage.say(where, str(number))
    his = await stage.store.transact(create, create.Create(USER, "his", ("bob",)))
    relay = stage.relay("h1")
    while await relayed(relay):
        pass
    await stage.say(his.id, "for bob")
    await relayed(relay)
    assert ("append", 1) in stage.brokers.told
    assert {topic for topic, _, _ in stage.brokers.published} == {"agent-bob"}


@pytest.mark.req("K-15")
async def test_row_17_a_store_that_was_set_back_goes_on_in_a_new_epoch(stage: Stage) -> None:
    where = await stage.begin()
    await relayed(stage.relay("h1"))
    stage.brokers.lying = {"agent-arya": [envelope(await stage.store.instance(), where, 99)]}
    await stage.clock.advance(LEASE_SECONDS + 1)
    await stage.say(where, "after the backup")
    await relayed(stage.relay("h2"))
    assert stage.brokers.published[-1][0] == "agent-arya-e2"
    assert stage.brokers.told[-1] == ("append", 1)


@pytest.mark.req("K-15")
@pytest.mark.parametrize(("ahead", "topic"), [(1, "agent-arya-e2"), (0, "agent-arya")])
async def test_row_17_a_store_without_the_newest_conversation_was_set_back_if_it_has_not_come_so_far(
    stage: Stage, ahead: int, topic: str
) -> None:
    where = await stage.begin()
    await stage.say(where, "before")
    await relayed(stage.relay("h1"))
    event = await stage.store.last_event() + ahead
    stage.brokers.lying = {"agent-arya": [envelope(await stage.store.instance(), "c-gone", 1, event)]}
    await stage.clock.advance(LEASE_SECONDS + 1)
    relay = stage.relay("h2")
    await relay.hold()
    await relay.check()
    await stage.say(where, "after the backup")
    await relay.publish()
    assert stage.brokers.published[-1][0] == topic


async def test_a_prefix_that_was_set_later_gives_every_topic_its_new_name(stage: Stage) -> None:
    where = await stage.begin()
    await relayed(stage.relay("h1"))
    await stage.clock.advance(LEASE_SECONDS + 1)
    await stage.say(where, "under another name")
    await relayed(stage.relay("h2", prefix="team-a."))
    assert stage.brokers.published[-1][0] == "team-a.agent-arya-e2"


@pytest.mark.req("K-15")
async def test_row_20_partitions_that_were_changed_by_hand_stop_that_agent_until_a_new_epoch(
    stage: Stage,
) -> None:
    where = await stage.begin()
    his = await stage.store.transact(create, create.Create(USER, "his", ("bob",)))
    await relayed(stage.relay("h1"))
    stage.brokers.repartitioned = {"agent-arya": 3}
    await stage.say(where, "one")
    await stage.say(his.id, "two")
    await stage.clock.advance(LEASE_SECONDS + 1)
    relay = stage.relay("h2")
    await relayed(relay)
    assert {row.topic for row in await stage.store.unpublished(10)} == {"arya"}
    assert relay._places.stopped[ParticipantId("arya")].kind is TopicTroubleKind.REPARTITIONED
    await relay._places.begin_epoch([ParticipantId("arya")])
    await relayed(relay)
    assert await stage.store.unpublished(10) == []


async def test_a_topic_that_does_not_answer_keeps_its_own_records_back_and_nobody_elses(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relay_module, "AT_ONCE", 3)
    where = await stage.begin()
    relay = stage.relay("h1")
    while await relayed(relay):
        pass
    stage.brokers.silent = {"agent-arya"}
    for n in range(4):
        await stage.say(where, str(n))
    theirs = await stage.store.transact(create, create.Create(USER, "of bob", ("bob",)))
    await stage.say(str(theirs.id), "for bob")
    with pytest.raises(KafkaOutOfReach, match="3 of 3 records"):
        await relay.publish()
    await relay.publish()
    assert {row.topic for row in await stage.store.unpublished(10)} == {"arya"}
    with pytest.raises(KafkaOutOfReach, match="agent-arya"):
        await relay.check()
    stage.brokers.silent = set()
    await stage.clock.advance(ASIDE_SECONDS)
    while await relayed(relay):
        pass
    assert await stage.store.unpublished(10) == []
    of_arya = [
        json.decode(value)["seq"] for topic, _, value in stage.brokers.published if topic == "agent-arya"
    ]
    assert of_arya[-4:] == [1, 2, 3, 4]


async def test_a_topic_that_does_not_answer_at_the_start_is_waited_for_alone(stage: Stage) -> None:
    where = await stage.begin()
    await relayed(stage.relay("h1"))
    await stage.clock.advance(LEASE_SECONDS)
    stage.brokers.silent = {"agent-arya"}
    await stage.say(where, "one")
    theirs = await stage.store.transact(create, create.Create(USER, "of bob", ("bob",)))
    relay = stage.relay("h2")
    with pytest.raises(KafkaOutOfReach, match="agent-arya"):
        await relayed(relay)
    await relay.publish()
    assert stage.brokers.published[-1][1] == theirs.id
    assert {row.topic for row in await stage.store.unpublished(10)} == {"arya"}


@pytest.mark.req("K-15")
async def test_the_lease_is_renewed_while_brokers_take_their_time(stage: Stage) -> None:
    """Brokers answer after up to ten seconds, twice as long as a lease: nobody else may take it meanwhile, else two
    relays hand it to and fro and mark nothing."""
    await stage.begin()
    stage.brokers.free.clear()
    first = stage.relay("h1")
    running = asyncio.create_task(first.run())
    try:
        async with asyncio.timeout(PATIENCE):
            await stage.brokers.busy.wait()
        await stage.clock.advance(LEASE_SECONDS - 0.1)
        await until(stage.remaining, lambda seconds: seconds > LEASE_SECONDS - 1)
        await stage.clock.advance(LEASE_SECONDS - 0.1)
        await stage.relay("h2").hold()
        stage.brokers.free.set()
        await until(lambda: stage.store.unpublished(1), lambda rows: not rows)
    finally:
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
    assert first.lease is not None
    assert first.lease.fence == 1


@pytest.mark.req("K-15")
async def test_what_went_to_a_topic_that_was_left_behind_meanwhile_is_told_again_on_the_new_one(
    stage: Stage,
) -> None:
    """`moot kafka rebuild` beside a hub that publishes."""
    where = await stage.begin()
    relay = stage.relay("h1")
    await relayed(relay)
    brokers: object = stage.brokers
    beside = Places(stage.store, brokers, "")  # type: ignore[arg-type]
    await beside.begin_epoch([ParticipantId("arya")])
    again = OutboxRow(0, ParticipantId("arya"), f"{where}:0", ConversationId(where), "create", USER, 1.0)
    await stage.store.transact(restate, restate.Restate((again,)))
    await relay.publish()
    assert stage.brokers.published[-1][0] == "agent-arya"
    assert await stage.store.unpublished(10) == [again]
    await relayed(relay)
    assert stage.brokers.published[-1][0] == "agent-arya-e2"
    assert await stage.store.unpublished(10) == []


async def hold_for(stage: Stage, relays: Sequence[Relay], seconds: float) -> None:
    """As its loop would: each renews, and tries to publish and to find its topics as they should be."""
    for _ in range(int(seconds / RENEW_SECONDS) + 1):
        for one in relays:
            await one.hold()
            for step in (one.check, one.publish):
                with suppress(KafkaOutOfReach):
                    await step()
        await stage.clock.advance(RENEW_SECONDS)


@pytest.mark.req("K-15")
async def test_a_relay_that_reaches_no_broker_leaves_the_lease_to_one_that_does(stage: Stage) -> None:
    where = await stage.begin()
    cut_off = Brokers()
    cut_off.silent = {"agent-arya", "agent-bob", "human-user"}
    lonely, other = stage.relay("h1", brokers=cut_off), stage.relay("h2")
    await lonely.hold()
    await stage.say(where, "one")
    await hold_for(stage, [lonely, other], GIVE_UP_SECONDS + STAND_BY_SECONDS + RENEW_SECONDS)
    assert other.is_held
    assert not lonely.is_held
    assert await stage.store.unpublished(10) == []


async def test_a_relay_that_is_alone_takes_the_lease_again_and_publishes_when_brokers_are_back(
    stage: Stage,
) -> None:
    where = await stage.begin()
    stage.brokers.silent = {"agent-arya", "agent-bob", "human-user"}
    alone = stage.relay("h1")
    await stage.say(where, "one")
    await hold_for(stage, [alone], GIVE_UP_SECONDS + RENEW_SECONDS)
    assert await stage.remaining() <= 0
    stage.brokers.silent = set()
    await hold_for(stage, [alone], STAND_BY_SECONDS + ASIDE_SECONDS + RENEW_SECONDS)
    assert await stage.remaining() > 0
    assert await stage.store.unpublished(10) == []


async def test_a_single_topic_that_takes_nothing_costs_no_lease_while_others_take_theirs(
    stage: Stage,
) -> None:
    where = await stage.begin()
    stage.brokers.silent = {"agent-bob"}
    relay = stage.relay("h1")
    held = []
    for number in range(20):
        await stage.say(where, f"number {number}")
        await hold_for(stage, [relay], RENEW_SECONDS)
        held.append(relay.is_held)
    assert all(held)


NO_RIGHTS = "Broker: Topic authorization failed"


async def stopped_by(stage: Stage) -> dict[str, tuple[str, str, str]]:
    """What the store says about topics that cannot be used."""
    troubles = await stage.store.records(TOPIC_TROUBLES.all())
    return {one.agent: (one.topic, one.kind, one.reason) for one in troubles}


@pytest.mark.req("K-15")
@pytest.mark.parametrize("is_placed", [False, True])
async def test_a_topic_that_brokers_refuse_stops_its_own_agent_until_they_do_not(
    stage: Stage, *, is_placed: bool
) -> None:
    where = await stage.begin()
    relay = stage.relay("h1")
    if is_placed:
        await relayed(relay)
        relay._places.doubt([ParticipantId("arya")])
    stage.brokers.forbidden = {"agent-arya": NO_RIGHTS}
    his = await stage.store.transact(create, create.Create(USER, "his", ("bob",)))
    await stage.say(where, "for arya")
    await stage.say(his.id, "for bob")
    await relayed(relay)
    assert {row.topic for row in await stage.store.unpublished(10)} == {"arya"}
    assert await stopped_by(stage) == {"arya": ("agent-arya", TopicTroubleKind.REFUSED, NO_RIGHTS)}
    stage.brokers.forbidden = {}
    await stage.clock.advance(STOPPED_CHECK_SECONDS)
    await relayed(relay)
    assert await stage.store.unpublished(10) == []
    assert await stopped_by(stage) == {}


@pytest.mark.req("K-15")
async def test_a_topic_that_takes_no_records_is_offered_one_now_and_then_and_delays_nobody(
    stage: Stage,
) -> None:
    where = await stage.begin()
    relay = stage.relay("h1")
    await relayed(relay)
    stage.brokers.full = {"agent-arya": "Broker: Not enough in-sync replicas"}
    his = await stage.store.transact(create, create.Create(USER, "his", ("bob",)))
    await stage.say(where, "for arya")
    await stage.say(where, "and more")
    await stage.say(his.id, "for bob")
    await relayed(relay)
    assert {row.topic for row in await stage.store.unpublished(10)} == {"arya"}
    [(_, kind, reason)] = (await stopped_by(stage)).values()
    assert (kind, reason) == (TopicTroubleKind.UNWRITABLE, "Broker: Not enough in-sync replicas")
    offered = len(stage.brokers.published)
    await relayed(relay)
    assert len(stage.brokers.published) == offered, "what others wait for is published without it"
    await relay.try_again()
    assert len(stage.brokers.published) == offered + 1
    stage.brokers.full = {}
    await stage.clock.advance(STOPPED_CHECK_SECONDS)
    await relay.hold()
    await relay.check()
    assert await stopped_by(stage) != {}, "that it can be described says nothing about its records"
    await relay.try_again()
    assert await stopped_by(stage) == {}
    await relayed(relay)
    assert await stage.store.unpublished(10) == []
    of_arya = [
        json.decode(value)["seq"] for topic, _, value in stage.brokers.published if topic == "agent-arya"
    ]
    assert of_arya[-2:] == [1, 2]


@pytest.mark.req("K-15")
@pytest.mark.parametrize("trouble", ["forbidden", "full", "leaderless"])
async def test_one_topic_that_brokers_refuse_costs_no_lease_though_nothing_else_waits(
    stage: Stage, trouble: str
) -> None:
    where = await stage.begin()
    relay, other = stage.relay("h1"), stage.relay("h2")
    await relayed(relay)
    await stage.say(where, "the only one that waits")
    if trouble == "leaderless":
        stage.brokers.leaderless = {"agent-arya"}
    else:
        setattr(stage.brokers, trouble, {"agent-arya": NO_RIGHTS})
    relay._places.doubt([ParticipantId("arya")])
    for _ in range(3):
        await hold_for(stage, [relay, other], GIVE_UP_SECONDS)
        await relay.try_again()
        assert relay.is_held
    assert relay.lease is not None
    assert relay.lease.fence == 1


async def test_who_publishes_next_knows_what_is_refused_and_goes_on_trying(stage: Stage) -> None:
    where = await stage.begin()
    first = stage.relay("h1")
    await relayed(first)
    stage.brokers.full = {"agent-arya": NO_RIGHTS}
    await stage.say(where, "one")
    await relayed(first)
    await stage.clock.advance(LEASE_SECONDS + 1)
    second = stage.relay("h2")
    offered = len(stage.brokers.published)
    await relayed(second)
    assert len(stage.brokers.published) == offered
    stage.brokers.full = {}
    await second.try_again()
    assert await stage.store.unpublished(10) == []
    assert await stopped_by(stage) == {}


async def test_nothing_is_said_of_topics_of_agents_that_are_gone(stage: Stage) -> None:
    await stage.begin()
    gone = stop_topic.StopTopic(ParticipantId("gone"), "agent-gone", TopicTroubleKind.REFUSED, NO_RIGHTS)
    await stage.store.transact(stop_topic, gone)
    await relayed(stage.relay("h1"))
    assert await stopped_by(stage) == {}
