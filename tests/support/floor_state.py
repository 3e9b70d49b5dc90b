"""What the model of the floor (floor_model.py) knows: messages, turns, rounds, members, and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field

OPEN = ("waiting", "ready", "held", "owed", "running")
UNCLAIMED = ("waiting", "ready", "held", "owed")
READS = ("said", "passed", "failed", "expired")
"""Ends that move the cursor."""
USES_SLOT = ("said", "failed", "expired")
NAMING = ("mention", "force", "interrupt")
"""Reasons for which an agent is named: its turn is a must, whatever the strategy."""
LARGE = 5
"""Agents from which on a group is large."""


@dataclass
class Rules:
    """The settings of the group, with the defaults of FLOOR."""

    reply_strategy: str = "hybrid"
    turn_order: str = "sequential"
    max_agent_turns_per_message: int = 3
    max_depth: int = 2
    reactive_round: bool = True
    agent_reply_timeout: float = 30.0
    turn_limit_seconds: float = 600.0
    voluntary_timeout: float = 10.0
    cooldown_seconds: float = 2.0
    max_voluntary_responders: int = 3
    max_voluntary_polls: int = 8


@dataclass
class Message:
    seq: int
    author: str
    kind: str
    """`human`, `agent` or `system`."""
    forces: dict[str, str] = field(default_factory=dict)
    """Whom it names, in order, and how: `mention` or `force`."""
    root: int = 0
    hop: int = 0
    round: int = 0
    depth: int = 0
    partial: bool = False
    deleted: bool = False
    notes: dict[str, str] = field(default_factory=dict)
    """Per agent the rule by which it got no turn for this message."""
    members: tuple[str, ...] = ()
    """Who was there when it was posted."""


@dataclass(frozen=True)
class Call:
    """A message's claim on an agent's turn."""

    seq: int
    reason: str
    """`mention`, `force`, `interrupt`, `poll`, `react` or `round_robin`."""


@dataclass
class Entry:
    """A place in the line of those who were named in a round and have no turn yet."""

    agent: str
    calls: list[Call]
    place: int
    at_once: bool = False
    """Named by the round's own message: in a parallel group it does not wait for others."""
    capped: bool = False
    """No slot is left for it."""


@dataclass
class Turn:
    agent: str
    round: int
    kind: str
    """How it came about: `named`, `poll`, `react` or `rotation`."""
    calls: list[Call]
    place: int = 0
    state: str = "waiting"
    at_once: bool = False
    shared: bool = False
    """Reads to the same point as the others readied with it (parallel)."""
    late: bool = False
    """Was owed: runs beside the floor."""
    lo: int = 0
    hi: int = 0
    cause: int = 0
    depth: int = 0
    hop: int = 0
    root: int = 0
    asked_as: int = 0
    """The how many-eth to be asked."""
    asked_at: float = 0.0
    alive_at: float = 0.0
    started_at: float = 0.0
    until: float = 0.0
    """End of the hold."""
    in_large: bool = False
    """The group was large when it was readied."""
    lost_hosts: int = 0
    posts: int = 0
    over: str = ""
    """Why it was cancelled: `interrupt`, `away`, `paused`, `left` or `deleted`."""


@dataclass
class Round:
    opener: int
    cap: int
    polls: bool = True
    """Whether those nobody named are asked as well."""
    state: str = "queued"
    used: int = 0
    line: list[Entry] = field(default_factory=list)
    places: int = 0
    named: bool = False
    """Its message named somebody, which overrides the rotation."""
    asked: list[str] = field(default_factory=list)
    reacted: set[str] = field(default_factory=set)
    missed: set[tuple[str, int]] = field(default_factory=set)
    """Not asked to react to a message when its place came: away, paused, or it owes a turn."""
    polled: int = 0
    volunteers: int = 0
    passed_over: set[str] = field(default_factory=set)
    """Not polled when its place came: away, or sitting out."""
    shared_hi: int = 0
    first_place: int = 0
    """Places before all others: of those an interruption forces."""


@dataclass
class Member:
    name: str
    cursor: int = 0
    said_at: float | None = None
    streak: int = 0
    rested: int = 0
    since: int = 0
    """The head when it came."""


