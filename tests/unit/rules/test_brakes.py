"""What stops agents from going on for ever: SPEC J-04, FLOOR part 7."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.errors import RateLimited
from moot.model.chain import Pair, Root, Spoken
from moot.model.conversation import Member
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.limits import Limits
from moot.model.participant import Quota
from moot.model.turn import Call, RuleName
from moot.rules import brakes

A, B, C = ParticipantId("a"), ParticipantId("b"), ParticipantId("c")
HERE, THERE = ConversationId("here"), ConversationId("there")
LIMITS = Limits()
START = 1_800_000_000.0


def sends(*moments: float, limits: Limits = LIMITS) -> list[float]:
    """When each of these sends may wake its receiver, in seconds after the start."""
    pair, due = Pair(sender=A, receiver=B), []
    for moment in moments:
        pair = brakes.pair_send(pair, START + moment, limits)
        due.append(round(pair.due - START, 6))
    return due


# --- the pair limiter --------------------------------------------------------------------------------------


@pytest.mark.req("J-04")
@pytest.mark.parametrize(
    ("moments", "due"),
    [
        ((0,), [0]),
        ((0, 1, 2, 3), [0, 3, 6, 11]),
        ((0, 1, 2, 3, 4, 5, 6), [0, 3, 6, 11, 20, 35, 36]),
        ((0, 4.9), [0, 6.9]),
        ((0, 5), [0, 5]),
        ((0, 1, 8, 9), [0, 3, 8, 13]),
        ((0, 1, 2, 31.9), [0, 3, 6, 31.9]),
        ((0, 1, 2, 31.9, 33), [0, 3, 6, 31.9, 41]),
        ((0, 1, 2, 32, 33), [0, 3, 6, 32, 35]),
        ((0, 1, 2, 3, 34), [0, 3, 6, 11, 34]),
    ],
    ids=[
        "the first is instant",
        "two, four, eight seconds",
        "sixteen, then never more than thirty, and never before the one before",
        "just inside the window",
        "five seconds apart is instant",
        "a gap keeps the level",
        "just short of the reset the next is instant",
        "… and the level was kept",
        "thirty quiet seconds reset the level",
        "… after any number",
    ],
)
def test_quick_messages_wait_longer_each_time(moments: tuple[float, ...], due: list[float]) -> None:
    assert sends(*moments) == due


@pytest.mark.req("J-04")
def test_the_eleventh_in_a_minute_is_refused_and_says_when() -> None:
    pair = Pair(sender=A, receiver=B)
    for number in range(10):
        pair = brakes.pair_send(pair, START + 5.5 * number, LIMITS)
    with pytest.raises(RateLimited) as refusal:
        brakes.pair_send(pair, START + 55, LIMITS)
    assert refusal.value.retry_after_ms == 5000
    assert refusal.value.facts["rule"] == "pair_limit"
    assert brakes.pair_send(pair, START + 60, LIMITS).last == START + 60


@pytest.mark.req("J-04")
@given(
    gaps=st.lists(st.sampled_from([0.0, 0.5, 1.0, 4.99, 5.0, 7.0, 12.0, 29.9, 30.0, 61.0]), max_size=80),
    allowed=st.integers(1, 10),
)
def test_no_minute_holds_more_than_allowed_and_nothing_overtakes(gaps: list[float], allowed: int) -> None:
    limits = Limits(pair_per_minute=allowed)
    pair, now = Pair(sender=A, receiver=B), START
    accepted: list[tuple[float, float]] = []
    for gap in gaps:
        now += gap
        try:
            pair = brakes.pair_send(pair, now, limits)
        except RateLimited as refusal:
            wait = refusal.retry_after_ms or 0
            assert wait > 0
            assert brakes.pair_send(pair, now + wait / 1000, limits).last > now
        else:
            accepted.append((now, pair.due))
            assert pair.due >= now
    for first, (at, _) in enumerate(accepted):
        assert sum(at <= other < at + 60 for other, _ in accepted[first:]) <= allowed
    assert all(one[1] <= two[1] for one, two in pairwise(accepted))
    assert len(pair.sent) <= allowed


# --- chains ------------------------------------------------------------------------------------------------


def call(*, hop: int = 1, human: bool = False) -> Call:
    return Call(agent=B, seq=2, human=human, depth=1, hop=hop, root=RootId("c:1"), reason=RuleName.MENTION)


@pytest.mark.parametrize(
    ("hop", "turns", "base_hop", "paused", "stop"),
    [
        (7, 15, 0, None, None),
        (8, 0, 0, None, RuleName.CHAIN),
        (1, 16, 0, None, RuleName.CHAIN),
        (8, 0, 1, None, None),
        (1, 0, 0, RuleName.NO_PROGRESS, RuleName.NO_PROGRESS),
    ],
)
def test_a_chain_ends_by_its_turns_its_depth_or_a_pause(
    hop: int, turns: int, base_hop: int, paused: RuleName | None, stop: RuleName | None
) -> None:
    root = Root(id=RootId("c:1"), turns=turns, base_hop=base_hop, paused=paused)
    assert brakes.chain_stop(call(hop=hop), root, LIMITS) is stop
    assert brakes.chain_stop(call(hop=hop, human=True), root, LIMITS) is None


def test_a_chain_nobody_has_paid_for_yet_still_has_its_depth() -> None:
    assert brakes.chain_stop(call(hop=7), None, LIMITS) is None
    assert brakes.chain_stop(call(hop=8), None, LIMITS) is RuleName.CHAIN


def test_to_continue_starts_the_counters_again_from_where_the_chain_stands() -> None:
    root = Root(id=RootId("c:1"), turns=16, paused=RuleName.NO_PROGRESS, noticed=(HERE,))
    for _ in range(3):
        root = brakes.spoke(brakes.spoke(root, HERE, A, "ok"), THERE, B, "ok")
    after = brakes.continued(root, HERE, hop=8)
    assert (after.turns, after.base_hop, after.paused, after.noticed) == (0, 8, None, ())
    assert [tail.conversation for tail in after.tails] == [THERE]
    assert brakes.chain_stop(call(hop=8), after, LIMITS) is None


# --- no progress --------------------------------------------------------------------------------------------

LONG = "this is a sentence of more than forty characters, number {}"


def talk(*said: tuple[ParticipantId, str]) -> RuleName | None:
    root = Root(id=RootId("c:1"))
    for agent, text in said:
        root = brakes.spoke(root, HERE, agent, text)
    return root.paused


def test_two_agents_that_only_nod_are_paused_at_the_sixth() -> None:
    nods = [(A, "thanks!"), (B, "you too!")] * 3
    assert talk(*nods[:5]) is None
    assert talk(*nods) is RuleName.NO_PROGRESS


def test_one_sentence_among_the_six_does_not_help_but_two_do() -> None:
    nods = [(A, "thanks!"), (B, "you too!")] * 3
    assert talk((A, LONG.format(1)), *nods[1:]) is RuleName.NO_PROGRESS
    assert talk((A, LONG.format(1)), (B, LONG.format(2)), *nods[2:]) is None


def test_long_near_copies_are_no_progress_either() -> None:
    copies = [(A, LONG.format(1)), (B, LONG.format(1).upper() + "!")] * 3
    assert talk(*copies) is RuleName.NO_PROGRESS


def test_three_that_nod_or_one_that_talks_to_itself_are_not_meant() -> None:
    assert talk(*[(A, "ok"), (B, "ok"), (C, "ok")] * 2) is None
    assert talk(*[(A, "ok")] * 6) is None


def test_what_is_said_elsewhere_does_not_count() -> None:
    root = Root(id=RootId("c:1"))
    for number in range(12):
        root = brakes.spoke(
            root, HERE if number % 4 < 2 else THERE, A if number % 2 else B, LONG.format(number)
        )
    assert root.paused is None
    assert [len(tail.window) for tail in root.tails] == [6, 6]


@given(st.lists(st.tuples(st.sampled_from([A, B, C]), st.sampled_from(["ok", "fine", LONG])), max_size=20))
def test_the_detector_looks_at_the_last_six_and_at_nothing_else(
    said: list[tuple[ParticipantId, str]],
) -> None:
    root = Root(id=RootId("c:1"))
    for number, (agent, text) in enumerate(said):
        root = brakes.spoke(root, HERE, agent, text.format(number))
    last = tuple(Spoken(agent=agent, short=text != LONG, words="") for agent, text in said[-6:])
    assert len(root.tails[0].window if root.tails else ()) == len(last)
    now = len(last) == 6 and len({s.agent for s in last}) == 2 and sum(s.short for s in last) >= 5
    if now:
        assert root.paused is RuleName.NO_PROGRESS


# --- quotas and cooldown -------------------------------------------------------------------------------------


@given(used=st.integers(0, 5), allowed=st.integers(1, 5), hours=st.integers(0, 2))
def test_an_hours_allowance_is_used_up_and_comes_back_with_the_next(
    used: int, allowed: int, hours: int
) -> None:
    limits = Limits(agent_turns_per_hour=allowed)
    quota = Quota(agent=A, hour=int(START // 3600), turns=used, roots=used, last_root="c:1")
    later = START + 3600 * hours
    assert brakes.quota_left(quota, A, later, limits) is (hours > 0 or used < allowed)
    fresh = brakes.quota_now(quota, A, later)
    assert (fresh.turns, fresh.roots) == ((0, 0) if hours else (used, used))
    assert fresh.last_root == "c:1"


def test_an_agent_never_seen_has_its_whole_hour() -> None:
    assert brakes.quota_left(None, A, START, LIMITS)
    assert brakes.quota_now(None, A, START) == Quota(agent=A, hour=int(START // 3600))


def test_cooldown_counts_from_the_last_word_said() -> None:
    silent = Member(conversation=HERE, participant=A, position=1, joined_at=START)
    assert brakes.cooled_at(silent, 2.0, START) == 0.0
    spoke = Member(conversation=HERE, participant=A, position=1, joined_at=START, said_at=START)
    assert brakes.cooled_at(spoke, 2.0, START + 1.0) == START + 2.0
    assert brakes.cooled_at(spoke, 2.0, START - 3600.0) == START - 3598.0
