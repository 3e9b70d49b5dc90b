"""Which topic each agent has: found, created and checked, and recorded in the store.

A topic is `{prefix}{kind}-{id}`, with `-eN` appended from the second epoch on. A lost topic is created again. A topic
that must not be written to stops only its own agent: its partitions have changed, or another home writes to it (two
homes on one broker need prefixes of their own). A topic that contains more than the store means that the store was
restored from an older copy: a new epoch begins.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import structlog

from moot.flow import place_topic
from moot.logs.kafka.cluster import Cluster, KafkaOutOfReach, Topic
from moot.logs.kafka.record import Envelope
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.model.records.topic import TOPICS, AgentTopic
from moot.ports import ConversationReads, EventReads, OutboxReads, People, Records, Store

log = structlog.get_logger("moot.kafka")

FIRST_EPOCH = 1


class StoreOfTopics(Store, Records, People, OutboxReads, ConversationReads, EventReads, Protocol):
    """What publishing and reading topics needs from the store."""


class Places:
    def __init__(self, store: StoreOfTopics, cluster: Cluster, prefix: str) -> None:
        self._store = store
        self._cluster = cluster
        self._prefix = prefix
        self.known: dict[ParticipantId, AgentTopic] = {}
        self.stopped: dict[ParticipantId, str] = {}
        """Agents for which nothing is published now, each with the reason; their rows wait in the outbox."""
        self._sound: set[tuple[str, str]] = set()
        """Checked topics (name and identity) that match the store's record."""

    async def refresh(self) -> None:
        """Read what other processes have recorded since."""
        for topic in await self._store.records(TOPICS.all()):
            before = self.known.get(topic.agent)
            if before is None or before.epoch <= topic.epoch:
                self.known[topic.agent] = topic
            if before is not None and before.epoch < topic.epoch:
                self.stopped.pop(topic.agent, None)

    def is_sound(self, topic: AgentTopic) -> bool:
        return (topic.name, topic.identity) in self._sound

    def doubtful(self) -> set[ParticipantId]:
        """Agents whose topics must be checked before anything is published there."""
        return {agent for agent, topic in self.known.items() if not self.is_sound(topic)}

    def doubt(self, agents: Iterable[ParticipantId]) -> None:
        for agent in agents:
            if agent in self.known:
                self._sound.discard((self.known[agent].name, self.known[agent].identity))

    async def of(self, agents: Iterable[ParticipantId]) -> dict[ParticipantId, AgentTopic]:
        """Their topics, created where missing. An agent whose topic is another home's is stopped and left out."""
        distinct = set(agents)
        if distinct - self.known.keys():
            await self.refresh()
        missing = distinct - self.known.keys()
        if missing:
            people = {person.id: person for person in await self._store.participants()}
            await self._make([(people[agent], FIRST_EPOCH) for agent in sorted(missing) if agent in people])
        return {agent: self.known[agent] for agent in distinct if agent in self.known}

    async def _make(self, epochs: Sequence[tuple[Participant, int]]) -> None:
        """Create topics for these agents, each of an epoch. Raises for silent topics after the others are made."""
        names = {agent.id: self.name(agent, epoch) for agent, epoch in epochs}
        topics = await self._cluster.make_topics(names.values())
        newest = await self._cluster.newest(topic for topic in topics.values() if not topic.is_new)
        foreign = await self._foreign(newest)
        silent = {name for name, topic in topics.items() if not topic.is_new and name not in newest}
        for agent, epoch in epochs:
            name = names[agent.id]
            if name in foreign:
                self._stop(agent.id, another_home_writes_to(name))
            elif name not in silent:
                await self._place(agent.id, epoch, topics[name])
                self._go_on(agent.id)
        _require_answers(silent)

    def _stop(self, agent: ParticipantId, reason: str) -> None:
        if self.stopped.get(agent) != reason:
            log.warning(
                "an agent's topic is not written to", action="topic_stopped", agent=agent, reason=reason
            )
        self.stopped[agent] = reason
        self.doubt([agent])

    def _go_on(self, agent: ParticipantId) -> None:
        if self.stopped.pop(agent, None) is not None:
            log.info("an agent's topic is written to again", action="topic_resumed", agent=agent)

    async def _place(self, agent: ParticipantId, epoch: int, topic: Topic) -> None:
        command = place_topic.PlaceTopic(agent, topic.name, epoch, topic.identity, topic.partitions)
        self.known[agent] = record = await self._store.transact(place_topic, command)
        if record.identity == topic.identity:
            self._sound.add((topic.name, topic.identity))

    def name(self, agent: Participant, epoch: int) -> str:
        later = f"-e{epoch}" if epoch > FIRST_EPOCH else ""
        return f"{self._prefix}{agent.kind}-{agent.id}{later}"

    async def check(self, agents: Collection[ParticipantId]) -> None:
        """Compare the records of these agents' topics with the brokers, each for itself. Missing topics are created
        again; renamed ones, or ones ahead of the store, begin an epoch; those that must not be written to stop their
        agents. Raises for silent topics after the others are checked."""
        await self.refresh()
        people = {person.id: person for person in await self._store.participants()}
        renamed = self._renamed(people)
        topics = {agent: self.known[agent] for agent in agents if agent in self.known.keys() - renamed}
        existing = await self._cluster.topics(topic.name for topic in topics.values())
        lost, unchanged = list[ParticipantId](), dict[str, ParticipantId]()
        for agent, topic in topics.items():
            now = existing.get(topic.name)
            if now is None or now.identity != topic.identity:
                lost.append(agent)
            elif now.partitions != topic.partitions:
                self._stop(agent, f"{topic.name} has other partitions than it was made with")
            else:
                unchanged[topic.name] = agent
        newest = await self._cluster.newest(existing[name] for name in unchanged)
        foreign = await self._foreign(newest)
        ahead = [unchanged[name] for name in newest.keys() - foreign if await self._is_ahead(newest[name])]
        for name, agent in unchanged.items():
            if name in foreign:
                self._stop(agent, another_home_writes_to(name))
            elif name in newest and agent not in ahead:
                self._sound.add((name, existing[name].identity))
                self._go_on(agent)
        self.doubt(unchanged[name] for name in unchanged.keys() - newest.keys())
        await self._make_again([agent for agent in lost if agent in people])
        if ahead:
            log.warning("the store was set back", action="store_set_back", agents=ahead)
        await self.begin_epoch([*sorted(renamed), *ahead])
        await self.of(agent for agent in agents if agent in people)
        _require_answers(unchanged.keys() - newest.keys())

    async def _make_again(self, lost: Sequence[ParticipantId]) -> None:
        if not lost:
            return
        topics = [self.known[agent] for agent in lost]
        log.warning("topics were lost", action="topics_lost", topics=[topic.name for topic in topics])
        created = await self._cluster.make_topics(topic.name for topic in topics)
        for topic in topics:
            await self._place(topic.agent, topic.epoch, created[topic.name])
            self._go_on(topic.agent)

    def _renamed(self, people: Mapping[ParticipantId, Participant]) -> set[ParticipantId]:
        """Agents whose topics have another name than the settings give them now; the old topics are left behind."""
        return {
            agent
            for agent, topic in self.known.items()
            if agent in people and topic.name != self.name(people[agent], topic.epoch)
        }

    async def _foreign(self, newest: Mapping[str, list[Envelope]]) -> set[str]:
        """Those topics to which another home writes, according to their newest records."""
        mine = await self._store.instance()
        return {
            name for name, records in newest.items() if any(record.instance != mine for record in records)
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
        """Create new topics for these agents and return them; the former ones stay as they are. An agent whose topic
        another home writes to gets none."""
        people = {person.id: person for person in await self._store.participants()}
        await self.refresh()
        before = {agent: self.known.get(agent) for agent in agents if agent in people}
        last = {
            agent: FIRST_EPOCH - 1 if former is None else former.epoch for agent, former in before.items()
        }
        if before:
            await self._make([(people[agent], epoch + 1) for agent, epoch in last.items()])
        return [self.known[agent] for agent, former in before.items() if self.known.get(agent) != former]


def another_home_writes_to(name: str) -> str:
    return f"another home writes to {name}"


def _require_answers(silent: Collection[str]) -> None:
    if silent:
        raise KafkaOutOfReach(f"topics do not answer: {', '.join(sorted(silent))}")
