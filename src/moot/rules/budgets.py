"""What agents may spend: each agent a day, each chain, each conversation, and all agents together a day.

Before a turn begins it sets aside what it will probably cost, so that turns that begin together do not count on the
same money; when it ends, however it ends, that is free again. What it has really cost is known only then, and is
charged then. Where a price is not known, tokens alone count.

Above: flow/reserve.py asks before a turn; flow/finish.py and flow/charge.py charge it. Below: the rows in
model/chain.py.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from msgspec import Struct, structs

from moot.model.chain import SPENDING, Reservation, Spending, SpendingKind, day_of
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.json import JsonObject
from moot.model.limits import Limits
from moot.model.records.record import Lookup
from moot.model.turn import Turn

NOWHERE: Final = ConversationId("")
ROUNDING: Final = 1e-9
"""Sums of prices are compared with this much room."""


class AgentBudget(Struct, frozen=True, gc=False):
    """What one agent may spend on a day; 0 sets no limit."""

    usd: float = 0.0
    tokens: int = 0


NO_BUDGET = AgentBudget()
BudgetsAbove: TypeAlias = Callable[[], Mapping[ParticipantId, AgentBudget]]
"""Of whoever started an agent, and of whoever started that one; as they are set now."""


def nobody_above() -> Mapping[ParticipantId, AgentBudget]:
    return {}


class Account(Struct, frozen=True, gc=False):
    """What a turn is charged to: its agent's day, its chain, its conversation, the day of everybody, and the day of
    those that started its agent."""

    agent: ParticipantId
    root: RootId
    day: int
    above: tuple[ParticipantId, ...] = ()
    conversation: ConversationId = NOWHERE

    @property
    def charged(self) -> tuple[Spending, ...]:
        """The rows that a turn adds to, as they are before anything was spent."""
        where = (Spending(SpendingKind.CONVERSATION, self.conversation),) if self.conversation else ()
        return (
            Spending(SpendingKind.AGENT, self.agent, self.day),
            Spending(SpendingKind.ROOT, self.root),
            Spending(SpendingKind.DAY, "", self.day),
            *where,
            *(Spending(SpendingKind.STARTED, one, self.day) for one in self.above),
        )

    @property
    def looked_at(self) -> tuple[Spending, ...]:
        """All rows that decide whether a turn may begin: what its agent has started and what those above have spent
        themselves counts too, and yesterday tells what a turn costs."""
        return (
            *self.charged,
            Spending(SpendingKind.STARTED, self.agent, self.day),
            *(Spending(SpendingKind.AGENT, one, self.day) for one in self.above),
            Spending(SpendingKind.AGENT, self.agent, self.day - 1),
            Spending(SpendingKind.DAY, "", self.day - 1),
        )


def account(
    agent: ParticipantId,
    root: RootId,
    now: float,
    above: tuple[ParticipantId, ...] = (),
    conversation: ConversationId = NOWHERE,
) -> Account:
    return Account(agent, root, day_of(now), above, conversation)


def account_of(turn: Turn, now: float, above: Iterable[ParticipantId]) -> Account:
    return account(turn.agent, turn.root, now, tuple(above), turn.conversation)


def lookups(rows: tuple[Spending, ...]) -> tuple[Lookup[Spending], ...]:
    return tuple(SPENDING.one(row.kind.value, row.subject, row.day) for row in rows)


def charged(row: Spending, usage: JsonObject, now: float) -> Spending:
    """With what a turn cost."""
    cost = usage.get("cost_usd")
    usd = float(cost) if isinstance(cost, int | float) else 0.0
    tokens = int(usage.get("input_tokens", 0)) + int(usage.get("output_tokens", 0))
    return structs.replace(
        row,
        cost_usd=row.cost_usd + usd,
        tokens=row.tokens + tokens,
        turns=row.turns + 1,
        unpriced=row.unpriced + (cost is None),
        last_usd=usd,
        last_tokens=tokens,
        updated_at=now,
    )


# --- whether a turn may begin ----------------------------------------------------------------------------------


class Estimate(Struct, frozen=True, gc=False):
    """What a turn will probably cost."""

    usd: float
    tokens: int


def estimate(spent: Iterable[Spending]) -> Estimate | None:
    """By the first of these rows that a turn was charged to: as much as its last turn, or as the average one where that
    was more. None where nothing is known yet."""
    row = next((row for row in spent if row.turns), None)
    if row is None:
        return None
    return Estimate(
        max(row.last_usd, row.cost_usd / row.turns), max(row.last_tokens, row.tokens // row.turns)
    )


class Overrun(Struct, frozen=True, gc=False):
    """A budget that does not reach for another turn."""

    kind: SpendingKind
    spent: str
    """Of how much, in words."""
    limit: str
    """How much that is, in words."""
    budget: AgentBudget
    """As it is set, without what was allowed besides."""
    whose: ParticipantId = ParticipantId("")
    """The agent whose budget it is, where it is one's."""
    held_by: tuple[Reservation, ...] = ()
    """Turns under way that have set aside what is missing: once they have ended it may reach after all. Empty where it
    is spent."""


