"""Write down why nothing is published for an agent, or that its topic is in order again."""

from msgspec import Struct

from moot.model.change import Decision, DropRecord, PutRecord
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.topic import TOPIC_TROUBLES, TopicTrouble, TopicTroubleKind
from moot.ports import Scope
from moot.rules.draft import Seen

MAX_REASON_CHARACTERS = 500


class StopTopic(Struct, frozen=True, gc=False):
    agent: ParticipantId
    topic: str = ""
    kind: TopicTroubleKind | None = None
    """None: the topic is in order."""
    reason: str = ""


def scope(command: StopTopic) -> Scope:
    return Scope(records=(TOPIC_TROUBLES.one(command.agent),))


def decide(command: StopTopic, seen: Seen, at: Moment) -> Decision[TopicTrouble | None]:
    """The same trouble keeps the moment at which it began."""
    known = seen.record(TOPIC_TROUBLES, command.agent)
    if command.kind is None:
        return Decision([DropRecord(TOPIC_TROUBLES, (command.agent,))] if known is not None else [], None)
    reason = command.reason[:MAX_REASON_CHARACTERS]
    since = known.at if known is not None and known.topic == command.topic else at.now
    trouble = TopicTrouble(command.agent, command.topic, command.kind, reason, since)
    return Decision([PutRecord(TOPIC_TROUBLES, trouble)] if trouble != known else [], trouble)
