"""The state of Kafka, and new epochs: for `moot kafka` and `moot doctor`, independent of any running hub."""

import asyncio
from collections.abc import Mapping, Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition
from msgspec import Struct

from moot.flow import restate
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster, KafkaOutOfReach, Place, error_text
from moot.logs.kafka.offsets import GroupOffsets
from moot.logs.kafka.places import FIRST_EPOCH, Places, StoreOfTopics
from moot.logs.kafka.wakes import group_of
from moot.model.conversation import Conversation
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.message import Message
from moot.model.participant import Kind
from moot.model.records.dead_letter import DEAD_LETTERS
from moot.model.records.outbox import OF_AUTHOR, OutboxRow, topic_of
from moot.model.records.relay import RELAYS
from moot.model.records.topic import AgentTopic, TopicTrouble, TopicTroubleKind
from moot.ports import Page

COUNTED = 1_000_001
SECONDS = 5.0
PAGE = 500
MANY_ROWS, LONG_SECONDS = 100_000, 300.0
"""Beyond these, publishing is behind."""


class TopicReport(Struct, frozen=True):
    agent: str
    topic: str
    epoch: int
    partitions: int
    records: int | None = None
    """Published since it was created; None if the brokers could not be asked."""
    lag: int | None = None
    """How many of them its agent has not recorded as read; None also where brokers do not tell."""


class StoppedTopic(Struct, frozen=True):
    """A topic that brokers refuse, now or when a hub last tried."""

    topic: str
    agent: str
    reason: str
    since: float | None = None
    """When a hub met it first; None if none has."""


class KafkaReport(Struct, frozen=True):
    brokers: str
    trouble: str
    """Why the brokers could not be asked; empty if they answered."""
    outbox: int
    oldest_seconds: float
    relay: str
    """The host that publishes; empty if none does."""
    fence: int
    dead_letters: int
    topics: tuple[TopicReport, ...]
    lost: tuple[str, ...] = ()
    """Topics that are gone, or that somebody else created again."""
    repartitioned: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    """Topics that another home writes to as well."""
    refused: tuple[StoppedTopic, ...] = ()
    """Topics that brokers do not let be made, described, read or written."""

    @property
    def is_behind(self) -> bool:
        return self.outbox > MANY_ROWS or self.oldest_seconds > LONG_SECONDS


async def report(store: StoreOfTopics, brokers: Brokers, prefix: str, now: float) -> KafkaReport:
    cluster, offsets = Cluster(brokers), GroupOffsets(brokers)
    places = Places(store, cluster, prefix)
    await places.refresh()
    topics = [places.topics[agent] for agent in sorted(places.topics)]
    rows = [TopicReport(topic.agent, topic.name, topic.epoch, topic.partitions) for topic in topics]
    trouble, state = "", TopicStates()
    try:
        state = await _states(store, cluster, places, topics)
        rows = [
            await _count(offsets, brokers, topic) if topic.name in state.present else row
            for topic, row in zip(topics, rows, strict=True)
        ]
    except KafkaOutOfReach as error:
        trouble = str(error)
    finally:
        cluster.close()
        offsets.close()
    depth = await store.outbox_depth(COUNTED)
    lease = next((lease for lease in await store.records(RELAYS.all()) if lease.until > now), None)
    return KafkaReport(
        brokers=brokers.shown,
        trouble=trouble,
        outbox=depth.rows,
        oldest_seconds=0.0 if depth.oldest is None else max(now - depth.oldest, 0.0),
        relay="" if lease is None else lease.host,
        fence=0 if lease is None else lease.fence,
        dead_letters=len(await store.records(DEAD_LETTERS.all())),
        topics=tuple(rows),
        lost=state.lost,
        repartitioned=state.repartitioned,
        taken=state.taken,
        refused=_refused(places, topics, state.refused),
    )


class TopicStates(Struct, frozen=True):
    """How brokers describe the topics of a home; by name."""

    present: frozenset[str] = frozenset()
    lost: tuple[str, ...] = ()
    repartitioned: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    refused: dict[str, str] = {}


async def _states(
    store: StoreOfTopics, cluster: Cluster, places: Places, topics: Sequence[AgentTopic]
) -> TopicStates:
    existing = await cluster.topics(topic.name for topic in topics)
    unplaced = await cluster.topics(await _expected_topics(store, places))
    instance = await store.instance()
    newest = await cluster.newest([*existing.found.values(), *unplaced.found.values()])
    taken = [
        name for name, records in newest.found.items() if any(one.instance != instance for one in records)
    ]
    found = [(topic, existing.found[topic.name]) for topic in topics if topic.name in existing.found]
    missing = {topic.name for topic in topics} - existing.found.keys() - existing.refused.keys()
    changed = {topic.name for topic, now in found if now.identity != topic.identity}
    return TopicStates(
        present=frozenset(existing.found),
        lost=tuple(sorted(missing | changed)),
        repartitioned=tuple(topic.name for topic, now in found if now.partitions != topic.partitions),
        taken=tuple(sorted(taken)),
        refused={**existing.refused, **unplaced.refused, **newest.refused},
    )


