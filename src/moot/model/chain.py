"""Counters that follow a chain of causes or a pair of agents over all conversations."""

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId, RootId
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
