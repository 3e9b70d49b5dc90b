"""One chance to speak: for one agent, in one conversation, over the interval `(lo, hi]` of seq."""

from enum import StrEnum
from typing import ClassVar

from msgspec import Struct, structs

from moot.model.ids import SYSTEM, ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.json import JsonObject


class TurnState(StrEnum):
    WAITING = "waiting"
    READY = "ready"
    HELD = "held"
    OWED = "owed"
    RUNNING = "running"
    SAID = "said"
    PASSED = "passed"
    FAILED = "failed"
    EXPIRED = "expired"
    CANCELLED = "cancelled"

    @property
    def is_open(self) -> bool:
        return self in OPEN


OPEN = frozenset({TurnState.WAITING, TurnState.READY, TurnState.HELD, TurnState.OWED, TurnState.RUNNING})
UNCLAIMED = OPEN - {TurnState.RUNNING}
MOVES_CURSOR = frozenset({TurnState.SAID, TurnState.PASSED, TurnState.FAILED, TurnState.EXPIRED})
USES_SLOT = frozenset({TurnState.SAID, TurnState.FAILED, TurnState.EXPIRED})

_S = TurnState
_LEGAL: dict[TurnState, frozenset[TurnState]] = {
    _S.WAITING: frozenset({_S.READY, _S.HELD, _S.OWED, _S.CANCELLED}),
    _S.READY: frozenset({_S.RUNNING, _S.OWED, _S.CANCELLED}),
    _S.HELD: frozenset({_S.READY, _S.OWED, _S.CANCELLED, _S.HELD}),
    _S.OWED: frozenset({_S.RUNNING, _S.CANCELLED}),
    _S.RUNNING: frozenset({_S.SAID, _S.PASSED, _S.FAILED, _S.EXPIRED, _S.CANCELLED, _S.READY, _S.OWED}),
}


class IllegalMove(AssertionError):
    """A turn cannot go from one state to the other; a rule is wrong, not the caller."""


class Duty(StrEnum):
    MUST = "must"
    MAY = "may"
    OBSERVES = "observes"
    BLOCKED = "blocked"


class RuleName(StrEnum):
    """Every word `why` can give for a part in the conversation, or for silence."""

    MENTION = "mention"
    FORCE = "force"
    DIRECT = "direct"
    POLL = "poll"
    REACT = "react"
    ROUND_ROBIN = "round_robin"
    TASK = "task"
    ASK = "ask"
    STRATEGY = "strategy"
    SEEN = "seen"
    REST = "rest"
    CAP = "cap"
    DEPTH = "depth"
    CHAIN = "chain"
    COOLDOWN = "cooldown"
    LINK = "link"
    PAIR_LIMIT = "pair_limit"
    BUDGET = "budget"
    """An hourly quota (the agent is blocked) or a budget (its turn failed, and says which): one word on the wire."""
    NO_PROGRESS = "no_progress"
    PAUSED = "paused"
    AWAY = "away"
    SELF = "self"
    DELETED = "deleted"


BLOCKING = frozenset(
    {
        RuleName.CAP,
        RuleName.DEPTH,
        RuleName.CHAIN,
        RuleName.NO_PROGRESS,
        RuleName.PAUSED,
        RuleName.BUDGET,
        RuleName.PAIR_LIMIT,
        RuleName.LINK,
    }
)


def silenced(by: RuleName) -> Duty:
    """How an agent stands that a rule kept from a turn: blocked by a brake, else it merely observes."""
    return Duty.BLOCKED if by in BLOCKING else Duty.OBSERVES


NOBODY = ParticipantId("")


