"""What an agent is said to be doing, state by state."""

import pytest
from msgspec import structs

from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.participant import AgentConfig, Kind, Participant, Reach
from moot.model.turn import Duty, RuleName, Step, Turn, TurnState
from moot.rules.activity import activity

NOW = 1_000.0
X = ParticipantId("x")
HERE = Participant(
    id=X, name="x", kind=Kind.EXTERNAL, reach=Reach.ON_DEMAND, reach_until=NOW + 30, last_active=990.0
)
AWAY = structs.replace(HERE, reach_until=0.0)
WARDEN = structs.replace(HERE, config=AgentConfig(watches=("arya", "bob")))
ALL_SEEING = structs.replace(HERE, config=AgentConfig(watches=("*",)))


def turn(state: TurnState, **fields: object) -> Turn:
    made = Turn(TurnId(1), X, ConversationId("c"), Duty.MUST, RuleName.MENTION, state, (), created_at=900.0)
    return structs.replace(made, **{"started_at": 950.0, **fields})


RUNNING = turn(TurnState.RUNNING)
TOOL = turn(TurnState.RUNNING, steps=(Step("c1", "shell", "{}", at=970.0),))


@pytest.mark.req("J-01")
@pytest.mark.parametrize(
    ("who", "open_turns", "last", "told"),
    [
        (HERE, [], None, ("idle", "idle", 990.0, "idle")),
        (AWAY, [], None, ("offline", "away", 990.0, "offline")),
        (AWAY, [turn(TurnState.OWED)], None, ("offline", "away", 990.0, "offline")),
        (HERE, [turn(TurnState.OWED)], None, ("queued", "waiting (1 queued)", 900.0, "idle")),
        (HERE, [RUNNING], None, ("thinking", "thinking", 950.0, "streaming")),
        (HERE, [TOOL], None, ("tool", "running shell", 970.0, "streaming")),
        (HERE, [turn(TurnState.HELD, round=3)], None, ("cooldown", "cooling down", 900.0, "rate_limited")),
        (HERE, [turn(TurnState.HELD)], None, ("rate_limited", "held", 900.0, "rate_limited")),
        (HERE, [], turn(TurnState.PASSED, ended_at=995.0), ("passed", "passed", 995.0, "idle")),
        (HERE, [], turn(TurnState.PASSED, ended_at=980.0), ("idle", "idle", 980.0, "idle")),
        (
            HERE,
            [],
            turn(TurnState.FAILED, ended_at=500.0, error="timeout"),
            ("error", "error: timeout", 500.0, "idle"),
        ),
        (WARDEN, [], None, ("watching", "watches arya, bob", 990.0, "idle")),
        (ALL_SEEING, [], None, ("watching", "watches every agent", 990.0, "idle")),
        (
            structs.replace(WARDEN, reach_until=0.0),
            [],
            None,
            ("offline", "away, watches arya, bob", 990.0, "offline"),
        ),
        (structs.replace(HERE, paused=True), [RUNNING], None, ("paused", "paused", 990.0, "rate_limited")),
    ],
)
def test_the_state_its_word_and_since_when(
    who: Participant, open_turns: list[Turn], last: Turn | None, told: tuple[str, str, float, str]
) -> None:
    found = activity(who, open_turns, last, now=NOW)
    assert (found.state, found.label, found.since, found.status) == told


def test_words_that_were_heard_make_thinking_writing() -> None:
    assert activity(HERE, [RUNNING], None, now=NOW, speaking=True).state == "streaming"
    assert activity(HERE, [TOOL], None, now=NOW, speaking=True).state == "tool"


def test_a_label_fits_a_line() -> None:
    failed = turn(TurnState.FAILED, ended_at=999.0, error="x" * 500)
    assert len(activity(HERE, [], failed, now=NOW).label) == 80
