"""Every rule has its words, and where a setting is behind it, that is named with its value."""

import pytest
from msgspec import structs

from moot.model.conversation import Conversation, ConversationKind, GroupSettings, ReplyStrategy
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.limits import Limits
from moot.model.message import Message
from moot.model.participant import Kind, Participant
from moot.model.round import Round
from moot.model.turn import Duty, RuleName, Turn, TurnState
from moot.rules.reasons import REASONS, Case, error, failure, reason

WHERE = ConversationId("c1")
ARYA = Participant(ParticipantId("arya"), "arya", Kind.AGENT)
SAID = Message(WHERE, 1, ParticipantId("user"), Kind.HUMAN, "hello", RootId("c1:1"), 0, 1.0)
GROUP = Conversation(WHERE, "build", ConversationKind.GROUP, 1.0, 1.0)
ROUND = Round(WHERE, 1, RootId("c1:1"), 0, human=True, polls=True, cap=3)
CASE = Case(ARYA, SAID, GROUP, GroupSettings(), Limits(), ROUND, 3)
TURN = Turn(TurnId(1), ARYA.id, WHERE, Duty.MUST, RuleName.MENTION, TurnState.FAILED, (), 1.0)


def by(kind: Kind) -> Case:
    return structs.replace(CASE, message=structs.replace(SAID, kind=kind))


def under(**settings: object) -> Case:
    return structs.replace(CASE, settings=structs.replace(CASE.settings, **settings))


@pytest.mark.req("M-02")
@pytest.mark.parametrize("rule", RuleName)
def test_every_rule_has_words_that_go_on_from_a_name(rule: RuleName) -> None:
    assert REASONS[rule]
    assert reason(rule, CASE).split()[0] in {
        "was", "is", "has", "got", "keeps", "spoke", "wrote", "read",
    }  # fmt: skip


MENTION_ONLY = under(reply_strategy=ReplyStrategy.MENTION_ONLY)
FULL = structs.replace(CASE, round=structs.replace(ROUND, used=3))


@pytest.mark.req("M-02")
@pytest.mark.parametrize(
    ("rule", "case", "named"),
    [
        (RuleName.STRATEGY, MENTION_ONLY, "reply_strategy is mention_only"),
        (RuleName.STRATEGY, under(reply_strategy=ReplyStrategy.ROUND_ROBIN), "reply_strategy is round_robin"),
        (RuleName.STRATEGY, by(Kind.AGENT), "an agent's message asks only the agents it names"),
        (RuleName.STRATEGY, by(Kind.SYSTEM), "a notice asks nobody"),
        (RuleName.STRATEGY, by(Kind.TOOL), "a tool's result asks nobody"),
        (RuleName.CAP, FULL, "max_agent_turns_per_message is 3"),
        (
            RuleName.CAP,
            structs.replace(FULL, round=structs.replace(ROUND, used=1, cap=1)),
            "this message was limited to 1",
        ),
        (
            RuleName.CAP,
            structs.replace(CASE, round=structs.replace(ROUND, volunteers=3, cap=9)),
            "max_voluntary_responders is 3",
        ),
        (
            RuleName.CAP,
            structs.replace(CASE, round=structs.replace(ROUND, polled=8, cap=9), members=9),
            "max_voluntary_polls is 8",
        ),
        (RuleName.DEPTH, under(max_depth=4), "max_depth is 4"),
        (RuleName.CHAIN, CASE, "chain_turns is 16, chain_depth is 8"),
        (RuleName.COOLDOWN, under(cooldown_seconds=2.5), "cooldown_seconds is 2.5"),
        (RuleName.PAIR_LIMIT, CASE, "pair_per_minute is 10"),
        (RuleName.BUDGET, CASE, "agent_turns_per_hour is 120"),
        (
            RuleName.PAUSED,
            structs.replace(CASE, participant=structs.replace(ARYA, paused=True, removed_at=5.0)),
            "was removed",
        ),
        (RuleName.PAUSED, structs.replace(CASE, participant=structs.replace(ARYA, paused=True)), "is paused"),
    ],
)
def test_the_setting_behind_a_rule_is_named(rule: RuleName, case: Case, named: str) -> None:
    assert named in reason(rule, case)


def test_a_failed_turn_tells_what_went_wrong_and_others_nothing() -> None:
    assert error(structs.replace(TURN, error="RuntimeError: cold")) == "RuntimeError: cold"
    assert error(structs.replace(TURN, rule=RuleName.PAIR_LIMIT)) == REASONS[RuleName.PAIR_LIMIT]
    assert error(structs.replace(TURN, state=TurnState.SAID, error="left over")) == ""
    assert error(None) == ""
    assert failure("RuntimeError: cold") == "failed: RuntimeError: cold"
    assert failure("could not answer: no key") == "could not answer: no key"