class State:
    """One group conversation, and everything that can be said about it by looking."""

    def __init__(self, members: list[str], rules: Rules) -> None:
        self.rules = rules
        self.now = 0.0
        self.members = [Member(name) for name in members]
        self.up: set[str] = set()
        self.paused: set[str] = set()
        self.messages: list[Message] = []
        self.turns: list[Turn] = []
        self.rounds: dict[int, Round] = {}
        self.queue: list[int] = []
        self.current: Round | None = None
        self.pointer = ""
        self.answered = 0
        """round_robin: up to which seq a turn that spoke has answered."""

    # --- messages and members ----------------------------------------------------------------------------

    @property
    def head(self) -> int:
        return len(self.messages)

    def message(self, seq: int) -> Message:
        return self.messages[seq - 1]

    def names(self) -> list[str]:
        return [member.name for member in self.members]

    def is_member(self, agent: str) -> bool:
        return agent in self.names()

    def member(self, agent: str) -> Member:
        return next(member for member in self.members if member.name == agent)

    def is_large(self) -> bool:
        return len(self.members) >= LARGE

    def has_read(self, agent: str, seq: int) -> bool:
        return self.member(agent).cursor >= seq

    def cool_at(self, agent: str) -> float:
        said = self.member(agent).said_at
        return self.now if said is None else said + self.rules.cooldown_seconds

    def is_cooling(self, agent: str) -> bool:
        return self.cool_at(agent) > self.now

    # --- turns -------------------------------------------------------------------------------------------

    def open_turn(self, agent: str) -> Turn | None:
        return next((t for t in self.turns if t.agent == agent and t.state in OPEN), None)

    def open_turns(self) -> list[Turn]:
        return [t for t in self.turns if t.state in OPEN]

    def holders(self, round_: Round) -> list[Turn]:
        """The turns that hold the floor."""
        holding = ("ready", "held", "running")
        return [t for t in self.turns if t.round == round_.opener and t.state in holding and not t.late]

    def free_slots(self, round_: Round) -> int:
        taken = [t for t in self.turns if t.round == round_.opener and t.state in OPEN]
        return round_.cap - round_.used - len(taken)

    def reach(self, turn: Turn) -> int:
        """The newest message the turn reads, or would read if it were claimed now."""
        if turn.state not in UNCLAIMED:
            return turn.hi
        if turn.shared and self.rounds[turn.round].shared_hi:
            return self.rounds[turn.round].shared_hi
        return self.head

    def block(self, agent: str, message: Message) -> str:
        """The rule by which the message's mention of the agent gets no turn, for the time being at least."""
        if message.notes.get(agent) in ("depth", "paused", "cap"):
            return message.notes[agent]
        entries = self.rounds[message.round].line
        capped = [e for e in entries if e.capped and e.agent == agent]
        return "cap" if any(call.seq == message.seq for e in capped for call in e.calls) else ""

    def calls_on(self, turn: Turn) -> list[Call]:
        """All messages that owe the turn: those that made it, and those in the queue that it reads and that name its
        agent."""
        reach = self.reach(turn)
        calls = [c for c in turn.calls if not self.message(c.seq).deleted and c.seq <= reach]
        if turn.state in UNCLAIMED:
            known = {call.seq for call in calls if call.reason in NAMING}
            calls += [c for c in self.queued(turn.agent) if c.seq <= reach and c.seq not in known]
        return sorted(calls, key=lambda call: call.seq)

    def queued(self, agent: str) -> list[Call]:
        """Unread mentions whose round has not begun."""
        openers = [self.message(r.opener) for r in self.rounds.values() if r.state == "queued"]
        naming = [m for m in openers if agent in m.forces and agent not in m.notes]
        return [
            Call(m.seq, m.forces[agent]) for m in naming if not m.deleted and not self.has_read(agent, m.seq)
        ]

    def in_line(self, agent: str) -> list[Call]:
        """Unread mentions for which the agent stands in line, with a slot."""
        entries = [entry for round_ in self.rounds.values() for entry in round_.line]
        calls = [call for e in entries if e.agent == agent and not e.capped for call in e.calls]
        return [c for c in calls if not self.message(c.seq).deleted and not self.has_read(agent, c.seq)]

    def is_named(self, turn: Turn) -> bool:
        return any(call.reason in NAMING for call in self.calls_on(turn))

    def duty(self, turn: Turn) -> str:
        return "must" if turn.kind == "rotation" or self.is_named(turn) else "may"

    def patience(self, turn: Turn) -> float:
        """How long the turn may stay unclaimed, and how long it may run without a sign of life."""
        large = turn.in_large and self.is_large()
        if large and turn.kind in ("poll", "react") and not self.is_named(turn):
            return self.rules.voluntary_timeout
        return self.rules.agent_reply_timeout

    def unseen(self, round_: Round, agent: str) -> list[Message]:
        """What other agents have said in the round that the agent has not read."""
        return [
            m
            for m in self.messages
            if m.kind == "agent" and m.round == round_.opener and m.author != agent
            and not m.partial and not m.deleted and not self.has_read(agent, m.seq)
        ]  # fmt: skip

    # --- the cause of a turn -----------------------------------------------------------------------------

    def fix_cause(self, turn: Turn) -> None:
        """What the turn answers; its depth, hop and root follow from it."""
        cause = self.cause_of(turn)
        turn.cause, turn.root, turn.hop = cause.seq, cause.root, cause.hop + 1
        turn.depth = 1 if cause.kind == "human" else cause.depth + 1

    def cause_of(self, turn: Turn) -> Message:
        calls = self.calls_on(turn)
        callers = [self.message(call.seq) for call in calls]
        agents = [m for m in callers if m.kind == "agent"]
        read = self.messages[turn.lo : turn.hi]
        people = [m for m in read if m.kind == "human" and not m.deleted]
        if not people or not agents:
            return people[-1] if people else self.highest(agents)
        newest = people[-1]
        later = any(m.seq > newest.seq for m in agents)
        named_by_person = any(c.reason in NAMING and self.message(c.seq).kind == "human" for c in calls)
        if turn.kind == "react":
            reacts_to_later = any(c.reason == "react" and c.seq > newest.seq for c in calls)
            return self.highest(agents) if reacts_to_later or not named_by_person else newest
        return self.highest(agents) if later and not named_by_person else newest

    def highest(self, messages: list[Message]) -> Message:
        """The one with the highest hop, the newest among equals."""
        return max(messages, key=lambda m: (m.hop, m.seq))
