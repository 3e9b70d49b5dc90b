"""Charge: what a turn cost that was over before its cost was known, as after an interruption.

Above: host/agent_turn.py. Turns that end by themselves are charged as they end (finish.py).
"""

from msgspec import Struct

from moot.model.chain import SPENDING, Spending
from moot.model.change import Decision
from moot.model.json import JsonObject
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules import budgets
from moot.rules.budgets import Account
from moot.rules.draft import Draft, Seen


class Charge(Struct, frozen=True, gc=False):
    account: Account
    usage: JsonObject


def scope(command: Charge) -> Scope:
    return Scope(records=budgets.lookups(command.account.charged))


def decide(command: Charge, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    add(draft, command.account, command.usage)
    return Decision(draft.changes(), None)


def so_far(draft: Draft, rows: tuple[Spending, ...]) -> tuple[Spending, ...]:
    """What is spent, as the draft leaves it."""
    return tuple(draft.record(SPENDING, row.kind.value, row.subject, row.day) or row for row in rows)


def add(draft: Draft, account: Account, usage: JsonObject) -> None:
    """What a turn cost, added to what its agent, its chain, its conversation, everybody and those above it spend."""
    for row in so_far(draft, account.charged):
        draft.put(SPENDING, budgets.charged(row, usage, draft.at.now))
