"""What one message sets off in one group: slots, who was asked, who spoke, whose calls are pending."""

from enum import StrEnum

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.turn import Call, Duty, RuleName


class RoundState(StrEnum):
    QUEUED = "queued"
    RUNNING = "running"
    CLOSED = "closed"


CLOSED = RoundState.CLOSED  # every post asks for it: looking it up in its enum takes ten times as long


class Utterance(Struct, frozen=True, array_like=True, gc=False):
    """A message an agent said in the round (no partials)."""

    seq: int
    agent: ParticipantId
    depth: int
    hop: int
    root: RootId


class NoTurn(Struct, frozen=True, array_like=True, gc=False):
    """What the floor decided about an agent and a message of the round, where it got no turn for it."""

    agent: ParticipantId
    seq: int
    duty: Duty
    rule: RuleName


class Round(Struct, frozen=True, gc=False):
    conversation: ConversationId
    opener: int
    """seq of the message that opened it; also its name."""
    root: RootId
    hop: int
    human: bool
    polls: bool
    """Whether it goes on to ask those nobody forced."""
    cap: int
    state: RoundState = RoundState.QUEUED
    used: int = 0
    """Slots used up: said, failed, expired, and posts by tool."""
    pending: tuple[Call, ...] = ()
    """Forced, without a turn yet: no slot is free, or the agent is still busy here."""
    blocked: tuple[Call, ...] = ()
    """Refused by depth or a brake; `/continue` readies them."""
    places: int = 0
    """How many places were given to pending calls."""
    overridden: bool = False
    """Its message named agents, which suspends round_robin."""
    asked: tuple[ParticipantId, ...] = ()
    reacted: tuple[ParticipantId, ...] = ()
    polled: int = 0
    volunteers: int = 0
    """Voluntary or round_robin turns that spoke."""
    utterances: tuple[Utterance, ...] = ()
    notes: tuple[NoTurn, ...] = ()
    shared_hi: int = 0
    shared_human: int = 0
    """parallel: the head, and the newest human message, at the first claim."""
