"""What may be said at all."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.rules.words.text import TextProblem, check_text


def refusal(text: object, limit_bytes: int = 100) -> TextProblem:
    with pytest.raises(TextProblem) as caught:
        check_text(text, limit_bytes=limit_bytes)
    return caught.value


@pytest.mark.parametrize("text", ["x", " x ", "é", "日本", "😀", "\ufeffx", "a\nb\x07", "\u200b", "[PASS]"])
def test_a_text_comes_back_as_it_was(text: str) -> None:
    assert check_text(text, limit_bytes=100) is text


@pytest.mark.parametrize("text", [None, 1, b"x", ["x"], {"text": "x"}, True])
def test_what_is_no_text_is_refused_by_its_type(text: object) -> None:
    problem = refusal(text)
    assert problem.problem == "type"
    assert type(text).__name__ in problem.expected


@pytest.mark.parametrize("text", ["", " ", "\n\t ", "\u00a0\u3000", "\r\n"])
def test_a_blank_text_is_refused(text: str) -> None:
    assert refusal(text).problem == "empty"


def test_nul_is_refused_with_its_place() -> None:
    for text, at in [("\0", 0), ("ab\0c\0", 2), ("é\0", 1)]:
        problem = refusal(text)
        assert (problem.problem, problem.position) == ("nul", at)


def test_a_lone_surrogate_is_refused_with_its_place() -> None:
    for text, at in [("\ud800", 0), ("ab\udfffc", 2), ("\ude00\ud83d", 0)]:
        problem = refusal(text)
        assert (problem.problem, problem.position) == ("surrogate", at)
        str(problem).encode()


@pytest.mark.parametrize("letter", ["x", "é", "日", "😀"])
def test_the_limit_is_exact_and_counts_bytes(letter: str) -> None:
    size = len(letter.encode())
    assert check_text(letter * 5, limit_bytes=5 * size)
    problem = refusal(letter * 5, limit_bytes=5 * size - 1)
    assert (problem.problem, problem.bytes) == ("too_long", 5 * size)
    assert str(5 * size - 1) in problem.expected


@given(st.text(st.characters(codec=None, exclude_categories=()), max_size=50), st.integers(0, 60))
def test_what_is_accepted_can_be_stored_and_what_is_not_says_why(text: str, limit_bytes: int) -> None:
    problem = None
    try:
        assert check_text(text, limit_bytes=limit_bytes) is text
    except TextProblem as raised:
        problem = raised
        str(problem).encode()
    lone = any("\ud800" <= letter <= "\udfff" for letter in text)
    fine = text.strip() and not lone and "\0" not in text and len(text.encode()) <= limit_bytes
    assert (problem is None) == bool(fine)
    if problem is not None and problem.position is not None:
        letter = text[problem.position]
        assert letter == "\0" or "\ud800" <= letter <= "\udfff"
