"""How tasks ended whose delegator was paused then, and has not read it since: told to it when it goes on.

Above: hub/agents.py, when an agent is resumed. Below: the store's reads. Not here: what is said (flow/pause.py).
"""

from moot.flow.steps.task_report import UnheardReport
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.records.task import TASKS, TaskId
from moot.model.turn import Duty, RuleName
from moot.ports import Page

MAX_UNREAD = 500
"""Messages of a conversation that are looked through."""
WAS_PAUSED = (Duty.BLOCKED, RuleName.PAUSED)


async def unheard_reports(core: Core, delegator: ParticipantId) -> tuple[UnheardReport, ...]:
    store = core.parts.store
    ended = {task.id: task for task in await store.records(TASKS.where(by=delegator)) if not task.is_open}
    reports: dict[TaskId, UnheardReport] = {}
    for conversation in await store.conversations(archived=False, kind=None) if ended else ():
        members = {member.participant: member for member in await store.members(conversation.id)}
        mine = members.get(delegator)
        if mine is None or mine.cursor >= conversation.head:
            continue
        for message in await store.messages(conversation.id, Page(after=mine.cursor, limit=MAX_UNREAD)):
            task = ended.get(TaskId(str(message.metadata.get("task", ""))))
            if task is not None and message.plan.of(delegator) == WAS_PAUSED:
                reports[task.id] = UnheardReport(task.id, conversation.id)
    return tuple(reports.values())
