"""Who may do what to what: one function for requests, streams, resumes and search hits of every door.

The owner may do everything. A participant sees the conversations it is a member of, speaks in them, and has its own
inbox and tokens; persons may also change the conversations they are in, and read the channels of links. What somebody
may not see is not there for it: the refusal is the same as for what does not exist. An error while deciding is a no.

Above: flow/steps/admission.py for writes, inside their decisions; the doors for reads. Below: nothing; whoever calls
brings the facts. Not here: the link graph (rules/links.py), which says who may address whom and binds everybody; who
may read and write which shared note (rules/notes.py).
"""

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import Final, TypeAlias

from msgspec import Struct

from moot.errors import MootError, NotFound, NotPermitted, Unauthenticated
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.model.records.token import TokenId, TokenScope


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
    in_browser: bool = False
    """It signed in to the page."""


NOBODY: Final = Principal(Standing.NOBODY)


class Action(StrEnum):
    LOOK = "look"
    """At what everybody inside may see: who there is, the limits."""
    READ = "read"
    """A conversation and what is in it."""
    POST = "post"
    """Into a conversation, or to somebody."""
    CREATE = "create"
    """A conversation, or a shared note."""
    MANAGE = "manage"
    """A conversation: its name, settings and members, its archiving. A shared note: who may use it, its deletion."""
    SEE_OWN = "see own"
    """Somebody's own things: inbox, conversations, tokens."""
    CHANGE_OWN = "change own"
    SPAWN = "spawn"
    """An agent, from a template; which, the template's own rules say."""
    RULE = "rule"
    """The hub: other agents, the audit, erasing."""


class ConversationTarget(Struct, frozen=True):
    """A conversation, as far as it matters here."""

    ref: str
    members: frozenset[str]
    """Their names."""
    is_channel: bool = False
    """Of a link: people read it too, and only its two ends speak there."""


class MembershipTarget(Struct, frozen=True):
    """Somebody's membership of a conversation."""

    conversation: ConversationTarget
    name: str


class PersonTarget(Struct, frozen=True):
    name: str


class HubTarget(Struct, frozen=True):
    """The hub as a whole."""


Target: TypeAlias = ConversationTarget | MembershipTarget | PersonTarget | HubTarget
HUB_TARGET: Final = HubTarget()
NO_CONVERSATION: Final[frozenset[str]] = frozenset()
"""Members of one that is not there, or that the caller may not see."""

SCOPES: Final[Mapping[Action, TokenScope]] = {
    Action.LOOK: TokenScope.READ,
    Action.READ: TokenScope.READ,
    Action.SEE_OWN: TokenScope.READ,
    Action.POST: TokenScope.POST,
    Action.CREATE: TokenScope.POST,
    Action.MANAGE: TokenScope.POST,
    Action.CHANGE_OWN: TokenScope.POST,
    Action.SPAWN: TokenScope.SPAWN,
    Action.RULE: TokenScope.ADMIN,
}


def _belongs(caller: Principal, target: Target) -> bool:
    match target:
        case ConversationTarget():
            return caller.name in target.members
        case MembershipTarget():
            return caller.name in target.conversation.members
        case PersonTarget() | HubTarget():
            return True


def _sees(caller: Principal, target: Target) -> bool:
    """Members see a conversation, and people what agents say to each other over links."""
    where = target.conversation if isinstance(target, MembershipTarget) else target
    is_open = isinstance(where, ConversationTarget) and where.is_channel and caller.human
    return is_open or _belongs(caller, target)


def _manages(caller: Principal, target: Target) -> bool:
    """Persons manage the conversations they are in; anybody may leave one."""
    return _belongs(caller, target) and (
        caller.human or (isinstance(target, MembershipTarget) and target.name == caller.name)
    )


def _owns(caller: Principal, target: Target) -> bool:
    return isinstance(target, PersonTarget) and target.name == caller.name


RULES: Final[Mapping[Action, Callable[[Principal, Target], bool]]] = {
    Action.LOOK: lambda caller, target: True,
    Action.READ: _sees,
    Action.POST: _belongs,
    Action.CREATE: lambda caller, target: caller.human,
    Action.MANAGE: _manages,
    Action.SEE_OWN: _owns,
    Action.CHANGE_OWN: _owns,
    Action.SPAWN: lambda caller, target: True,
    Action.RULE: lambda caller, target: False,
}


def may(caller: Principal, action: Action, target: Target) -> bool:
    try:
        authorize(caller, action, target)
    except MootError:
        return False
    return True


def authorize(caller: Principal, action: Action, target: Target) -> None:
    """Return, or raise why not. Whatever goes wrong in here is a refusal."""
    try:
        refusal = _refusal(caller, action, target)
    except Exception as error:  # a rule that fails must not open a door
        raise NotPermitted("could not decide whether you may do this") from error
    if refusal is not None:
        raise refusal


def _refusal(caller: Principal, action: Action, target: Target) -> MootError | None:
    if caller.standing is Standing.OWNER:
        return None
    if caller.standing is not Standing.PARTICIPANT:
        return unauthenticated()
    if not _sees(caller, target):
        return hidden(target)
    if SCOPES[action] not in caller.scopes and action is not Action.RULE:
        return NotPermitted(
            f'this token does not have the scope "{SCOPES[action]}"',
            detail=f"it has {', '.join(sorted(caller.scopes))}",
            fix=("ask the owner for another token",),
        )
    if RULES[action](caller, target):
        return None
    return NotPermitted(f"{caller.name} may not do this", detail=_needed(action, target))


def unauthenticated() -> Unauthenticated:
    return Unauthenticated(
        "no valid token came with this request",
        detail="it is missing, unknown or revoked",
        fix=("send the header Authorization: Bearer TOKEN", "the owner's token is in run/token of the home"),
    )


def hidden(target: Target) -> NotFound:
    """What one may not see: no different from what is not there."""
    ref = (
        target.ref
        if isinstance(target, ConversationTarget)
        else target.conversation.ref
        if isinstance(target, MembershipTarget)
        else ""
    )
    return NotFound(f'no conversation of yours is called "{ref}"', what="conversation", ref=ref)


def _needed(action: Action, target: Target) -> str:
    if isinstance(target, PersonTarget) and action is not Action.RULE:
        return f"only {target.name} and the owner may do this"
    return (
        "only members may do this"
        if isinstance(target, ConversationTarget | MembershipTarget) and action is Action.POST
        else "only people may do this, not agents"
        if action in (Action.CREATE, Action.MANAGE)
        else "only the owner may do this"
    )


def watched_by(supervisor: Participant, people: Iterable[Participant]) -> frozenset[ParticipantId]:
    """Whose conversations a supervisor is shown: agents that its `watches` names, by whatever name they have had, or
    all; no other supervisor, which says nothing."""
    named = frozenset(supervisor.config.watches)
    return frozenset(
        participant.id
        for participant in people
        if participant.speaks_in_turns
        and not participant.only_watches
        and ("*" in named or not named.isdisjoint((participant.id, participant.name, *participant.aliases)))
    )
