"""A message list as providers accept it; and what tokens cost; and what a status means."""

from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.brains.llm.prices import LONG, PRICES, cost, price
from moot.brains.llm.prompt_lines import (
    BEGINNING,
    NO_RESULT,
    YOUR_TURN,
    arguments_of,
    merge_lines,
    repair_lines,
)
from moot.brains.llm.trouble import MAX_WAIT_SECONDS, TroubleKind, identifiers, kind_of, requested_wait
from moot.model.prompt import Prompt, PromptLine, ToolCall, Usage

CALL = ToolCall("c1", "look", "{}")


def shown(*lines: PromptLine, stable: int = 0) -> list[str]:
    return [place.line.content for place in repair_lines(Prompt("", lines, stable=stable))]


def test_an_empty_list_becomes_one_the_provider_takes() -> None:
    assert shown() == [BEGINNING]
    assert shown(PromptLine("assistant", "mine")) == [BEGINNING, "mine", YOUR_TURN]


def test_results_stand_behind_their_calls_in_the_order_of_the_calls() -> None:
    calls = (CALL, ToolCall("c2", "look", "{}"))
    lines = (
        PromptLine("user", "go"),
        PromptLine("assistant", "", calls=calls),
        PromptLine("user", "meanwhile"),
        PromptLine("user", "two", answers="c2"),
        PromptLine("user", "one", answers="c1"),
    )
    assert shown(*lines) == ["go", "", "one", "two", "meanwhile"]


def test_a_missing_result_is_told_and_a_doubled_or_lost_one_is_text() -> None:
    lines = (
        PromptLine("user", "lost", answers="c0"),
        PromptLine("assistant", "look", calls=(CALL,)),
        PromptLine("assistant", "again", calls=(CALL,)),
        PromptLine("user", "one", answers="c1"),
        PromptLine("user", "twice", answers="c1"),
    )
    found = repair_lines(Prompt("", lines))
    assert [(p.line.content, p.line.answers) for p in found] == [
        ("lost", ""),
        ("look", ""),
        (NO_RESULT, "c1"),
        ("again", ""),
        ("one", "c1"),
        ("twice", ""),
    ]


@pytest.mark.parametrize(("stable", "marked"), [(0, []), (1, ["a"]), (2, ["a"]), (3, ["c"])])
def test_the_mark_is_behind_the_last_stable_line_that_is_shown(stable: int, marked: list[str]) -> None:
    lines = (PromptLine("user", "a"), PromptLine("assistant", " "), PromptLine("user", "c"))
    found = repair_lines(Prompt("", lines, stable=stable))
    assert [place.line.content for place in found if place.marked] == marked


LINES = st.lists(
    st.builds(
        PromptLine,
        role=st.sampled_from(["user", "assistant"]),
        content=st.sampled_from(["", " ", "a", "b"]),
        calls=st.sampled_from([(), (CALL,), (CALL, ToolCall("c2", "look", "}"))]),
        answers=st.sampled_from(["", "c1", "c2", "c9"]),
    ).map(
        lambda line: PromptLine(
            line.role, line.content, line.calls if line.role == "assistant" else (), line.answers
        )
    ),
    max_size=8,
)


@given(LINES, st.integers(0, 9))
def test_whatever_the_list_is_a_provider_takes_it(lines: list[PromptLine], stable: int) -> None:
    found = repair_lines(Prompt("", tuple(lines), stable=stable))
    turns = merge_lines(found)
    roles = [turn.role for turn in turns]
    assert roles[0] == roles[-1] == "user"
    assert all(a != b for a, b in pairwise(roles))
    assert sum(place.marked for place in found) <= 1
    for turn, after in pairwise(turns):
        called = [call.id for place in turn.lines for call in place.line.calls]
        if turn.role == "assistant" and len(turn.lines) == 1:
            assert [p.line.answers for p in after.lines][: len(called)] == called


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [('{"a": 1}', {"a": 1}), ("", {}), ("[1]", {"unreadable": "[1]"}), ("}{", {"unreadable": "}{"})],
)
def test_broken_arguments_are_shown_as_what_they_were(arguments: str, expected: dict[str, Any]) -> None:
    assert arguments_of(ToolCall("c", "look", arguments)) == expected


