"""What a check of a bridge has found: one line each, with what mends it."""

from collections.abc import Sequence

from msgspec import Struct

OK, WARN, BAD = "ok", "warn", "bad"


class SetupFinding(Struct, frozen=True):
    about: str
    """The bot or the chat."""
    state: str
    text: str
    fix: str = ""


def is_broken(findings: Sequence[SetupFinding]) -> bool:
    return any(one.state == BAD for one in findings)
