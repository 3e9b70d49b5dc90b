"""What agents spend is added up, across restarts and interrupts, and budgets stop the next turn."""

from typing import Any

import pytest

from moot import Hub
from moot.model.chain import SPENDING, Spending, SpendingKind
from moot.model.ids import ParticipantId, RootId
from moot.model.limits import Limits
from moot.rules.budgets import AgentBudget, TurnBudgets, account, charged, overrun
from tests.coding.test_interjection import direct, doing
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE, until


async def spent(hub: Hub, kind: str, subject: str) -> list[Spending]:
    found = await hub._core.parts.store.records(SPENDING.where(subject=subject))
    return [row for row in found if row.kind == kind]


@pytest.mark.req("M-04")
async def test_11_what_a_cli_says_it_has_cost_is_charged_once_across_restarts(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.ask("arya", "! say one", timeout=PATIENCE)
        await hub.ask("arya", "! say two", timeout=PATIENCE)
    async with workshop.hub() as hub:
        await hub.ask("arya", "! say three", timeout=PATIENCE)
        [row] = await spent(hub, "agent", "arya")
        [day] = await spent(hub, "day", "")
        turn = (await hub.turns(agent="arya"))[-1]
    assert row.turns == 3
    assert row.cost_usd == pytest.approx(0.03), (
        "the CLI counts from the session's beginning: its last word is 0.03"
    )
    assert day.cost_usd == pytest.approx(0.03)
    assert turn.usage is not None
    assert turn.usage["cost_usd"] == pytest.approx(0.01)


@pytest.mark.req("M-04")
async def test_11_an_interrupted_turn_is_charged(workshop: Workshop) -> None:
    workshop.agent("arya", "claude")
    async with workshop.hub() as hub:
        await hub.send("arya", workshop.streaming)
        await until(lambda: doing(hub, "arya"), lambda state: state == "streaming")
        where = await direct(hub, "arya")
        await hub.agents.interrupt("arya")
        await hub.settled(where, timeout=PATIENCE)

        async def rows() -> list[Spending]:
            return await spent(hub, "agent", "arya")

        [row] = await until(rows, lambda found: len(found) == 1)
    assert row.tokens >= 1000
    assert row.cost_usd > 0


@pytest.mark.req("M-04")
@pytest.mark.parametrize(
    ("settings", "head", "whose"),
    [
        ({"budget_usd": 0.015}, "", "its budget for today"),
        ({"budget_tokens": 1500}, "", "its budget for today"),
        ({}, "[limits]\nday_budget_usd = 0.015", "everybody's budget for today"),
    ],
)
async def test_11_the_budget_stops_the_next_turn_and_says_so(
    workshop: Workshop, settings: dict[str, Any], head: str, whose: str
) -> None:
    workshop.head = head
    workshop.agent("arya", "claude", **settings)
    async with workshop.hub() as hub:
        assert (await hub.ask("arya", "! say one", timeout=PATIENCE)).text == "one"
        await hub.send("arya", "! say two")
        where = await direct(hub, "arya")
        await hub.settled(where, timeout=PATIENCE)
        said = await hub.messages(where)
        [row] = await spent(hub, "agent", "arya")
        turn = (await hub.turns(agent="arya"))[-1]
    assert said[-1].sender == "system"
    assert said[-1].text.startswith(f"[stopped: arya has used up {whose}")
    assert said[-1].metadata["rule"] == "budget"
    assert turn.rule == "budget"
    assert row.turns == 1, "nothing was spent"


def test_a_price_that_is_not_known_counts_in_tokens_alone() -> None:
    where = account(ParticipantId("arya"), RootId("c1:1"), 86_400.0)
    row = charged(where.charged[0], {"input_tokens": 10, "output_tokens": 5}, 1.0)
    assert (row.tokens, row.cost_usd, row.unpriced) == (15, 0.0, 1)
    assert overrun(TurnBudgets(where, (row,), own=AgentBudget(usd=0.01))) is None
    stop = overrun(TurnBudgets(where, (row,), own=AgentBudget(tokens=20)))
    assert stop is not None
    assert (stop.kind, stop.spent) == (SpendingKind.AGENT, "15 of 20 tokens")


def test_a_chain_has_a_budget_of_its_own() -> None:
    where = account(ParticipantId("arya"), RootId("c1:1"), 86_400.0)
    rows = tuple(charged(row, {"input_tokens": 5, "cost_usd": 0.6}, 1.0) for row in where.charged)
    stop = overrun(TurnBudgets(where, rows, limits=Limits(chain_budget_usd=1.0)))
    assert stop is not None
    assert stop.kind is SpendingKind.ROOT
    assert overrun(TurnBudgets(where, rows, limits=Limits(chain_budget_usd=1.2))) is None
