"""Who talks: people, agents, outside processes, tools, and the system that leaves notices."""

from enum import StrEnum

from msgspec import Struct

from moot.model.ids import HostId, ParticipantId


class Kind(StrEnum):
    """What a participant is. Stamped by the hub, never taken from a text."""

    HUMAN = "human"
    AGENT = "agent"
    EXTERNAL = "external"
    TOOL = "tool"
    SYSTEM = "system"


# Names for members that every post asks for: looking one up in its enum takes ten times as long.
HUMAN, EXTERNAL = Kind.HUMAN, Kind.EXTERNAL
TAKES_TURNS = frozenset({Kind.AGENT, Kind.EXTERNAL})


class Reach(StrEnum):
    """How soon a message gets to somebody, best first."""

    LIVE = "live"
    """Into what it is doing now."""
    NEXT_TURN = "next-turn"
    """Handed over at the end or start of its next turn, by its client's hooks."""
    ON_DEMAND = "on-demand"
    """When it asks what waits for it."""
    AWAY = "away"
    """It is not there; what is for it waits."""


REACH_SECONDS = 30.0
"""Without a sign of life for so long, reach drops by one level."""


class AgentConfig(Struct, frozen=True, gc=False, omit_defaults=True):
    """What is kept of an agent besides its name and role. Stored as one JSON object; what an older or a newer Moot
    keeps in it besides is passed over."""

    on_busy: str = ""
    """What happens to messages while it speaks: `queue`, `interrupt`, `interrupt-by-superior`."""
    avatar: str = ""
    color: str = ""
    client: str | None = None
    """Of an outside agent: the program it came in by, the folder that runs in, and its process."""
    folder: str | None = None
    pid: int = 0
    machine: str = ""
    """On which `pid` is the number of its process."""
    watches: tuple[str, ...] = ()
    """Of a supervisor: the agents whose conversations it is shown, by name; `*` for all. It never speaks."""


NO_CONFIG = AgentConfig()


class Participant(Struct, frozen=True, gc=False):
    """A row of the registry. The id never changes; the name can, and old ones stay as aliases."""

    id: ParticipantId
    name: str
    kind: Kind
    aliases: tuple[str, ...] = ()
    display: str = ""
    role: str = ""
    brain: str = ""
    project: str = ""
    paused: bool = False
    """Gets no turns. A removed one is paused too, so that the rules of turns need not know the difference."""
    live_until: float = 0.0
    """An agent is present while its host's lease runs; an external one while it has a wait open."""
    host: HostId | None = None
    config: AgentConfig = NO_CONFIG
    created_at: float = 0.0
    last_active: float = 0.0
    door: str = ""
    """The one an outside agent last came in by."""
    reach: Reach = Reach.AWAY
    """How an outside agent's session can be reached while it has no wait open; good for as long as it says."""
    reach_until: float = 0.0
    removed_at: float = 0.0
    """When it was taken out; 0 while it is in. What it said stays, and its name is kept for it."""

    @property
    def speaks_in_turns(self) -> bool:
        return self.kind in TAKES_TURNS

    @property
    def only_watches(self) -> bool:
        """A supervisor: it is shown what others say."""
        return bool(self.config.watches)

    @property
    def gets_no_turns(self) -> bool:
        return self.paused or self.only_watches

    @property
    def removed(self) -> bool:
        return self.removed_at > 0

    @property
    def listed(self) -> bool:
        """An agent that one can write to: those who were removed are in no list and get no broadcast."""
        return self.kind in TAKES_TURNS and not self.removed_at

    def present(self, now: float) -> bool:
        return self.live_until > now

    def reachable(self, now: float) -> Reach:
        """A lease that has run out leaves the next level for a while, then none."""
        if self.live_until > now:
            return Reach.LIVE
        if self.reach_until > now:
            return self.reach
        if self.reach is Reach.NEXT_TURN and self.reach_until + REACH_SECONDS > now:
            return Reach.ON_DEMAND
        return Reach.AWAY


class Quota(Struct, frozen=True, gc=False):
    """What an agent used of its hourly allowance. `hour` is the number of the hour since the epoch."""

    agent: ParticipantId
    hour: int = 0
    turns: int = 0
    roots: int = 0
    last_root: str = ""
    """Chain of its last closed turn: what it posts of itself soon after still belongs to it."""
    last_hop: int = 0
    last_ended: float = 0.0


class Host(Struct, frozen=True, gc=False):
    """A process that runs agents. Its lease keeps all of them present."""

    id: HostId
    pid: int
    agents: tuple[ParticipantId, ...]
    lease_until: float
    started_at: float
    socket: str = ""
    """Where it can be pinged."""
    watches: bool = False
    """It follows what happens, also where none of its agents is concerned."""
    machine: str = ""
    """Where its process id means something; empty where nobody wrote it down, which is this machine."""

    def runs(self, agent: ParticipantId, now: float) -> bool:
        """It does as far as its lease says."""
        return self.lease_until > now and agent in self.agents
