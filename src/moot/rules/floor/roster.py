"""The agents of a conversation, and who of them is here: worked out once, and good until somebody comes or goes.

Above: group.py, polls.py and why.py ask it in every decision; a desk keeps one per conversation (stores/desk.py).
Not here: where a member stands (cursor, streak), which changes with every turn.
"""

from collections.abc import Iterable, Mapping, Set

from moot.model.conversation import Member
from moot.model.ids import ParticipantId
from moot.model.participant import Participant

NOBODY: Set[ParticipantId] = frozenset()


class Roster:
    """Participants never change: who is renamed or comes back is another value, and so is the roster then."""

    __slots__ = ("_first_leaves", "_last_leaves", "agents")

    def __init__(self, members: Iterable[Member], registry: Mapping[ParticipantId, Participant]) -> None:
        self.agents = {m.participant: registry[m.participant] for m in members if m.speaks}
        """Those that speak in turns, in joining order."""
        leases = [participant.live_until for participant in self.agents.values()]
        self._first_leaves = min(leases, default=0.0)
        self._last_leaves = max(leases, default=0.0)

    def here(self, now: float) -> Set[ParticipantId]:
        """Those that are present."""
        if now >= self._last_leaves:
            return NOBODY
        if now < self._first_leaves:
            return self.agents.keys()
        return {agent for agent, participant in self.agents.items() if participant.live_until > now}
