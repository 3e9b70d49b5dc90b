"""Revoke a token, and those that were issued with it: whoever lends its access away takes all of it back."""

from msgspec import Struct, structs

from moot.errors import NotFound
from moot.flow.steps import acts
from moot.flow.steps.token_owner import token_owner
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.token import TOKENS, Token, TokenId
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class RevokeToken(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: ParticipantId
    id: TokenId


def scope(command: RevokeToken) -> Scope:
    return Scope(
        names=(command.author, command.participant),
        records=(acts.HEAD, TOKENS.where(participant=command.participant)),
    )


def decide(command: RevokeToken, seen: Seen, at: Moment) -> Decision[Token]:
    draft = Draft(seen, at)
    owner = token_owner(draft, command.author, command.participant)
    token = seen.record(TOKENS, command.id)
    if token is None or token.participant != owner.id:
        raise NotFound(f"{owner.name} has no token {command.id}", fix=("list its tokens",), ref="")
    if token.revoked_at:
        return Decision([], token)
    for ending in _with_minted(token, seen.records(TOKENS.where(participant=owner.id))):
        draft.put(TOKENS, structs.replace(ending, revoked_at=at.now))
        body = {"token": ending.id, "participant": owner.id}
        acts.enter(draft, AuditedAct.TOKEN_REVOKED, command.author, f"token {ending.id}", body)
        draft.emit(EventType.TOKEN_REVOKED, by=command.author, body=body)
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
