"""Which messages an agent is shown: in blocks, unread ones kept, within the token budget (A-08)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.context.window import Size, begin, reach
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.message import Message
from moot.model.participant import Kind


def said(seq: int, tokens: int = 1) -> Message:
    text = "x" * tokens
    return Message(ConversationId("c"), seq, ParticipantId("a"), Kind.AGENT, text, RootId("c:1"), 0, 0.0)


def cost(message: Message) -> int:
    return len(message.text)


@pytest.mark.req("A-08")
@pytest.mark.parametrize(
    ("hi", "lo", "start"),
    [(5, 4, 0), (20, 19, 0), (21, 20, 1), (50, 49, 30), (50, 10, 10), (50, 0, 0)],
)
def test_a_window_without_blocks_is_the_newest_and_all_that_is_unread(hi: int, lo: int, start: int) -> None:
    assert reach(Size(20, 1000), lo, hi) == start


@pytest.mark.req("A-08", "M-06")
def test_a_growing_window_stands_still_until_it_is_too_long() -> None:
    size, last, starts = Size(4, 1000, grows=True), None, []
    for hi in range(1, 61):
        last = reach(size, hi - 1, hi, last)
        starts.append(last)
    assert starts == sorted(starts)
    assert len(set(starts)) == 4
    assert all(hi - start <= 20 for hi, start in enumerate(starts, 1))
    assert all(hi - start >= min(hi, 4) for hi, start in enumerate(starts, 1))


@given(
    hi=st.integers(1, 300),
    unread=st.integers(1, 300),
    most=st.integers(1, 60),
    last=st.none() | st.integers(0, 300),
)
def test_what_is_unread_is_always_within_reach(hi: int, unread: int, most: int, last: int | None) -> None:
    lo = max(0, hi - unread)
    start = reach(Size(most, 1000, grows=last is not None), lo, hi, last)
    assert 0 <= start <= lo
    assert hi - start >= min(most, hi)


@pytest.mark.req("A-08")
def test_the_token_budget_drops_the_oldest_first_and_never_the_newest() -> None:
    messages = [said(seq, 10) for seq in range(1, 11)]
    assert begin(messages, Size(10, 100), 9, 10, cost) == 0
    assert begin(messages, Size(10, 55), 9, 10, cost) == 5
    assert begin(messages, Size(10, 1), 9, 10, cost) == 9
    assert begin([said(1, 10_000)], Size(10, 5), 0, 1, cost) == 0


@pytest.mark.req("A-08", "M-06")
def test_a_growing_window_is_cut_back_far_enough_to_grow_again() -> None:
    messages = [said(seq, 10) for seq in range(1, 21)]
    size = Size(4, 150, grows=True)
    assert begin(messages, size, 19, 20, cost) == 16, "the newest of its messages"
    assert begin(messages, Size(18, 150, grows=True), 19, 20, cost) == 13, "half of its budget"
    assert begin(messages, size, 2, 20, cost) == 5, "what is unread only goes as far as it must"
    assert begin(messages, Size(4, 200, grows=True), 19, 20, cost) == 0, "nothing has to go"


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40),
    budget=st.integers(1, 400),
    grows=st.booleans(),
    lo=st.integers(0, 39),
)
def test_what_is_left_fits_or_is_the_newest_alone(
    lengths: list[int], budget: int, grows: bool, lo: int
) -> None:
    messages = [said(seq, length) for seq, length in enumerate(lengths, 1)]
    hi = len(lengths)
    start = begin(messages, Size(40, budget, grows), min(lo, hi - 1), hi, cost)
    left = lengths[start:]
    assert left
    assert sum(left) <= budget or len(left) == 1
