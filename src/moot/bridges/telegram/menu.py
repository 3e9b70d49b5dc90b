"""The table of commands as Telegram offers them: one word each, with what may follow it."""

from typing import Final

from telegram import BotCommand

from moot.rules.words import slash

MAX_ABOUT: Final = 256


def menu() -> list[BotCommand]:
    """The same table as everywhere; `/group add` is a part of `/group`."""
    about: dict[str, str] = {}
    parts: dict[str, list[str]] = {}
    for row in slash.ROWS.values():
        name, _, part = row.name.partition(" ")
        if slash.Surface.CHAT_APP not in row.on:
            continue
        about.setdefault(name, f"{row.arguments}: {row.help}" if row.arguments else row.help)
        if part:
            parts.setdefault(name, []).append(part)
            about[name] = f"{', '.join(parts[name])}: create and change groups of agents"
    return [BotCommand(name, text[:MAX_ABOUT]) for name, text in about.items()]
