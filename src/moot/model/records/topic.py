"""Where the records of an agent go: one topic each, whatever the number of its conversations.

A topic that was made anew begins an epoch: records of an earlier one are passed over. The broker's own id of a topic
tells one that was lost and made again, by whomever, from the one that was written to.
"""

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


TOPICS = Table("topics", AgentTopic, key=("agent",), all_at_once=True, in_micros=("at",))
