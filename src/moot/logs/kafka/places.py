"""Which topic each agent has: found, created and checked, and recorded in the store.

A topic is `{prefix}{kind}-{id}`, with `-eN` appended from the second epoch on. A lost topic is created again. A topic
that cannot or must not be written to stops only its own agent, and the store says why (`topic_troubles`): brokers
refuse it, its partitions have changed, or another home writes to it (two homes on one broker need prefixes of their
own). A topic that contains more than the store means that the store was restored from an older copy: a new epoch
begins.
"""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import structlog

from moot.flow import place_topic, stop_topic
from moot.logs.kafka.cluster import Answers, Cluster, KafkaOutOfReach, Topic
from moot.logs.kafka.record import Envelope
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.model.records.topic import TOPIC_TROUBLES, TOPICS, AgentTopic, TopicTrouble, TopicTroubleKind
from moot.ports import ConversationReads, EventReads, OutboxReads, People, Records, Store

log = structlog.get_logger("moot.kafka")

FIRST_EPOCH = 1
ANOTHER_HOME = "another home writes to it"
OTHER_PARTITIONS = "it has other partitions than it was made with"


class StoreOfTopics(Store, Records, People, OutboxReads, ConversationReads, EventReads, Protocol):
    """What publishing and reading topics needs from the store."""


