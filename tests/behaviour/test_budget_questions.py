"""The question for more of a budget, when the process dies in the middle: it is put once, and a yes counts once."""

import asyncio
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.brains.code import AgentSpec
from moot.model.prompt import Usage
from moot.rules.budgets import AgentBudget
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("M-04")

CENT = Usage(input_tokens=900, output_tokens=100, cost_usd=0.01, calls=1)
KILLED = 9


async def think(turn: Any) -> str:
    turn.spend(CENT)
    return "an answer"


def arya() -> AgentSpec:
    return AgentSpec("arya", think, budget=AgentBudget(usd=0.01))


async def spend_all(home: Path) -> None:
    """One turn that is paid, and one that is not."""
    async with Hub.open(home, agents=[arya()]) as hub:
        await hub.ask("arya", "what does a turn cost?", timeout=PATIENCE)
        await hub.send("arya", "and another")
        await hub.settled(timeout=PATIENCE)


async def go_on(home: Path) -> None:
    async with Hub.open(home, agents=[arya()]) as hub:
        await hub.settled(timeout=PATIENCE)


def dies(home: Path, act: str, verb: str, condition: str) -> int:
    """Another process does something, and ends at once when it is about to decide a verb. Its exit code."""
    script = (
        "import asyncio, os, sys\n"
        "from pathlib import Path\n"
        f"from moot.flow import {verb} as verb\n"
        f"from tests.behaviour.test_budget_questions import {act}\n"
        "scope = verb.scope\n"
        f"verb.scope = lambda command: os._exit({KILLED}) if ({condition}) else scope(command)\n"
        f"asyncio.run({act}(Path(sys.argv[1])))\n"
    )
    return subprocess.run([sys.executable, "-c", script, str(home)], timeout=PATIENCE, check=False).returncode


async def questions(hub: Hub) -> list[Any]:
    return await hub.decisions.list(state="open")


async def answers(hub: Hub) -> list[str]:
    [pair] = [one.id for one in await hub.conversations.list() if len(one.participants) == 2]
    return [one.text for one in await hub.messages(pair) if one.sender == "arya" and one.intent != "ask"]


@pytest.mark.parametrize(
    ("verb", "condition", "code"),
    [("reserve", "command.when_used_up == 'stop'", KILLED), ("give_up", "True", 0)],
)
async def test_a_question_that_was_put_before_a_kill_can_be_answered(
    tmp_path: Path, verb: str, condition: str, code: int
) -> None:
    """That it stays open is part of the question: it was a verb of its own once, and a kill could come between."""
    home = tmp_path / "moot"
    assert await asyncio.to_thread(dies, home, "spend_all", verb, condition) in (code, KILLED)
    async with Hub.open(home, agents=[arya()]) as hub:
        [question] = await until(lambda: questions(hub), bool)
        await hub.settled(timeout=PATIENCE)
        assert len(await questions(hub)) == 1, "it is put once"
        await hub.decisions.answer(question.id, "as much again")
        await until(lambda: answers(hub), lambda said: len(said) == 2)


async def test_a_yes_is_not_lost_when_the_process_dies_before_it_counts(tmp_path: Path) -> None:
    home = tmp_path / "moot"
    await spend_all(home)
    async with Hub.open(home, agents=[]) as hub:
        [question] = await questions(hub)
        await hub.decisions.answer(question.id, "as much again")
    raised = "command.when_used_up == 'raise'"
    assert await asyncio.to_thread(dies, home, "go_on", "reserve", raised) == KILLED
    async with Hub.open(home, agents=[arya()]) as hub:
        await until(lambda: answers(hub), lambda said: len(said) == 2)
        await hub.send("arya", "and a third")
        await hub.settled(timeout=PATIENCE)
        assert len(await answers(hub)) == 2, "it counts once"
        assert len(await questions(hub)) == 1
