"""Text to pieces: whatever is cut, each piece is whole by itself, and together they say the same."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.bridges.pieces import MAX_PIECES, shorten, split, utf16, without_unsafe_links

CODE = "```python\n" + "\n".join(f"x{n} = {n}  # 😀" for n in range(450)) + "\n```"
LONG = f"Before the code.\n\n{CODE}\n\nBehind it: " + "word " * 400


@pytest.mark.parametrize(("max_size", "size"), [(3900, utf16), (2000, len)])
def test_nine_thousand_characters_with_code_become_valid_pieces(max_size: int, size: object) -> None:
    measure = utf16 if size is utf16 else len
    assert len(LONG) > 9000
    pieces = split(LONG, max_size, measure)
    assert all(0 < measure(piece) <= max_size for piece in pieces)
    assert all(len(re.findall(r"(?m)^```", piece)) % 2 == 0 for piece in pieces), "every block is closed"
    for before, after in pairwise(pieces):
        assert before.endswith("```") or not after.startswith("```"), "what was open is closed"
        assert after.startswith("```python") or "x" not in after, "and opened again"
    said = "".join(pieces).replace("```python\n", "").replace("\n```", "")
    assert re.findall(r"x\d+", said) == re.findall(r"x\d+", LONG), "nothing is lost"


def test_it_is_cut_at_a_blank_line_rather_than_in_a_paragraph() -> None:
    text = "a" * 60 + "\n\n" + "b" * 60
    assert split(text, 100) == ["a" * 60, "b" * 60]


def test_no_letter_is_taken_apart() -> None:
    family = "👩\u200d👩\u200d👧"
    pieces = split(family * 30, 20, utf16)
    assert "".join(pieces) == family * 30
    assert all(not piece.startswith("\u200d") and not piece.endswith("\u200d") for piece in pieces)


@settings(max_examples=60, deadline=None)
@given(st.text(alphabet="ab \n`~#😀e\u0301", max_size=600), st.integers(min_value=30, max_value=90))
def test_whatever_is_written_every_piece_fits(text: str, max_size: int) -> None:
    assert all(utf16(piece) <= max_size for piece in split(text, max_size, utf16))


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        ("[click](javascript:alert(1))", "click"),
        ("[click](  JAVASCRIPT:alert)", "click"),
        ("<javascript:alert(1)>", "javascript:alert(1)"),
        ("see [r]\n[r]: data:text/html,x\nend", "see [r]\n\nend"),
        ("[docs](https://example.org/a_(b)) <https://example.org>", None),
        ("`[click](javascript:1)`", None),
        ("[here](#part) and [there](/path)", None),
    ],
)
def test_links_that_would_run_something_are_gone(written: str, shown: str | None) -> None:
    assert without_unsafe_links(written) == (written if shown is None else shown)


@pytest.mark.parametrize("opening", ["```" + "x" * 1880, "`" * 1880, "> " * 900 + "```py"])
def test_a_long_opening_line_is_not_repeated_before_every_piece(opening: str) -> None:
    text = f"{opening}\n" + "".join(f"line {number}\n" for number in range(500)) + "```"
    found = split(text, 1900)
    assert len(found) < 10
    assert all(len(piece) <= 1900 for piece in found)


def test_a_message_has_a_bounded_number_of_pieces_and_says_where_the_rest_is() -> None:
    pieces = split("word " * 20_000, 400)
    found = shorten(pieces, "the rest is there")
    assert len(found) == MAX_PIECES
    assert found[:-1] == pieces[: MAX_PIECES - 1]
    assert found[-1] == "the rest is there"
    assert shorten(pieces[:MAX_PIECES], "the rest is there") == pieces[:MAX_PIECES]
