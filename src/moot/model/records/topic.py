"""Where the records of an agent go: one topic each, whatever the number of its conversations.

A topic that was made anew begins an epoch: records of an earlier one are passed over. The broker's own id of a topic
tells one that was lost and made again, by whomever, from the one that was written to.
"""

from enum import StrEnum

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.records.record import Table


class AgentTopic(Struct, frozen=True, gc=False):
    agent: ParticipantId
    name: str
    epoch: int
    identity: str
    """As the broker calls it."""
    partitions: int
    at: float


class TopicTroubleKind(StrEnum):
    TAKEN = "taken"
    """Another home writes to it."""
    REPARTITIONED = "repartitioned"
    REFUSED = "refused"
    """Brokers answer, and do not let it be made, described or read."""
    UNWRITABLE = "unwritable"
    """Brokers answer, and do not take its records."""


class TopicTrouble(Struct, frozen=True, gc=False):
    """Why nothing is published for an agent now. Its rows wait in the outbox, and the sweep wakes it."""

    agent: ParticipantId
    topic: str
    kind: TopicTroubleKind
    reason: str
    at: float
    """Since when."""


TOPICS = Table("topics", AgentTopic, key=("agent",), all_at_once=True, in_micros=("at",))
TOPIC_TROUBLES = Table("topic_troubles", TopicTrouble, key=("agent",), all_at_once=True, in_micros=("at",))
