"""Which of the people present a question suits."""

import pytest

from moot.brains.demo_roles import ANY, TRADES, best, fit, next_after, trade_of


@pytest.mark.parametrize(
    ("role", "name", "trade"),
    [
        ("analyst", "", "analyst"),
        ("reviewer, short answers", "gendry", "critic"),
        ("backend engineer, knows payments", "arya", "engineer"),
        ("", "writer", "writer"),
        ("reads tea leaves", "medium", ""),
        ("", "", ""),
    ],
)
def test_a_trade_is_known_by_the_role_and_else_by_the_name(role: str, name: str, trade: str) -> None:
    assert trade_of(role, name).name == trade


def test_a_question_suits_the_trade_whose_words_it_has() -> None:
    team = {"a": "analyst", "w": "writer", "c": "critic"}
    assert best("is anything wrong or missing in the headline?", team) == "c"
    assert best("a HEADLINE!", team) == "w"
    assert best("good morning", team) is None
    assert best("a headline", {}) is None


def test_being_called_says_nothing_about_what_the_question_is_about() -> None:
    assert fit("good morning @writer", "writer") == 0
    assert fit("good morning, writer", "writer") == 1


def test_any_role_is_found_by_its_own_words() -> None:
    assert best("who reads tea leaves?", {"a": "analyst", "medium": "reads tea leaves"}) == "medium"


def test_the_next_trade_takes_over_wherever_it_sits() -> None:
    analyst = trade_of("analyst")
    assert next_after(analyst, {"c": "critic", "w": "writer"}) == "w"
    assert next_after(analyst, {"c": "critic"}) is None
    assert next_after(ANY, {"a": "", "b": ""}) is None


def test_every_trade_is_known_by_its_name_and_hands_on_to_one_there_is() -> None:
    names = {trade.name for trade in TRADES}
    assert {trade_of(name).name for name in names} == names
    assert {trade.then for trade in TRADES} <= names | {""}


def test_no_trade_claims_to_have_done_what_a_script_cannot() -> None:
    """It speaks of what it would do; it never read, searched, ran or found anything."""
    for trade in (*TRADES, ANY):
        told = " ".join((trade.request, *trade.would, *trade.adds)).lower().split()
        assert not {"read", "searched", "ran", "found", "checked", "looked", "opened"} & set(told)
