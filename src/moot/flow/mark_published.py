"""Mark what was published: its rows leave the outbox.

Only for who holds the lease under the fence it published with, and only rows whose topic is still of the epoch they
were published in: what went to a topic that was left behind meanwhile is to be told again on the new one.
"""

from msgspec import Struct

from moot.errors import Stale
from moot.model.change import Decision, DropRecord
from moot.model.ids import HostId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.outbox import OUTBOX, OutboxRow
from moot.model.records.relay import RELAY, RELAYS
from moot.model.records.topic import TOPICS
from moot.ports import Scope
from moot.rules.draft import Seen


class MarkPublished(Struct, frozen=True, gc=False):
    host: HostId
    fence: int
    rows: tuple[OutboxRow, ...]
    epochs: dict[ParticipantId, int]
    """In which epoch of each topic they were published; 0 where there is none."""


def scope(command: MarkPublished) -> Scope:
    return Scope(records=(RELAYS.one(RELAY), *[TOPICS.one(agent) for agent in command.epochs]))


def decide(command: MarkPublished, seen: Seen, at: Moment) -> Decision[frozenset[ParticipantId]]:
    """Answers with the agents whose topics are of another epoch by now."""
    held = seen.record(RELAYS, RELAY)
    if held is None or (held.host, held.fence) != (command.host, command.fence):
        raise Stale(
            "another process publishes now", detail="what was published twice is passed over by readers"
        )
    topics = {agent: seen.record(TOPICS, agent) for agent in command.epochs}
    now = {agent: 0 if topic is None else topic.epoch for agent, topic in topics.items()}
    moved = frozenset(agent for agent, epoch in command.epochs.items() if now[agent] != epoch)
    done = [row for row in command.rows if row.topic not in moved]
    return Decision([DropRecord(OUTBOX, OUTBOX.key(row)) for row in done], moved)
