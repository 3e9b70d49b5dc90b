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
MAX_TOKEN_CHARACTERS = 256
MAX_KEPT = 10_000


class Bearer(Struct, frozen=True):
    """The participant of a valid token, and what the token allows."""

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
    granted = checked(scopes)
    participant = await core.directory.participant(name)
    token = fresh("hu" if participant.kind is Kind.HUMAN else "ag", participant.id)
    command = issue_token.IssueToken(me, participant.id, _fresh_id(), digest_of(token), granted, shown)
    made: Token = await core.do(issue_token, command)
    return shapes.IssuedToken(made.id, participant.name, token, tuple(scope.value for scope in made.scopes))


async def list_tokens(core: Core, name: str) -> list[shapes.Token]:
    participant = await core.directory.participant(name)
    return [
        shapes.Token.of(token, core.directory.name)
        for token in await core.parts.store.records(TOKENS.where(participant=participant.id))
    ]


async def revoke(core: Core, me: ParticipantId, name: str, id: str) -> shapes.Token:
    participant = await core.directory.participant(name)
    order = revoke_token.RevokeToken(me, participant.id, TokenId(id))
    return shapes.Token.of(await core.do(revoke_token, order), core.directory.name)


# --- signing in to the page ------------------------------------------------------------------------------------


async def sign_in_code(core: Core, me: ParticipantId, name: str, seconds: float) -> shapes.SignInCode:
    participant = await core.directory.participant(name)
    code = secrets.token_urlsafe(SECRET_BYTES)
    order = invite.Invite(me, participant.id, _fresh_id(), digest_of(code), seconds)
    made: Token = await core.do(invite, order)
    until = shapes.when(made.expires_at)
    return shapes.SignInCode(made.id, core.directory.name(participant.id), code, f"/#code={code}", until)


async def signed_in(core: Core, code: str) -> shapes.SignedIn:
    """Exchange a sign-in code for a token of its participant."""
    digest = digest_of(code)
    tokens = await core.parts.store.records(TOKENS.where(digest=digest))
    if not tokens:
        raise sign_in.refused()
    whose = tokens[0].participant
    token = fresh("br", whose)
    order = sign_in.SignIn(whose, digest, _fresh_id(), digest_of(token))
    made: Token = await core.do(sign_in, order)
    scopes = tuple(scope.value for scope in made.scopes)
    name, is_owner = core.directory.name(made.participant), made.participant == core.user
    return shapes.SignedIn(made.id, name, token, scopes, is_owner)


def _fresh_id() -> TokenId:
    return TokenId(f"t{secrets.token_hex(6)}")


class Bearers:
    """The participants of tokens, cached by hash: they never change. Whether a token is still valid may change; that is
    read for every read, and checked inside the decision of every write (flow/steps/admission.py)."""

    def __init__(self, core: Core) -> None:
        self._core = core
        self._cache: OrderedDict[str, Bearer] = OrderedDict()
        self._used: dict[TokenId, float] = {}

    async def of(self, token: str, *, settled_later: bool = False) -> Bearer | None:
        """The bearer of a token; None if it is unknown or revoked. With `settled_later` a cached one is not checked
        again: the decision it is used for checks it."""
        if len(token) > MAX_TOKEN_CHARACTERS:
            return None
        digest = digest_of(token)
        bearer = self._cache.get(digest)
        if bearer is None or not settled_later or bearer.in_browser:  # no decision checks the owner's token
            tokens = await self._core.parts.store.records(TOKENS.where(digest=digest))
            token_row = tokens[0] if tokens else None
            if (
                token_row is None
                or not self._lets_in(token_row)
                or not hmac.compare_digest(token_row.digest, digest)
            ):
                self._cache.pop(digest, None)
                return None
            bearer = bearer or await self._read(token_row)
        if bearer is not None:
            self._note_use(bearer.token)
            bearer = structs.replace(bearer, name=self._core.directory.name(bearer.id))
        return bearer

    async def is_good(self, bearer: TokenId, participant: ParticipantId) -> bool:
        """Whether a token that was presented before is still valid. If not, it is dropped from the cache: the next
        request with it is a stranger's."""
        mine = await self._core.parts.store.records(TOKENS.where(participant=participant))
        good = any(token.id == bearer and self._lets_in(token) for token in mine)
        if not good:
            self._cache = OrderedDict(
                (key, kept) for key, kept in self._cache.items() if kept.token != bearer
            )
            self._used.pop(bearer, None)
        return good

    def _lets_in(self, token: Token) -> bool:
        return token.kind is not TokenKind.CODE and token.is_good(self._core.parts.clock.now())

    async def _read(self, token: Token) -> Bearer | None:
        participant = await self._core.parts.store.participant(token.participant)
        if participant is None:
            return None
        scopes = frozenset(scope.value for scope in token.scopes)
        self._used[token.id] = token.used_at
        in_browser = token.kind is TokenKind.BROWSER
        is_owner = in_browser and participant.id == self._core.user
        human = participant.kind is Kind.HUMAN
        self._cache[token.digest] = Bearer(
            participant.id, participant.name, human, scopes, token.id, in_browser, is_owner
        )
        if len(self._cache) > MAX_KEPT:
            _, oldest = self._cache.popitem(last=False)
            self._used.pop(oldest.token, None)
        return self._cache[token.digest]

    def _note_use(self, token: TokenId) -> None:
        """Kept to the minute."""
        now, store = self._core.parts.clock.now(), self._core.parts.store
        if now >= self._used.get(token, 0.0) + use_token.USED_EVERY_SECONDS:
            self._used[token] = now
            self._core.spawn(store.transact(use_token, use_token.UseToken(token)))


async def acted(core: Core, speaker: ParticipantId, what: str) -> None:
    """Keep that the owner did something in another's name."""
    await core.do(act_as, act_as.ActAs(core.user, speaker, what))
