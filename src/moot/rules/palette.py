"""The colour and the mark an agent is known by, the same in terminal and browser (SPEC J-10, UX 4.4).

Above: doors draw with it; flow stores a participant's mark when it joins. Below: nothing.
Not here: drawing, themes, what a state looks like (UX 4.3).

The colour is a pure hash of the name, so an agent is recognised across conversations. Six colours clash soon
(two agents of three share one in 44 % of groups), so within a conversation a shape tells equal colours apart.
"""

from collections.abc import Sequence
from typing import Final

from msgspec import Struct


class Shade(Struct, frozen=True):
    """A colour on one kind of background, as CSS hex."""

    border: str
    bg: str
    text: str


class Colour(Struct, frozen=True):
    """One of the six, for every surface."""

    name: str
    dark: Shade
    light: Shade
    ansi256: int  # foreground index, `38;5;N`
    ansi16: int  # foreground code, `N`


COLOURS: Final[tuple[Colour, ...]] = (
    Colour(
        "purple",
        Shade("#9966cc", "#2a2535", "#b08adb"),
        Shade("#7d4fb3", "#f4effa", "#6a3ea1"),
        140,
        35,
    ),
    Colour(
        "teal",
        Shade("#2aa198", "#1e2e2d", "#5ac4bc"),
        Shade("#1d8077", "#e9f6f5", "#14665f"),
        79,
        36,
    ),
    Colour(
        "orange",
        Shade("#e69500", "#2e2618", "#f0ad4e"),
        Shade("#a86c00", "#fdf4e3", "#8a5800"),
        215,
        33,
    ),
    Colour(
        "rose",
        Shade("#d33682", "#2e1e28", "#e05a9e"),
        Shade("#c02a74", "#fceef5", "#a81f63"),
        169,
        95,
    ),
    Colour(
        "lime",
        Shade("#85c025", "#222e18", "#a0d44a"),
        Shade("#5f8f14", "#f2f8e6", "#4a7010"),
        149,
        92,
    ),
    Colour(
        "coral",
        Shade("#ff6b6b", "#2e1e1e", "#ff8a8a"),
        Shade("#d64545", "#fdeeee", "#b53030"),
        210,
        91,
    ),
)

COLOUR_NAMES: Final = tuple(colour.name for colour in COLOURS)
MARKS: Final = ("●", "▲", "■", "◆", "★", "✚")  # filled: at work, and in message headers; stored so
HOLLOW: Final = dict(zip(MARKS, ("○", "△", "□", "◇", "☆", "✙"), strict=True))  # the same shapes, not at work
AWAY: Final = "✕"


def colour_index(name: str) -> int:
    """0 to 5, as the seed's JavaScript hashes it: 32-bit signed `h * 31 + c`, absolute, modulo six."""
    h = 0
    for letter in name:
        h = (h * 31 + _first_unit(ord(letter))) & 0xFFFFFFFF
    if h & 0x80000000:
        h = 0x1_0000_0000 - h  # the absolute value of the negative number these bits are
    return h % len(COLOURS)


def chosen_index(name: str, wish: str) -> int:
    """The colour its owner chose for an agent, else the one of its name."""
    return COLOUR_NAMES.index(wish) if wish in COLOUR_NAMES else colour_index(name)


def mark_for(name: str, others: Sequence[tuple[str, str]]) -> str:
    """The mark a participant gets on joining: the first shape no one of its colour has.

    `others` are (name, mark) of who joined before, in that order. Who is among them keeps its mark; from the
    seventh of one colour on, the least used shape comes round again.
    """
    mine = colour_index(name)
    used = dict.fromkeys(MARKS, 0)
    for other, mark in others:
        if other == name:
            return mark
        if mark in used and colour_index(other) == mine:
            used[mark] += 1
    return min(MARKS, key=used.__getitem__)


def _first_unit(code_point: int) -> int:
    """The first UTF-16 unit, which is all `charCodeAt(0)` sees: a high surrogate from U+10000 on."""
    beyond = code_point - 0x10000
    return code_point if beyond < 0 else 0xD800 + (beyond >> 10)
