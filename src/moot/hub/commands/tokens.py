"""Tokens of participants: made here, shown once, kept only as a hash, looked up by it."""

import hmac
import secrets
from collections import OrderedDict
from collections.abc import Sequence
from hashlib import sha256

from msgspec import Struct, structs

from moot import shapes
from moot.errors import BadValue
from moot.flow import act_as, invite, issue_token, revoke_token, sign_in, use_token
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import Kind
from moot.model.records.token import TOKENS, Token, TokenId, TokenKind, TokenScope

USUAL = (TokenScope.READ, TokenScope.POST)
SECRET_BYTES = 32
LONGEST = 256
MAX_KEPT = 10_000


class Bearer(Struct, frozen=True):
    """Who a good token belongs to, and what it is good for."""

    id: ParticipantId
    name: str
    human: bool
    scopes: frozenset[str]
    token: TokenId
    in_browser: bool = False
    """Somebody who signed in to the page."""
    is_owner: bool = False
    """The owner, who signed in to the page and may do there all that the owner may."""


def fresh(kind: str, name: str = "") -> str:
    """A token nobody can guess: `moot_ag_arya_…`, so that people see whose it is."""
    return "_".join(part for part in ("moot", kind, name, secrets.token_urlsafe(SECRET_BYTES)) if part)


def digest_of(token: str) -> str:
    return sha256(token.encode(errors="surrogatepass")).hexdigest()


def checked(scopes: Sequence[str]) -> tuple[TokenScope, ...]:
    unknown = sorted(set(scopes) - {scope.value for scope in TokenScope})
    if unknown or not scopes:
        raise BadValue(
            f'unknown token scope "{unknown[0]}"' if unknown else "a token needs at least one scope",
            detail=f"scopes are {', '.join(scope.value for scope in TokenScope)}",
        )
    return tuple(scope for scope in TokenScope if scope.value in set(scopes))


async def issue(
    core: Core, me: ParticipantId, name: str, scopes: Sequence[str], shown: str = ""
) -> shapes.IssuedToken:
    wanted = checked(scopes)
    who = await core.directory.participant(name)
    token = fresh("hu" if who.kind is Kind.HUMAN else "ag", who.id)
    order = issue_token.IssueToken(me, who.id, _fresh_id(), digest_of(token), wanted, shown)
    made: Token = await core.do(issue_token, order)
    return shapes.IssuedToken(made.id, who.name, token, tuple(scope.value for scope in made.scopes))


async def listed(core: Core, name: str) -> list[shapes.Token]:
    who = await core.directory.participant(name)
    return [
        shapes.Token.of(token, core.directory.name)
        for token in await core.parts.store.records(TOKENS.where(participant=who.id))
    ]


async def revoke(core: Core, me: ParticipantId, name: str, id: str) -> shapes.Token:
    who = await core.directory.participant(name)
    order = revoke_token.RevokeToken(me, who.id, TokenId(id))
    return shapes.Token.of(await core.do(revoke_token, order), core.directory.name)


# --- signing in to the page ------------------------------------------------------------------------------------


async def sign_in_code(core: Core, me: ParticipantId, name: str, seconds: float) -> shapes.SignInCode:
    who = await core.directory.participant(name)
    code = secrets.token_urlsafe(SECRET_BYTES)
    order = invite.Invite(me, who.id, _fresh_id(), digest_of(code), seconds)
    made: Token = await core.do(invite, order)
    until = shapes.when(made.expires_at)
    return shapes.SignInCode(made.id, core.directory.name(who.id), code, f"/#code={code}", until)


async def signed_in(core: Core, code: str) -> shapes.SignedIn:
    """A code for a token; whose it is, the code says."""
    digest = digest_of(code)
    known = await core.parts.store.records(TOKENS.where(digest=digest))
    if not known:
        raise sign_in.refused()
    whose = known[0].participant
    token = fresh("br", whose)
    order = sign_in.SignIn(whose, digest, _fresh_id(), digest_of(token))
    made: Token = await core.do(sign_in, order)
    scopes = tuple(scope.value for scope in made.scopes)
    name, is_owner = core.directory.name(made.participant), made.participant == core.user
    return shapes.SignedIn(made.id, name, token, scopes, is_owner)


def _fresh_id() -> TokenId:
    return TokenId(f"t{secrets.token_hex(6)}")


class Bearers:
    """Whose tokens are, kept by what they hash to: that never changes. Whether one is still good does; it is read for
    every read, and settled inside the decision of every write (flow/steps/admission.py)."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._kept: OrderedDict[str, Bearer] = OrderedDict()
        self._used: dict[TokenId, float] = {}

    async def of(self, token: str, *, settled_later: bool = False) -> Bearer | None:
        """Whose a token is; None where it is nobody's, or revoked. With `settled_later` one that is kept is not
        looked at again: whatever is done with it looks."""
        if len(token) > LONGEST:
            return None
        digest = digest_of(token)
        kept = self._kept.get(digest)
        if kept is None or not settled_later or kept.in_browser:  # what the owner does, no decision looks at
            known = await self._core.parts.store.records(TOKENS.where(digest=digest))
            found = known[0] if known else None
            if found is None or not self._lets_in(found) or not hmac.compare_digest(found.digest, digest):
                self._kept.pop(digest, None)
                return None
            kept = kept or await self._read(found)
        if kept is not None:
            self._note_use(kept.token)
            kept = structs.replace(kept, name=self._core.directory.name(kept.id))
        return kept

    async def is_good(self, bearer: TokenId, participant: ParticipantId) -> bool:
        """Whether a token that was shown before is still good. One that is not is kept no longer: with the next
        request it is a stranger's, which counts for nobody."""
        mine = await self._core.parts.store.records(TOKENS.where(participant=participant))
        good = any(token.id == bearer and self._lets_in(token) for token in mine)
        if not good:
            self._kept = OrderedDict((key, kept) for key, kept in self._kept.items() if kept.token != bearer)
            self._used.pop(bearer, None)
        return good

    def _lets_in(self, token: Token) -> bool:
        return token.kind is not TokenKind.CODE and token.is_good(self._core.parts.clock.now())

    async def _read(self, found: Token) -> Bearer | None:
        who = await self._core.parts.store.participant(found.participant)
        if who is None:
            return None
        scopes = frozenset(scope.value for scope in found.scopes)
        self._used[found.id] = found.used_at
        in_browser = found.kind is TokenKind.BROWSER
        is_owner = in_browser and who.id == self._core.user
        human = who.kind is Kind.HUMAN
        self._kept[found.digest] = Bearer(who.id, who.name, human, scopes, found.id, in_browser, is_owner)
        if len(self._kept) > MAX_KEPT:
            _, oldest = self._kept.popitem(last=False)
            self._used.pop(oldest.token, None)
        return self._kept[found.digest]

    def _note_use(self, token: TokenId) -> None:
        """Kept to the minute."""
        now, store = self._core.parts.clock.now(), self._core.parts.store
        if now >= self._used.get(token, 0.0) + use_token.USED_EVERY_SECONDS:
            self._used[token] = now
            self._core.spawn(store.transact(use_token, use_token.UseToken(token)))


async def acted(core: Core, speaker: ParticipantId, what: str) -> None:
    """Keep that the owner did something in another's name."""
    await core.do(act_as, act_as.ActAs(core.user, speaker, what))
