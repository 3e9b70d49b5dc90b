"""Who may do what to what: one function for requests, streams, resumes and search hits of every door.

The owner may do everything. A participant sees the conversations it is a member of, speaks in them, and has its own
inbox and tokens; persons may also change the conversations they are in. What somebody may not see is not there for
it: the refusal is the same as for what does not exist. An error while deciding is a no.

Above: flow/steps/admission.py for writes, inside their decisions; the doors for reads. Below: nothing; whoever calls
brings the facts. Not here: the link graph (rules/links.py), which says who may address whom and binds everybody.
"""

from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from moot.errors import MootError, NotFound, NotPermitted, Unauthenticated
from moot.model.ids import ParticipantId
from moot.model.token import Scope, TokenId


class Standing(StrEnum):
    OWNER = "owner"
    PARTICIPANT = "participant"
    NOBODY = "nobody"


class Principal(Struct, frozen=True):
    """Who speaks, as its credential says. Nothing a request contains can change it."""

    standing: Standing
    id: ParticipantId = ParticipantId("")
    name: str = ""
    human: bool = False
    scopes: frozenset[str] = frozenset()
    by_owner: bool = False
    """The owner speaks for this participant; all rules bind the participant."""
    token: TokenId = TokenId("")
    """Id of the token it showed; a stream ends when that is revoked."""


NOBODY: Final = Principal(Standing.NOBODY)


class Action(StrEnum):
    LOOK = "look"
    """At what everybody inside may see: who there is, the limits."""
    READ = "read"
    """A conversation and what is in it."""
    POST = "post"
    """Into a conversation, or to somebody."""
    CREATE = "create"
    """A conversation."""
    MANAGE = "manage"
    """A conversation: its name, settings and members, its archiving."""
    SEE_OWN = "see own"
    """Somebody's own things: inbox, conversations, tokens."""
    CHANGE_OWN = "change own"
    RULE = "rule"
    """The hub: other agents, the audit, erasing."""


class Place(Struct, frozen=True):
    """A conversation, as far as it matters here."""

    ref: str
    members: frozenset[str]
    """Their names."""


class Seat(Struct, frozen=True):
    """Somebody's membership of a conversation."""

    place: Place
    name: str


class Person(Struct, frozen=True):
    name: str


class House(Struct, frozen=True):
    """The hub as a whole."""


Thing: TypeAlias = Place | Seat | Person | House
HOUSE: Final = House()
NO_CONVERSATION: Final[frozenset[str]] = frozenset()
"""Members of one that is not there, or that the caller may not see."""

SCOPES: Final[Mapping[Action, Scope]] = {
    Action.LOOK: Scope.READ,
    Action.READ: Scope.READ,
    Action.SEE_OWN: Scope.READ,
    Action.POST: Scope.POST,
    Action.CREATE: Scope.POST,
    Action.MANAGE: Scope.POST,
    Action.CHANGE_OWN: Scope.POST,
    Action.RULE: Scope.ADMIN,
}


def _sees(who: Principal, thing: Thing) -> bool:
    match thing:
        case Place():
            return who.name in thing.members
        case Seat():
            return who.name in thing.place.members
        case Person() | House():
            return True


def _manages(who: Principal, thing: Thing) -> bool:
    """Persons manage the conversations they are in; anybody may leave one."""
    return _sees(who, thing) and (who.human or (isinstance(thing, Seat) and thing.name == who.name))


def _owns(who: Principal, thing: Thing) -> bool:
    return isinstance(thing, Person) and thing.name == who.name


RULES: Final[Mapping[Action, Callable[[Principal, Thing], bool]]] = {
    Action.LOOK: lambda who, thing: True,
    Action.READ: _sees,
    Action.POST: _sees,
    Action.CREATE: lambda who, thing: who.human,
    Action.MANAGE: _manages,
    Action.SEE_OWN: _owns,
    Action.CHANGE_OWN: _owns,
    Action.RULE: lambda who, thing: False,
}


def may(who: Principal, action: Action, thing: Thing) -> bool:
    try:
        authorize(who, action, thing)
    except MootError:
        return False
    return True


def authorize(who: Principal, action: Action, thing: Thing) -> None:
    """Return, or raise why not. Whatever goes wrong in here is a refusal."""
    try:
        refusal = _refusal(who, action, thing)
    except Exception as error:  # a rule that fails must not open a door
        raise NotPermitted("it could not be decided whether you may do this") from error
    if refusal is not None:
        raise refusal


def _refusal(who: Principal, action: Action, thing: Thing) -> MootError | None:
    if who.standing is Standing.OWNER:
        return None
    if who.standing is not Standing.PARTICIPANT:
        return unauthenticated()
    if not _sees(who, thing):
        return hidden(thing)
    if SCOPES[action] not in who.scopes and action is not Action.RULE:
        return NotPermitted(
            f'this token has no scope "{SCOPES[action]}"',
            detail=f"it has {', '.join(sorted(who.scopes))}",
            fix=("ask the owner for another token",),
        )
    if RULES[action](who, thing):
        return None
    return NotPermitted(f"{who.name} may not do this", detail=_needed(action, thing))


def unauthenticated() -> Unauthenticated:
    return Unauthenticated(
        "no valid token came with this request",
        detail="none was given, it is not one of ours, or it was revoked",
        fix=("send the header Authorization: Bearer TOKEN", "the owner's token is in run/token of the home"),
    )


def hidden(thing: Thing) -> NotFound:
    """What one may not see: no different from what is not there."""
    ref = thing.ref if isinstance(thing, Place) else thing.place.ref if isinstance(thing, Seat) else ""
    return NotFound(f'no conversation of yours is called "{ref}"', what="conversation", ref=ref)


def _needed(action: Action, thing: Thing) -> str:
    if isinstance(thing, Person) and action is not Action.RULE:
        return f"this is {thing.name}'s own, and the owner's"
    return (
        "agents may not; a person may" if action in (Action.CREATE, Action.MANAGE) else "only the owner may"
    )
