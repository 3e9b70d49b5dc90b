"""Reserve: whether a claimed turn may begin under the brakes. Where one does not reach, the turn ends unspoken, by
rule.

Above: the host, before an agent thinks whose thinking costs money. What stopped it is said in the conversation and
told as every brake is.
"""

from collections.abc import Mapping

from msgspec import Struct

from moot.flow import charge
from moot.flow.steps import find, obligations
from moot.model.chain import SpendingKind
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint, to_data
from moot.model.ids import ParticipantId, TurnId
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
    above: Mapping[ParticipantId, AgentBudget] = {}
    """Of those that started its agent."""


def scope(command: Reserve) -> Scope:
    where = command.account
    return Scope(turns=(command.turn,), records=brakes.lookups((*where.empty, *where.beside)))


def decide(command: Reserve, seen: Seen, at: Moment) -> Decision[bool]:
    """Answers whether the turn may begin."""
    turn = find.running(seen, command.turn, command.fence)
    draft = Draft(seen, at)
    where = command.account
    spent = charge.so_far(draft, (*where.empty, *where.beside))
    stop = brakes.overrun(spent, command.own, at.terms.limits, command.above)
    if stop is None:
        return Decision([], True)
    room = draft.room(find.conversation(seen, turn.conversation))
    _stop(room, turn, stop)
    return Decision(draft.changes(), False)


def _stop(room: Room, turn: Turn, stop: Overrun) -> None:
    name = room.draft.participant(turn.agent).name
    above = room.draft.name(stop.whose) if stop.whose not in ("", turn.agent) else ""
    whose = f"the budget of {above}, which started it, for today" if above else WHOSE[stop.kind]
    done = seats.end(room, turn, TurnState.FAILED, rule=RuleName.BUDGET, error=f"{whose} is used up")
    setting = SETTINGS[stop.kind].format(agent=above or name)
    text = f"[stopped: {name} has used up {whose}: {stop.spent}. Raise {setting} to go on]"
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
