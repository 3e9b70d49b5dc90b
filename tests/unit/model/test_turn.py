"""A turn moves only as the design draws it; anything else is a wrong rule and raises (FLOOR part 2)."""

import pytest

from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.turn import (
    BLOCKING,
    MAX_CALLS,
    OPEN,
    Call,
    Duty,
    IllegalMove,
    RuleName,
    Turn,
    TurnState,
    silenced,
)  # fmt: skip

S = TurnState
LEGAL = {
    S.WAITING: {S.READY, S.HELD, S.OWED, S.CANCELLED},
    S.READY: {S.RUNNING, S.OWED, S.CANCELLED},
    S.HELD: {S.READY, S.HELD, S.OWED, S.CANCELLED},
    S.OWED: {S.RUNNING, S.CANCELLED},
    S.RUNNING: {S.SAID, S.PASSED, S.FAILED, S.EXPIRED, S.CANCELLED, S.READY, S.OWED},
}


def call(seq: int, reason: RuleName = RuleName.MENTION) -> Call:
    return Call(
        agent=ParticipantId("a"), seq=seq, human=True, depth=1, hop=0, root=RootId("c:1"), reason=reason
    )


def turn(
    state: TurnState = S.WAITING, *calls: Call, duty: Duty = Duty.MAY, reason: RuleName = RuleName.POLL
) -> Turn:
    return Turn(
        id=TurnId(1),
        agent=ParticipantId("a"),
        conversation=ConversationId("c"),
        duty=duty,
        reason=reason,
        state=state,
        calls=calls or (call(1, reason),),
        created_at=1.0,
    )


@pytest.mark.parametrize("before", list(S))
@pytest.mark.parametrize("after", list(S))
def test_a_turn_moves_as_drawn_and_no_other_way(before: TurnState, after: TurnState) -> None:
    if after in LEGAL.get(before, set()):
        assert turn(before).moved(after, due=3.0).state is after
    else:
        with pytest.raises(IllegalMove, match=f"cannot go from {before} to {after}"):
            turn(before).moved(after)


def test_an_ended_turn_is_not_open_and_never_moves_again() -> None:
    assert {state for state in S if state.is_open} == set(LEGAL) == OPEN


def test_moving_leaves_the_turn_before_untouched() -> None:
    waiting = turn()
    waiting.moved(S.READY, due=9.0)
    assert (waiting.state, waiting.due) == (S.WAITING, 0.0)


def test_a_forcing_message_makes_a_poll_a_must() -> None:
    polled = turn(S.READY)
    assert polled.joined(call(2, RuleName.REACT)).duty is Duty.MAY
    forced = polled.joined(call(2))
    assert (forced.duty, forced.reason, len(forced.calls)) == (Duty.MUST, RuleName.MENTION, 2)


def test_the_same_message_joins_once_and_the_oldest_are_forgotten() -> None:
    one = turn(S.OWED, call(1), duty=Duty.MUST, reason=RuleName.MENTION)
    assert one.joined(call(1)) == one
    for seq in range(2, 100):
        one = one.joined(call(seq))
    assert [c.seq for c in one.calls] == list(range(100 - MAX_CALLS, 100))


def test_a_message_that_waited_in_line_joins_before_newer_ones() -> None:
    joined = turn(S.OWED, call(1)).joined(call(9)).joined(call(4))
    assert [c.seq for c in joined.calls] == [1, 4, 9]
    assert joined.joined(call(4)) is joined


@pytest.mark.parametrize(
    ("reason", "named"),
    [
        (RuleName.POLL, False),
        (RuleName.REACT, False),
        (RuleName.ROUND_ROBIN, False),
        (RuleName.MENTION, True),
        (RuleName.FORCE, True),
    ],
)
def test_a_turn_is_somebodys_by_name_when_somebody_named_it(reason: RuleName, named: bool) -> None:
    assert turn(S.READY, reason=reason).named is named
    assert turn(S.READY, reason=reason).joined(call(2)).named


@pytest.mark.parametrize("rule", list(RuleName))
def test_a_brake_blocks_and_everything_else_leaves_an_observer(rule: RuleName) -> None:
    assert silenced(rule) is (Duty.BLOCKED if rule in BLOCKING else Duty.OBSERVES)
