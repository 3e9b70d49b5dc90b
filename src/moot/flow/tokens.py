"""Tokens: issue one, revoke one, note that one was used. Whoever calls brings the hash; the token stays outside.

A token that was issued with another one ends with it, and so on: whoever lends its access away takes all of it back.
Issuing, revoking and acting for somebody are told as events of their own: they are the audit of who may come in.
"""

from msgspec import Struct, structs

from moot.errors import NotFound, NotPermitted
from moot.flow.steps import look
from moot.model.change import Decision, PutToken
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind, Participant
from moot.model.token import Scope as May
from moot.model.token import Token, TokenId
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

MOST_OWN = 100
"""Good tokens of a participant up to which it may issue more itself."""
MOST = 1_000
"""Good ones up to which the owner may; and all that there were, up to which it may itself."""
USED_EVERY_SECONDS = 60.0
"""How exactly it is known when a token was last used."""


class Issue(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: ParticipantId
    id: TokenId
    digest: str
    scopes: tuple[May, ...]
    parent: str = ""
    """Id of the token that the author showed, if any."""


class Issuing:
    def scope(self, command: Issue) -> Scope:
        return Scope(names=(command.author, command.participant), tokens_of=command.participant)

    def decide(self, command: Issue, seen: Seen, at: Moment) -> Decision[Token]:
        draft = Draft(seen, at)
        who = _concerns(draft, command.author, command.participant)
        if who.kind in (Kind.SYSTEM, Kind.TOOL):
            raise NotPermitted(f"nobody holds a credential for {who.name}")
        _has_room(draft, command.author, who)
        parent = seen.token(TokenId(command.parent)) if command.parent else None
        if parent is not None and parent.revoked_at:
            raise NotPermitted("the token that this one was to be issued with was revoked")
        token = Token(
            command.id, who.id, command.digest, command.scopes, created_at=at.now, parent=command.parent
        )
        draft.add(PutToken(token))
        body = {"token": token.id, "participant": who.id, "scopes": [str(scope) for scope in token.scopes]}
        draft.emit("token.issued", by=command.author, body=body)
        return Decision(draft.changes(), token)


class Revoke(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: ParticipantId
    id: TokenId


class Revoking:
    def scope(self, command: Revoke) -> Scope:
        return Scope(names=(command.author, command.participant), tokens_of=command.participant)

    def decide(self, command: Revoke, seen: Seen, at: Moment) -> Decision[Token]:
        draft = Draft(seen, at)
        who = _concerns(draft, command.author, command.participant)
        token = seen.token(command.id)
        if token is None or token.participant != who.id:
            raise NotFound(f"{who.name} has no token {command.id}", fix=("list its tokens",), ref="")
        if token.revoked_at:
            return Decision([], token)
        for ending in _with_minted(token, seen.tokens_of(who.id)):
            draft.add(PutToken(structs.replace(ending, revoked_at=at.now)))
            body = {"token": ending.id, "participant": who.id}
            draft.emit("token.revoked", by=command.author, body=body)
        return Decision(draft.changes(), structs.replace(token, revoked_at=at.now))


def _with_minted(token: Token, all_of_them: list[Token]) -> list[Token]:
    """The token, and the good ones that were issued with it or with one of those."""
    ending = [token]
    for one in ending:
        ending += [
            other
            for other in all_of_them
            if other.parent == one.id and not other.revoked_at and other is not one
        ]
    return ending


def _has_room(draft: Draft, author: ParticipantId, who: Participant) -> None:
    tokens = draft.seen.tokens_of(who.id)
    good = sum(not token.revoked_at for token in tokens)
    by_owner = look.is_owner(draft.participant(author), draft.at)
    most = MOST if by_owner else MOST_OWN
    if good >= most:
        raise NotPermitted(
            f"{who.name} has {good} tokens already",
            detail=f"{most} good ones are the most",
            fix=("revoke those that nobody uses",),
        )
    if len(tokens) >= MOST and not by_owner:
        raise NotPermitted(
            f"{who.name} has had {len(tokens)} tokens, revoked ones included",
            detail=f"from {MOST} on only the owner issues more",
            fix=("ask the owner for a token",),
        )


class Use(Struct, frozen=True, gc=False):
    id: TokenId


class Using:
    """Told to nobody: it happens with every request."""

    def scope(self, command: Use) -> Scope:
        return Scope(tokens=(command.id,))

    def decide(self, command: Use, seen: Seen, at: Moment) -> Decision[None]:
        token = seen.token(command.id)
        if token is None or token.revoked_at or at.now < token.used_at + USED_EVERY_SECONDS:
            return Decision([], None)
        return Decision([PutToken(structs.replace(token, used_at=at.now))], None)


class Act(Struct, frozen=True, gc=False):
    """The owner did something in somebody's name."""

    owner: ParticipantId
    speaker: ParticipantId
    what: str


class Acting:
    def scope(self, command: Act) -> Scope:
        return Scope(names=(command.owner, command.speaker))

    def decide(self, command: Act, seen: Seen, at: Moment) -> Decision[None]:
        draft = Draft(seen, at)
        draft.emit("owner.acted_as", by=command.owner, body={"as": command.speaker, "what": command.what})
        return Decision(draft.changes(), None)


def _concerns(draft: Draft, author: ParticipantId, name: str) -> Participant:
    """Whose token it is, if the author may deal with it: the owner with all, everybody else with their own."""
    who = look.participant(draft.seen, name)
    if who.id != author and not look.is_owner(draft.participant(author), draft.at):
        raise NotPermitted(
            f"the tokens of {who.name} are its own and the owner's", fix=("ask the owner for a token",)
        )
    return who


issuing = Issuing()
revoking = Revoking()
using = Using()
acting = Acting()
