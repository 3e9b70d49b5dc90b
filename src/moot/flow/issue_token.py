"""Issue a token. Whoever calls brings the hash; the token stays outside.

Issuing, revoking (revoke_token.py) and acting for somebody (act_as.py) are told as events of their own: they are the
audit of who may come in.
"""

from msgspec import Struct

from moot.errors import NotPermitted
from moot.flow.steps import acts, find
from moot.flow.steps.token_owner import token_owner
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind, Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.token import TOKENS, Token, TokenId, TokenKind
from moot.model.records.token import TokenScope as May
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

MAX_OWN = 100
"""Number of valid tokens up to which a participant may issue more itself."""

MAX_TOKENS = 1_000
"""Number of valid tokens up to which the owner may issue more; a participant itself may not once there were this
many in all."""


class IssueToken(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: ParticipantId
    id: TokenId
    digest: str
    scopes: tuple[May, ...]
    parent: str = ""
    """Id of the token that the author showed, if any."""


def scope(command: IssueToken) -> Scope:
    return Scope(
        names=(command.author, command.participant),
        records=(acts.HEAD, TOKENS.where(participant=command.participant)),
    )


def decide(command: IssueToken, seen: Seen, at: Moment) -> Decision[Token]:
    draft = Draft(seen, at)
    owner = token_owner(draft, command.author, command.participant)
    if owner.kind in (Kind.SYSTEM, Kind.TOOL):
        raise NotPermitted(f"{owner.name} cannot have a token")
    _has_room(draft, command.author, owner)
    parent = seen.record(TOKENS, command.parent) if command.parent else None
    if parent is not None and parent.revoked_at:
        raise NotPermitted("the token used to issue this one was revoked")
    token = Token(
        command.id, owner.id, command.digest, command.scopes, created_at=at.now, parent=command.parent
    )
    draft.put(TOKENS, token)
    body = {"token": token.id, "participant": owner.id, "scopes": [str(scope) for scope in token.scopes]}
    acts.enter(draft, AuditedAct.TOKEN_ISSUED, command.author, f"token {token.id}", body)
    draft.emit(EventType.TOKEN_ISSUED, by=command.author, body=body)
    return Decision(draft.changes(), token)


def _has_room(draft: Draft, author: ParticipantId, participant: Participant) -> None:
    tokens = draft.seen.records(TOKENS.where(participant=participant.id))
    good = sum(token.is_good(draft.at.now) and token.kind is not TokenKind.CODE for token in tokens)
    by_owner = find.is_owner(draft.participant(author), draft.at)
    limit = MAX_TOKENS if by_owner else MAX_OWN
    if good >= limit:
        raise NotPermitted(
            f"{participant.name} already has {good} tokens",
            detail=f"at most {limit} can be valid at a time",
            fix=("revoke tokens that are no longer used",),
        )
    if len(tokens) >= MAX_TOKENS and not by_owner:
        raise NotPermitted(
            f"{participant.name} has had {len(tokens)} tokens, revoked ones included",
            detail=f"after {MAX_TOKENS}, only the owner can issue more",
            fix=("ask the owner for a token",),
        )
