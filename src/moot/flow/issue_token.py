"""Issue a token. Whoever calls brings the hash; the token stays outside.

Issuing, revoking (revoke_token.py) and acting for somebody (act_as.py) are told as events of their own: they are the
audit of who may come in.
"""

from msgspec import Struct

from moot.errors import NotPermitted
from moot.flow.steps import find
from moot.flow.steps.token_owner import token_owner
from moot.model.change import Decision, PutToken
from moot.model.event import EventType
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


class IssueToken(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: ParticipantId
    id: TokenId
    digest: str
    scopes: tuple[May, ...]
    parent: str = ""
    """Id of the token that the author showed, if any."""


def scope(command: IssueToken) -> Scope:
    return Scope(names=(command.author, command.participant), tokens_of=command.participant)


def decide(command: IssueToken, seen: Seen, at: Moment) -> Decision[Token]:
    draft = Draft(seen, at)
    who = token_owner(draft, command.author, command.participant)
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
    draft.emit(EventType.TOKEN_ISSUED, by=command.author, body=body)
    return Decision(draft.changes(), token)


def _has_room(draft: Draft, author: ParticipantId, who: Participant) -> None:
    tokens = draft.seen.tokens_of(who.id)
    good = sum(not token.revoked_at for token in tokens)
    by_owner = find.is_owner(draft.participant(author), draft.at)
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
