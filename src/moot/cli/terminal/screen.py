"""What is written, and how: stdout is the answer, stderr the rest; colour only where a terminal reads."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from datetime import datetime
from typing import TYPE_CHECKING

import click

from moot.cli.terminal import pager
from moot.cli.terminal.fields import pick_fields, refuse_missing
from moot.rules.palette import AWAY, COLOURS, HOLLOW, chosen_index

if TYPE_CHECKING:
    from moot.cli.terminal.footer import Foot

ASCII_MARKS = {AWAY: "x", **dict.fromkeys(HOLLOW, "*"), **dict.fromkeys(HOLLOW.values(), "o")}
ASCII_SIGNS = {"│": "|", "─": "-", "·": "-", "…": "...", "▸": ">", "✓": "ok", "✗": "BAD", "→": "->"}
AGES = {"d": 86400, "h": 3600, "min": 60}
# What would move the cursor, recolour the screen or turn the reading direction of somebody's terminal.
_UNSHOWN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def safe(text: str) -> str:
    """Text of others, as it may be written to a terminal: control characters become visible."""
    return _UNSHOWN.sub(
        lambda match: f"\\x{ord(match[0]):02x}" if match[0] < "\u0100" else f"\\u{ord(match[0]):04x}", text
    )


def clock_time(at: str | None) -> str:
    """RFC 3339 → the hour and minute here."""
    return datetime.fromisoformat(at).astimezone().strftime("%H:%M") if at else "--:--"


def day_time(at: str | None) -> str:
    """RFC 3339 → day, hour and minute here."""
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M") if at else "-"


def ago(at: str | None) -> str:
    """RFC 3339 → how long since, in the largest unit that says something."""
    if not at:
        return "-"
    seconds = max(0.0, time.time() - datetime.fromisoformat(at).timestamp())
    for unit, size in AGES.items():
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"


class Screen:
    def __init__(self, *, json: bool, quiet: bool, no_color: bool, environ: Mapping[str, str]) -> None:
        self.json = json
        self.quiet = quiet
        self.ascii = environ.get("MOOT_ASCII", "") not in ("", "0")
        self.plain = bool(environ.get("MOOT_SCREEN_READER")) or environ.get("TERM") == "dumb"
        is_plain_output = no_color or json or bool(environ.get("NO_COLOR")) or environ.get("TERM") == "dumb"
        self.colour = not is_plain_output and (bool(environ.get("FORCE_COLOR")) or sys.stdout.isatty())
        self.moves = not is_plain_output and sys.stderr.isatty()
        """Whether escape sequences may overwrite what is on the terminal."""
        self.redraws = not self.plain and not json and sys.stdout.isatty()
        """Whether a whole screen may be drawn again; that needs no colour."""
        self.fields: tuple[str, ...] = ()
        """The fields to print of each JSON object; empty for all."""
        self.home = ""
        """The value of --home: printed commands repeat it."""
        self.wishes: Mapping[str, str] = {}
        """Agents whose owner chose their colour."""
        self._pager = pager.pager_of(environ) if not json and sys.stdout.isatty() else []
        self._pages: list[str] | None = None
        self.before_writing: Callable[[], None] = lambda: None
        """Removes what is drawn in place before anything else is written."""

        self.foot: Foot | None = None
        """Where a person types; other output goes above it."""

    def only_append(self) -> None:
        """From now on only append lines: no colour, no escape sequences."""
        self.plain = True
        self.colour = self.moves = self.redraws = False

    # --- writing ---------------------------------------------------------------------------------------

    def say(self, text: str = "", *, end: str = "\n") -> None:
        """The answer."""
        if not self.json:
            self._write(f"{text}{end}")

    def note(self, text: str) -> None:
        """For people only: progress, hints, warnings."""
        if not self.quiet and not self.json:
            with self._out_of_the_way():
                click.echo(self.fit(text), err=True, color=False)

    def command(self, way: str) -> str:
        """A command that can be copied, with --home if that is needed here."""
        needs_home = self.home and way.startswith("moot ") and " --home " not in way
        return f"moot --home {shlex.quote(self.home)} {way.removeprefix('moot ')}" if needs_home else way

    def give_back(self, text: str) -> None:
        """Print what a person wrote and was not sent, even with --quiet."""
        with self._out_of_the_way():
            click.echo(self.fit(f"not sent:\n{safe(text)}"), err=True, color=False)

    def data(self, value: object) -> None:
        """Print one JSON document, or its --fields. A missing field is reported after it is printed."""
        document = pick_fields(value, self.fields) if self.fields else value
        click.echo(json.dumps(document, ensure_ascii=False), color=False)
        if self.fields:
            refuse_missing(value, self.fields)

    @contextmanager
    def paged(self) -> Iterator[None]:
        """Send output of the block through the pager if it is more than one screen."""
        self._pages = [] if self._pager else None
        try:
            yield
        finally:
            text, self._pages = "".join(self._pages or ()), None
            if text and not (pager.is_long(text) and pager.show(text, self._pager)):
                self._write(text)

    def said_in(self, tell: Callable[[], None]) -> str:
        """The text that `tell` would print."""
        self._pages = []
        try:
            tell()
            return "".join(self._pages)
        finally:
            self._pages = None

    def raw(self, text: str) -> None:
        """Print a text unchanged, with escape sequences."""
        click.echo(text, nl=False, color=True)
        sys.stdout.flush()

    def grow(self, text: str) -> None:
        """Add to a line that is being written; `grown` ends it."""
        if self.foot is not None:
            self.foot.grow(self.fit(text))
        else:
            self.say(text, end="")

    def grown(self) -> None:
        self.grow("\n")

    def _out_of_the_way(self) -> AbstractContextManager[None]:
        self.before_writing()
        return self.foot.lift() if self.foot is not None else nullcontext()

    def _write(self, text: str) -> None:
        if self._pages is not None:
            self._pages.append(self.fit(text))
            return
        with self._out_of_the_way():
            click.echo(self.fit(text), nl=False, color=self.colour)
            sys.stdout.flush()

    def fit(self, text: str) -> str:
        if self.ascii:
            for sign, plain in {**ASCII_MARKS, **ASCII_SIGNS}.items():
                text = text.replace(sign, plain)
        return text

    # --- drawing ---------------------------------------------------------------------------------------

    def name(self, name: str, mark: str = "●") -> str:
        """An agent is never shown without its mark; the colour only repeats what the words say."""
        return self.in_colour_of(name, f"{mark} {name}")

    def bar(self, name: str) -> str:
        return self.in_colour_of(name, "│")

    def in_colour_of(self, name: str, text: str) -> str:
        if not self.colour:
            return text
        return click.style(text, fg=COLOURS[chosen_index(name, self.wishes.get(name, ""))].ansi256)

    def dim(self, text: str) -> str:
        return click.style(text, dim=True) if self.colour else text

    def strong(self, text: str) -> str:
        return click.style(text, bold=True) if self.colour else text

    def beside(self, left: str, right: str) -> str:
        """Two things in one line, or below each other where a terminal is too narrow."""
        line = f"{left}        {right}".rstrip()
        fits = not sys.stdout.isatty() or len(line) <= shutil.get_terminal_size().columns
        return line if fits or not right else f"{left}\n        {right}"

    def table(self, heads: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
        """Print columns as wide as their content; the last one takes the rest."""
        cells = [list(heads), *([safe(cell).replace("\n", " ") for cell in row] for row in rows)]
        widths = [max(len(row[column]) for row in cells) for column in range(len(heads))]
        for number, row in enumerate(cells):
            line = "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            self.say(self.dim(line) if number == 0 else line)


def count_words(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


def hollow(mark: str) -> str:
    return HOLLOW.get(mark, mark)
