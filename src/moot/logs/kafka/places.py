"""Which topic each agent has: found, made and checked, and written down in the store.

A topic is `{prefix}{kind}-{id}`, and `-eN` behind it from the second epoch on. One that was lost is made again. One
that must not be written to stops its own agent and nobody else: it has other partitions than it was made with, or
another home writes to it, as two homes on one broker need prefixes of their own. One that holds more than the store
knows of is older than the store, which was restored: a new epoch begins.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Protocol

import structlog

from moot.flow import place_topic
from moot.logs.kafka.cluster import Cluster, KafkaOutOfReach, TopicFound
from moot.logs.kafka.record import Envelope
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.model.records.topic import TOPICS, AgentTopic
from moot.ports import ConversationReads, EventReads, OutboxReads, People, Records, Store

log = structlog.get_logger("moot.kafka")

FIRST_EPOCH = 1


class StoreOfTopics(Store, Records, People, OutboxReads, ConversationReads, EventReads, Protocol):
    """What of the store is used here, and by whoever publishes and reads."""


class Places:
    def __init__(self, store: StoreOfTopics, cluster: Cluster, prefix: str) -> None:
        self._store = store
        self._cluster = cluster
        self._prefix = prefix
        self.known: dict[ParticipantId, AgentTopic] = {}
        self.stopped: dict[ParticipantId, str] = {}
        """Agents for which nothing is published now, each with the reason; what is to be told of them waits."""
        self._sound: set[tuple[str, str]] = set()
        """Topics that were found to be what was written down, and nobody has doubted since: name and identity."""

    async def refresh(self) -> None:
        """What other processes have written down since."""
        for one in await self._store.records(TOPICS.all()):
            known = self.known.get(one.agent)
            if known is None or known.epoch <= one.epoch:
                self.known[one.agent] = one
            if known is not None and known.epoch < one.epoch:
                self.stopped.pop(one.agent, None)

    def is_sound(self, topic: AgentTopic) -> bool:
        return (topic.name, topic.identity) in self._sound

    def doubtful(self) -> set[ParticipantId]:
        """Those whose topics have to be checked before anything is published there."""
        return {agent for agent, topic in self.known.items() if not self.is_sound(topic)}

    def doubt(self, agents: Iterable[ParticipantId]) -> None:
        for agent in agents:
            if agent in self.known:
                self._sound.discard((self.known[agent].name, self.known[agent].identity))

    async def of(self, agents: Iterable[ParticipantId]) -> dict[ParticipantId, AgentTopic]:
        """Their topics; made where they are missing. Whose topic is another home's has none, and is stopped."""
        wanted = set(agents)
        if wanted - self.known.keys():
            await self.refresh()
        missing = wanted - self.known.keys()
        if missing:
            people = {who.id: who for who in await self._store.participants()}
            await self._make([(people[agent], FIRST_EPOCH) for agent in sorted(missing) if agent in people])
        return {agent: self.known[agent] for agent in wanted if agent in self.known}

    async def _make(self, wanted: Sequence[tuple[Participant, int]]) -> None:
        """Topics for these, each of an epoch. Those that do not answer raise, when the others are made."""
        names = {agent.id: self.name(agent, epoch) for agent, epoch in wanted}
        found = await self._cluster.make_topics(names.values())
        newest = await self._cluster.newest(topic for topic in found.values() if not topic.is_new)
        taken = await self._taken(newest)
        silent = {name for name, topic in found.items() if not topic.is_new and name not in newest}
        for agent, epoch in wanted:
            name = names[agent.id]
            if name in taken:
                self._stop(agent.id, another_home_writes_to(name))
            elif name not in silent:
                await self._place(agent.id, epoch, found[name])
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

    async def _place(self, agent: ParticipantId, epoch: int, topic: TopicFound) -> None:
        order = place_topic.PlaceTopic(agent, topic.name, epoch, topic.identity, topic.partitions)
        self.known[agent] = placed = await self._store.transact(place_topic, order)
        if placed.identity == topic.identity:
            self._sound.add((topic.name, topic.identity))

    def name(self, agent: Participant, epoch: int) -> str:
        later = f"-e{epoch}" if epoch > FIRST_EPOCH else ""
        return f"{self._prefix}{agent.kind}-{agent.id}{later}"

    async def check(self, agents: Collection[ParticipantId]) -> None:
        """Hold what is written down of these against what is there, each for itself. Topics that are gone are made
        again; those that are called otherwise now, or are ahead of the store, begin an epoch; those that must not be
        written to stop their agents. Those that do not answer raise, when the others are found to be sound."""
        await self.refresh()
        people = {who.id: who for who in await self._store.participants()}
        renamed = self._renamed(people)
        topics = {agent: self.known[agent] for agent in agents if agent in self.known.keys() - renamed}
        found = await self._cluster.topics(one.name for one in topics.values())
        lost, kept = list[ParticipantId](), dict[str, ParticipantId]()
        for agent, topic in topics.items():
            there = found.get(topic.name)
            if there is None or there.identity != topic.identity:
                lost.append(agent)
            elif there.partitions != topic.partitions:
                self._stop(agent, f"{topic.name} has other partitions than it was made with")
            else:
                kept[topic.name] = agent
        newest = await self._cluster.newest(found[name] for name in kept)
        taken = await self._taken(newest)
        ahead = [kept[name] for name in newest.keys() - taken if await self._is_ahead(newest[name])]
        for name, agent in kept.items():
            if name in taken:
                self._stop(agent, another_home_writes_to(name))
            elif name in newest and agent not in ahead:
                self._sound.add((name, found[name].identity))
                self._go_on(agent)
        self.doubt(kept[name] for name in kept.keys() - newest.keys())
        await self._make_again([agent for agent in lost if agent in people])
        if ahead:
            log.warning("the store was set back", action="store_set_back", agents=ahead)
        await self.begin_epoch([*sorted(renamed), *ahead])
        await self.of(agent for agent in agents if agent in people)
        _require_answers(kept.keys() - newest.keys())

    async def _make_again(self, lost: Sequence[ParticipantId]) -> None:
        if not lost:
            return
        topics = [self.known[agent] for agent in lost]
        log.warning("topics were lost", action="topics_lost", topics=[topic.name for topic in topics])
        again = await self._cluster.make_topics(topic.name for topic in topics)
        for topic in topics:
            await self._place(topic.agent, topic.epoch, again[topic.name])
            self._go_on(topic.agent)

    def _renamed(self, people: Mapping[ParticipantId, Participant]) -> set[ParticipantId]:
        """Topics are called as the settings say now; those that were called otherwise are left behind."""
        return {
            agent
            for agent, topic in self.known.items()
            if agent in people and topic.name != self.name(people[agent], topic.epoch)
        }

    async def _taken(self, newest: Mapping[str, list[Envelope]]) -> set[str]:
        """Of these topics, by their newest records, those that another home writes to."""
        mine = await self._store.instance()
        return {name for name, records in newest.items() if any(one.instance != mine for one in records)}

    async def _is_ahead(self, records: list[Envelope]) -> bool:
        """Whether they point at what the store has not come to: messages of a conversation, or events of one that it
        does not have. (One that was deleted is not there either, and the store has come past that.)"""
        for one in records:
            found = await self._store.conversation(one.conversation_id)
            if found is None and one.event > await self._store.last_event():
                return True
            if found is not None and one.seq > found.head:
                return True
        return False

    async def begin_epoch(self, agents: Iterable[ParticipantId]) -> list[AgentTopic]:
        """Topics of their own for what is told from now on; the former ones are left as they are. Answers with those
        that were begun: one that another home writes to is not."""
        people = {who.id: who for who in await self._store.participants()}
        await self.refresh()
        before = {agent: self.known.get(agent) for agent in agents if agent in people}
        last = {agent: FIRST_EPOCH - 1 if known is None else known.epoch for agent, known in before.items()}
        if before:
            await self._make([(people[agent], epoch + 1) for agent, epoch in last.items()])
        return [self.known[agent] for agent, known in before.items() if self.known.get(agent) != known]


def another_home_writes_to(name: str) -> str:
    return f"another home writes to {name}"


def _require_answers(silent: Collection[str]) -> None:
    if silent:
        raise KafkaOutOfReach(f"topics do not answer: {', '.join(sorted(silent))}")
