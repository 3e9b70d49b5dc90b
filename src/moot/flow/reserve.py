"""Reserve: set aside what a claimed turn will probably cost, so that it may begin. Where a budget is used up, the turn
ends unspoken, by rule.

Above: the host, before an agent thinks whose thinking costs money. Below: rules/budgets.py says what is left. A
reservation goes with its turn, in whatever way that ends (rules/floor/seats.py). What stopped a turn is said in the
conversation and told as every brake is.
"""

from collections.abc import Mapping
from enum import StrEnum

from msgspec import Struct, structs

from moot.flow import charge, use_decision
from moot.flow.steps import acts, find, obligations
from moot.model.chain import RESERVATIONS, SPENDING, Reservation, SpendingKind
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint, to_data
from moot.model.ids import ParticipantId, TurnId
from moot.model.moment import Moment
from moot.model.records.decision import DECISIONS, DecisionId, DecisionState, PersonsDecision
from moot.model.turn import RuleName, Turn, TurnState
from moot.ports import Scope
from moot.rules import budgets
from moot.rules.budgets import Account, AgentBudget, Overrun, TurnBudgets
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Notice, Room

SETTINGS = {
    SpendingKind.AGENT: "budget_usd or budget_tokens of {agent}",
    SpendingKind.ROOT: "chain_budget_usd or chain_budget_tokens",
    SpendingKind.CONVERSATION: "budget_usd or budget_tokens of this conversation",
    SpendingKind.DAY: "day_budget_usd or day_budget_tokens",
}
WHOSE = {
    SpendingKind.AGENT: "its budget for today",
    SpendingKind.ROOT: "the budget of this chain",
    SpendingKind.CONVERSATION: "the budget of this conversation",
    SpendingKind.DAY: "everybody's budget for today",
}


class WhenUsedUp(StrEnum):
    """What becomes of a turn for which a budget does not reach."""

    ANSWER = "answer"
    """Nothing: the caller hears which budget it is, and may ask a person."""
    RAISE = "raise"
    """A person has allowed as much again, by the decision that `allowed` names."""
    STOP = "stop"
    """It ends, and the conversation is told."""


class Reserve(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    account: Account
    own: AgentBudget = AgentBudget()
    above: Mapping[ParticipantId, AgentBudget] = {}
    """Of those that started its agent."""
    when_used_up: WhenUsedUp = WhenUsedUp.STOP
    allowed: DecisionId | None = None
    """Used with the raise, in one decision: neither is lost without the other."""


class Reserved(Struct, frozen=True, gc=False):
    """Whether a turn may begin."""

    overrun: Overrun | None = None
    """The budget that does not reach; None where it may begin."""
    words: str = ""
    """Whose budget that is."""

    @property
    def may_begin(self) -> bool:
        return self.overrun is None

    @property
    def is_stopped(self) -> bool:
        """No budget reaches, whatever the others do."""
        return self.overrun is not None and not self.waits

    @property
    def waits(self) -> bool:
        """Other turns have set aside what it needs: it may begin when one of them has ended."""
        return self.overrun is not None and bool(self.overrun.held_by)


def scope(command: Reserve) -> Scope:
    rows = budgets.lookups(command.account.looked_at)
    allowed = () if command.allowed is None else (acts.HEAD, DECISIONS.one(command.allowed))
    return Scope(turns=(command.turn,), records=(RESERVATIONS.all(), *rows, *allowed))


def decide(command: Reserve, seen: Seen, at: Moment) -> Decision[Reserved]:
    turn = find.running(seen, command.turn, command.fence)
    if turn.reserved:
        return Decision([], Reserved())
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, turn.conversation))
    turn_budgets = _turn_budgets(room, command)
    overrun = budgets.overrun(turn_budgets)
    allowed = _allowed(command, seen, turn)
    if overrun is not None and not overrun.held_by and allowed is not None:
        use_decision.mark(draft, allowed)
        _raise(draft, command.account, overrun)
        turn_budgets = _turn_budgets(room, command)
        overrun = budgets.overrun(turn_budgets)
    if overrun is None:
        if turn_budgets.has_limits:
            _set_aside(room, turn, turn_budgets)
        return Decision(draft.changes(), Reserved())
    if overrun.held_by and _is_waited_for(turn, overrun, at.now):
        overrun = structs.replace(overrun, held_by=())
    answer = Reserved(overrun, _whose(room, turn, overrun))
    if answer.waits or command.when_used_up is not WhenUsedUp.STOP:
        return Decision(draft.changes(), answer)
    _stop(room, turn, overrun)
    return Decision(draft.changes(), answer)


