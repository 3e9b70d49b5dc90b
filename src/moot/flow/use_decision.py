"""Use a decision: what a person allowed once is done now, and is allowed no more.

Above: hub.decisions, for programs that ask before they act. It is settled here, in the store, because the same program
may ask from several conversations, and again after a crash.
"""

from msgspec import Struct, structs

from moot.flow import answer_decision
from moot.flow.steps import acts
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.decision import DECISIONS, DecisionState, PersonsDecision
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class UseDecision(Struct, frozen=True, gc=False):
    author: ParticipantId
    """Who asked, and acts now."""
    id: str


def scope(command: UseDecision) -> Scope:
    return Scope(names=(command.author,), records=(acts.HEAD, DECISIONS.one(command.id)))


def decide(command: UseDecision, seen: Seen, at: Moment) -> Decision[bool]:
    """Answers whether it was still to be used."""
    decision = seen.record(DECISIONS, command.id)
    if decision is None or decision.by != command.author:
        raise answer_decision.unknown(command.id)
    if decision.state is not DecisionState.ANSWERED:
        return Decision([], False)
    draft = Draft(seen, at)
    mark(draft, decision)
    return Decision(draft.changes(), True)


def mark(draft: Draft, decision: PersonsDecision) -> None:
    """What it allowed is done now; for verbs that do it in the same decision."""
    draft.put(DECISIONS, structs.replace(decision, state=DecisionState.USED, updated_at=draft.at.now))
    detail = {"asked_by": decision.by, "conversation": decision.conversation, "seq": decision.seq}
    acts.enter(draft, AuditedAct.DECISION_USED, decision.by, f"decision {decision.id}", detail)
