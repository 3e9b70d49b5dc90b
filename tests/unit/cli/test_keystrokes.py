"""Bytes of a terminal as keys, however they are cut into pieces."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.cli.terminal.keystrokes import ESCAPE_SECONDS, PASTE_SECONDS, Key, Keystrokes

ENTER, NEWLINE = Key("enter"), Key("newline")


def keys(*parts: str | bytes, more: bool = False) -> list[Key]:
    strokes = Keystrokes()
    return [
        key
        for part in parts
        for key in strokes.of(part.encode() if isinstance(part, str) else part, more=more)
    ]


def text(*letters: str) -> list[Key]:
    return [Key("text", each) for each in letters]


@pytest.mark.parametrize(
    ("typed", "expected"),
    [
        ("hello", text("hello")),
        ("hi\r", [*text("hi"), ENTER]),
        ("hi\n", [*text("hi"), ENTER]),
        ("hi\r\n", [*text("hi"), ENTER]),
        ("grüße 日本", text("grüße 日本")),
        ("\t", text("\t")),
        ("\x1b\r", [NEWLINE]),
        ("\x7f\x08", [Key("backspace"), Key("backspace")]),
        ("\x1b[A\x1bOB\x1b[C\x1b[D", [Key("earlier"), Key("later"), Key("right"), Key("left")]),
        ("\x1b[3~\x01\x05", [Key("delete"), Key("home"), Key("end")]),
        ("\x03\x04", [Key("interrupt"), Key("end of input")]),
        ("\x1b[1;5C\x1b[24~\x1bx\x00\x1fa", text("a")),
        ("hi\rho", [*text("hi"), ENTER, *text("ho")]),
    ],
)
def test_what_is_typed(typed: str, expected: list[Key]) -> None:
    assert keys(typed) == expected


@pytest.mark.parametrize("end", ["", "\n", "\r", "\r\n"])
def test_a_marked_paste_is_one_piece_without_its_last_line_end(end: str) -> None:
    assert keys(f"a\x1b[200~one\r\ntwo\rthree\tx{end}\x1b[201~b\r") == [
        *text("a", "one\ntwo\nthree\tx", "b"),
        ENTER,
    ]


def test_nothing_in_a_paste_moves_the_cursor_or_sends() -> None:
    assert keys("\x1b[200~\x03\x04\x1b[A\x07one\x9b\x1b[201~") == text("[Aone")


def test_ctrl_c_ends_a_paste_whose_end_does_not_come_and_keeps_it() -> None:
    assert keys("\x1b[200~one\rtwo", "\x03", "\r") == [*text("one\ntwo"), Key("interrupt"), ENTER]


def test_a_paste_whose_end_does_not_come_is_over_after_a_silence() -> None:
    strokes = Keystrokes()
    assert strokes.of(b"\x1b[200~one\rtwo") == []
    assert strokes.after_silence(ESCAPE_SECONDS) == []
    assert strokes.after_silence(PASTE_SECONDS) == text("one\ntwo")
    assert strokes.of(b"a\x1b[201~\r") == [*text("a"), ENTER]


def test_an_esc_alone_swallows_no_letter_that_comes_later() -> None:
    strokes = Keystrokes()
    assert strokes.of(b"\x1b") == strokes.after_silence(ESCAPE_SECONDS) == []
    assert strokes.of(b"Oh") == text("Oh")


@pytest.mark.parametrize("more", [False, True])
def test_several_lines_at_once_are_a_paste_and_only_the_last_enter_sends(more: bool) -> None:
    last = NEWLINE if more else ENTER
    assert keys("one\ntwo\nthree\n", more=more) == [
        *text("one"), NEWLINE, *text("two"), NEWLINE, *text("three"), last,
    ]  # fmt: skip
    assert keys("one\ntwo\nthree") == [*text("one"), NEWLINE, *text("two"), NEWLINE, *text("three")]


@given(st.integers(1, 6), st.text("aé日\x1b[200~1\r\n\x7f", max_size=30))
def test_how_it_is_cut_makes_no_difference_to_what_is_marked(size: int, around: str) -> None:
    whole = (
        f"x\x1b[200~one\ntwo ü\x1b[201~\x1b[D\x7f{around.replace(chr(10), '').replace(chr(13), '')}y".encode()
    )
    pieces = [whole[at : at + size] for at in range(0, len(whole), size)]
    assert written(keys(*pieces)) == written(keys(whole))


def written(found: list[Key]) -> list[Key]:
    """Letters that come together or apart are the same letters."""
    merged: list[Key] = []
    for key in found:
        if key.name == "text" and merged and merged[-1].name == "text":
            merged[-1] = Key("text", merged[-1].text + key.text)
        else:
            merged.append(key)
    return merged
