"""`hub.tasks`: find tasks, and change their state if the caller may."""

from collections.abc import Sequence

from moot import shapes
from moot.errors import BadValue
from moot.flow import update_task
from moot.hub.core import Core
from moot.hub.speaker import Speaker
from moot.model.query import newest_before
from moot.model.records.task import TASKS, UNFINISHED, Task, TaskState
from moot.sdk.tasks import TaskCalls

UNFINISHED_ONES = "unfinished"
MIN_ID_PREFIX = 4
"""Characters of an id that are enough to look it up."""


class Tasks(TaskCalls):
    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker

    @property
    def _core(self) -> Core:
        return self._speaker.core

    async def list(
        self,
        *,
        state: str | None = None,
        by: str | None = None,
        to: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[shapes.Task]:
        states = frozenset(TaskState) if state is None else _states(state)
        tasks = await self._find(by, to, states)
        visible = [task for task in tasks if task.state in states and self._may_see(task)]
        older = await self._task(before) if before is not None else None
        return [self._shape(task) for task in newest_before(visible, older, limit)]

    async def _find(self, by: str | None, to: str | None, states: frozenset[TaskState]) -> Sequence[Task]:
        store, directory = self._core.parts.store, self._core.directory
        if by is not None:
            giver = (await directory.participant(by)).id
            worker = (await directory.participant(to)).id if to is not None else None
            delegated = await store.records(TASKS.where(by=giver))
            return [task for task in delegated if worker is None or task.to == worker]
        if to is not None:
            return await store.records(TASKS.where(to=(await directory.participant(to)).id))
        by_id: dict[str, Task] = {}
        for state in (
            TaskState
        ):  # in the order of a task's life: one that moves on meanwhile is found twice, never missed
            if state in states:
                by_id |= {task.id: task for task in await store.records(TASKS.where(state=state.value))}
        return sorted(by_id.values(), key=lambda task: (task.created_at, task.id))

    async def get(self, id: str) -> shapes.Task:
        return self._shape(await self._task(id))

    async def update(
        self, id: str, state: str, *, result: str | None = None, note: str | None = None
    ) -> shapes.Task:
        task = await self._task(id, whole=True)
        command = update_task.UpdateTask(
            self._speaker.me,
            task.id,
            _state(state),
            self._speaker.checked(result) if result else "",
            self._speaker.checked(note) if note else "",
            task.conversation,
            self._is_owner,
        )
        return self._shape(await self._core.do(update_task, command))

    async def _task(self, ref: str, *, whole: bool = False) -> Task:
        """Find a task by its id or, for reading, a beginning of it; tasks that the caller may not see do not exist for
        it."""
        store = self._core.parts.store
        matching = await store.records(TASKS.one(ref))
        if not matching and not whole and len(ref) >= MIN_ID_PREFIX:
            matching = await store.records(TASKS.beginning(ref))
        matching = [task for task in matching if self._may_see(task)]
        if len(matching) > 1:
            raise BadValue(
                f'several tasks begin with "{ref}"', detail=", ".join(task.id for task in matching)
            )
        if not matching:
            raise update_task.unknown(ref)
        return matching[0]

    @property
    def _is_owner(self) -> bool:
        return self._speaker.me == self._core.user

    def _may_see(self, task: Task) -> bool:
        return update_task.may_see(task, self._speaker.me, owner=self._is_owner)

    def _shape(self, task: Task) -> shapes.Task:
        return shapes.Task.of(task, self._core.directory.name)


def _states(word: str) -> frozenset[TaskState]:
    return UNFINISHED if word == UNFINISHED_ONES else frozenset((_state(word),))


def _state(word: str) -> TaskState:
    try:
        return TaskState(word)
    except ValueError:
        states = ", ".join(state.value for state in TaskState)
        raise BadValue(f'unknown task state "{word}"', detail=f"expected one of {states}") from None
