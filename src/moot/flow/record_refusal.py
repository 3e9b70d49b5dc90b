"""Record a refusal: what an agent tried, and which rule kept it from it. Equal ones are counted.

A refused decision leaves nothing behind, so what was refused is entered by this one, before the caller hears of it; a
reply that is refused is entered by finish.py with the end of its turn. Above: hub/core.py, finish.py. Below:
rules/audit.py chains. Not here: what is refused to people, and to strangers.
"""

from typing import Final

from msgspec import Struct, structs

from moot.errors import Braked, MootError, NotPermitted, RateLimited, WouldDeadlock
from moot.flow.steps import acts
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.moment import Moment
from moot.model.records.audit import AUDIT_ENTRIES, CHAIN_HEADS, REFUSALS, AuditedAct, ChainHead
from moot.model.records.record import Lookup
from moot.ports import Scope
from moot.rules import audit
from moot.rules.draft import Draft, Seen

ENTERED: Final = (NotPermitted, RateLimited, Braked, WouldDeadlock)
"""Refusals by policy, brakes and rings are recorded. Mistakes, and what came too late, are not."""
NAMED: Final = ("rule", "bar", "link", "limit")
"""Facts of a refusal that say which rule it was."""
MAX_NAME_CHARACTERS: Final = 200


class RefusedAct(Struct, frozen=True, gc=False):
    """What is kept of a refusal: never what was to be said."""

    code: str
    to: str
    """Whom or what it was about, as the caller named it."""
    what: str
    """The verb."""
    facts: JsonObject = {}


class RecordRefusal(Struct, frozen=True, gc=False):
    agent: ParticipantId
    refusal: RefusedAct


def scope(command: RecordRefusal) -> Scope:
    return Scope(names=(command.agent,), records=(head_of(command.agent),))


def decide(command: RecordRefusal, seen: Seen, at: Moment) -> Decision[None]:
    agent = seen.participant(command.agent)
    if agent is None or not agent.speaks_in_turns:
        return Decision([], None)
    draft = Draft(seen, at)
    enter(draft, agent.id, command.refusal)
    return Decision(draft.changes(), None)


def of(error: MootError, to: str, what: str) -> RefusedAct:
    facts = {name: error.facts[name] for name in NAMED if isinstance(error.facts.get(name), str)}
    return RefusedAct(error.code, to[:MAX_NAME_CHARACTERS], what, facts)


def head_of(agent: ParticipantId) -> Lookup[ChainHead]:
    """What a decision must see to enter a refusal."""
    return CHAIN_HEADS.one(f"{REFUSALS}{agent}")


def enter(draft: Draft, agent: ParticipantId, refusal: RefusedAct) -> None:
    chain = f"{REFUSALS}{agent}"
    detail: JsonObject = {"code": refusal.code, "to": refusal.to, "what": refusal.what, **refusal.facts}
    entry = acts.made(draft, AuditedAct.REFUSED, agent, f"agent {agent}", detail)
    entry = structs.replace(entry, chain=chain)
    entries, head = audit.counted(draft.record(CHAIN_HEADS, chain), entry)
    for each in entries:
        draft.put(AUDIT_ENTRIES, each)
    draft.put(CHAIN_HEADS, head)
