"""The closed set of things a decision can change. The fold knows each of them and no other."""

from typing import Generic, TypeAlias, TypeVar

from msgspec import Struct

from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.message import Message, Permit, Revision, Summary
from moot.model.participant import Host, Participant, Quota
from moot.model.records.record import AnyTable, Key
from moot.model.round import Round
from moot.model.turn import Turn

A = TypeVar("A", covariant=True)


class AppendMessage(Struct, frozen=True, gc=False):
    """Needs a permit, which only the link policy makes."""

    message: Message
    permit: Permit


class ReviseMessage(Struct, frozen=True, gc=False):
    message: Message
    revision: Revision


class PutConversation(Struct, frozen=True, gc=False):
    conversation: Conversation


class TalkIn(Struct, frozen=True, gc=False):
    """A conversation that was there, of which only what `Conversation.TALK` names has changed."""

    conversation: Conversation


class DropConversation(Struct, frozen=True, gc=False):
    conversation: ConversationId


class PutMember(Struct, frozen=True, gc=False):
    member: Member


class DropMember(Struct, frozen=True, gc=False):
    conversation: ConversationId
    participant: ParticipantId


class PutTurn(Struct, frozen=True, gc=False):
    turn: Turn


class JoinTurn(Struct, frozen=True, gc=False):
    """A turn that was there, of which only what `Turn.CALLING` names has changed."""

    turn: Turn


class PutRound(Struct, frozen=True, gc=False):
    round: Round


class PutRoot(Struct, frozen=True, gc=False):
    root: Root


class PutPair(Struct, frozen=True, gc=False):
    pair: Pair


class PutParticipant(Struct, frozen=True, gc=False):
    participant: Participant


class PutQuota(Struct, frozen=True, gc=False):
    quota: Quota


class PutHost(Struct, frozen=True, gc=False):
    host: Host


class DropHost(Struct, frozen=True, gc=False):
    host: HostId


class AddSummary(Struct, frozen=True, gc=False):
    summary: Summary


class ForgetSummaries(Struct, frozen=True, gc=False):
    """A message they may quote was deleted."""

    conversation: ConversationId


class KeepText(Struct, frozen=True, gc=False):
    """A text that many turns were given, kept once under its fingerprint."""

    digest: str
    text: str


class PutRecord(Struct, frozen=True, gc=False):
    """A record of any kind, new or changed."""

    table: AnyTable
    record: Struct


class DropRecord(Struct, frozen=True, gc=False):
    table: AnyTable
    key: Key


class Emit(Struct, frozen=True, gc=False):
    event: Event


Change: TypeAlias = (
    AppendMessage
    | ReviseMessage
    | PutConversation
    | TalkIn
    | DropConversation
    | PutMember
    | DropMember
    | PutTurn
    | JoinTurn
    | PutRound
    | PutRoot
    | PutPair
    | PutParticipant
    | PutQuota
    | PutHost
    | DropHost
    | AddSummary
    | ForgetSummaries
    | KeepText
    | PutRecord
    | DropRecord
    | Emit
)


class Decision(Struct, Generic[A], frozen=True, gc=False):
    """What a verb decided: the changes, in order, and the answer for the caller."""

    changes: list[Change]
    answer: A
