"""Sign in with a code: it is used up, and one browser gets a token of its own.

In one decision, so that of two who show the same code one is let in. Why it is refused (unknown, used, too old) is told
to nobody. Whoever calls brings the hashes of code and token.
"""

from msgspec import Struct, structs

from moot.errors import Unauthenticated
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.token import TOKENS, Token, TokenId, TokenKind, TokenScope
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

MAX_BROWSERS = 20
"""In which one person is signed in; with one more, the one that was unused for longest is signed out."""
OF_PEOPLE = (TokenScope.READ, TokenScope.POST)


class SignIn(Struct, frozen=True, gc=False):
    participant: ParticipantId
    code: str
    """SHA-256 of the code, in hex."""
    id: TokenId
    digest: str


def scope(command: SignIn) -> Scope:
    return Scope(
        names=(command.participant,),
        records=(acts.HEAD, TOKENS.where(participant=command.participant)),
    )


def decide(command: SignIn, seen: Seen, at: Moment) -> Decision[Token]:
    draft = Draft(seen, at)
    participant = seen.participant(command.participant)
    tokens = seen.records(TOKENS.where(participant=command.participant))
    code = next((one for one in tokens if one.kind is TokenKind.CODE and one.digest == command.code), None)
    if participant is None or participant.removed or code is None or not code.is_good(at.now):
        raise refused()
    draft.drop(TOKENS, code.id)
    _sign_out_the_oldest(draft, [one for one in tokens if one.kind is TokenKind.BROWSER])
    scopes = tuple(TokenScope) if find.is_owner(participant, at) else OF_PEOPLE
    token = Token(
        command.id, participant.id, command.digest, scopes, created_at=at.now, kind=TokenKind.BROWSER
    )
    draft.put(TOKENS, token)
    detail = {"participant": participant.id, "code": code.id}
    acts.enter(draft, AuditedAct.SIGNED_IN, participant.id, f"token {token.id}", detail)
    body = {"token": token.id, "participant": participant.id, "scopes": [str(scope) for scope in scopes]}
    draft.emit(EventType.TOKEN_ISSUED, by=participant.id, body=body)
    return Decision(draft.changes(), token)


def _sign_out_the_oldest(draft: Draft, browsers: list[Token]) -> None:
    """Make room for one more. Browsers that were signed out before are forgotten here; the audit still has them."""
    for token in browsers:
        if token.revoked_at:
            draft.drop(TOKENS, token.id)
    good = sorted(
        (one for one in browsers if not one.revoked_at), key=lambda one: max(one.used_at, one.created_at)
    )
    for token in good[: max(0, len(good) - MAX_BROWSERS + 1)]:
        draft.put(TOKENS, structs.replace(token, revoked_at=draft.at.now))
        body = {"token": token.id, "participant": token.participant}
        acts.enter(draft, AuditedAct.TOKEN_REVOKED, token.participant, f"token {token.id}", body)
        draft.emit(EventType.TOKEN_REVOKED, by=token.participant, body=body)


def refused() -> Unauthenticated:
    return Unauthenticated(
        "this link does not sign in any more",
        detail="it is good once and for a short time",
        fix=(Hint(Act.OPEN_PAGE),),
    )
