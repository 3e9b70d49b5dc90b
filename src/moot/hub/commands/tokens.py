"""Tokens of participants: made here, shown once, kept only as a hash, looked up by it."""

import hmac
import secrets
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct

from moot import shapes
from moot.errors import BadValue
from moot.flow.tokens import USED_EVERY_SECONDS, Act, Issue, Revoke, Use, acting, issuing, revoking, using
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import Kind
from moot.model.token import Scope, Token, TokenId

USUAL = (Scope.READ, Scope.POST)
SECRET_BYTES = 32
LONGEST = 256


class Bearer(Struct, frozen=True):
    """Who a good token belongs to, and what it is good for."""

    id: ParticipantId
    name: str
    human: bool
    scopes: frozenset[str]
    token: TokenId


def fresh(kind: str, name: str = "") -> str:
    """A token nobody can guess: `moot_ag_arya_…`, so that people see whose it is."""
    return "_".join(part for part in ("moot", kind, name, secrets.token_urlsafe(SECRET_BYTES)) if part)


def digest_of(token: str) -> str:
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def checked(scopes: Sequence[str]) -> tuple[Scope, ...]:
    unknown = sorted(set(scopes) - {scope.value for scope in Scope})
    if unknown or not scopes:
        raise BadValue(
            f'"{unknown[0]}" is no scope of a token' if unknown else "a token needs a scope",
            detail=f"scopes are {', '.join(scope.value for scope in Scope)}",
        )
    return tuple(scope for scope in Scope if scope.value in set(scopes))


async def issue(
    core: Core, me: ParticipantId, name: str, scopes: Sequence[str], shown: str = ""
) -> shapes.IssuedToken:
    wanted = checked(scopes)
    who = await core.directory.participant(name)
    token = fresh("hu" if who.kind is Kind.HUMAN else "ag", who.id)
    identity = TokenId(f"t{secrets.token_hex(6)}")
    made: Token = await core.do(issuing, Issue(me, who.id, identity, digest_of(token), wanted, shown))
    return shapes.IssuedToken(made.id, who.name, token, tuple(scope.value for scope in made.scopes))


async def listed(core: Core, name: str) -> list[shapes.Token]:
    who = await core.directory.participant(name)
    return [shapes.Token.of(token, core.directory.name) for token in await core.parts.store.tokens(who.id)]


async def revoke(core: Core, me: ParticipantId, name: str, id: str) -> shapes.Token:
    who = await core.directory.participant(name)
    return shapes.Token.of(await core.do(revoking, Revoke(me, who.id, TokenId(id))), core.directory.name)


async def bearer(core: Core, token: str) -> Bearer | None:
    """Read anew each time: a revoked token is worth nothing from the commit on, whoever revoked it."""
    if len(token) > LONGEST:
        return None
    digest = digest_of(token)
    found: Token | None = await core.parts.store.token(digest)
    if found is None or found.revoked_at or not hmac.compare_digest(found.digest, digest):
        return None
    who = await core.parts.store.participant(found.participant)
    if who is None:
        return None
    if core.parts.clock.now() >= found.used_at + USED_EVERY_SECONDS:
        core.spawn(core.parts.store.transact(using, Use(found.id)))
    scopes = frozenset(scope.value for scope in found.scopes)
    return Bearer(who.id, who.name, who.kind is Kind.HUMAN, scopes, found.id)


async def acted(core: Core, speaker: ParticipantId, what: str) -> None:
    """Keep that the owner did something in another's name."""
    await core.do(acting, Act(core.user, speaker, what))
