"""Which topic each agent has: found, made and checked, and written down in the store.

A topic is `{prefix}{kind}-{id}`, and `-eN` behind it from the second epoch on. One that was lost is made again. One
that must not be written to stops its own agent and nobody else: it has other partitions than it was made with, or
another home writes to it, as two homes on one broker need prefixes of their own. One that holds more than the store
knows of is older than the store, which was restored: a new epoch begins.
"""

from collections.abc import Iterable
from typing import Protocol

import structlog

from moot.flow import place_topic
from moot.logs.kafka.cluster import Cluster
from moot.logs.kafka.record import Envelope
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.model.records.topic import TOPICS, AgentTopic
from moot.ports import ConversationReads, OutboxReads, People, Records, Store

log = structlog.get_logger("moot.kafka")

FIRST_EPOCH = 1


class StoreOfTopics(Store, Records, People, OutboxReads, ConversationReads, Protocol):
    """What of the store is used here, and by whoever publishes and reads."""


class Places:
    def __init__(self, store: StoreOfTopics, cluster: Cluster, prefix: str) -> None:
        self._store = store
        self._cluster = cluster
        self._prefix = prefix
        self.known: dict[ParticipantId, AgentTopic] = {}
        self.stopped: dict[ParticipantId, str] = {}
        """Agents for which nothing is published now, each with the reason; what is to be told of them waits."""

    async def refresh(self) -> None:
        """What other processes have written down since."""
        self.known = {one.agent: one for one in await self._store.records(TOPICS.all())}

    async def of(self, agents: Iterable[ParticipantId]) -> dict[ParticipantId, AgentTopic]:
        """Their topics; made where they are missing. Whose topic is another home's has none, and is stopped."""
        wanted = set(agents)
        if wanted - self.known.keys():
            await self.refresh()
        missing = wanted - self.known.keys()
        if missing:
            people = {who.id: who for who in await self._store.participants()}
            await self._make([people[agent] for agent in sorted(missing) if agent in people])
        return {agent: self.known[agent] for agent in wanted if agent in self.known}

    async def _make(self, agents: list[Participant], epoch: int = FIRST_EPOCH) -> None:
        names = {agent.id: self.name(agent, epoch) for agent in agents}
        found = await self._cluster.make_topics(names.values())
        newest = await self._cluster.newest(topic for topic in found.values() if not topic.is_new)
        taken = await self._taken(newest)
        for agent, name in names.items():
            if name in taken:
                self._stop(agent, another_home_writes_to(name))
                continue
            await self._place(agent, name, epoch, found[name].identity, found[name].partitions)
            self.stopped.pop(agent, None)

    def _stop(self, agent: ParticipantId, reason: str) -> None:
        if self.stopped.get(agent) != reason:
            log.warning(
                "an agent's topic is not written to", action="topic_stopped", agent=agent, reason=reason
            )
        self.stopped[agent] = reason

    async def _place(
        self, agent: ParticipantId, name: str, epoch: int, identity: str, partitions: int
    ) -> None:
        self.known[agent] = await self._store.transact(
            place_topic, place_topic.PlaceTopic(agent, name, epoch, identity, partitions)
        )

    def name(self, agent: Participant, epoch: int) -> str:
        later = f"-e{epoch}" if epoch > FIRST_EPOCH else ""
        return f"{self._prefix}{agent.kind}-{agent.id}{later}"

    async def check(self) -> None:
        """Hold what is written down against what is there: topics that are gone are made again, and those that must
        not be written to stop their agents."""
        await self.refresh()
        before, self.stopped = self.stopped, {}
        await self._follow_prefix()
        found = await self._cluster.topics(one.name for one in self.known.values())
        lost, kept = list[ParticipantId](), dict[str, ParticipantId]()
        for agent, topic in list(self.known.items()):
            there = found.get(topic.name)
            if there is None or there.identity != topic.identity:
                lost.append(agent)
            elif there.partitions != topic.partitions:
                self._stop(agent, f"{topic.name} has other partitions than it was made with")
            else:
                kept[topic.name] = agent
        newest = await self._cluster.newest(found[name] for name in kept)
        for name in await self._taken(newest):
            self._stop(kept[name], another_home_writes_to(name))
        await self._begin_where_ahead({kept[name]: records for name, records in newest.items()})
        await self._make_again(lost)
        for agent in before.keys() - self.stopped.keys():
            log.info("an agent's topic is written to again", action="topic_resumed", agent=agent)

    async def _begin_where_ahead(self, newest: dict[ParticipantId, list[Envelope]]) -> None:
        """A store that was set back goes on in a new epoch."""
        ahead = [
            agent
            for agent, records in newest.items()
            if agent not in self.stopped and await self._is_ahead(records)
        ]
        if ahead:
            log.warning("the store was set back", action="store_set_back", agents=ahead)
            await self.begin_epoch(ahead)

    async def _make_again(self, lost: list[ParticipantId]) -> None:
        if not lost:
            return
        log.warning("topics were lost", action="topics_lost", topics=[self.known[a].name for a in lost])
        people = {who.id: who for who in await self._store.participants()}
        again = await self._cluster.make_topics(self.known[agent].name for agent in lost)
        for agent in lost:
            topic = self.known[agent]
            if agent in people:
                there = again[topic.name]
                await self._place(agent, topic.name, topic.epoch, there.identity, there.partitions)

    async def _follow_prefix(self) -> None:
        """Topics are called as the settings say now; those that were called otherwise are left behind."""
        people = {who.id: who for who in await self._store.participants()}
        renamed = [
            agent
            for agent, topic in self.known.items()
            if agent in people and topic.name != self.name(people[agent], topic.epoch)
        ]
        if renamed:
            await self.begin_epoch(renamed)

    async def _taken(self, newest: dict[str, list[Envelope]]) -> list[str]:
        """Of these topics, by their newest records, those that another home writes to."""
        mine = await self._store.instance()
        return sorted(
            name for name, records in newest.items() if any(one.instance != mine for one in records)
        )

    async def _is_ahead(self, records: list[Envelope]) -> bool:
        """Whether they point at messages that conversations of the store have not come to."""
        for one in records:
            found = await self._store.conversation(one.conversation_id)
            if found is not None and one.seq > found.head:
                return True
        return False

    async def begin_epoch(self, agents: Iterable[ParticipantId]) -> list[AgentTopic]:
        """Topics of their own for what is told from now on; the former ones are left as they are. Answers with those
        that were begun: one that another home writes to is not."""
        people = {who.id: who for who in await self._store.participants()}
        await self.refresh()
        begun = []
        for agent in agents:
            known = self.known.get(agent)
            if agent in people:
                await self._make([people[agent]], FIRST_EPOCH if known is None else known.epoch + 1)
                if self.known.get(agent) != known:
                    begun.append(self.known[agent])
        return begun


def another_home_writes_to(name: str) -> str:
    return f"another home writes to {name}"
