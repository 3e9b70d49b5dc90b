"""Update a task: its worker says how far it is, or how it ended; its delegator or a person calls it off."""

from msgspec import Struct, structs

from moot.errors import Conflict, NotFound, NotPermitted
from moot.flow.steps import obligations
from moot.model.change import Decision
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.moment import Moment
from moot.model.participant import HUMAN, Participant
from moot.model.records.task import TASKS, Task, TaskState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

BY_WORKER = frozenset({TaskState.WORKING, TaskState.DONE, TaskState.FAILED})
CALLED_OFF = frozenset({TaskState.CANCELLED})


class UpdateTask(Struct, frozen=True, gc=False):
    author: ParticipantId
    task: str
    state: TaskState
    result: str = ""
    note: str = ""
    branch: ConversationId = ConversationId("")
    """The conversation of the task, as the caller knows it: what is told where it ends has to be at hand."""
    turn: TurnId | None = None
    """The running turn in which the author says so."""


def scope(command: UpdateTask) -> Scope:
    return Scope(
        conversations=(command.branch,) if command.branch else (),
        names=(command.author,),
        records=(TASKS.one(command.task),),
    )


def decide(command: UpdateTask, seen: Seen, at: Moment) -> Decision[Task]:
    draft = Draft(seen, at)
    task = seen.record(TASKS, command.task)
    author = draft.participant(command.author)
    if task is None or not may_see(task, author):
        raise unknown(command.task)
    _check(command, task, author, draft)
    if command.state is TaskState.WORKING:
        kept = int(command.turn or 0) or task.kept_by
        task = obligations.moved(draft, task, TaskState.WORKING, note=command.note, kept_by=kept)
        return Decision(draft.changes(), task)
    task = structs.replace(task, note=command.note or task.note)
    result = command.result or command.note or _unsaid(command.state, author)
    task = obligations.end(draft, task, command.state, result)
    return Decision(draft.changes(), task)


def may_see(task: Task, who: Participant) -> bool:
    return who.kind is HUMAN or who.id in (task.by, task.to)


def unknown(task: str) -> NotFound:
    return NotFound(f'there is no task "{task}"', what="task", fix=(Hint(Act.LIST_TASKS),), ref=task)


def _check(command: UpdateTask, task: Task, author: Participant, draft: Draft) -> None:
    if not task.is_open:
        raise Conflict(
            f"task {task.id} has already ended: it is {task.state}",
            detail=f"result: {task.result}" if task.result else "",
            state=task.state.value,
        )
    allowed = BY_WORKER if author.id == task.to else CALLED_OFF
    if author.kind is HUMAN:
        allowed = BY_WORKER | CALLED_OFF
    if command.state not in allowed:
        others = ", ".join(sorted(state.value for state in allowed))
        raise NotPermitted(
            f"{author.name} cannot make task {task.id} {command.state}",
            detail=f"{draft.name(task.to)} works on it for {draft.name(task.by)}; you may set it to {others}",
        )


def _unsaid(state: TaskState, author: Participant) -> str:
    return f"cancelled by {author.name}" if state is TaskState.CANCELLED else "(no message)"
