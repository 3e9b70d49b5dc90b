"""Charge: what a turn cost that was over before its cost was known, as after an interruption.

Above: host/agent_turn.py. Turns that end by themselves are charged as they end (finish.py).
"""

from msgspec import Struct

from moot.model.chain import SPENDING, Spending
from moot.model.change import Decision
from moot.model.json import JsonObject
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules import brakes
from moot.rules.brakes import Account
from moot.rules.draft import Draft, Seen


class Charge(Struct, frozen=True, gc=False):
    account: Account
    usage: JsonObject


def scope(command: Charge) -> Scope:
    return Scope(records=command.account.lookups)


def decide(command: Charge, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    add(draft, command.account, command.usage)
    return Decision(draft.changes(), None)


def rows(draft: Draft, account: Account) -> tuple[Spending, ...]:
    """What is spent so far, as the draft leaves it."""
    found = [draft.record(SPENDING, *lookup.value) for lookup in account.lookups]
    return tuple(row or empty for row, empty in zip(found, account.empty, strict=True))


def add(draft: Draft, account: Account, usage: JsonObject) -> None:
    """What a turn cost, added to what its agent, its chain and everybody spend."""
    for row in rows(draft, account):
        draft.put(SPENDING, brakes.charged(row, usage, draft.at.now))
