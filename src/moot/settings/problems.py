"""What is wrong with the settings, as people see it: file:line:column, the line, a caret, the way out.

Above: schema/checks.py and environment.py find problems, load.py raises the first. Below: toml/positions.py, errors.
Not here: deciding that something is wrong.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import date, time
from difflib import get_close_matches
from typing import Final
from unicodedata import combining, east_asian_width

from msgspec import Struct

from moot.errors import BadSettings
from moot.model.hint import Act, Hint, Way
from moot.settings.toml.positions import Path, TomlSpan, line_and_column

FIX: Final[tuple[Way, ...]] = (Hint(Act.EDIT_SETTINGS),)
_SHOWN_VALUE = 60
_SHOWN_LINE = 100
_LONG_NUMBER = 10**_SHOWN_VALUE
_HIDDEN = "…"
_HEADER = re.compile(r"^[ \t]*\[.*", re.MULTILINE)
_SECRET_LINE = re.compile(r"\b(bots|token|api_key|\w*secret|\w*password)\b|://[^/\s]*@", re.IGNORECASE)


class SettingProblem(Struct, frozen=True):
    """One problem. `words` follow the place: `port = 99999 is not …`."""

    path: Path
    words: str
    detail: str = ""
    suggestions: tuple[str, ...] = ()
    fix: tuple[Way, ...] = FIX
    place: TomlSpan | None = None
    """Where in the file; None if it is in `variable`, or has no place."""
    variable: str = ""
    secret: bool = False
    """The value must not be shown, not even in the line of the file."""


class Document(Struct, frozen=True):
    """The file as far as errors have to point into it."""

    file: str
    text: str = ""

    @property
    def short(self) -> str:
        return self.file.replace("\\", "/").rsplit("/", 1)[-1]


def near(word: str, candidates: Iterable[str]) -> tuple[str, ...]:
    """Up to three known words that the writer may have meant."""
    return tuple(get_close_matches(word.lower()[:_SHOWN_VALUE], list(candidates), n=3, cutoff=0.6))


def did_you_mean(suggestions: Sequence[str]) -> str:
    return f"; did you mean {suggestions[0]}?" if suggestions else ""


def dotted(path: Path) -> str:
    """`agents[0].name`, as the facts of the error name a key."""
    return "".join(f"[{part}]" if isinstance(part, int) else f".{_clean(part)}" for part in path).lstrip(".")


def label(path: Path) -> str:
    """The key as it is written: `port`, or `tools[1]` for an element of a list."""
    last = max((at for at, part in enumerate(path) if isinstance(part, str)), default=0)
    return dotted(path[last:])


def as_toml(value: object) -> str:
    """A value as it would be written in TOML, shortened, and safe to print on a terminal."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return '"' + _clean(value).replace('"', '\\"') + '"'
        case int() if abs(value) >= _LONG_NUMBER:  # Python refuses to print very long numbers
            return "a number of many digits"
        case int() | float():
            return str(value)
        case date() | time():
            return value.isoformat()
        case _:
            return "{…}" if isinstance(value, dict) else "[…]"


def refusal(problems: Sequence[SettingProblem], document: Document) -> BadSettings:
    """The error for the first problem in the order of the file; those of the environment come last."""
    ordered = sorted(problems, key=lambda p: p.place.start if p.place else len(document.text) + 1)
    first = ordered[0]
    more = len(ordered) - 1
    line, column = line_and_column(document.text, first.place.start) if first.place else (0, 0)
    where = f"{_clean(document.short)}:{line}:{column} " if first.place else ""
    details = [
        _excerpt(document.text, first) if first.place else "",
        first.detail,
        f"and {more} more {'problem' if more == 1 else 'problems'}" if more else "",
    ]
    return BadSettings(
        where + first.words,
        detail="\n".join(part for part in details if part),
        fix=first.fix,
        suggestions=first.suggestions,
        file="environment" if first.variable else document.file,
        line=line,
        column=column,
        key=dotted(first.path) or first.variable,
        more=more,
    )


def _excerpt(text: str, problem: SettingProblem) -> str:
    place = problem.place
    assert place is not None
    number, column = line_and_column(text, place.start)
    begin = place.start - column + 1
    newline = text.find("\n", place.start)
    end = len(text) if newline < 0 else newline
    line, marked = text[begin:end], max(1, min(place.end, end) - place.start)
    if problem.secret or _may_be_secret(text[:begin], line):
        line = line.partition("=")[0] + "= " + _HIDDEN
        column = min(column, len(line))
    first = max(0, column - 1 - _SHOWN_LINE // 2) if len(line) > _SHOWN_LINE else 0
    line, before = line[first : first + _SHOWN_LINE].rstrip("\r"), column - 1 - first
    marked = max(1, min(marked, len(line) - before))
    margin = " " * len(str(number))
    pad = "".join("\t" if letter == "\t" else " " * _width(letter) for letter in line[:before])
    carets = "^" * max(1, sum(_width(letter) for letter in line[before : before + marked]))
    return f"{number} | {_harmless(line)}\n{margin} | {pad}{carets}"


def _may_be_secret(before: str, line: str) -> bool:
    """Whether a broken line could hold a token: it is not known which setting it is, so such a line is not repeated."""
    headers = _HEADER.findall(before)
    in_bridges = bool(headers) and "bridges" in headers[-1]
    return "=" in line and (in_bridges or _SECRET_LINE.search(line) is not None)


def _width(letter: str) -> int:
    if combining(letter):
        return 0
    return 2 if east_asian_width(letter) in "WF" else 1


def _harmless(line: str) -> str:
    """The line with unsafe characters replaced one for one, so that the caret stays in its place."""
    return "".join(letter if letter.isprintable() or letter == "\t" else "\ufffd" for letter in line)


def _clean(text: str) -> str:
    return "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode("ascii")
        for letter in _short(text)
    )


def _short(text: str) -> str:
    return text if len(text) <= _SHOWN_VALUE else text[:_SHOWN_VALUE] + _HIDDEN