def _refused(
    places: Places, topics: Sequence[AgentTopic], refused_now: Mapping[str, str]
) -> tuple[StoppedTopic, ...]:
    """Topics that are refused now, and those that a hub was refused to make or write: that is not tried here."""
    agents = {topic.name: topic.agent for topic in topics}
    refused = {name: StoppedTopic(name, agents.get(name, ""), reason) for name, reason in refused_now.items()}
    for trouble in places.stopped.values():
        if trouble.kind in (TopicTroubleKind.REFUSED, TopicTroubleKind.UNWRITABLE):
            reason = refused_now.get(trouble.topic, trouble.reason)
            refused[trouble.topic] = StoppedTopic(trouble.topic, trouble.agent, reason, trouble.at)
    return tuple(refused[name] for name in sorted(refused))


async def _expected_topics(store: StoreOfTopics, places: Places) -> list[str]:
    """Names of the topics that agents without one would get, for agents with unpublished rows."""
    waiting = {row.topic for row in await store.unpublished(PAGE)} - places.topics.keys()
    if not waiting:
        return []
    return [places.name(person, FIRST_EPOCH) for person in await store.participants() if person.id in waiting]


async def _count(offsets: GroupOffsets, brokers: Brokers, topic: AgentTopic) -> TopicReport:
    places = [(topic.name, part) for part in range(topic.partitions)]
    ends = await asyncio.to_thread(ends_of, brokers, places)
    try:
        committed = await offsets.read(group_of(topic.agent), places)
    except KafkaOutOfReach:  # the ends are known: it is this group that cannot be read
        committed = {}
    lag = (
        sum(end - committed[place] for place, end in ends.items() if place in committed)
        if committed
        else None
    )
    return TopicReport(topic.agent, topic.name, topic.epoch, topic.partitions, sum(ends.values()), lag)


def ends_of(brokers: Brokers, places: Sequence[Place]) -> dict[Place, int]:
    """The offset of the next record of each place."""
    consumer = Consumer(brokers.client(**{"group.id": "moot-none", "enable.auto.commit": False}))
    try:
        return {
            place: consumer.get_watermark_offsets(TopicPartition(*place), timeout=SECONDS)[1]
            for place in places
        }
    except KafkaException as error:
        raise KafkaOutOfReach(error_text(error)) from error
    finally:
        consumer.close()


class Rebuilt(Struct, frozen=True):
    topics: list[AgentTopic]
    """The new ones."""
    records: int
    """How many are to be published there."""
    stopped: list[TopicTrouble]
    """Agents that got no new topic, and why; they are left with the former one."""


async def rebuild(
    store: StoreOfTopics, brokers: Brokers, prefix: str, agents: Sequence[ParticipantId]
) -> Rebuilt:
    """Begin a new epoch for these agents, or for all with a topic: new topics, to which all messages of their
    conversations are published again. The former topics are left as they are."""
    cluster = Cluster(brokers)
    try:
        places = Places(store, cluster, prefix)
        await places.refresh()
        chosen = agents or sorted(places.topics)
        topics = await places.begin_epoch(chosen)
    finally:
        cluster.close()
    renewed = {topic.agent for topic in topics}
    stopped = [places.stopped[agent] for agent in chosen if agent in places.stopped.keys() - renewed]
    count = 0
    for archived in (False, True):
        for conversation in await store.conversations(archived=archived, kind=None):
            topic = topic_of(conversation, await store.members(conversation.id))
            if topic in renewed and topic is not None:
                count += await _restate(store, conversation, topic)
    return Rebuilt(topics, count, stopped)


async def _restate(store: StoreOfTopics, conversation: Conversation, topic: ParticipantId) -> int:
    rows = [_created(conversation, topic)]
    after, count = 0, 0
    while True:
        messages = await store.messages(conversation.id, Page(after=after, limit=PAGE))
        rows += [_of_message(conversation, topic, message) for message in messages]
        if rows:
            await store.transact(restate, restate.Restate(tuple(rows)))
        count += len(rows)
        if len(messages) < PAGE:
            return count
        rows, after = [], messages[-1].seq


def _created(conversation: Conversation, topic: ParticipantId) -> OutboxRow:
    call = f"{conversation.id}:{0:012d}"
    return OutboxRow(0, topic, call, conversation.id, "create", SYSTEM, conversation.created_at)


def _of_message(conversation: Conversation, topic: ParticipantId, message: Message) -> OutboxRow:
    """A row that sorts before everything new, and in the order of the conversation."""
    action = "delete" if message.is_deleted else OF_AUTHOR.get(Kind(message.kind), "append")
    call = f"{conversation.id}:{message.seq:012d}"
    return OutboxRow(0, topic, call, conversation.id, action, message.author, message.at, message.seq)
