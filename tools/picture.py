"""A terminal recording as an animated SVG: what came when → what stood in which row how long → a picture.

Above: tools/record.py runs a program and hands over what it wrote. Below: pyte, which knows what a terminal shows.
Not here: running anything. Not drawn, because nothing in Moot uses it: backgrounds, reverse, underlines.

Nothing moves by script: each content of a row is a group that a CSS animation of steps shows for its time. Whoever
asked their system for less motion, or has no animations, sees the last screen.
"""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import NamedTuple
from xml.sax.saxutils import escape

import pyte
from pyte.screens import Char

FRAME = 0.05
"""Seconds; what comes within one is shown at once."""

CELL = (8.4, 18)
FONT_SIZE = 14
FONTS = 'ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono","Liberation Mono",monospace'
PAD = 16
BAR = 34
"""Pixels: a character's width and height, the margin, the height of the window's bar."""

BACKGROUND = "#15171c"
EDGE = "#2b2f38"
TEXT = "#d8dbe2"
STRONG = "#ffffff"
DIM = "#979eab"
COLOURS = {
    "default": TEXT,
    "black": DIM,
    "red": "#ff7b72",
    "green": "#7ee787",
    "brown": "#e3b341",
    "blue": "#79b8ff",
    "magenta": "#d2a8ff",
    "cyan": "#76e3ea",
    "white": TEXT,
}
"""The colours a terminal knows by name, readable on the background; the 256 others are numbers already."""


class Beat(NamedTuple):
    """Something the program wrote."""

    at: float
    data: bytes


class Run(NamedTuple):
    """Characters side by side that look the same."""

    column: int
    text: str
    colour: str
    bold: bool


Row = tuple[Run, ...]


class Shown(NamedTuple):
    """A row's content, for as long as it stood."""

    line: int
    row: Row
    start: float
    until: float


class Spot(NamedTuple):
    """Where the cursor went."""

    at: float
    column: int
    line: int


class Film(NamedTuple):
    columns: int
    lines: int
    seconds: float
    shown: tuple[Shown, ...]
    cursor: tuple[Spot, ...]


# --- from bytes to rows ------------------------------------------------------------------------------------


class _Screen(pyte.Screen):
    """pyte knows no faint text; Moot writes what is less important so. It becomes a colour of its own."""

    def select_graphic_rendition(self, *attrs: int) -> None:
        if attrs == (2,):
            self.cursor.attrs = self.cursor.attrs._replace(fg=DIM.lstrip("#"))
        else:
            super().select_graphic_rendition(*attrs)


def film(beats: Iterable[Beat], columns: int, lines: int, *, hold: float) -> Film:
    """What a terminal of that size showed; the last screen stands for `hold` seconds more."""
    screen = _Screen(columns, lines)
    stream = pyte.ByteStream(screen)
    standing: dict[int, Shown] = {}
    gone: list[Shown] = []
    cursor: list[Spot] = []
    at = 0.0
    for frame, together in groupby(beats, key=lambda beat: round(beat.at / FRAME)):
        at = frame * FRAME
        for beat in together:
            stream.feed(beat.data)
        for line in range(lines):
            row = _row(screen, line)
            before = standing.get(line)
            if before is not None and before.row == row:
                continue
            if before is not None:
                gone.append(before._replace(until=at))
            standing[line] = Shown(line, row, at, at)
        if not cursor or cursor[-1][1:] != (screen.cursor.x, screen.cursor.y):
            cursor.append(Spot(at, screen.cursor.x, screen.cursor.y))
    end = at + hold
    shown = [*gone, *(last._replace(until=end) for last in standing.values())]
    drawn = sorted((each for each in shown if each.row), key=lambda each: (each.start, each.until, each.line))
    return Film(columns, lines, end, tuple(drawn), tuple(cursor))


def _row(screen: pyte.Screen, line: int) -> Row:
    """A row cut where the look changes. Signs stand apart from letters: in many fonts they are wider, and must
    not push them aside."""
    cells = [screen.buffer[line][column] for column in range(screen.columns)]
    while cells and cells[-1].data in (" ", ""):
        cells.pop()
    row: list[Run] = []
    for (colour, bold, _), group in groupby(enumerate(cells), key=lambda cell: _look(cell[1])):
        together = list(group)
        text = "".join(cell.data for _, cell in together)
        if text.strip():
            row.append(Run(together[0][0], text, colour, bold))
    return tuple(row)


def _look(cell: Char) -> tuple[str, bool, bool]:
    colour = hex_of(cell.fg)
    return STRONG if cell.bold and colour == TEXT else colour, cell.bold, cell.data.isascii()


def hex_of(colour: str) -> str:
    """pyte gives a name for the first sixteen colours and six hexadecimal digits for the others."""
    name = colour.removeprefix("bright")
    return COLOURS.get(name, f"#{colour}")


# --- from rows to the picture ------------------------------------------------------------------------------


