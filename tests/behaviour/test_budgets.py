"""Turns that begin together share a budget, and what they set aside is free again however they end: SPEC M-04."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.brains.code import AgentSpec
from moot.model.chain import RESERVATIONS, SPENDING, Reservation
from moot.model.prompt import Usage
from moot.rules.budgets import AgentBudget
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("M-04")

CENT = Usage(input_tokens=900, output_tokens=100, cost_usd=0.01, calls=1)
RICH = AgentBudget(usd=100.0)


class Thinker:
    """Costs a cent a turn, and counts how many of its turns run at the same time."""

    def __init__(self) -> None:
        self.running = self.most = self.begun = 0
        self.go = asyncio.Event()

    async def think(self, turn: Any) -> str:
        self.begun += 1
        self.running += 1
        self.most = max(self.most, self.running)
        try:
            await self.go.wait()
            turn.spend(CENT)
            if "break" in turn.text:
                raise RuntimeError("broken")
            return f"answer in {turn.conversation.name}"
        finally:
            self.running -= 1

    def spec(self, name: str = "arya", **options: Any) -> AgentSpec:
        return AgentSpec(name, self.think, **{"budget": RICH, "concurrency": 20, **options})


async def set_aside(hub: Hub) -> list[Reservation]:
    return await hub._core.parts.store.records(RESERVATIONS.all())


async def rooms(hub: Hub, number: int) -> list[str]:
    quick = {"cooldown_seconds": 0.0}
    return [
        (await hub.conversations.create(f"room{n}", participants=["arya"], settings=quick)).id
        for n in range(number)
    ]


async def cost(hub: Hub) -> float:
    rows = await hub._core.parts.store.records(SPENDING.where(subject="arya"))
    return sum(row.cost_usd for row in rows if row.kind == "agent")


@pytest.mark.parametrize("known", [False, True], ids=["first", "later"])
async def test_of_twenty_turns_that_begin_at_once_a_budget_for_three_lets_three_begin(
    tmp_path: Path, known: bool
) -> None:
    thinker = Thinker()
    before = 1 if known else 0
    spec = thinker.spec(budget=AgentBudget(usd=0.01 * (3 + before)))
    async with Hub.open(tmp_path / "moot", agents=[spec]) as hub:
        places = await rooms(hub, 20 + before)
        if known:
            thinker.go.set()
            await hub.post(places[-1], "@arya what does a turn cost?")
            await hub.settled(timeout=PATIENCE)
            thinker.go.clear()
        for place in places[:20]:
            await hub.post(place, "@arya go")
        await until(lambda: set_aside(hub), lambda held: len(held) == (3 if known else 1), PATIENCE)
        await until(lambda: asyncio.sleep(0, thinker.running), lambda some: some == (3 if known else 1))
        label = (await hub.agents.get("arya")).activity["label"]
        thinker.go.set()
        await hub.settled(timeout=PATIENCE)
        turns = await hub.turns(agent="arya")
        assert await cost(hub) == pytest.approx(0.01 * (3 + before))
        assert await set_aside(hub) == []
        notices = [
            one.text for place in places for one in await hub.messages(place) if one.sender == "system"
        ]
    assert thinker.begun == 3 + before
    assert thinker.most <= 3
    assert sorted(turn.state for turn in turns) == ["failed"] * 17 + ["said"] * (3 + before)
    assert {turn.rule for turn in turns if turn.state == "failed"} == {"budget"}
    assert len(notices) == 17
    assert all(text.startswith("[stopped: arya has used up its budget for today") for text in notices)
    assert "waiting for its budget for today" in label or "thinking" in label


Ending = Callable[[Hub, Thinker, str], Awaitable[object]]


async def answers(hub: Hub, thinker: Thinker, where: str) -> None:
    thinker.go.set()


async def is_interrupted(hub: Hub, thinker: Thinker, where: str) -> None:
    await hub.agents.interrupt("arya")


async def leaves(hub: Hub, thinker: Thinker, where: str) -> None:
    await hub.conversations.leave(where, "arya")


async def is_archived(hub: Hub, thinker: Thinker, where: str) -> None:
    await hub.conversations.archive(where)


async def is_erased(hub: Hub, thinker: Thinker, where: str) -> None:
    await hub.conversations.delete(where)


async def is_removed(hub: Hub, thinker: Thinker, where: str) -> None:
    """What it is saying it may still finish."""
    await hub.agents.remove("arya")
    thinker.go.set()


@pytest.mark.parametrize("ending", [answers, is_interrupted, leaves, is_archived, is_erased, is_removed])
@pytest.mark.parametrize("text", ["@arya go", "@arya break"])
async def test_what_was_set_aside_is_free_again_however_a_turn_ends(
    tmp_path: Path, ending: Ending, text: str
) -> None:
    thinker = Thinker()
    async with Hub.open(tmp_path / "moot", agents=[thinker.spec()]) as hub:
        [where] = await rooms(hub, 1)
        await hub.post(where, text)
        [held] = await until(lambda: set_aside(hub), bool, PATIENCE)
        assert (held.agent, held.conversation, held.alone) == ("arya", where, True)
        await ending(hub, thinker, where)
        await until(lambda: set_aside(hub), lambda left: not left, PATIENCE)


async def test_a_host_that_stops_gives_the_turn_back_and_what_it_had_set_aside(tmp_path: Path) -> None:
    thinker = Thinker()
    async with Hub.open(tmp_path / "moot", agents=[thinker.spec()]) as hub:
        [where] = await rooms(hub, 1)
        await hub.post(where, "@arya go")
        await until(lambda: set_aside(hub), bool, PATIENCE)
    async with Hub.open(tmp_path / "moot", agents=[]) as hub:
        assert await set_aside(hub) == []
        assert [turn.state for turn in await hub.turns(agent="arya")] in (["ready"], ["owed"])


async def test_an_agent_that_is_asked_by_who_holds_its_money_does_not_wait_for_it(tmp_path: Path) -> None:
    """Two agents of one chain: the first waits for the second, which would wait for the first."""
    answers: list[str] = []

    async def manager(turn: Any) -> str:
        turn.spend(CENT)
        if "first" in turn.text:
            return "a turn costs a cent"
        try:
            answers.append((await turn.hub.ask("bran", "and you?", timeout=PATIENCE)).text)
        except Exception as trouble:
            answers.append(str(trouble))
        return "done"

    async def worker(turn: Any) -> str:
        turn.spend(CENT)
        return "mine"

    specs = [
        AgentSpec("arya", manager, budget=AgentBudget()),
        AgentSpec("bran", worker, budget=AgentBudget()),
    ]
    (tmp_path / "moot").mkdir(mode=0o700)
    (tmp_path / "moot" / "moot.toml").write_text("[limits]\nday_budget_usd = 0.029\n")
    async with Hub.open(tmp_path / "moot", agents=specs) as hub:
        await hub.ask("arya", "first", timeout=PATIENCE)
        assert (await hub.ask("arya", "second", timeout=PATIENCE)).text == "done"
    assert "budget" in answers[0]


async def test_a_conversation_has_a_budget_of_its_own(tmp_path: Path) -> None:
    thinker = Thinker()
    thinker.go.set()
    async with Hub.open(tmp_path / "moot", agents=[thinker.spec(budget=AgentBudget())]) as hub:
        here, there = await rooms(hub, 2)
        await hub.conversations.configure(here, budget_usd=0.02)
        for _ in range(3):
            await hub.post(here, "@arya go")
            await hub.settled(timeout=PATIENCE)
        await hub.post(there, "@arya go")
        await hub.settled(timeout=PATIENCE)
        said = [one.text for one in await hub.messages(here) if one.sender != "user"]
        elsewhere = [one.text for one in await hub.messages(there) if one.sender != "user"]
        report = await hub.limits(conversation=here)
    assert said[:2] == ["answer in room0"] * 2
    assert said[2].startswith("[stopped: arya has used up the budget of this conversation: $0.02 of $0.02")
    assert elsewhere == ["answer in room1"]
    assert [(one.conversation, one.cost_usd, one.is_used_up) for one in report.budgets] == [
        ("room0", 0.02, True)
    ]


async def test_at_the_edge_the_owner_is_asked_once_and_a_yes_is_as_much_again(tmp_path: Path) -> None:
    thinker = Thinker()
    thinker.go.set()

    async def questions() -> list[Any]:
        return await hub.decisions.list(state="open")

    async with Hub.open(tmp_path / "moot", agents=[thinker.spec(budget=AgentBudget(usd=0.01))]) as hub:
        [where] = await rooms(hub, 1)
        for _ in range(3):
            await hub.post(where, "@arya go")
            await hub.settled(timeout=PATIENCE)
        [asked] = await questions()
        assert asked.question.startswith("arya has used up its budget for today")
        assert "$0.01" in asked.question
        assert thinker.begun == 1
        await hub.decisions.answer(asked.id, "as much again")
        await hub.settled(timeout=PATIENCE)
        assert thinker.begun == 2, "the answer calls it again"
        await hub.post(where, "@arya go")
        await hub.settled(timeout=PATIENCE)
        [again] = await questions()
        assert "$0.02" in again.question
        await hub.decisions.answer(again.id, "no")
        await hub.settled(timeout=PATIENCE)
        await hub.post(where, "@arya go")
        await hub.settled(timeout=PATIENCE)
        assert await questions() == [], "a no is not asked for again"
        assert thinker.begun == 2
        assert await cost(hub) == pytest.approx(0.02)
