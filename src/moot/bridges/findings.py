"""What a check of a bridge has found: one line each, with what mends it."""

from collections.abc import Sequence

from msgspec import Struct

OK, WARN, BAD = "ok", "warn", "bad"
BOT_TO_BOT = "bot-to-bot"
"""Begins the key under which is laid aside that posts of other bots arrive: no chat app says so when it is asked."""
BOT_TO_BOT_FIX = (
    "in @BotFather: /mybots, choose the bot, Bot Settings, and switch Bot-to-Bot Communication Mode off"
)


class SetupFinding(Struct, frozen=True):
    about: str
    """The bot or the chat."""
    state: str
    text: str
    fix: str = ""


def is_broken(findings: Sequence[SetupFinding]) -> bool:
    return any(one.state == BAD for one in findings)
