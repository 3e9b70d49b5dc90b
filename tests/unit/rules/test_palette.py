"""Colours and marks: SPEC J-10, the golden vectors and the table of UX 4.4."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.rules.palette import AWAY, COLOURS, HOLLOW, MARKS, Shade, chosen_index, colour_index, mark_for

pytestmark = pytest.mark.req("J-10")

GOLDEN = {
    "claude": 0,
    "": 0,
    **dict.fromkeys(("writer", "engineering", "gemini"), 1),
    **dict.fromkeys(("abra-dev", "critic", "😀a"), 2),
    **dict.fromkeys(("arya", "gendry", "manager", "codex", "claude-2", "user", "日本"), 3),
    **dict.fromkeys(("puppet-dev", "analyst"), 4),
    **dict.fromkeys(("janus-dev", "support", "é"), 5),
}


@pytest.mark.parametrize(("name", "index"), GOLDEN.items())
def test_the_hash_is_the_seeds_to_the_bit(name: str, index: int) -> None:
    assert colour_index(name) == index


def javascript(name: str) -> int:
    """The seed's function read literally: signed shifts of 32 bits, one UTF-16 unit per code point."""
    h = 0
    for letter in name:
        unit = int.from_bytes(letter.encode("utf-16-be", "surrogatepass")[:2], "big")
        shifted = ((h << 5) + 2**31) % 2**32 - 2**31
        h = (shifted - h + unit + 2**31) % 2**32 - 2**31
    return abs(h) % 6


@given(st.text(st.characters(codec=None, exclude_categories=())))
def test_the_hash_agrees_with_javascript_on_every_text(name: str) -> None:
    assert colour_index(name) == javascript(name)


def test_the_six_colours_are_those_of_the_table() -> None:
    assert [(c.name, c.ansi256, c.ansi16) for c in COLOURS] == [
        ("purple", 140, 35),
        ("teal", 79, 36),
        ("orange", 215, 33),
        ("rose", 169, 95),
        ("lime", 149, 92),
        ("coral", 210, 91),
    ]
    assert COLOURS[chosen_index("claude", "")] is COLOURS[0]
    assert COLOURS[chosen_index("claude", "teal")].name == "teal"
    assert COLOURS[chosen_index("claude", "no such colour")] is COLOURS[0]
    assert COLOURS[0].dark == Shade("#9966cc", "#2a2535", "#b08adb")
    assert COLOURS[5].light == Shade("#d64545", "#fdeeee", "#b53030")


def contrast(one: str, other: str) -> float:
    def light(colour: str) -> float:
        channels = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
        return 0.2126 * r + 0.7152 * g + 0.0722 * b

    low, high = sorted([light(one), light(other)])
    return (high + 0.05) / (low + 0.05)


# Contrast of UX 4.4, per colour: dark text:bg, dark border:bg, light text:bg, light border:white.
RATIOS = {
    "purple": (5.31, 3.62, 6.59, 5.77),
    "teal": (6.78, 4.48, 6.13, 4.77),
    "orange": (7.67, 6.16, 5.53, 4.37),
    "rose": (4.60, 3.47, 6.14, 5.49),
    "lime": (8.16, 6.50, 5.35, 3.87),
    "coral": (7.01, 5.73, 5.43, 4.38),
}


@pytest.mark.parametrize("index", range(6))
def test_every_shade_has_the_contrast_that_was_promised(index: int) -> None:
    # A digit wrong anywhere in the table moves one of these.
    colour = COLOURS[index]
    measured = (
        contrast(colour.dark.text, colour.dark.bg),
        contrast(colour.dark.border, colour.dark.bg),
        contrast(colour.light.text, colour.light.bg),
        contrast(colour.light.border, "#ffffff"),
    )
    assert measured == pytest.approx(RATIOS[colour.name], abs=0.011)


def test_every_mark_has_its_hollow_twin() -> None:
    assert "".join(MARKS) == "●▲■◆★✚"
    assert "".join(HOLLOW[mark] for mark in MARKS) == "○△□◇☆✙"
    assert len({*MARKS, *HOLLOW.values(), AWAY}) == 13


def test_the_first_of_a_colour_gets_the_disc_and_clashes_get_the_next_shape() -> None:
    assert mark_for("arya", []) == "●"
    assert mark_for("gendry", [("arya", "●")]) == "▲"  # both rose
    assert mark_for("critic", [("arya", "●"), ("gendry", "▲")]) == "●"  # orange
    assert mark_for("codex", [("arya", "●"), ("gendry", "▲"), ("critic", "●")]) == "■"


def test_who_comes_back_keeps_its_mark() -> None:
    assert mark_for("gendry", [("arya", "●"), ("gendry", "▲")]) == "▲"


def test_a_shape_that_came_free_is_given_again() -> None:
    assert mark_for("codex", [("gendry", "▲")]) == "●"


def test_the_seventh_of_a_colour_starts_over() -> None:
    rose = [name for i in range(100) if colour_index(name := f"agent-{i}") == 3][:8]
    joined: list[tuple[str, str]] = []
    for name in rose:
        joined.append((name, mark_for(name, joined)))
    assert "".join(mark for _, mark in joined) == "●▲■◆★✚●▲"


@given(st.lists(st.text(min_size=1), unique=True, max_size=12))
def test_up_to_six_of_a_colour_are_told_apart_and_no_ones_mark_ever_changes(names: list[str]) -> None:
    joined: list[tuple[str, str]] = []
    for name in names:
        joined.append((name, mark_for(name, joined)))
    for colour in range(6):
        marks = [mark for name, mark in joined if colour_index(name) == colour]
        assert len(set(marks)) == min(len(marks), 6)
    assert all(mark_for(name, joined) == mark for name, mark in joined)