def svg(made: Film, *, title: str, description: str) -> str:
    width = 2 * PAD + made.columns * CELL[0]
    height = BAR + 2 * PAD + made.lines * CELL[1]
    colours = sorted({run.colour for each in made.shown for run in each.row})
    groups, keyframes = _animated(made, {colour: f"c{number}" for number, colour in enumerate(colours)})
    size = f'viewBox="0 0 {_n(width)} {_n(height)}" width="{_n(width)}" height="{_n(height)}"'
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="title desc">',
        f'<title id="title">{escape(title)}</title>',
        f'<desc id="desc">{escape(description)}</desc>',
        *_style(made, colours, keyframes),
        *_window(width, height, title),
        f'<g transform="translate({PAD} {BAR + PAD})" aria-hidden="true">',
        *groups,
        "</g>",
        "</svg>",
    ]
    return "\n".join([*lines, ""])


def _style(made: Film, colours: Sequence[str], keyframes: Sequence[str]) -> list[str]:
    motion = f"animation-duration:{_n(made.seconds)}s;animation-timing-function:step-end"
    return [
        "<style>",
        f"text{{font:{FONT_SIZE}px {FONTS};white-space:pre}}",
        *(f".c{number}{{fill:{colour}}}" for number, colour in enumerate(colours)),
        ".b{font-weight:700}",
        f".f{{{motion};animation-iteration-count:infinite;visibility:hidden}}",
        ".f.last{visibility:visible}",
        *keyframes,
        "@media (prefers-reduced-motion:reduce){.f{animation:none!important}}",
        "</style>",
    ]


def _window(width: float, height: float, title: str) -> list[str]:
    middle = BAR / 2
    inside = f'x=".5" y=".5" width="{_n(width - 1)}" height="{_n(height - 1)}" rx="9"'
    centre = f'x="{_n(width / 2)}" y="{_n(middle + 5)}" text-anchor="middle"'
    return [
        f'<rect {inside} fill="{BACKGROUND}" stroke="{EDGE}"/>',
        f'<path d="M1 {BAR}H{_n(width - 1)}" stroke="{EDGE}"/>',
        *(f'<circle cx="{PAD + 6 + 20 * n}" cy="{_n(middle)}" r="6" fill="{EDGE}"/>' for n in range(3)),
        f'<text {centre} fill="{DIM}" aria-hidden="true">{escape(title)}</text>',
    ]


def _animated(made: Film, classes: dict[str, str]) -> tuple[list[str], list[str]]:
    """Groups, and the keyframes by which they come and go. What comes and goes together is one group."""
    groups, keyframes = [], []
    for number, (time, together) in enumerate(groupby(made.shown, key=lambda each: each[2:])):
        start, until = time
        stays = until >= made.seconds
        keyframes.append(f"@keyframes k{number}{{{_steps(start, until, made.seconds)}}}")
        texts = [_text(run, each.line, classes) for each in together for run in each.row]
        groups.append(f'<g class="f{" last" if stays else ""}" style="animation-name:k{number}">')
        groups += [*texts, "</g>"]
    if made.cursor:
        moves = "".join(
            f"{_percent(spot.at if number else 0, made.seconds)}{{transform:{_place(spot)}}}"
            for number, spot in enumerate(made.cursor)
        )
        keyframes.append(f"@keyframes cursor{{{moves}}}")
        groups.append(
            f'<rect class="f last" style="animation-name:cursor;transform:{_place(made.cursor[-1])}" '
            f'width="{CELL[0]}" height="{CELL[1] - 2}" fill="{TEXT}" fill-opacity=".6"/>'
        )
    return groups, keyframes


def _steps(start: float, until: float, seconds: float) -> str:
    """Unseen, seen from the start on, unseen again where it does not stay."""
    steps = "0%{visibility:hidden}" if start > 0 else ""
    steps += f"{_percent(start, seconds)}{{visibility:visible}}"
    if until >= seconds:
        return f"{steps}100%{{visibility:visible}}"
    return f"{steps}{_percent(until, seconds)},100%{{visibility:hidden}}"


def _text(run: Run, line: int, classes: dict[str, str]) -> str:
    """Stretched to its columns, so that everything stands below each other in whatever font there is."""
    lead = len(run.text) - len(run.text.lstrip())
    words = run.text.strip()
    look = f"{classes[run.colour]}{' b' if run.bold else ''}"
    return (
        f'<text class="{look}" x="{_n((run.column + lead) * CELL[0])}" y="{_n(line * CELL[1] + FONT_SIZE)}" '
        f'textLength="{_n(len(words) * CELL[0])}" lengthAdjust="spacingAndGlyphs">{escape(words)}</text>'
    )


def _place(spot: Spot) -> str:
    return f"translate({_n(spot.column * CELL[0])}px,{_n(spot.line * CELL[1])}px)"


def _percent(at: float, seconds: float) -> str:
    return f"{_n(100 * at / seconds, 3)}%"


def _n(number: float, digits: int = 2) -> str:
    """As short as it can be written."""
    return f"{number:.{digits}f}".rstrip("0").rstrip(".") if number % 1 else f"{number:.0f}"
