"""Retire an agent that was started by another: it leaves, its link is cut, what it was given comes home.

What it had given to agents of its own goes on: they finish, and report to whoever started it.
Above: hub/process/spawned_agents.py when it is due, hub/agents.py when a person removes one. Below: remove.py.
"""

from msgspec import Struct, structs

from moot.errors import NotFound
from moot.flow import remove
from moot.flow.steps import acts, channel
from moot.model.change import Decision
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Participant
from moot.model.records.audit import AuditedAct
from moot.model.records.link import CHANNEL
from moot.model.records.spawned import SPAWNED, SpawnRecord
from moot.model.records.task import TASKS
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Retire(Struct, frozen=True, gc=False):
    agent: ParticipantId
    author: ParticipantId
    """Who has it go: whoever started it, or a person."""
    reason: str
    link: str = ""
    """The link to whoever started it, as the caller knows it."""
    conversations: tuple[ConversationId, ...] = ()
    """Where it has open turns."""
    branches: tuple[ConversationId, ...] = ()
    """Where what it was given is worked on."""


def scope(command: Retire) -> Scope:
    over = (TASKS.where(open_over=command.link),) if command.link else ()
    at = (ConversationId(f"{CHANNEL}{command.link}"),) if command.link else ()
    return Scope(
        conversations=(*at, *command.branches, *command.conversations),
        refs=channel.pairs_of(command.author, (command.agent,)) if command.link else (),
        names=(command.author, command.agent),
        records=(acts.HEAD, SPAWNED.one(command.agent), TASKS.where(open_by=command.agent), *over),
        everyone=True,
    )


def decide(command: Retire, seen: Seen, at: Moment) -> Decision[Participant]:
    draft = Draft(seen, at)
    record = seen.record(SPAWNED, command.agent)
    agent = seen.named(command.agent)
    if record is None or agent is None:
        raise NotFound(f"{command.agent} was not started by another agent", what="agent", ref=command.agent)
    if not record.lives:
        return Decision([], agent)
    link = seen.graph().between(record.by, record.agent)
    if link is not None:
        channel.open_tasks(seen, link, command.branches)
    _hand_on(draft, record)
    agent = remove.leave(draft, agent, command.conversations)
    if link is not None:
        channel.remove(draft, link, command.author)
    draft.put(SPAWNED, structs.replace(record, ended_at=at.now, ending=command.reason))
    detail = {"reason": command.reason}
    acts.enter(draft, AuditedAct.AGENT_RETIRED, command.author, f"agent {agent.id}", detail)
    return Decision(draft.changes(), agent)


def _hand_on(draft: Draft, record: SpawnRecord) -> None:
    """Tasks that it had delegated pass to whoever started it, and their ends are reported where that was."""
    for task in draft.records(TASKS.where(open_by=record.agent)):
        if task.is_open:
            moved = structs.replace(task, by=record.by, updated_at=draft.at.now)
            if record.asked_in:
                moved = structs.replace(moved, asked_in=record.asked_in)
            acts.put_task(draft, AuditedAct.TASK_CHANGED, moved, record.by)
