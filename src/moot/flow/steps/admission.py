"""Whether whoever asks may: settled inside the decision, with what is true at that moment.

A door knows a credential and what a request is about; it does not look either up. `Admitted` makes any verb check both
first: a token that was revoked is worth nothing from that commit on, whoever revoked it and whatever hint was lost.

Above: hub/core.py wraps verbs for voices that came in by a door. Below: rules/access.py says who may do what.
"""

from typing import Final, Generic, TypeAlias, TypeVar

from msgspec import Struct, structs

from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.entrance import Entrance
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.moment import Moment
from moot.model.participant import HUMAN
from moot.model.records.link import is_channel
from moot.model.records.token import TOKENS, TokenId, TokenScope
from moot.ports import Scope, Verb
from moot.rules.access import (
    HUB_TARGET,
    NO_CONVERSATION,
    Action,
    ConversationTarget,
    MembershipTarget,
    PersonTarget,
    Principal,
    Standing,
    Target,
    authorize,
    hidden,
    unauthenticated,
)
from moot.rules.draft import Seen

C = TypeVar("C")
A = TypeVar("A")
ALL_SCOPES = frozenset(scope.value for scope in TokenScope)


class InConversation(Struct, frozen=True, gc=False):
    """A conversation, as the caller names it; with a name, somebody's membership of it."""

    ref: str
    name: str = ""


class OfTurn(Struct, frozen=True, gc=False):
    turn: TurnId


class OfPerson(Struct, frozen=True, gc=False):
    name: str


class OfHub(Struct, frozen=True, gc=False):
    """The hub as a whole."""


Subject: TypeAlias = InConversation | OfTurn | OfPerson | OfHub
THE_HUB: Final = OfHub()


class Admission(Struct, frozen=True, gc=False):
    """On whose credential something is done, and to what."""

    participant: ParticipantId
    action: Action
    subject: Subject = THE_HUB
    token: TokenId | None = None
    """None where the owner speaks for the participant."""


class Entered(Generic[C, A]):
    """A verb that is told how whoever asks for it came in."""

    __slots__ = ("_entrance", "_verb", "scope")

    def __init__(self, verb: Verb[C, A], entrance: Entrance) -> None:
        self._verb = verb
        self._entrance = entrance
        self.scope = verb.scope

    def decide(self, command: C, seen: Seen, at: Moment) -> Decision[A]:
        return self._verb.decide(command, seen, at.entered_by(self._entrance))


class Admitted(Generic[C, A]):
    """A verb for whoever came in by a door."""

    __slots__ = ("_admission", "_entrance", "_verb")

    def __init__(self, verb: Verb[C, A], admission: Admission, entrance: Entrance) -> None:
        self._verb = verb
        self._admission = admission
        self._entrance = entrance

    def scope(self, command: C) -> Scope:
        wanted, admission = self._verb.scope(command), self._admission
        refs, names, turns = wanted.refs, (*wanted.names, admission.participant), wanted.turns
        match admission.subject:
            case InConversation(ref=ref):
                refs = (*refs, ref)
            case OfTurn(turn=turn):
                turns = (*turns, turn)
            case OfPerson(name=name):
                names = (*names, name)
            case OfHub():
                pass
        records = (
            wanted.records if admission.token is None else (*wanted.records, TOKENS.one(admission.token))
        )
        return structs.replace(wanted, refs=refs, names=names, turns=turns, records=records)

    def decide(self, command: C, seen: Seen, at: Moment) -> Decision[A]:
        admit(self._admission, seen, at.now)
        return self._verb.decide(command, seen, at.entered_by(self._entrance))


def admit(admission: Admission, seen: Seen, now: float) -> None:
    """Return, or raise why not; what the caller may not see is refused as if it were not there."""
    caller = _principal(admission, seen, now)
    authorize(caller, admission.action, _thing(admission, seen, caller))


def _principal(admission: Admission, seen: Seen, now: float) -> Principal:
    participant = seen.participant(admission.participant)
    scopes = ALL_SCOPES
    if admission.token is not None:
        token = seen.record(TOKENS, admission.token)
        if token is None or not token.is_good(now) or token.participant != admission.participant:
            raise unauthenticated()
        scopes = frozenset(token.scopes)
    if participant is None:
        raise unauthenticated()
    if participant.removed:  # its tokens are revoked: somebody speaks for it
        raise find.gone(participant)
    return Principal(
        Standing.PARTICIPANT, participant.id, participant.name, participant.kind is HUMAN, scopes
    )


def _thing(admission: Admission, seen: Seen, caller: Principal) -> Target:
    match admission.subject:
        case InConversation(ref=ref, name=name):
            place = _place(ref, seen, caller)
            return MembershipTarget(place, _called(seen, name)) if name else place
        case OfTurn(turn=turn):
            found = seen.turn(turn)
            if found is None:
                raise hidden(ConversationTarget(str(turn), NO_CONVERSATION))
            members = _seen_by(found.conversation, seen, caller)
            return ConversationTarget(str(turn), members, is_channel(found.conversation))
        case OfPerson(name=name):
            return PersonTarget(_called(seen, name))
        case OfHub():
            return HUB_TARGET


def _place(ref: str, seen: Seen, caller: Principal) -> ConversationTarget:
    found = seen.find(ref)
    if found is None:
        raise hidden(ConversationTarget(ref, NO_CONVERSATION))
    return ConversationTarget(ref, _seen_by(found.id, seen, caller), is_channel(found.id))


def _seen_by(conversation: ConversationId, seen: Seen, caller: Principal) -> frozenset[str]:
    """As far as it matters: the caller, if it is a member."""
    is_member = caller.id in seen.members(conversation)
    return frozenset((caller.name,)) if is_member else NO_CONVERSATION


def _called(seen: Seen, name: str) -> str:
    found = seen.named(name)
    return name if found is None else found.name
