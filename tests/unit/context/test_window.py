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
def test_a_window_in_blocks_stands_still_until_a_block_has_to_go() -> None:
    size = Size.in_blocks(20, 1000)
    starts = [reach(size, hi - 1, hi) for hi in range(1, 61)]
    assert starts == sorted(starts)
    assert set(starts) == {0, 10, 20, 30, 40}
    assert all(hi - start <= 20 for hi, start in enumerate(starts, 1))
    assert all(hi - start > 10 or start == 0 for hi, start in enumerate(starts, 1))


@given(
    hi=st.integers(1, 300),
    unread=st.integers(1, 300),
    most=st.integers(1, 60),
    block=st.booleans(),
)
def test_what_is_unread_is_always_within_reach(hi: int, unread: int, most: int, block: bool) -> None:
    lo = max(0, hi - unread)
    size = Size.in_blocks(most, 1000) if block else Size(most, 1000)
    assert 0 <= reach(size, lo, hi) <= lo
    assert hi - reach(size, hi - 1, hi) <= most or reach(size, hi - 1, hi) <= hi - 1


@pytest.mark.req("A-08")
def test_the_token_budget_drops_the_oldest_first_and_never_the_newest() -> None:
    messages = [said(seq, 10) for seq in range(1, 11)]
    assert begin(messages, Size(10, 100), 0, 9, cost) == 0
    assert begin(messages, Size(10, 55), 0, 9, cost) == 5
    assert begin(messages, Size(10, 1), 0, 9, cost) == 9
    assert begin(messages, Size(10, 55, block=4), 0, 9, cost) == 8
    assert begin(messages, Size(10, 55, block=4), 0, 0, cost) == 5, "of what is new, only what must"
    assert begin([said(1, 10_000)], Size(10, 5), 0, 0, cost) == 0


@given(
    lengths=st.lists(st.integers(0, 50), min_size=1, max_size=40),
    budget=st.integers(1, 400),
    block=st.integers(1, 10),
    lo=st.integers(0, 40),
)
def test_what_is_left_fits_or_is_the_newest_alone(
    lengths: list[int], budget: int, block: int, lo: int
) -> None:
    messages = [said(seq, length) for seq, length in enumerate(lengths, 1)]
    start = begin(messages, Size(40, budget, block), 0, lo, cost)
    left = lengths[start:]
    assert left
    assert sum(left) <= budget or len(left) == 1
