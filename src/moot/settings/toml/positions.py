"""The position of each key and value in a TOML text. tomllib tells what a file says, but not where.

Above: problems.py points at the place. Below: nothing.
Not here: checking the text. tomllib has accepted it before, so walking along the grammar is enough; nothing is
searched for, so no comment and no text that looks like a key can mislead it.
"""

import re
from collections.abc import Iterator
from itertools import accumulate
from typing import Final, TypeAlias

from msgspec import Struct

Path: TypeAlias = tuple[str | int, ...]
"""`("agents", 0, "name")` is the name of the first agent."""

_BLANK = re.compile(r"[ \t]*")
_BETWEEN = re.compile(r"(?:[ \t\n]|#[^\n]*)*")  # white space, line ends and comments
_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_BARE_VALUE = re.compile(r"[^,\]}#\n]+")
_QUOTED: Final = (
    ('"""', re.compile(r'"""(?:[^\\]|\\.)*?"{3,5}(?!")', re.DOTALL)),
    ("'''", re.compile(r"'''.*?'{3,5}(?!')", re.DOTALL)),
    ('"', re.compile(r'"(?:[^"\\]|\\.)*"')),
    ("'", re.compile(r"'[^']*'")),
)
_ESCAPE = re.compile(r"\\(?:u([0-9A-Fa-f]{4})|U([0-9A-Fa-f]{8})|x([0-9A-Fa-f]{2})|(.))", re.DOTALL)
_ESCAPED: Final = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", "e": "\x1b"}


class TomlSpan(Struct, frozen=True):
    """From the first character of a key (in a list, of the value) to the end of the value, which begins at `value`."""

    start: int
    value: int
    end: int


class NotPlaced(ValueError):
    """The text does not follow the grammar here."""


def line_and_column(text: str, offset: int) -> tuple[int, int]:
    """Both counted from one, the column in characters."""
    return text.count("\n", 0, offset) + 1, offset - (text.rfind("\n", 0, offset) + 1) + 1


def offset_of(text: str, line: int, column: int) -> int:
    starts = list(accumulate((len(each) + 1 for each in text.split("\n")), initial=0))
    return min(starts[min(line, len(starts)) - 1] + column - 1, len(text))


def places(text: str) -> dict[Path, TomlSpan]:
    """Every table, key and array element of a valid TOML text whose line ends are `\\n`."""
    walk = _Walk(text)
    walk.document()
    return walk.found


class _Walk:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0
        self.found: dict[Path, TomlSpan] = {}
        self.tables: dict[Path, int] = {}  # arrays of tables: how many there are by now

    def document(self) -> None:
        here: Path = ()
        while True:
            self.skip(_BETWEEN)
            if self.at >= len(self.text):
                return
            if self.text.startswith("[", self.at):
                here = self.header()
            else:
                self.pair(here)

    def header(self) -> Path:
        start = self.at
        doubled = self.text.startswith("[[", start)
        self.at += 2 if doubled else 1
        path = self.resolve(self.dotted())
        self.expect("]]" if doubled else "]")
        if doubled:
            number = self.tables.get(path, 0)
            self.tables[path] = number + 1
            path = (*path, number)
        for depth in range(1, len(path) + 1):
            self.note(path[:depth], TomlSpan(start, start, self.at))
        return path

    def resolve(self, keys: list[str]) -> Path:
        """The path of a header: it means the newest element of each array of tables along it, except the last."""
        path: Path = ()
        for key in keys:
            if path in self.tables:
                path = (*path, self.tables[path] - 1)
            path = (*path, key)
        return path

    def pair(self, here: Path) -> None:
        start = self.at
        keys = self.dotted()
        self.expect("=")
        self.skip(_BLANK)
        value = self.at
        path = (*here, *keys)
        self.value(path)
        place = TomlSpan(start, value, self.at)
        for depth in range(len(here) + 1, len(path)):
            self.note(path[:depth], place)
        self.found[path] = place

    def value(self, path: Path) -> None:
        if self.text.startswith("[", self.at):
            self.array(path)
        elif self.text.startswith("{", self.at):
            self.inline_table(path)
        elif self.text.startswith(('"', "'"), self.at):
            self.quoted()
        else:
            self.at += len(self.take(_BARE_VALUE).rstrip())

    def array(self, path: Path) -> None:
        for number, start in enumerate(self.items("]")):
            self.value((*path, number))
            self.found[(*path, number)] = TomlSpan(start, start, self.at)

    def inline_table(self, path: Path) -> None:
        for _ in self.items("}"):
            self.pair(path)

    def items(self, closing: str) -> Iterator[int]:
        """The start of each item between brackets; the caller walks over the item."""
        self.at += 1
        self.skip(_BETWEEN)
        while not self.text.startswith(closing, self.at):
            yield self.at
            self.skip(_BETWEEN)
            if not self.text.startswith(closing, self.at):
                self.expect(",")
                self.skip(_BETWEEN)
        self.at += 1

    def dotted(self) -> list[str]:
        keys = [self.key()]
        self.skip(_BLANK)
        while self.text.startswith(".", self.at):
            self.at += 1
            keys.append(self.key())
            self.skip(_BLANK)
        return keys

    def key(self) -> str:
        self.skip(_BLANK)
        if not self.text.startswith(('"', "'"), self.at):
            return self.take(_BARE_KEY)
        basic = self.text[self.at] == '"'
        inside = self.quoted()[1:-1]
        return _ESCAPE.sub(_unescape, inside) if basic else inside

    def quoted(self) -> str:
        for opening, whole in _QUOTED:
            if self.text.startswith(opening, self.at):
                return self.take(whole)
        raise NotPlaced(self.at)

    def note(self, path: Path, place: TomlSpan) -> None:
        """Record a place; for a table, its first mention."""
        self.found.setdefault(path, place)

    def skip(self, what: re.Pattern[str]) -> None:
        if match := what.match(self.text, self.at):
            self.at = match.end()

    def take(self, what: re.Pattern[str]) -> str:
        match = what.match(self.text, self.at)
        if match is None:
            raise NotPlaced(self.at)
        self.at = match.end()
        return match.group()

    def expect(self, mark: str) -> None:
        self.skip(_BLANK)
        if not self.text.startswith(mark, self.at):
            raise NotPlaced(self.at)
        self.at += len(mark)


def _unescape(match: re.Match[str]) -> str:
    code = match[1] or match[2] or match[3]
    return chr(int(code, 16)) if code else _ESCAPED.get(match[4], match[4])
