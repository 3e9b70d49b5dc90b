"""What a participant shows to be let in. The token itself is never kept: only what it hashes to."""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.records.record import Table

TokenId = NewType("TokenId", str)


class TokenScope(StrEnum):
    """What a token is good for; never more than its participant may do."""

    READ = "read"
    POST = "post"
    SPAWN = "spawn"
    ADMIN = "admin"


class TokenKind(StrEnum):
    PROGRAM = "program"
    BROWSER = "browser"
    """Of one browser in which somebody signed in."""
    CODE = "code"
    """Good for one sign-in, by which it is used up; it lets nobody in by itself."""


class Token(Struct, frozen=True, gc=False):
    id: TokenId
    participant: ParticipantId
    digest: str
    """SHA-256 of the token, in hex."""
    scopes: tuple[TokenScope, ...] = ()
    created_at: float = 0.0
    used_at: float = 0.0
    """When it was last seen, to the minute; 0 never."""
    revoked_at: float = 0.0
    """0 while it is valid."""
    parent: str = ""
    """Id of the token that this one was issued with, and ends with; empty where the owner issued it, or a program."""
    kind: TokenKind = TokenKind.PROGRAM
    expires_at: float = 0.0
    """When it expires; 0: never."""

    def is_good(self, now: float) -> bool:
        return not self.revoked_at and (not self.expires_at or now < self.expires_at)


TOKENS = Table("tokens", Token, key=("id",), by=("participant", "digest"), in_micros=("created_at",))
