"""Update a task: its worker says how far it is, or how it ended; its delegator or a person calls it off."""

from msgspec import Struct, structs

from moot.errors import BadValue, Conflict, NotFound, NotPermitted
from moot.flow.steps import obligations
from moot.flow.steps.task_report import TaskEnd
from moot.model.change import Decision
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN, Participant
from moot.model.records.task import TASKS, Task, TaskState
from moot.model.turn import RUNNING
from moot.ports import Scope
from moot.rules import answer_shape
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
    owner: bool = False
    """The author is the owner, who sees all tasks."""


def scope(command: UpdateTask) -> Scope:
    return Scope(
        conversations=(command.branch,) if command.branch else (),
        names=(command.author,),
        records=(TASKS.one(command.task),),
        messages=((command.branch, 1),) if command.branch else (),
    )


def decide(command: UpdateTask, seen: Seen, at: Moment) -> Decision[Task]:
    draft = Draft(seen, at)
    task = seen.record(TASKS, command.task)
    author = draft.participant(command.author)
    if task is None or not may_see(task, author.id, owner=command.owner):
        raise unknown(command.task)
    _check(command, task, author, draft)
    if command.state is TaskState.WORKING:
        kept = _at_it(task, author, seen) or task.kept_by
        task = obligations.moved(draft, task, TaskState.WORKING, author.id, note=command.note, kept_by=kept)
        return Decision(draft.changes(), task)
    if command.state is TaskState.DONE:
        _check_shape(command, seen)
    task = structs.replace(task, note=command.note or task.note)
    result = command.result or command.note or _unsaid(command.state, author)
    task = obligations.end(draft, task, TaskEnd(command.state, result, author))
    return Decision(draft.changes(), task)


def may_see(task: Task, participant_id: ParticipantId, *, owner: bool) -> bool:
    """The owner sees all tasks; others those that they gave or were given."""
    return owner or participant_id in (task.by, task.to)


def _at_it(task: Task, author: Participant, seen: Seen) -> int:
    """The turn in which the worker says that it goes on: what that says at its end is no result."""
    turn = seen.turns(task.conversation).get(author.id) if author.id == task.to else None
    return turn.id if turn is not None and turn.state is RUNNING else 0


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


def _check_shape(command: UpdateTask, seen: Seen) -> None:
    """A result has to be what was asked for; who gives another is told what that is, and may give it again."""
    first = seen.message(command.branch, 1)
    shape = first.metadata.get(answer_shape.SHAPE) if first is not None else None
    if not shape:
        return
    expected = answer_shape.checked(shape)
    try:
        answer_shape.answer(expected, command.result or command.note)
    except answer_shape.Misfit as problem:
        raise BadValue(
            f"the result does not fit what was asked for: {problem}",
            detail=f"expected is {answer_shape.in_words(expected)}. Nothing has changed",
            expected=shape,
        ) from None


def _unsaid(state: TaskState, author: Participant) -> str:
    return f"cancelled by {author.name}" if state is TaskState.CANCELLED else "(no message)"
