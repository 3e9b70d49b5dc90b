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
SHORTEST_BEGINNING = 4
"""Characters of an id that say enough to look for it."""


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
        found = await self._found(by, to, states)
        seen = [task for task in found if task.state in states and self._may_see(task)]
        older = await self._task(before) if before is not None else None
        return [self._shape(task) for task in newest_before(seen, older, limit)]

    async def _found(self, by: str | None, to: str | None, states: frozenset[TaskState]) -> Sequence[Task]:
        store, directory = self._core.parts.store, self._core.directory
        if by is not None:
            giver = (await directory.participant(by)).id
            worker = (await directory.participant(to)).id if to is not None else None
            given = await store.records(TASKS.where(by=giver))
            return [task for task in given if worker is None or task.to == worker]
        if to is not None:
            return await store.records(TASKS.where(to=(await directory.participant(to)).id))
        found: dict[str, Task] = {}
        for (
            state
        ) in TaskState:  # in the order of a task's life: one that moves on meanwhile is met again, not missed
            if state in states:
                found |= {task.id: task for task in await store.records(TASKS.where(state=state.value))}
        return sorted(found.values(), key=lambda task: (task.created_at, task.id))

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
        """By its id, or to look at it the beginning of that; what one may not see is not there."""
        store = self._core.parts.store
        found = await store.records(TASKS.one(ref))
        if not found and not whole and len(ref) >= SHORTEST_BEGINNING:
            found = await store.records(TASKS.beginning(ref))
        found = [task for task in found if self._may_see(task)]
        if len(found) > 1:
            raise BadValue(f'several tasks begin with "{ref}"', detail=", ".join(task.id for task in found))
        if not found:
            raise update_task.unknown(ref)
        return found[0]

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
        known = ", ".join(state.value for state in TaskState)
        raise BadValue(f'unknown task state "{word}"', detail=f"expected one of {known}") from None
