"""Tokens: issue one, revoke one, note that one was used. Whoever calls brings the hash; the token stays outside.

Issuing, revoking and acting for somebody are told as events of their own: they are the audit of who may come in.
"""

from msgspec import Struct, structs

from moot.errors import NotFound, NotPermitted
from moot.flow import look
from moot.model.change import Decision, PutToken
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind, Participant
from moot.model.token import Scope as May
from moot.model.token import Token, TokenId
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

USED_EVERY_SECONDS = 60.0
"""How exactly it is known when a token was last used."""


class Issue(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: str
    id: TokenId
    digest: str
    scopes: tuple[May, ...]


class Issuing:
    def scope(self, command: Issue) -> Scope:
        return Scope(names=(command.author, command.participant))

    def decide(self, command: Issue, seen: Seen, at: Moment) -> Decision[Token]:
        draft = Draft(seen, at)
        who = _concerns(draft, command.author, command.participant)
        if who.kind in (Kind.SYSTEM, Kind.TOOL):
            raise NotPermitted(f"nobody holds a credential for {who.name}")
        token = Token(command.id, who.id, command.digest, command.scopes, created_at=at.now)
        draft.add(PutToken(token))
        body = {"token": token.id, "participant": who.id, "scopes": [str(scope) for scope in token.scopes]}
        draft.emit("token.issued", by=command.author, body=body)
        return Decision(draft.changes(), token)


class Revoke(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: str
    id: TokenId


class Revoking:
    def scope(self, command: Revoke) -> Scope:
        return Scope(names=(command.author, command.participant), tokens=(command.id,))

    def decide(self, command: Revoke, seen: Seen, at: Moment) -> Decision[Token]:
        draft = Draft(seen, at)
        who = _concerns(draft, command.author, command.participant)
        token = seen.token(command.id)
        if token is None or token.participant != who.id:
            raise NotFound(f"{who.name} has no token {command.id}", fix=("list its tokens",), ref="")
        if token.revoked_at:
            return Decision([], token)
        revoked = structs.replace(token, revoked_at=at.now)
        draft.add(PutToken(revoked))
        body = {"token": token.id, "participant": who.id}
        draft.emit("token.revoked", by=command.author, body=body)
        return Decision(draft.changes(), revoked)


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
    if who.id != author and draft.participant(author).name != draft.at.terms.user:
        raise NotPermitted(
            f"the tokens of {who.name} are its own and the owner's", fix=("ask the owner for a token",)
        )
    return who


issuing = Issuing()
revoking = Revoking()
using = Using()
acting = Acting()
