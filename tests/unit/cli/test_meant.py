"""A name of the other kind: when the same command can be given with it, and when it would say something else."""

import pytest

from moot.cli.frame.errors import fixes
from moot.errors import NotFound


def fixed(words: str, ref: str) -> str:
    """The first fix for a command in which nothing of the kind asked for is called `ref`, and something else is."""
    error = NotFound("there is none", fix=("moot otherwise",), ref=ref, other=ref)
    return fixes(error, words.split())[0].removeprefix("moot ")


@pytest.mark.parametrize(
    ("typed", "fix"),
    [
        ("send ops hello", "send --conv ops hello"),
        ("send @ops hello", "send --conv ops hello"),
        ("send -m hello ops", "send -m hello --conv ops"),
        ("--json send ops hello", "--json send --conv ops hello"),
        ("chat ops", "chat --conv ops"),
        ("chat ops arya", "otherwise"),
        ("chat ops -m hi", "otherwise"),
        ("chat arya ops", "otherwise"),
        ("send -m ops ops", "otherwise"),
        ("agents show ops", "otherwise"),
    ],
)
def test_a_conversation_in_place_of_an_agent(typed: str, fix: str) -> None:
    assert fixed(typed, "ops") == fix


@pytest.mark.parametrize(
    ("typed", "fix"),
    [
        ("send --conv arya hello", "send arya hello"),
        ("send --conv #arya hello", "send arya hello"),
        ("chat --conv arya", "chat arya"),
        ("chat --conv arya hello", "otherwise"),
        ("send hello --conv arya", "otherwise"),
        ("send -m arya --conv arya", "otherwise"),
        ("conv show arya", "otherwise"),
    ],
)
def test_an_agent_in_place_of_a_conversation(typed: str, fix: str) -> None:
    assert fixed(typed, "arya") == fix


def test_a_command_that_is_called_like_what_is_missing_stays_what_it_is() -> None:
    assert fixed("chat chat", "chat") == "otherwise"
