"""Agents that ask each other and wait: a question that would close a ring is refused at once, with the ring."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import TurnFailed, WouldDeadlock
from moot.model.records.wait import WAITS
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import until

pytestmark = pytest.mark.req("M-05")
START = 1_800_000_000.0


def asking(name: str, next_one: str, rings: list[list[str]]) -> Any:
    """Answers with the answer of the next one; at the end of the ring, with what stood in the way."""

    @agent(name)
    async def think(turn: Any) -> str:
        try:
            return f"{name} heard: {(await turn.hub.ask(next_one, 'and you?', timeout=40)).text}"
        except WouldDeadlock as refused:
            rings.append(refused.facts["ring"])
            return f"{name} would wait for itself"

    return think


@pytest.mark.parametrize("size", [2, 3, 5])
async def test_the_question_that_closes_a_ring_is_refused_with_the_ring(tmp_path: Path, size: int) -> None:
    names = [f"a{n}" for n in range(size)]
    rings: list[list[str]] = []
    cast = [asking(name, names[(n + 1) % size], rings) for n, name in enumerate(names)]
    async with Hub.open(tmp_path, agents=cast) as hub:
        answer = await hub.ask("a0", "go", timeout=40)
        last = names[-1]
        assert rings == [[last, *names]]
        assert answer.text.endswith(f"{last} would wait for itself")
        await hub.settled(timeout=40)
        assert await _waiting(hub) == 0


async def test_who_gave_up_waits_no_more_and_may_be_asked(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with Hub.open(tmp_path, clock=clock) as hub:
        for name in ("a", "b"):
            await hub.agents.create(name)
        asking_b = hub.acting_as("a")
        with pytest.raises(Exception, match="did not answer"):
            await _asked_in_vain(asking_b, clock)
        with pytest.raises(Exception, match="did not answer"):
            await _asked_in_vain(hub.acting_as("b"), clock, of="a")


async def _asked_in_vain(hub: Hub, clock: ManualClock, of: str = "b") -> None:
    question = asyncio.ensure_future(hub.ask(of, "are you there?", timeout=5))
    while not question.done():
        await clock.advance(1)
    await question


async def test_questions_by_people_are_no_part_of_a_ring(tmp_path: Path) -> None:
    @agent("calm")
    async def calm(turn: Any) -> str:
        return "here"

    async with Hub.open(tmp_path, agents=[calm]) as hub:
        assert (await hub.ask("calm", "?", timeout=40)).text == "here"
        assert await _waiting(hub) == 0


async def _waiting(hub: Hub) -> int:
    waits = await store_of(hub).records(WAITS.all())
    return sum(wait.blocks(wait.until - 1) for wait in waits)


async def test_who_asked_in_a_conversation_that_is_archived_waits_no_more(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        for name in ("a", "b"):
            await hub.agents.create(name)
        asking_b = asyncio.ensure_future(hub.acting_as("a").ask("b", "are you there?", timeout=1000))
        await until(lambda: _waiting(hub), lambda count: count == 1)
        pair = await hub.acting_as("a").conversations.implicit(["b"])
        await hub.conversations.archive(pair.id)
        assert await _waiting(hub) == 0
        with pytest.raises(TurnFailed):
            await asking_b
