"""Which budget lets a turn begin, makes it wait, or stops it: SPEC M-04."""

from typing import Any

import pytest
from msgspec import structs

from moot.model.chain import Reservation, Spending, SpendingKind
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.limits import Limits
from moot.rules import budgets
from moot.rules.budgets import Account, AgentBudget, TurnBudgets

pytestmark = pytest.mark.req("M-04")

ARYA, LEAD = ParticipantId("arya"), ParticipantId("lead")
ROOT, HERE, DAY = RootId("c1:1"), ConversationId("c1"), 20_000
ACCOUNT = Account(ARYA, ROOT, DAY, conversation=HERE)
CENT = {"cost_usd": 0.01, "input_tokens": 900, "output_tokens": 100}


def spent(times: int, account: Account = ACCOUNT) -> tuple[Spending, ...]:
    """Turns of one cent each."""
    charged = {(row.kind, row.subject, row.day) for row in account.charged}
    rows = list(account.looked_at)
    for number, row in enumerate(rows):
        for _ in range(times if (row.kind, row.subject, row.day) in charged else 0):
            rows[number] = budgets.charged(rows[number], CENT, 1.0)
    return tuple(rows)


def probably(*rows: Spending) -> tuple[float, int]:
    found = budgets.estimate(rows)
    assert found is not None
    return round(found.usd, 4), found.tokens


def held(number: int, **fields: object) -> Reservation:
    usual = Reservation(TurnId(number), HERE, ARYA, ROOT, DAY, usd=0.01, tokens=1000, until=1e12)
    return structs.replace(usual, **fields)


def turn_budgets(
    times: int, *reserved: Reservation, usd: float = 0.0, tokens: int = 0, **fields: Any
) -> TurnBudgets:
    found = TurnBudgets(ACCOUNT, spent(times), tuple(reserved), AgentBudget(usd, tokens))
    return structs.replace(found, **fields)


def test_without_a_budget_nothing_stops_a_turn() -> None:
    assert budgets.overrun(turn_budgets(1000, held(1), held(2))) is None
    assert not turn_budgets(1).has_limits
    assert turn_budgets(1, usd=1.0).has_limits


@pytest.mark.parametrize(
    ("times", "running", "outcome"),
    [
        (1, 0, "begins"),
        (1, 1, "begins"),
        (1, 2, "waits"),
        (2, 0, "begins"),
        (2, 1, "waits"),
        (3, 0, "stops"),
        (3, 2, "stops"),
        (0, 0, "begins"),
        (0, 1, "waits"),
    ],
)
@pytest.mark.parametrize("budget", [{"usd": 0.03}, {"tokens": 3000}])
def test_of_a_budget_for_three_turns_what_others_set_aside_is_waited_for(
    times: int, running: int, outcome: str, budget: dict[str, Any]
) -> None:
    stop = budgets.overrun(turn_budgets(times, *(held(number) for number in range(running)), **budget))
    assert ("begins" if stop is None else "waits" if stop.held_by else "stops") == outcome


def test_a_turn_of_unknown_cost_goes_alone() -> None:
    rich: dict[str, Any] = {"usd": 100.0}
    assert budgets.overrun(turn_budgets(0, **rich)) is None
    beside = budgets.overrun(turn_budgets(0, held(1), **rich))
    behind = budgets.overrun(turn_budgets(1, held(1, alone=True, usd=0.0, tokens=0), **rich))
    assert beside is not None
    assert beside.held_by
    assert behind is not None
    assert behind.held_by


def test_a_turn_probably_costs_as_much_as_the_last_or_the_average_one() -> None:
    rows = [Spending(SpendingKind.AGENT, ARYA, DAY), *spent(2)]
    assert probably(*rows) == (0.01, 1000)
    dear = budgets.charged(spent(1)[0], {"cost_usd": 0.09}, 2.0)
    assert probably(dear) == (0.09, 500)
    assert probably(budgets.charged(dear, {}, 3.0)) == (0.0333, 333)
    assert budgets.estimate([Spending(SpendingKind.DAY, "", DAY)]) is None


def test_what_a_newcomer_costs_is_known_from_others_and_from_yesterday() -> None:
    fresh = TurnBudgets(ACCOUNT, ACCOUNT.looked_at)
    assert fresh.estimate is None
    yesterday = [row if row.day != DAY - 1 else budgets.charged(row, CENT, 1.0) for row in ACCOUNT.looked_at]
    assert structs.replace(fresh, spent=tuple(yesterday)).estimate is not None
    others = [
        row if row.kind is not SpendingKind.DAY else budgets.charged(row, CENT, 1.0) for row in fresh.spent
    ]
    assert structs.replace(fresh, spent=tuple(others)).estimate is not None


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        (SpendingKind.AGENT, {"own": AgentBudget(usd=0.02)}),
        (SpendingKind.ROOT, {"limits": Limits(chain_budget_usd=0.02)}),
        (SpendingKind.CONVERSATION, {"conversation": AgentBudget(usd=0.02)}),
        (SpendingKind.DAY, {"limits": Limits(day_budget_usd=0.02)}),
    ],
)
def test_each_budget_counts_what_was_set_aside_of_it_and_nothing_else(
    kind: SpendingKind, fields: dict[str, Any]
) -> None:
    other = {
        SpendingKind.AGENT: held(1, agent=ParticipantId("bran")),
        SpendingKind.ROOT: held(1, root=RootId("c9:9")),
        SpendingKind.CONVERSATION: held(1, conversation=ConversationId("c9")),
        SpendingKind.DAY: held(1, day=DAY - 1),
    }[kind]
    assert budgets.overrun(turn_budgets(1, other, **fields)) is None
    stop = budgets.overrun(turn_budgets(1, held(1), **fields))
    assert stop is not None
    assert stop.kind is kind
    assert stop.held_by == (held(1),)
    spent_out = budgets.overrun(turn_budgets(2, **fields))
    assert spent_out is not None
    assert (spent_out.kind, spent_out.held_by) == (kind, ())


def test_what_the_started_ones_set_aside_counts_for_whoever_started_them() -> None:
    account = Account(ARYA, ROOT, DAY, above=(LEAD,))
    both = TurnBudgets(account, spent(1, account), above={LEAD: AgentBudget(usd=0.03)})
    assert budgets.overrun(both) is None
    sister = held(1, agent=ParticipantId("bran"), above=(LEAD,))
    own = held(2, agent=LEAD)
    stop = budgets.overrun(structs.replace(both, reserved=(sister, own)))
    assert stop is not None
    assert (stop.whose, len(stop.held_by)) == (LEAD, 2)


def test_what_is_spent_for_good_is_said_before_what_is_only_set_aside() -> None:
    stop = budgets.overrun(
        turn_budgets(2, held(1), limits=Limits(chain_budget_usd=0.03), own=AgentBudget(usd=0.02))
    )
    assert stop is not None
    assert (stop.kind, stop.held_by) == (SpendingKind.AGENT, ())


def test_a_person_who_allows_as_much_again_raises_one_budget() -> None:
    budget = AgentBudget(usd=0.02)
    row = spent(2)[0]
    assert budgets.is_used_up(row, budget)
    more = budgets.raised(row, budget, 2.0)
    assert budgets.allowed(more, budget) == (0.04, 0)
    assert not budgets.is_used_up(more, budget)
    assert budgets.allowed(more, AgentBudget()) == (0.0, 0), "no budget stays none"