class TurnBudgets(Struct, frozen=True):
    """All that counts for whether one turn may begin."""

    account: Account
    spent: tuple[Spending, ...]
    reserved: tuple[Reservation, ...] = ()
    """By other turns."""
    own: AgentBudget = NO_BUDGET
    above: Mapping[ParticipantId, AgentBudget] = MappingProxyType({})
    conversation: AgentBudget = NO_BUDGET
    limits: Limits = Limits()

    @property
    def estimate(self) -> Estimate | None:
        """By what its agent spent, today or yesterday; for a newcomer by what anybody spent."""
        agent, day = self.account.agent, self.account.day
        order = [(kind, at) for kind in (SpendingKind.AGENT, SpendingKind.DAY) for at in (day, day - 1)]
        by_row = {(row.kind, row.subject, row.day): row for row in self.spent}
        subjects = {SpendingKind.AGENT: agent, SpendingKind.DAY: ""}
        rows = [by_row.get((kind, subjects[kind], at)) for kind, at in order]
        return estimate(row for row in rows if row is not None)

    @property
    def has_limits(self) -> bool:
        return any(budget != NO_BUDGET for _, budget, _ in self.budgets())

    def budgets(self) -> Iterator[tuple[Spending, AgentBudget, tuple[Reservation, ...]]]:
        """Every budget that the turn needs, with what was spent of it and what is set aside of it."""
        limits, where = self.limits, self.account
        for row in self.spent:
            if row.kind is SpendingKind.ROOT:
                chain = AgentBudget(limits.chain_budget_usd, limits.chain_budget_tokens)
                yield row, chain, tuple(one for one in self.reserved if one.root == where.root)
            elif row.kind is SpendingKind.CONVERSATION:
                here = tuple(one for one in self.reserved if one.conversation == where.conversation)
                yield row, self.conversation, here
            elif row.kind is SpendingKind.DAY and row.day == where.day:
                shared = AgentBudget(limits.day_budget_usd, limits.day_budget_tokens)
                yield row, shared, self._today()
        for agent, budget in {where.agent: self.own, **self.above}.items():
            theirs = tuple(one for one in self._today() if agent in (one.agent, *one.above))
            yield self._of_agent(agent), budget, theirs

    def _today(self) -> tuple[Reservation, ...]:
        return tuple(one for one in self.reserved if one.day == self.account.day)

    def _of_agent(self, agent: ParticipantId) -> Spending:
        rows = [row for row in self.spent if row.subject == agent and row.day == self.account.day]
        return together(agent, rows)


def together(agent: str, rows: Iterable[Spending]) -> Spending:
    """What an agent has spent of its budget: what it has started spends from it too."""
    found = Spending(SpendingKind.AGENT, agent)
    for row in rows:
        if row.kind not in (SpendingKind.AGENT, SpendingKind.STARTED):
            continue
        found = structs.replace(
            found,
            day=row.day,
            cost_usd=found.cost_usd + row.cost_usd,
            tokens=found.tokens + row.tokens,
            turns=found.turns + row.turns,
            last_usd=max(found.last_usd, row.last_usd),
            last_tokens=max(found.last_tokens, row.last_tokens),
            raised_usd=found.raised_usd + row.raised_usd,
            raised_tokens=found.raised_tokens + row.raised_tokens,
        )
    return found


def overrun(turn_budgets: TurnBudgets) -> Overrun | None:
    """The first budget that is used up; else the first of which other turns have set aside too much."""
    need = turn_budgets.estimate
    found = [
        stop
        for row, budget, held in turn_budgets.budgets()
        if (stop := _missing(row, budget, need, held)) is not None
    ]
    return next((stop for stop in found if not stop.held_by), next(iter(found), None))


def is_used_up(row: Spending, budget: AgentBudget) -> bool:
    """Whether the next turn would not begin, as far as one row tells."""
    return _missing(row, budget, estimate((row,)), ()) is not None


def _missing(
    row: Spending, budget: AgentBudget, need: Estimate | None, held: tuple[Reservation, ...]
) -> Overrun | None:
    usd, tokens = allowed(row, budget)
    cost = need or Estimate(0.0, 0)
    units = [
        _Unit(usd, row.cost_usd, cost.usd, sum(one.usd for one in held), "${:,.2f}", ""),
        _Unit(tokens, row.tokens, cost.tokens, sum(one.tokens for one in held), "{:,}", " tokens"),
    ]
    units = [unit for unit in units if unit.limit]
    whose = ParticipantId(row.subject if row.kind is SpendingKind.AGENT else "")
    for unit in units:
        if unit.is_spent:
            return Overrun(row.kind, unit.words, unit.limit_words, budget, whose)
    # What a turn of unknown cost leaves for others cannot be told, nor whether the rest reaches for it: it goes alone.
    unknown = bool(held) and (need is None or any(one.alone for one in held))
    for unit in units:
        if unknown or unit.is_set_aside:
            return Overrun(row.kind, unit.words, unit.limit_words, budget, whose, held)
    return None


class _Unit(Struct, frozen=True, gc=False):
    """A budget in money, or in tokens."""

    limit: float
    spent: float
    cost: float
    """Of the turn that is to begin, probably."""
    held: float
    shape: str
    suffix: str

    @property
    def is_spent(self) -> bool:
        return self.spent >= self.limit or self.spent + self.cost > self.limit + ROUNDING

    @property
    def is_set_aside(self) -> bool:
        return self.spent + self.held + self.cost > self.limit + ROUNDING

    @property
    def limit_words(self) -> str:
        return self.shape.format(self.limit) + self.suffix

    @property
    def words(self) -> str:
        return f"{self.shape.format(self.spent)} of {self.limit_words}"


def allowed(row: Spending, budget: AgentBudget) -> tuple[float, int]:
    """A budget with what a person has allowed besides; 0 is no limit."""
    usd = budget.usd + row.raised_usd if budget.usd else 0.0
    tokens = budget.tokens + row.raised_tokens if budget.tokens else 0
    return usd, tokens


def raised(row: Spending, budget: AgentBudget, now: float) -> Spending:
    """A person has allowed as much again."""
    return structs.replace(
        row,
        raised_usd=row.raised_usd + budget.usd,
        raised_tokens=row.raised_tokens + budget.tokens,
        updated_at=now,
    )
