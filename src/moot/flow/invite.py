"""Offer somebody a sign-in: a code that is good once, for a while, and for this person alone.

Whoever calls brings the hash; the code itself stays outside. What becomes of it is in sign_in.py.
"""

from msgspec import Struct

from moot.errors import BadValue, NotPermitted
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN
from moot.model.records.audit import AuditedAct
from moot.model.records.token import TOKENS, Token, TokenId, TokenKind
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

MAX_CODES = 20
"""Maximum number of unused codes per person; one more invalidates the oldest."""
MAX_SECONDS = 30 * 24 * 3600.0


class Invite(Struct, frozen=True, gc=False):
    author: ParticipantId
    participant: ParticipantId
    id: TokenId
    digest: str
    seconds: float


def scope(command: Invite) -> Scope:
    return Scope(
        names=(command.author, command.participant),
        records=(acts.HEAD, TOKENS.where(participant=command.participant)),
    )


def decide(command: Invite, seen: Seen, at: Moment) -> Decision[Token]:
    draft = Draft(seen, at)
    participant = find.addressee(seen, command.participant)
    if not find.is_owner(draft.participant(command.author), at):
        raise NotPermitted("only the owner may let somebody sign in", fix=("ask the owner for a link",))
    if participant.kind is not HUMAN:
        raise NotPermitted(
            f"{participant.name} is no person: only people sign in", fix=("issue a token for it instead",)
        )
    if not 0 < command.seconds <= MAX_SECONDS:
        raise BadValue(
            f"a sign-in cannot be good for {command.seconds:g} s",
            detail=f"expected more than 0 and at most {MAX_SECONDS:g}",
        )
    waiting = [
        one for one in seen.records(TOKENS.where(participant=participant.id)) if one.kind is TokenKind.CODE
    ]
    good = [one for one in waiting if one.is_good(at.now)]
    for one in waiting:
        if one not in good[-(MAX_CODES - 1) :]:
            draft.drop(TOKENS, one.id)
    until = at.now + command.seconds
    code = Token(
        command.id, participant.id, command.digest, created_at=at.now, kind=TokenKind.CODE, expires_at=until
    )
    draft.put(TOKENS, code)
    detail = {"participant": participant.id, "seconds": command.seconds}
    acts.enter(draft, AuditedAct.SIGN_IN_OFFERED, command.author, f"token {code.id}", detail)
    return Decision(draft.changes(), code)