# --- prices --------------------------------------------------------------------------------------------------


def test_each_kind_of_token_has_its_price() -> None:
    usage = Usage(input_tokens=1_000_000, cached_tokens=500_000, written_tokens=100_000, output_tokens=10_000)
    assert cost(usage, "claude-opus-4-5") == pytest.approx(0.4 * 5 + 0.5 * 0.5 + 0.1 * 6.25 + 0.01 * 25)


def test_a_dated_name_costs_what_its_undated_one_does() -> None:
    assert price("claude-haiku-4-5-20251001") == PRICES["claude-haiku-4-5"]
    assert price("gpt-5-2025-08-07") == PRICES["gpt-5"]


def test_a_long_prompt_may_cost_more() -> None:
    assert price("claude-haiku-5-5", 100_000) == PRICES["claude-haiku-5-5"]
    assert price("claude-haiku-5-5", 100_001) == LONG["claude-haiku-5-5"].price
    assert cost(Usage(input_tokens=300_000), "gpt-6-sol") == pytest.approx(0.3 * 4)


@pytest.mark.parametrize("model", ["llama3", "gpt-5-turbo-made-up", "", "claude"])
def test_an_unknown_model_has_no_price(model: str) -> None:
    assert cost(Usage(input_tokens=10), model) is None


def test_reading_from_the_cache_is_never_dearer_than_reading() -> None:
    assert [name for name, p in PRICES.items() if not 0 < p.cached <= p.input <= p.written <= p.output] == []


# --- what a status means -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {}, TroubleKind.AUTH),
        (403, None, TroubleKind.AUTH),
        (404, {"error": {"code": "model_not_found"}}, TroubleKind.UNKNOWN_MODEL),
        (408, {}, TroubleKind.TIMEOUT),
        (413, {}, TroubleKind.TOO_LONG),
        (429, {}, TroubleKind.RATE_LIMITED),
        (429, {"code": "insufficient_quota"}, TroubleKind.NO_CREDIT),
        (402, {}, TroubleKind.NO_CREDIT),
        (400, {"error": {"message": "prompt is too long: 3 > 2"}}, TroubleKind.TOO_LONG),
        (400, {"code": "context_length_exceeded"}, TroubleKind.TOO_LONG),
        (400, {"error": {"message": "tools: wrong"}}, TroubleKind.BAD_REQUEST),
        (422, "not an object", TroubleKind.BAD_REQUEST),
        (500, {}, TroubleKind.OVERLOADED),
        (529, {}, TroubleKind.OVERLOADED),
        (200, {"error": {"type": "overloaded_error"}}, TroubleKind.OVERLOADED),
        (200, {"error": {"type": "rate_limit_error"}}, TroubleKind.RATE_LIMITED),
        (200, {"message": "something"}, TroubleKind.OVERLOADED),
    ],
)
def test_a_status_has_a_kind(status: int, body: Any, kind: TroubleKind) -> None:
    assert kind_of(status, body) is kind


def test_only_identifiers_of_a_server_are_repeated() -> None:
    body = {"error": {"code": "a_code", "type": "words with spaces", "param": "x" * 200, "message": "secret"}}
    assert identifiers(body) == ("a_code",)
    assert identifiers(["error"]) == identifiers(None) == identifiers({"error": "text"}) == ()


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7.0),
        ({"retry-after": "0.25"}, 0.25),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after": "Wed, 21 Oct 2026 07:28:00 GMT"}, 30.0),
        ({"retry-after": "99999999"}, MAX_WAIT_SECONDS),
        ({"retry-after": "-5"}, 0.0),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({}, None),
    ],
)
def test_retry_after_is_read_in_all_its_forms(headers: dict[str, str], seconds: float | None) -> None:
    assert requested_wait(headers, now=1792567650.0) == seconds
