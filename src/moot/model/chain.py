"""Counters that follow a chain of causes, a pair of agents or what is spent, over all conversations."""

from enum import StrEnum
from typing import Final

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.records.record import Table
from moot.model.turn import RuleName


class Spoken(Struct, frozen=True, array_like=True, gc=False):
    """What the no-progress detector remembers of an agent's message."""

    agent: ParticipantId
    short: bool
    words: str


class ChainTail(Struct, frozen=True, array_like=True, gc=False):
    """The newest agent messages of one root in one conversation."""

    conversation: ConversationId
    window: tuple[Spoken, ...] = ()


class Root(Struct, frozen=True, gc=False):
    """One chain: everything that one human's or outside system's message led to."""

    id: RootId
    turns: int = 0
    base_hop: int = 0
    """Hops already allowed for by a person's `/continue`."""
    paused: RuleName | None = None
    noticed: tuple[ConversationId, ...] = ()
    """Where a notice about the chain's end already stands."""
    tails: tuple[ChainTail, ...] = ()
    messages: int = 0
    """What agents have said on it, by reply and by tool, since a person last let it go on."""


class Pair(Struct, frozen=True, gc=False):
    """The limiter's memory of one direction between two agents."""

    sender: ParticipantId
    receiver: ParticipantId
    level: int = 0
    last: float = 0.0
    due: float = 0.0
    sent: tuple[float, ...] = ()
    """Accepted sends of the last minute."""


# --- what was spent; budgets are held against it (rules/budgets.py) --------------------------------------------

DAY_SECONDS: Final = 86_400.0


class SpendingKind(StrEnum):
    AGENT = "agent"
    """Of one agent on one day."""
    ROOT = "root"
    """Of one chain, however long it takes."""
    CONVERSATION = "conversation"
    """Of one conversation, for as long as it is there."""
    DAY = "day"
    """Of everybody on one day."""
    STARTED = "started"
    """Of all that one agent has started, and of theirs, on one day."""


class Spending(Struct, frozen=True, gc=False):
    kind: SpendingKind
    subject: str
    """The agent, the chain or the conversation; empty for everybody's day."""
    day: int = 0
    """Days since 1970, UTC; 0 for a chain and a conversation."""
    cost_usd: float = 0.0
    tokens: int = 0
    turns: int = 0
    unpriced: int = 0
    """Turns whose price is not known: they count in tokens alone."""
    last_usd: float = 0.0
    """What the last turn cost: the next one sets as much aside."""
    last_tokens: int = 0
    updated_at: float = 0.0
    raised_usd: float = 0.0
    """What a person has allowed beyond the budget."""
    raised_tokens: int = 0
    begun: int = 0
    """How often a turn has set something aside, on the row of everybody's day."""


SPENDING = Table(
    "spending", Spending, key=("kind", "subject", "day"), by=("subject",), in_micros=("updated_at",)
)


class Reservation(Struct, frozen=True, gc=False):
    """What a turn under way has set aside of its budgets: made when it begins, gone when it ends."""

    turn: TurnId
    conversation: ConversationId
    agent: ParticipantId
    root: RootId
    day: int
    """Days since 1970, UTC."""
    above: tuple[ParticipantId, ...] = ()
    """Who started its agent: their budgets pay too."""
    usd: float = 0.0
    tokens: int = 0
    alone: bool = False
    """Nothing is known of what the turn will cost: no other one begins beside it on the same budget."""
    until: float = 0.0
    """When its turn is over whatever happens. A reservation that is older counts no more."""


RESERVATIONS = Table(
    "reservations", Reservation, key=("turn",), all_at_once=True, ends_with_conversation=True
)


def day_of(moment: float) -> int:
    return int(moment // DAY_SECONDS)
