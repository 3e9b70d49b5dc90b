"""What the no-progress detector compares: FLOOR part 7."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.rules.words.similar import is_thin, words_key


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Thanks!", "thanks"),
        ("You're welcome.", "youre  WELCOME"),
        ("You\u2019re welcome", "You're welcome"),
        ("done -- all of it :)", "Done: all of it!"),
        ("thanks 🙏", "Thanks."),
        ("caf\u00e9", "CAFE\u0301"),
        ("a_b", "a b"),
        ("Straße", "STRASSE"),
        ("", "?!"),
    ],
)
def test_texts_of_the_same_words_have_one_key(one: str, other: str) -> None:
    assert words_key(one) == words_key(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [("step 1", "step 2"), ("yes", "no"), ("a b", "b a"), ("ab", "a b"), ("की", "का"), ("日本", "日木")],
)
def test_texts_of_other_words_have_other_keys(one: str, other: str) -> None:
    assert words_key(one) != words_key(other)


@given(st.text())
def test_a_key_has_single_spaces_and_is_its_own_key(text: str) -> None:
    key = words_key(text)
    assert key == " ".join(key.split())
    assert words_key(key) == key
    assert words_key(f"  {text}!\n") == key


def test_a_text_is_thin_under_forty_characters_padding_not_counted() -> None:
    assert is_thin("x" * 39)
    assert not is_thin("x" * 40)
    assert is_thin("  " + "x" * 39 + "\n" * 40)
    assert not is_thin("x" * 5, threshold=5)
    assert is_thin("")