class Places:
    def __init__(self, store: StoreOfTopics, cluster: Cluster, prefix: str) -> None:
        self._store = store
        self._cluster = cluster
        self._prefix = prefix
        self.topics: dict[ParticipantId, AgentTopic] = {}
        self.stopped: dict[ParticipantId, TopicTrouble] = {}
        """Agents for which nothing is published now, as the store says; their rows wait in the outbox."""
        self._stopping = asyncio.Lock()
        self._sound: set[tuple[str, str]] = set()
        """Checked topics (name and identity) that match the store's record."""

    async def refresh(self) -> None:
        """Read what other processes have recorded since."""
        for topic in await self._store.records(TOPICS.all()):
            before = self.topics.get(topic.agent)
            if before is None or before.epoch <= topic.epoch:
                self.topics[topic.agent] = topic
        async with self._stopping:
            troubles = await self._store.records(TOPIC_TROUBLES.all())
            self.stopped = {trouble.agent: trouble for trouble in troubles}

    def is_sound(self, topic: AgentTopic) -> bool:
        return (topic.name, topic.identity) in self._sound

    def doubtful(self) -> set[ParticipantId]:
        """Agents whose topics must be checked before anything is published there."""
        return {agent for agent, topic in self.topics.items() if not self.is_sound(topic)}

    def doubt(self, agents: Iterable[ParticipantId]) -> None:
        for agent in agents:
            if agent in self.topics:
                self._sound.discard((self.topics[agent].name, self.topics[agent].identity))

    async def of(self, agents: Iterable[ParticipantId]) -> dict[ParticipantId, AgentTopic]:
        """Their topics, created where missing. An agent whose topic cannot be used is stopped and left out."""
        distinct = set(agents)
        if distinct - self.topics.keys():
            await self.refresh()
        missing = distinct - self.topics.keys()
        if missing:
            people = {person.id: person for person in await self._store.participants()}
            await self._make([(people[agent], FIRST_EPOCH) for agent in sorted(missing) if agent in people])
        return self.known_of(distinct)

    def known_of(self, agents: Iterable[ParticipantId]) -> dict[ParticipantId, AgentTopic]:
        return {agent: self.topics[agent] for agent in agents if agent in self.topics}

    async def _make(self, epochs: Sequence[tuple[Participant, int]]) -> None:
        """Create topics for these agents, each of an epoch. Raises for silent topics after the others are made."""
        names = {agent.id: self.name(agent, epoch) for agent, epoch in epochs}
        topics = await self._cluster.make_topics(names.values())
        newest = await self._cluster.newest(topic for topic in topics.found.values() if not topic.is_new)
        foreign = await self._foreign(newest)
        refused = {**topics.refused, **newest.refused}
        silent = {
            name
            for name, topic in topics.found.items()
            if not topic.is_new and name not in newest.found and name not in refused
        }
        for agent, epoch in epochs:
            name = names[agent.id]
            if name in refused:
                await self._stop(agent.id, name, TopicTroubleKind.REFUSED, refused[name])
            elif name in foreign:
                await self._stop(agent.id, name, TopicTroubleKind.TAKEN, ANOTHER_HOME)
            elif name not in silent:
                await self._place(agent.id, epoch, topics.found[name])
                await self.go_on(agent.id)
        if silent:
            raise KafkaOutOfReach(f"topics do not answer: {', '.join(sorted(silent))}")

    async def _stop(self, agent: ParticipantId, topic: str, kind: TopicTroubleKind, reason: str) -> None:
        command = stop_topic.StopTopic(agent, topic, kind, reason)
        async with self._stopping:
            before, trouble = self.stopped.get(agent), await self._store.transact(stop_topic, command)
            if trouble is not None:
                self.stopped[agent] = trouble
        if kind is not TopicTroubleKind.UNWRITABLE:
            self.doubt([agent])
        if trouble != before:
            log.warning(
                "an agent's topic cannot be used; the sweep wakes it",
                action="topic_stopped",
                agent=agent,
                topic=topic,
                kind=kind,
                reason=reason,
            )

    async def refuse(self, agent: ParticipantId, reason: str) -> None:
        """Brokers have not taken its records, for this reason."""
        await self._stop(agent, self.topics[agent].name, TopicTroubleKind.UNWRITABLE, reason)

    async def go_on(self, agent: ParticipantId) -> None:
        if agent not in self.stopped:
            return
        async with self._stopping:
            await self._store.transact(stop_topic, stop_topic.StopTopic(agent))
            self.stopped.pop(agent, None)
        log.info("an agent's topic is used again", action="topic_resumed", agent=agent)

    async def _place(self, agent: ParticipantId, epoch: int, topic: Topic) -> None:
        command = place_topic.PlaceTopic(agent, topic.name, epoch, topic.identity, topic.partitions)
        self.topics[agent] = record = await self._store.transact(place_topic, command)
        if record.identity == topic.identity:
            self._sound.add((topic.name, topic.identity))

    def name(self, agent: Participant, epoch: int) -> str:
        later = f"-e{epoch}" if epoch > FIRST_EPOCH else ""
        return f"{self._prefix}{agent.kind}-{agent.id}{later}"

    async def check(self, agents: Collection[ParticipantId]) -> list[Topic]:
        """Compare the records of these agents' topics with the brokers, each for itself. Missing topics are created
        again; renamed ones, or ones ahead of the store, begin an epoch; those that cannot be used stop their agents.
        Returns the topics that did not answer."""
        await self.refresh()
        people = {person.id: person for person in await self._store.participants()}
        for gone in self.stopped.keys() - people.keys():
            await self.go_on(gone)
        renamed = self._renamed(people)
        topics = {agent: self.topics[agent] for agent in agents if agent in self.topics.keys() - renamed}
        existing = await self._cluster.topics(topic.name for topic in topics.values())
        lost, unchanged = list[ParticipantId](), dict[str, ParticipantId]()
        for agent, topic in topics.items():
            now = existing.found.get(topic.name)
            if topic.name in existing.refused:
                await self._stop(agent, topic.name, TopicTroubleKind.REFUSED, existing.refused[topic.name])
            elif now is None or now.identity != topic.identity:
                lost.append(agent)
            elif now.partitions != topic.partitions:
                await self._stop(agent, topic.name, TopicTroubleKind.REPARTITIONED, OTHER_PARTITIONS)
            else:
                unchanged[topic.name] = agent
        silent = await self._check_newest(existing, unchanged)
        await self._make_again([agent for agent in lost if agent in people])
        await self.begin_epoch(sorted(renamed))
        await self.of(agent for agent in agents if agent in people)
        return silent

    async def _check_newest(
        self, existing: Answers[Topic], unchanged: Mapping[str, ParticipantId]
    ) -> list[Topic]:
        """Compare the newest records of topics with the store; returns those that did not answer."""
        newest = await self._cluster.newest(existing.found[name] for name in unchanged)
        foreign = await self._foreign(newest)
        ahead = [
            unchanged[name]
            for name in newest.found.keys() - foreign
            if await self._is_ahead(newest.found[name])
        ]
        for name, agent in unchanged.items():
            if name in newest.refused:
                await self._stop(agent, name, TopicTroubleKind.REFUSED, newest.refused[name])
            elif name in foreign:
                await self._stop(agent, name, TopicTroubleKind.TAKEN, ANOTHER_HOME)
            elif name in newest.found and agent not in ahead:
                self._sound.add((name, existing.found[name].identity))
                if not self.is_unwritable(agent):  # that only a record can tell
                    await self.go_on(agent)
        silent = unchanged.keys() - newest.found.keys() - newest.refused.keys()
        self.doubt(unchanged[name] for name in silent)
        if ahead:
            log.warning("the store was set back", action="store_set_back", agents=ahead)
            await self.begin_epoch(ahead)
        return [existing.found[name] for name in sorted(silent)]

    def is_unwritable(self, agent: ParticipantId) -> bool:
        """Whether brokers did not take its records, when they were last offered some."""
        trouble = self.stopped.get(agent)
        return trouble is not None and trouble.kind is TopicTroubleKind.UNWRITABLE

    async def _make_again(self, lost: Sequence[ParticipantId]) -> None:
        if not lost:
            return
        topics = [self.topics[agent] for agent in lost]
        log.warning("topics were lost", action="topics_lost", topics=[topic.name for topic in topics])
        created = await self._cluster.make_topics(topic.name for topic in topics)
        for topic in topics:
            if topic.name in created.refused:
                await self._stop(
                    topic.agent, topic.name, TopicTroubleKind.REFUSED, created.refused[topic.name]
                )
            else:
                await self._place(topic.agent, topic.epoch, created.found[topic.name])
                await self.go_on(topic.agent)

    def _renamed(self, people: Mapping[ParticipantId, Participant]) -> set[ParticipantId]:
        """Agents whose topics have another name than the settings give them now; the old topics are left behind."""
        return {
            agent
            for agent, topic in self.topics.items()
            if agent in people and topic.name != self.name(people[agent], topic.epoch)
        }

    async def _foreign(self, newest: Answers[list[Envelope]]) -> set[str]:
        """Those topics to which another home writes, according to their newest records."""
        mine = await self._store.instance()
        return {
            name
            for name, records in newest.found.items()
            if any(record.instance != mine for record in records)
        }

    async def _is_ahead(self, records: list[Envelope]) -> bool:
        """Whether records point at messages or events that the store does not have yet. (A deleted conversation is
        missing too, but its events are not newer than the store's.)"""
        for record in records:
            conversation = await self._store.conversation(record.conversation_id)
            if conversation is None and record.event > await self._store.last_event():
                return True
            if conversation is not None and record.seq > conversation.head:
                return True
        return False

    async def begin_epoch(self, agents: Iterable[ParticipantId]) -> list[AgentTopic]:
        """Create new topics for these agents and return them; the former ones stay as they are. An agent whose new
        topic cannot be used gets none."""
        people = {person.id: person for person in await self._store.participants()}
        await self.refresh()
        before = {agent: self.topics.get(agent) for agent in agents if agent in people}
        last = {
            agent: FIRST_EPOCH - 1 if former is None else former.epoch for agent, former in before.items()
        }
        if before:
            await self._make([(people[agent], epoch + 1) for agent, epoch in last.items()])
        return [self.topics[agent] for agent, former in before.items() if self.topics.get(agent) != former]