def _allowed(command: Reserve, seen: Seen, turn: Turn) -> PersonsDecision | None:
    """What a person has allowed the agent, if it was not used yet."""
    if command.when_used_up is not WhenUsedUp.RAISE or command.allowed is None:
        return None
    decision = seen.record(DECISIONS, command.allowed)
    is_fit = decision is not None and decision.by == turn.agent and decision.state is DecisionState.ANSWERED
    return decision if is_fit else None


def _turn_budgets(room: Room, command: Reserve) -> TurnBudgets:
    draft, where = room.draft, command.account
    others = [
        one
        for one in draft.records(RESERVATIONS.all())
        if one.turn != command.turn and one.until > draft.at.now
    ]
    return TurnBudgets(
        account=where,
        spent=charge.so_far(draft, where.looked_at),
        reserved=tuple(others),
        own=command.own,
        above=command.above,
        conversation=AgentBudget(room.settings.budget_usd, room.settings.budget_tokens),
        limits=draft.at.terms.limits,
    )


def _set_aside(room: Room, turn: Turn, turn_budgets: TurnBudgets) -> None:
    need, draft, where = turn_budgets.estimate, room.draft, turn_budgets.account
    draft.put(
        RESERVATIONS,
        Reservation(
            turn=turn.id,
            conversation=turn.conversation,
            agent=where.agent,
            root=where.root,
            day=where.day,
            above=where.above,
            usd=need.usd if need is not None else 0.0,
            tokens=need.tokens if need is not None else 0,
            alone=need is None,
            until=turn.limit + draft.at.terms.lease_seconds,
        ),
    )
    room.put_turn(structs.replace(turn, reserved=True))
    # Every reservation counts on this one row: where two hubs on one database decide at the same moment, the one that
    # comes second is decided again.
    [empty] = [row for row in where.charged if row.kind is SpendingKind.DAY]
    [shared] = charge.so_far(draft, (empty,))
    draft.put(SPENDING, structs.replace(shared, begun=shared.begun + 1))


def _raise(draft: Draft, account: Account, overrun: Overrun) -> None:
    rows = charge.so_far(draft, account.looked_at)
    row = next(
        row
        for row in rows
        if row.kind is overrun.kind and overrun.whose in ("", row.subject) and row.day in (0, account.day)
    )
    draft.put(SPENDING, budgets.raised(row, overrun.budget, draft.at.now))


def _is_waited_for(turn: Turn, overrun: Overrun, now: float) -> bool:
    """Whether somebody in its own chain waits for its answer, and has set aside what it needs: they would wait for each
    other."""
    question = turn.question
    waits = question is not None and question.awaited > now
    return waits and any(one.root == turn.root for one in overrun.held_by)


def _whose(room: Room, turn: Turn, overrun: Overrun) -> str:
    above = _above(room, turn, overrun)
    return f"the budget of {above}, which started it, for today" if above else WHOSE[overrun.kind]


def _above(room: Room, turn: Turn, overrun: Overrun) -> str:
    return room.draft.name(overrun.whose) if overrun.whose not in ("", turn.agent) else ""


def _stop(room: Room, turn: Turn, overrun: Overrun) -> None:
    name = room.draft.participant(turn.agent).name
    whose = _whose(room, turn, overrun)
    done = seats.end(room, turn, TurnState.FAILED, rule=RuleName.BUDGET, error=f"{whose} is used up")
    setting = SETTINGS[overrun.kind].format(agent=_above(room, turn, overrun) or name)
    text = f"[stopped: {name} has used up {whose}: {overrun.spent}. Raise {setting} to go on]"
    room.notices.append(Notice(text, {"notice": "brake", "rule": RuleName.BUDGET.value, "agent": turn.agent}))
    body = {
        "rule": RuleName.BUDGET.value,
        "conversation": room.id,
        "root": turn.root,
        "agents": [name],
        "detail": text.strip("[]"),
        "fix": to_data([Hint(Act.EDIT_SETTINGS)]),
    }
    room.draft.emit(EventType.BRAKE_TRIPPED, room, body=body)
    room.floor.ended(room, done)
    obligations.move_on(room)
