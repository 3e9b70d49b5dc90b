"""Reserve: whether a claimed turn may begin under the brakes. Where one does not reach, the turn ends unspoken, by
rule.

Above: the host, before an agent thinks whose thinking costs money. What stopped it is said in the conversation and
told as every brake is.
"""

from msgspec import Struct

from moot.flow import charge
from moot.flow.steps import find, obligations
from moot.model.chain import SpendingKind
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint, to_data
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.model.turn import RuleName, Turn, TurnState
from moot.ports import Scope
from moot.rules import brakes
from moot.rules.brakes import Account, AgentBudget, Overrun
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats
from moot.rules.room import Notice, Room

SETTINGS = {
    SpendingKind.AGENT: "budget_usd or budget_tokens of {agent}",
    SpendingKind.ROOT: "chain_budget_usd or chain_budget_tokens",
    SpendingKind.DAY: "day_budget_usd or day_budget_tokens",
}
WHOSE = {
    SpendingKind.AGENT: "its budget for today",
    SpendingKind.ROOT: "the budget of this chain",
    SpendingKind.DAY: "everybody's budget for today",
}


class Reserve(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    account: Account
    own: AgentBudget = AgentBudget()


def scope(command: Reserve) -> Scope:
    return Scope(turns=(command.turn,), records=command.account.lookups)


def decide(command: Reserve, seen: Seen, at: Moment) -> Decision[bool]:
    """Answers whether the turn may begin."""
    turn = find.running(seen, command.turn, command.fence)
    draft = Draft(seen, at)
    stop = brakes.overrun(charge.rows(draft, command.account), command.own, at.terms.limits)
    if stop is None:
        return Decision([], True)
    room = draft.room(find.conversation(seen, turn.conversation))
    _stop(room, turn, stop)
    return Decision(draft.changes(), False)


def _stop(room: Room, turn: Turn, stop: Overrun) -> None:
    done = seats.end(
        room, turn, TurnState.FAILED, rule=RuleName.BUDGET, error=f"{WHOSE[stop.kind]} is used up"
    )
    name = room.draft.participant(turn.agent).name
    setting = SETTINGS[stop.kind].format(agent=name)
    text = f"[stopped: {name} has used up {WHOSE[stop.kind]}: {stop.spent}. Raise {setting} to go on]"
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
