"""Pause or resume an agent. Turns that a paused agent has not begun are dropped. How its tasks ended while it was
paused is reported to it when it is resumed: results always come home."""

from msgspec import Struct, structs

from moot.errors import NotPermitted
from moot.flow.steps import acts, find, task_report
from moot.flow.steps.registry import drop_turns
from moot.flow.steps.task_report import UnheardReport
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import SYSTEM, ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.task import TASKS
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Pause(Struct, frozen=True, gc=False):
    agent: str
    paused: bool
    conversations: tuple[ConversationId, ...] = ()
    """Where the agent has open turns, as the caller found them; a later one is stopped when claimed."""
    author: ParticipantId = SYSTEM
    unheard: tuple[UnheardReport, ...] = ()
    """Of one that goes on: how its tasks ended meanwhile."""


def scope(command: Pause) -> Scope:
    reports = command.unheard
    return Scope(
        names=(command.agent, command.author),
        conversations=(*command.conversations, *(report.conversation for report in reports)),
        records=(acts.HEAD, *(TASKS.one(report.task) for report in reports)),
    )


def decide(command: Pause, seen: Seen, at: Moment) -> Decision[Participant]:
    draft = Draft(seen, at)
    author = seen.participant(command.author)
    if author is not None and author.speaks_in_turns:
        raise NotPermitted(f"{author.name} may not pause or resume agents", detail="only people may")
    agent = structs.replace(find.participant(seen, command.agent), paused=command.paused)
    draft.put_participant(agent)
    act = AuditedAct.AGENT_PAUSED if command.paused else AuditedAct.AGENT_RESUMED
    acts.enter(draft, act, command.author, f"agent {agent.id}")
    draft.emit(EventType.AGENT_STATUS, by=agent.id, body={"paused": command.paused})
    if command.paused:
        drop_turns(draft, agent, command.conversations)
    for report in () if command.paused else command.unheard:
        task_report.remind(draft, report)
    return Decision(draft.changes(), agent)
