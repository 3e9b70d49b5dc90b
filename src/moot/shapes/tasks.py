"""Tasks as the outside sees them."""

from moot.model.records import task as model_task
from moot.shapes.shape import Names, Shape, when


class Task(Shape, frozen=True):
    """A delegated task."""

    id: str
    by: str
    to: str
    task: str
    state: str
    result: str | None
    note: str | None
    conversation: str
    """The conversation it is worked on in."""
    deadline: str | None
    created_at: str | None
    updated_at: str | None

    @classmethod
    def of(cls, task: model_task.Task, names: Names) -> "Task":
        return cls(
            id=task.id,
            by=names(task.by),
            to=names(task.to),
            task=task.task,
            state=task.state.value,
            result=task.result or None,
            note=task.note or None,
            conversation=task.conversation,
            deadline=when(task.deadline),
            created_at=when(task.created_at),
            updated_at=when(task.updated_at),
        )