class Call(Struct, frozen=True, array_like=True, gc=False):
    """A message's claim on an agent's turn."""

    agent: ParticipantId
    seq: int
    human: bool
    """Said by a human or an outside system, not by an agent."""
    depth: int
    """Depth inside the round that the turn would have."""
    hop: int
    """Hop of the message."""
    root: RootId
    reason: RuleName
    place: int = 0
    due: float = 0.0
    """Not before this moment (pair back-off)."""
    awaited: float = 0.0
    """Until when the one who asked wants the answer; 0 where it does not, or knows that its time is over."""
    by: ParticipantId = NOBODY
    """The agent, or the system, that said it; empty for what people say, and for polls, which nobody says."""
    shape: str = ""
    """What an answer has to look like, as JSON (rules/answer_shape.py); empty where any text will do."""
    waits_in: HostId = HostId("")
    """The process in which the one who asked waits; empty where it went on, and wants a turn for what comes."""

    def is_waited_for(self, now: float) -> bool:
        """Whether the one who asked waits for the answer, which then needs no turn to be heard."""
        return self.awaited > now and self.waits_in != ""

    @property
    def obliges(self) -> bool:
        """Whether it makes the turn a must: its agent was named or asked, or a person writes to it alone."""
        return self.reason in FORCING or (self.human and self.reason is RuleName.DIRECT)

    @property
    def asks_again(self) -> bool:
        """Whether the hub says it: an answer did not fit, and the same is asked once more."""
        return self.by == SYSTEM and self.reason is RuleName.FORCE


class Step(Struct, frozen=True, gc=False, omit_defaults=True):
    """One tool call of a turn: stored before the tool runs; its result becomes a message by `tool`."""

    call: str
    tool: str
    arguments: str
    at: float
    answer: int = 0
    """Which of the model's answers in this turn asked for it."""
    said: str = ""
    """What the model said before the first call of that answer."""
    idempotent: bool = False
    seq: int = 0
    """The message with its result; 0 as long as it runs."""


class Given(Struct, frozen=True, gc=False, omit_defaults=True):
    """What an agent was given, by reference: texts are stored once, and these say which. See context/prompt.py."""

    start: int
    """The window began behind this seq."""
    digest: str = ""
    """Fingerprint of the whole, to tell whether what is shown today is what was given then."""
    system: str = ""
    """Fingerprint of the system prompt, kept as a text of its own; empty for brains that take none."""
    epoch: int = 0
    """The summary that stood for what lies before the window."""
    pinned: int = 0
    names: dict[str, str] = {}
    """What speakers were called then, where that is not their id."""
    tools: tuple[str, ...] = ()
    size: int = 0
    """Bytes of the prompt …"""
    shared: int | None = None
    """… and how many of them it began with that the last prompt of this agent here had too."""


