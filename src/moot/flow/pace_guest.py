"""Pace a guest: count one more thing that it wants besides saying something, and tell whether it gets it this minute.

Messages have an allowance of their own (hear.py). This is for commands, edits, buttons and mistakes: what exceeds it is
neither carried out nor answered, so that a flood uses up neither the chat app's limits nor the room for what agents
say. It is counted in the store, for every hub and across restarts.
"""

from msgspec import Struct, structs

from moot.flow import hear
from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import BRIDGE_ACCOUNTS
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class PaceGuest(Struct, frozen=True, gc=False):
    bridge: str
    account: str
    per_minute: int


def scope(command: PaceGuest) -> Scope:
    return Scope(records=(BRIDGE_ACCOUNTS.one(command.bridge, command.account),))


def decide(command: PaceGuest, seen: Seen, at: Moment) -> Decision[bool]:
    account = seen.record(BRIDGE_ACCOUNTS, command.bridge, command.account)
    if account is None:
        return Decision([], False)
    minute = int(at.now // hear.MINUTE)
    orders = account.orders if account.order_minute == minute else 0
    if orders >= command.per_minute:
        return Decision([], False)
    draft = Draft(seen, at)
    draft.put(BRIDGE_ACCOUNTS, structs.replace(account, order_minute=minute, orders=orders + 1))
    return Decision(draft.changes(), True)
