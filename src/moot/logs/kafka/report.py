"""How it stands with Kafka, and beginning anew there: for `moot kafka` and `moot doctor`, beside any hub."""

import asyncio
from collections.abc import Sequence

from confluent_kafka import Consumer, KafkaException, TopicPartition
from msgspec import Struct

from moot.flow import restate
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster, KafkaOutOfReach, Place, spoken
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
from moot.model.records.topic import AgentTopic
from moot.ports import Page

COUNTED = 1_000_001
SECONDS = 5.0
PAGE = 500
MANY_ROWS, LONG_SECONDS = 100_000, 300.0
"""From here on more waits than should."""


class TopicReport(Struct, frozen=True):
    agent: str
    topic: str
    epoch: int
    partitions: int
    records: int | None = None
    """Published since it was made; None where nobody could be asked."""
    lag: int | None = None
    """Of these, how many its agent has not noted as read."""


class KafkaReport(Struct, frozen=True):
    brokers: str
    trouble: str
    """Why the brokers could not be asked; empty where they answered."""
    outbox: int
    oldest_seconds: float
    relay: str
    """Which host publishes; empty where none does."""
    fence: int
    dead_letters: int
    topics: tuple[TopicReport, ...]
    lost: tuple[str, ...] = ()
    """Topics that are gone, or were made anew by somebody else."""
    repartitioned: tuple[str, ...] = ()
    taken: tuple[str, ...] = ()
    """Topics that another home writes to as well."""

    @property
    def is_behind(self) -> bool:
        return self.outbox > MANY_ROWS or self.oldest_seconds > LONG_SECONDS


async def report(store: StoreOfTopics, brokers: Brokers, prefix: str, now: float) -> KafkaReport:
    cluster, offsets = Cluster(brokers), GroupOffsets(brokers)
    places = Places(store, cluster, prefix)
    await places.refresh()
    topics = [places.known[agent] for agent in sorted(places.known)]
    trouble, lost, repartitioned, taken = "", list[str](), list[str](), list[str]()
    mine = await store.instance()
    rows = [TopicReport(one.agent, one.name, one.epoch, one.partitions) for one in topics]
    try:
        found = await cluster.topics(one.name for one in topics)
        lost = [
            one.name for one in topics if one.name not in found or found[one.name].identity != one.identity
        ]
        there = [one for one in topics if one.name in found]
        repartitioned = [one.name for one in there if found[one.name].partitions != one.partitions]
        unplaced = await cluster.topics(await _to_be_placed(store, places))
        newest = await cluster.newest([*(found[one.name] for one in there), *unplaced.values()])
        taken = [name for name, records in newest.items() if any(one.instance != mine for one in records)]
        rows = [
            await _counted(offsets, brokers, one) if one in there else row
            for one, row in zip(topics, rows, strict=True)
        ]
    except KafkaOutOfReach as error:
        trouble = str(error)
    finally:
        cluster.close()
        offsets.close()
    depth = await store.outbox_depth(COUNTED)
    held = next((one for one in await store.records(RELAYS.all()) if one.until > now), None)
    return KafkaReport(
        brokers=brokers.shown,
        trouble=trouble,
        outbox=depth.rows,
        oldest_seconds=0.0 if depth.oldest is None else max(now - depth.oldest, 0.0),
        relay="" if held is None else held.host,
        fence=0 if held is None else held.fence,
        dead_letters=len(await store.records(DEAD_LETTERS.all())),
        topics=tuple(rows),
        lost=tuple(lost),
        repartitioned=tuple(repartitioned),
        taken=tuple(sorted(taken)),
    )


async def _to_be_placed(store: StoreOfTopics, places: Places) -> list[str]:
    """Topics that agents would have of which something waits to be published, and which have none."""
    waiting = {row.topic for row in await store.unpublished(PAGE)} - places.known.keys()
    if not waiting:
        return []
    return [places.name(who, FIRST_EPOCH) for who in await store.participants() if who.id in waiting]


async def _counted(offsets: GroupOffsets, brokers: Brokers, topic: AgentTopic) -> TopicReport:
    places = [(topic.name, part) for part in range(topic.partitions)]
    ends = await asyncio.to_thread(ends_of, brokers, places)
    kept = await offsets.read(group_of(topic.agent), places)
    lag = sum(end - kept[place] for place, end in ends.items() if place in kept) if kept else None
    return TopicReport(topic.agent, topic.name, topic.epoch, topic.partitions, sum(ends.values()), lag)


def ends_of(brokers: Brokers, places: Sequence[Place]) -> dict[Place, int]:
    """Where the next record of each will be."""
    consumer = Consumer(brokers.client(**{"group.id": "moot-none", "enable.auto.commit": False}))
    try:
        return {
            place: consumer.get_watermark_offsets(TopicPartition(*place), timeout=SECONDS)[1]
            for place in places
        }
    except KafkaException as error:
        raise KafkaOutOfReach(spoken(error)) from error
    finally:
        consumer.close()


async def rebuild(
    store: StoreOfTopics, brokers: Brokers, prefix: str, agents: Sequence[ParticipantId]
) -> tuple[list[AgentTopic], int]:
    """A new epoch for these agents, or for all that have a topic: new topics, and everything that was said in the
    conversations that live there told again. The former topics are left as they are."""
    cluster = Cluster(brokers)
    try:
        places = Places(store, cluster, prefix)
        await places.refresh()
        begun = await places.begin_epoch(agents or sorted(places.known))
        if places.stopped:
            raise KafkaOutOfReach("; ".join(sorted(places.stopped.values())))
    finally:
        cluster.close()
    anew = {topic.agent for topic in begun}
    count = 0
    for archived in (False, True):
        for conversation in await store.conversations(archived=archived, kind=None):
            topic = topic_of(conversation, await store.members(conversation.id))
            if topic in anew and topic is not None:
                count += await _restate(store, conversation, topic)
    return begun, count


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
    """Before everything new, and in the order of the conversation."""
    action = "delete" if message.is_deleted else OF_AUTHOR.get(Kind(message.kind), "append")
    call = f"{conversation.id}:{message.seq:012d}"
    return OutboxRow(0, topic, call, conversation.id, action, message.author, message.at, message.seq)
