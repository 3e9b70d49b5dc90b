"""Conversation ids sort by when they were made, never repeat, and can be read aloud."""

import re

from hypothesis import given
from hypothesis import strategies as st

from moot.stores.ids import ALPHABET, ConversationIds, base32


def test_an_id_is_a_letter_nine_characters_of_time_and_five_of_chance() -> None:
    new = ConversationIds(lambda: 1_800_000_000.0, lambda end: end - 1)
    assert new() == "c" + base32(1_800_000_000_000, 9) + "zzzzz"
    assert re.fullmatch(r"c[0-9a-hjkmnp-tv-z]{14}", ConversationIds()())


@given(st.lists(st.floats(0, 4e9), min_size=2, max_size=50), st.integers(0, 2**25 - 1))
def test_ids_rise_whatever_the_clock_does(clock: list[float], chance: int) -> None:
    moments = iter(clock)
    new = ConversationIds(lambda: next(moments), lambda end: chance % end)
    made = [new() for _ in clock]
    assert made == sorted(set(made))
    assert {len(one) for one in made} == {15}


def test_ids_of_different_times_sort_by_time_between_processes() -> None:
    early = ConversationIds(lambda: 1000.0, lambda end: end - 1)
    late = ConversationIds(lambda: 1000.001, lambda end: 0)
    assert early() < late()


def test_the_alphabet_sorts_as_it_counts() -> None:
    assert list(ALPHABET) == sorted(ALPHABET)
