"""Edit a participant: its role, display name or project."""

from msgspec import Struct, structs

from moot.flow.steps import acts, find
from moot.flow.steps.lines import check_lines
from moot.flow.steps.registry import checked_display
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import SYSTEM, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class EditParticipant(Struct, frozen=True, gc=False):
    """What is given changes; None stays."""

    agent: str
    role: str | None = None
    display: str | None = None
    project: str | None = None
    author: ParticipantId = SYSTEM
    file: str = ""
    """The role file that was written: the fact is recorded, its contents are not."""


def scope(command: EditParticipant) -> Scope:
    return Scope(names=(command.agent,), records=(acts.HEAD,), everyone=bool(command.display))


def decide(command: EditParticipant, seen: Seen, at: Moment) -> Decision[Participant]:
    agent = find.participant(seen, command.agent)
    others = [one for one in seen.everyone() if one.id != agent.id] if command.display else []
    check_lines(role=command.role, project=command.project)
    display = None if command.display is None else checked_display(command.display, others)
    fields = {"role": command.role, "display": display, "project": command.project}
    amended = structs.replace(agent, **{key: value for key, value in fields.items() if value is not None})
    draft = Draft(seen, at)
    if amended != agent or command.file:
        draft.put_participant(amended)
        body = {name: value for name, value in fields.items() if value is not None}
        body |= {"file": command.file} if command.file else {}
        acts.enter(draft, AuditedAct.AGENT_EDITED, command.author, f"agent {agent.id}", body)
        draft.emit(EventType.AGENT_STATUS, by=agent.id, body=body)
    return Decision(draft.changes(), amended)
