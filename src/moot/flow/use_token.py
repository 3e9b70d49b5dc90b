"""Note that a token was used. It makes no event, because it happens with every request."""

from msgspec import Struct, structs

from moot.model.change import Decision, PutRecord
from moot.model.moment import Moment
from moot.model.records.token import TOKENS, TokenId
from moot.ports import Scope
from moot.rules.draft import Seen

USED_EVERY_SECONDS = 60.0
"""How exactly it is known when a token was last used."""


class UseToken(Struct, frozen=True, gc=False):
    id: TokenId


def scope(command: UseToken) -> Scope:
    return Scope(records=(TOKENS.one(command.id),))


def decide(command: UseToken, seen: Seen, at: Moment) -> Decision[None]:
    token = seen.record(TOKENS, command.id)
    if token is None or token.revoked_at or at.now < token.used_at + USED_EVERY_SECONDS:
        return Decision([], None)
    return Decision([PutRecord(TOKENS, structs.replace(token, used_at=at.now))], None)
