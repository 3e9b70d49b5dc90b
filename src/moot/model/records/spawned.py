"""Agents that were started by others: who started whom, from which template, and until when.

Above: flow/spawn.py starts them, flow/retire.py ends them, hub/process/spawned_agents.py runs them.
"""

from msgspec import Struct

from moot.model.ids import NO_ROOT, ConversationId, ParticipantId, RootId
from moot.model.records.record import Table

NOWHERE = ConversationId("")


class SpawnRecord(Struct, frozen=True, gc=False):
    agent: ParticipantId
    by: ParticipantId
    """Who started it."""
    template: str
    depth: int
    """1 for those that nobody spawned started; their children have 2."""
    project: str = ""
    """The folder it works in."""
    root: RootId = NO_ROOT
    """The chain in which it was started."""
    asked_in: ConversationId = NOWHERE
    """Where it was started: whoever started it hears there what becomes of its work."""
    until: float = 0.0
    """It retires then at the latest; 0: whenever it is done."""
    idle_seconds: float = 0.0
    """It retires after so long without work; 0: never because of that."""
    key: str = ""
    """By which a repeat of the request is known."""
    created_at: float = 0.0
    ended_at: float = 0.0
    """When it retired; 0 while it is there."""
    ending: str = ""
    """Why it retired."""

    @property
    def lives(self) -> bool:
        return not self.ended_at


SPAWNED = Table("spawned", SpawnRecord, key=("agent",), all_at_once=True, in_micros=("created_at",))