class Turn(Struct, frozen=True, gc=False):
    id: TurnId
    agent: ParticipantId
    conversation: ConversationId
    duty: Duty
    reason: RuleName
    state: TurnState
    calls: tuple[Call, ...]
    """The messages it answers to, by seq."""
    created_at: float
    round: int = 0
    """Opener of the round it belongs to; 0 outside groups."""
    place: int = 0
    lo: int = 0
    hi: int = 0
    shared: bool = False
    """Reads to the same `hi` as the others readied with it (parallel)."""
    late: bool = False
    """Was owed, or outlived its deadline: runs beside the floor."""
    resumed: bool = False
    """Began after an interruption: an agent may not interrupt it again."""
    interrupted: bool = False
    cause: int = 0
    """seq of the message it answers, so far as known when readied; with root, hop and depth fixed when claimed."""
    root: RootId = RootId("")
    hop: int = 0
    """Hop of what is said in it."""
    depth: int = 0
    charged: tuple[RootId, ...] = ()
    due: float = 0.0
    """When the sweep has to look again: end of hold, of patience, of lease, or the deadline."""
    lease: float = 0.0
    deadline: float = 0.0
    limit: float = 0.0
    host: HostId | None = None
    fence: int = 0
    attempt: int = 0
    posts: int = 0
    """Messages posted by tool during the turn, anywhere."""
    started_at: float = 0.0
    ended_at: float = 0.0
    message: int = 0
    """seq of the reply."""
    rule: RuleName | None = None
    """Why it failed or was cancelled."""
    error: str = ""
    kept: str = ""
    """Of a turn that failed: the text of a reply that a rule refused, kept for its author; else where in its code its
    agent failed, for the owner."""
    usage: JsonObject | None = None
    steps: tuple[Step, ...] = ()
    given: Given | None = None
    stopping: bool = False
    """Interrupted while a tool ran: the turn ends as soon as the result is stored."""
    reserved: bool = False
    """It has set aside what it will probably cost (model/chain.py)."""

    CALLING: ClassVar = ("duty", "reason", "calls")
    """What changes when another message joins it."""

    @property
    def open_step(self) -> Step | None:
        """The tool call that has begun and has no result yet."""
        return next((step for step in self.steps if not step.seq), None)

    @property
    def is_queued_ask(self) -> bool:
        """Whether it is a question that waits until its agent has finished another one."""
        return self.state is _S.WAITING and self.reason is RuleName.ASK

    @property
    def question(self) -> Call | None:
        """The first question that calls it. It answers this one and no other: later ones have turns of their own."""
        return next((call for call in self.calls if call.reason is RuleName.ASK), None)

    @property
    def shape(self) -> str:
        """What its answer has to look like; empty where any text will do."""
        return next((call.shape for call in self.calls if call.shape), "")

    @property
    def named(self) -> bool:
        """Whether somebody asked for this very agent, beyond a poll or its place in the rotation."""
        return any(call.reason in FORCING and call.reason is not RuleName.ROUND_ROBIN for call in self.calls)

    def called_by(self, seq: int) -> bool:
        """Whether a message is among those it answers to."""
        return self.calls[-1].seq == seq or seq in [call.seq for call in self.calls]

    def joined(self, call: Call) -> "Turn":
        """This turn with one more message it answers to; a forced one makes it a must."""
        calls = (*self.calls, call)
        if call.seq <= self.calls[-1].seq:
            if self.called_by(call.seq):
                return self
            calls = tuple(sorted(calls, key=lambda each: each.seq))
        calls = remembered(calls)
        if self.duty is MAY and call.obliges:
            return structs.replace(self, calls=calls, duty=Duty.MUST, reason=call.reason)
        return structs.replace(self, calls=calls)

    def called_only_by(self, calls: tuple[Call, ...]) -> "Turn":
        """This turn when these are all that call it: they say whether it is a must, and why it was made."""
        duty, reason = made_by(calls)
        return structs.replace(self, calls=calls, duty=duty, reason=reason)

    def moved(self, state: TurnState, **fields: object) -> "Turn":
        """The one function that changes a turn's state; an illegal move raises."""
        if state not in _LEGAL.get(self.state, ()):
            raise IllegalMove(f"turn {self.id} of {self.agent} cannot go from {self.state} to {state}")
        return structs.replace(self, state=state, **fields)


def remembered(calls: tuple[Call, ...]) -> tuple[Call, ...]:
    """The newest of these, and the question among them however old it is."""
    if len(calls) <= MAX_CALLS:
        return calls
    oldest = 1 if calls[0].reason is RuleName.ASK else 0
    return (*calls[:oldest], *calls[oldest + 1 :])


def made_by(calls: tuple[Call, ...]) -> tuple[Duty, RuleName]:
    """The duty and the reason of a turn that these messages call: those of the first that obliges, if any does."""
    for call in calls:
        if call.obliges:
            return MUST, call.reason
    return MAY, calls[0].reason


# Names for members that every post asks for: looking one up in its enum takes ten times as long.
RUNNING, MUST, MAY, MENTION = TurnState.RUNNING, Duty.MUST, Duty.MAY, RuleName.MENTION
FORCING = frozenset({RuleName.MENTION, RuleName.FORCE, RuleName.ROUND_ROBIN, RuleName.TASK, RuleName.ASK})
MAX_CALLS = 8
"""A turn remembers this many of the newest messages that called it."""
