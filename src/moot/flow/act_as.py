"""Act as somebody: record that the owner did something in another participant's name."""

from msgspec import Struct

from moot.flow.steps import acts
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class ActAs(Struct, frozen=True, gc=False):
    """The owner did something in somebody's name."""

    owner: ParticipantId
    speaker: ParticipantId
    what: str


def scope(command: ActAs) -> Scope:
    return Scope(names=(command.owner, command.speaker), records=(acts.HEAD,))


def decide(command: ActAs, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    body = {"as": command.speaker, "what": command.what}
    acts.enter(draft, AuditedAct.OWNER_ACTED_AS, command.owner, f"agent {command.speaker}", body)
    draft.emit(EventType.OWNER_ACTED_AS, by=command.owner, body=body)
    return Decision(draft.changes(), None)
