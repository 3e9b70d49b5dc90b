"""Write down which topic an agent's records go to, as it was found or made."""

from msgspec import Struct

from moot.model.change import Decision, PutRecord
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.topic import TOPICS, AgentTopic
from moot.ports import Scope
from moot.rules.draft import Seen


class PlaceTopic(Struct, frozen=True, gc=False):
    agent: ParticipantId
    name: str
    epoch: int
    identity: str
    partitions: int


def scope(command: PlaceTopic) -> Scope:
    return Scope(records=(TOPICS.one(command.agent),))


def decide(command: PlaceTopic, seen: Seen, at: Moment) -> Decision[AgentTopic]:
    """Answers with what stands then: never one of an earlier epoch than is known."""
    topic = seen.record(TOPICS, command.agent)
    if topic is not None and topic.epoch > command.epoch:
        return Decision([], topic)
    placed = AgentTopic(
        command.agent, command.name, command.epoch, command.identity, command.partitions, at.now
    )
    return Decision([PutRecord(TOPICS, placed)], placed)
