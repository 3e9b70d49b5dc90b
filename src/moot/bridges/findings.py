"""Findings of a bridge's setup check: one line each, with its fix."""

from collections.abc import Sequence

from msgspec import Struct

OK, WARN, BAD = "ok", "warn", "bad"
BOT_TO_BOT = "bot-to-bot"
"""Key prefix of the record that posts of other bots arrive: no chat app can be asked whether they do."""
BOT_TO_BOT_FIX = (
    "in @BotFather: /mybots, choose the bot, Bot Settings, and switch Bot-to-Bot Communication Mode off"
)
TEST_TEXT = "Moot tests whether this bot can post here; this message is deleted again."


class SetupFinding(Struct, frozen=True):
    about: str
    """The bot or the chat."""
    state: str
    text: str
    fix: str = ""


def is_broken(findings: Sequence[SetupFinding]) -> bool:
    return any(one.state == BAD for one in findings)
