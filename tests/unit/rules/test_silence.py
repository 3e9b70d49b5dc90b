"""How silence is said: SPEC G-03, FLOOR part 7."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from moot.rules.words.silence import PASS, HoldBack, is_pass, is_silence

pytestmark = pytest.mark.req("G-03")

PASSES = ["[PASS]", "[pass]", "[Pass]", " [PASS]", "[PASS]\n", "\n\t [pASS] \r\n", "\u00a0[PASS]\u3000"]
WORDS = [
    *(
        "PASS",
        "[PASS].",
        "[PASS] thanks",
        "I [PASS]",
        "`[PASS]`",
        "**[PASS]**",
        "[ PASS ]",
        "[PA SS]",
        "[[PASS]]",
    ),
    *(
        "[PASS][PASS]",
        "[PASS]\n[PASS]",
        "[PA\u00df]",
        "[PA\u017f\u017f]",
        "[PASS",
        "pass]",
        "\u200b[PASS]",
        "x",
    ),
]


@pytest.mark.parametrize("reply", PASSES)
def test_a_reply_that_is_only_the_pass_is_silence_in_any_case_and_padding(reply: str) -> None:
    assert is_pass(reply)
    assert is_silence(reply)


@pytest.mark.parametrize("reply", WORDS)
def test_a_reply_that_holds_anything_else_is_words(reply: str) -> None:
    assert not is_pass(reply)
    assert not is_silence(reply)


@pytest.mark.parametrize("reply", [None, "", " ", "\n\t", "\u3000"])
def test_no_reply_and_a_blank_one_are_silence_but_no_pass(reply: str | None) -> None:
    assert is_silence(reply)
    assert reply is None or not is_pass(reply)


def test_the_pass_itself_is_one() -> None:
    assert is_pass(PASS)
    assert PASS == "[PASS]"


@pytest.mark.parametrize("prefix", ["", " ", "[", "[p", "\n[Pas", "[PASS", "[PASS]", "[PASS] \n"])
def test_a_beginning_that_may_become_a_pass_is_held(prefix: str) -> None:
    assert HoldBack().feed(prefix) == ""


@pytest.mark.parametrize("prefix", ["x", "[x", "[ ", "[P ", "[PASS]x", "[PASS] x", "P", "`", "[PASS]]"])
def test_a_beginning_that_can_be_no_pass_any_more_is_let_go(prefix: str) -> None:
    assert HoldBack().feed(prefix) == prefix


def test_a_stream_shows_what_it_held_as_soon_as_it_is_words() -> None:
    stream = HoldBack()
    assert [stream.feed(chunk) for chunk in ["", " [", "PA", "SS", "ENGER", "] [PASS]"]] == [
        "",
        "",
        "",
        "",
        " [PASSENGER",
        "] [PASS]",
    ]
    assert stream.flush() == ""


def test_a_streamed_pass_shows_nothing() -> None:
    stream = HoldBack()
    assert [stream.feed(chunk) for chunk in ["\n", "[pA", "sS]", " \n"]] == [""] * 4
    assert stream.flush() == ""


def test_the_beginning_of_a_pass_is_shown_when_the_stream_ends_there() -> None:
    stream = HoldBack()
    assert stream.feed(" [PAS") == ""
    assert stream.flush() == " [PAS"
    assert stream.flush() == ""


letters = st.sampled_from("[]PpAaSs \nx\u00df")


@given(st.one_of(st.lists(st.text(letters, max_size=4)), st.lists(st.sampled_from(list("[PASS] \n")))))
@example(list("[PASS]"))
@example(["[PASS]", " ", "x"])
def test_a_stream_shows_the_whole_reply_or_nothing_if_it_was_silence(chunks: list[str]) -> None:
    stream = HoldBack()
    shown = "".join([stream.feed(chunk) for chunk in chunks] + [stream.flush()])
    reply = "".join(chunks)
    assert shown == ("" if is_silence(reply) else reply)


@given(st.text(letters, max_size=10), st.integers(0, 10))
def test_what_has_come_is_shown_whole_or_not_yet_and_never_before_it_is_surely_words(
    reply: str, cut: int
) -> None:
    shown = HoldBack().feed(reply[:cut])
    assert shown in ("", reply[:cut])
    if is_silence(reply):
        assert shown == ""
