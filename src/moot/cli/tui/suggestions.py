"""Completions of the word under the cursor: names after `@`, commands and their arguments after `/`.

Pure: a text up to the cursor and the chat's state in, rows for the menu out. Above: the composer's menu. Below: the one
table of commands (rules/words/slash.py).
"""

import re
from collections.abc import Iterable
from typing import Final

from msgspec import Struct, json

from moot.cli.tui.chat_state import ChatState, Doing
from moot.cli.tui.status_words import mark, words
from moot.model.conversation import ReplyStrategy
from moot.rules.words import slash

MAX_ROWS: Final = 8
_mention = re.compile(r"(?:^|[\s(\[{,;:\"'*_])@([A-Za-z0-9_.-]*)$").search
_last_word = re.compile(r"(\S*)$").search
TAKES_NAMES: Final = ("ask", "group add", "group remove", "group create", "stop", "links", "name")
HERE_ONLY: Final = ("group remove", "stop")
ALL: Final = "all"


class Suggestion(Struct, frozen=True):
    insert: str
    """The text that replaces the word."""
    label: str
    about: str = ""


class Suggestions(Struct, frozen=True):
    start: int
    """Where the word to be replaced begins."""
    rows: tuple[Suggestion, ...]


def suggestions(before: str, state: ChatState, now: float) -> Suggestions | None:
    """Suggestions for the text up to the cursor; None if there are none."""
    if before.startswith("/") and not before.startswith("//") and "\n" not in before:
        result = _commands(before, state, now)
    else:
        result = _names_after_at(before, state, now)
    return result if result is not None and result.rows else None


def _names_after_at(before: str, state: ChatState, now: float) -> Suggestions | None:
    mention = _mention(before)
    if mention is None or before.rpartition("\n")[2].count("`") % 2:
        return None
    typed = mention[1]
    rows = [
        Suggestion(f"@{name} ", label, about)
        for name, label, about in (*_people(state, now), (ALL, "@all", "everybody here"))
        if fuzzy(typed, name)
    ]
    rows.sort(key=lambda row: not row.insert[1:].startswith(typed.lower()))
    return Suggestions(mention.start(1) - 1, tuple(rows[:MAX_ROWS]))


def _people(state: ChatState, now: float, *, here: bool = False) -> Iterable[tuple[str, str, str]]:
    """(name, label, what it does): members first, the last speakers before the others; people at the end."""
    spoke = [entry.sender for entry in reversed(state.entries) if entry.sender]
    marks = state.marks
    members = sorted(
        (seat.name for seat in state.members),
        key=lambda name: spoke.index(name) if name in spoke else len(spoke),
    )
    for name in members:
        doing = state.agents.get(name, Doing("offline", "away"))
        about = "  ".join(part for part in (doing.role, words(doing, now)) if part)
        yield name, f"{mark(marks.get(name, '●'), doing)} {name}", about
    if here:
        return
    others = [name for name in state.agents if name not in members and name != state.me]
    for name in sorted(others, key=lambda name: (state.agents[name].kind == "human", name)):
        doing = state.agents[name]
        there = "will be invited" if state.is_group and doing.kind != "human" else "not here"
        about = "a person" if doing.kind == "human" else f"{doing.role}  {there}".strip()
        yield name, f"{mark('●', doing)} {name}", about


def fuzzy(typed: str, name: str) -> bool:
    """Whether the letters occur in the name, in this order."""
    letters = iter(name.lower())
    return all(letter in letters for letter in typed.lower())


# --- commands ------------------------------------------------------------------------------------------------


def _commands(before: str, state: ChatState, now: float) -> Suggestions | None:
    typed = before[1:]
    rows = [
        Suggestion(f"/{row.name}{' ' if row.arguments else ''}", row.form, row.help)
        for row in slash.ROWS.values()
        if row.name.startswith(typed.lower())
    ]
    if rows:
        is_whole = len(rows) == 1 and rows[0].insert.strip() == before.strip()
        return None if is_whole else Suggestions(0, tuple(rows))
    matching = [row for row in slash.ROWS.values() if typed.lower().startswith(f"{row.name} ")]
    if not matching:
        return None
    row = max(matching, key=lambda each: len(each.name))
    rest = before[len(row.name) + 2 :]
    word = _last_word(rest)
    start = len(before) - len(word[1] if word is not None else "")
    return Suggestions(start, tuple(_arguments(row.name, rest, state, now)[:MAX_ROWS]))


def command_words(draft: str) -> str:
    """What the typed command does, or which commands begin like it; empty if there are none."""
    typed = draft.strip()[1:].lower()
    whole = [row for row in slash.ROWS.values() if typed == row.name or typed.startswith(f"{row.name} ")]
    if whole:
        row = max(whole, key=lambda each: len(each.name))
        return f"{row.form}: {row.help}"
    completions = [f"/{row.name}" for row in slash.ROWS.values() if row.name.startswith(typed)]
    return f"a command: {', '.join(completions)}" if completions else ""


def _arguments(name: str, rest: str, state: ChatState, now: float) -> list[Suggestion]:
    if name == "group config":
        return _settings(rest, state)
    if name not in TAKES_NAMES:
        return []
    words_before, _, typed = rest.rpartition(" ")
    already_named = {word.strip("@,").lower() for word in words_before.split()}
    prefix = typed.lstrip("@")
    return [
        Suggestion(f"{person} ", label, about)
        for person, label, about in _people(state, now, here=name in HERE_ONLY)
        if person not in already_named and fuzzy(prefix, person) and person != prefix
    ]


def _settings(rest: str, state: ChatState) -> list[Suggestion]:
    """A setting with its value, then the values it may have."""
    key, space, value = rest.partition(" ")
    if not space:
        return [
            Suggestion(f"{name} ", name, f"now {json.encode(current).decode()}")
            for name, current in state.where.settings.items()
            if fuzzy(key, name)
        ]
    current = state.where.settings.get(key)
    values = (
        ["true", "false"]
        if isinstance(current, bool)
        else [strategy.value for strategy in ReplyStrategy]
        if key == "reply_strategy"
        else []
    )
    return [
        Suggestion(each, each, "as it is" if each == json.encode(current).decode().strip('"') else "")
        for each in values
        if each.startswith(value) and each != value
    ]
