"""A task comes home whoever dies: killed at any point of its way, its delegator hears of its end exactly once.

Every time a failpoint is reached on that way is tried, as in test_points.py: from where a person asks the manager, over
the manager that delegates and the worker that works, to the manager that hears of it.
"""

import asyncio
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.failpoints import POINTS
from moot.model.ids import ParticipantId
from moot.model.records.task import TASKS, Task, TaskState
from moot.model.turn import TurnState
from moot.stores.sqlite.reads import SqliteReads
from tests.faults import delegations, rounds
from tests.faults.delegations import BOTH, FITTING, MANAGER, RESULT, WORKER
from tests.support import checker, remains
from tests.support.processes import SCALE, Server, kept_on_failure, serving
from tests.support.waiting import until

MAX_TIMES = 80
SECONDS = 40.0
SOON = 0.3
"""Seconds after which a task expires, where it is to and nothing has to happen before."""
LATER = 4.0
"""The same, where its worker has to begin in time."""
NEEDS_A_DEADLINE = {"sweep.begun"}
NO_LEDGER = "phantom"
"""What the checker says of everything sent while nobody keeps a ledger."""
KILLED = {"signal": signal.SIGKILL, "code": 0}
SETTLED = {"signal": 0, "code": rounds.SETTLED}

pytestmark = [pytest.mark.req("S-10", "M-05"), pytest.mark.timeout(300 * SCALE)]


@pytest.fixture(scope="module")
def forks() -> Iterator[Server]:
    with serving("tests.faults.delegations", MOOT_FAILPOINT="none") as server:
        yield server


@pytest.fixture(scope="module")
def others() -> Iterator[Server]:
    with serving("tests.faults.delegations", MOOT_FAILPOINT="none") as server:
        yield server


async def tasks_in(home: Path) -> list[Task]:
    reads = SqliteReads(home / "moot.db")
    try:
        return [task for state in TaskState for task in await reads.records(TASKS.where(state=state.value))]
    finally:
        await reads.close()


async def assert_it_came_home_once(home: Path, *states: TaskState) -> Task:
    """One task, one end of it, one notice where it was asked, one turn of the manager for it."""
    left = await remains.gather(home)
    assert set(checker.found(checker.check([], left))) <= {NO_LEDGER}
    [task] = await tasks_in(home)
    assert task.state in states, task
    expected = [("system", task.state.value)]
    expected += [(task.to, task.state.value)] if task.state is TaskState.DONE else []
    for where in (task.asked_in, task.channel):
        reports = [m for m in left.messages[where] if m.metadata.get("state")]
        assert [(m.author, m.metadata["state"]) for m in reports] == expected
    notice = [m for m in left.messages[task.asked_in] if m.metadata.get("state")][-1]
    # it may have joined a turn that its delegator had to begin again
    mine = [t for t in left.turns if t.agent == ParticipantId(MANAGER) and t.conversation == task.asked_in]
    woken = [t for t in mine if t.called_by(notice.seq) and t.hi >= notice.seq]
    assert [turn.state for turn in woken] == [TurnState.SAID]
    heard = (home / "heard").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(set(heard)) == 1, heard
    assert len(heard) <= 2, f"one death may repeat one thought: {heard}"
    return task


def case(
    home: Path, *, failpoint: str = "", deadline: float = 0.0, cast: tuple[str, ...] = BOTH
) -> dict[str, object]:
    return {"home": str(home), "failpoint": failpoint, "seconds": SECONDS, "deadline": deadline, "cast": cast}


@pytest.mark.parametrize("point", POINTS)
async def test_killed_at_any_point_of_a_task_its_delegator_hears_of_it_once(
    forks: Server, point: str, tmp_path: Path
) -> None:
    deadline = SOON if point in NEEDS_A_DEADLINE else 0.0
    for count in range(1, MAX_TIMES):
        home, spec = tmp_path / f"{count}", f"{point}:kill:{count}"
        await delegations.furnish(home)
        with kept_on_failure(f"task-{spec.replace(':', '-')}", home):
            first = forks.ask(**case(home, failpoint=spec, deadline=deadline))
            assert first in (KILLED, SETTLED), f"{spec}: {first}"
            if first == KILLED:
                second = forks.ask(**case(home, deadline=deadline))
                assert second == SETTLED, f"{spec}: {second}"
            task = await assert_it_came_home_once(home, TaskState.EXPIRED if deadline else TaskState.DONE)
            assert deadline or task.result == RESULT
        if first == SETTLED:
            assert count > 1, f"the task never reached {point}"
            print(f"{point}: killed at {count - 1} moments")
            return
    raise AssertionError(f"{point} was met more than {MAX_TIMES} times")


OTHER_WAYS = POINTS if os.environ.get("MOOT_TIER") == "nightly" else ("host.thought",)
"""Where tasks that go another way are killed: everywhere at night."""


async def killed_everywhere(forks: Server, point: str, folder: Path, **way: Any) -> list[Task]:
    """What became of the task, for each time that the point is reached on this way."""
    found = []
    for count in range(1, MAX_TIMES):
        home, spec = folder / f"{count}", f"{point}:kill:{count}"
        await delegations.furnish(home)
        with kept_on_failure(f"task-{spec.replace(':', '-')}", home):
            first = forks.ask(**{**case(home, failpoint=spec), **way})
            if first == KILLED:
                assert forks.ask(**{**case(home), **way}) == SETTLED, spec
            found.append(await assert_it_came_home_once(home, TaskState.DONE, TaskState.EXPIRED))
        if first == SETTLED:
            return found
    raise AssertionError(f"{point} was met more than {MAX_TIMES} times")


@pytest.mark.parametrize("point", OTHER_WAYS)
async def test_killed_anywhere_a_result_of_the_wrong_shape_is_asked_for_again_and_comes_home_once(
    forks: Server, point: str, tmp_path: Path
) -> None:
    tasks = await killed_everywhere(forks, point, tmp_path, shaped=True)
    assert {(task.state, task.result) for task in tasks} == {(TaskState.DONE, FITTING)}


@pytest.mark.parametrize("point", OTHER_WAYS)
async def test_killed_anywhere_a_task_that_its_worker_kept_ends_by_its_deadline_and_is_heard_of_once(
    forks: Server, point: str, tmp_path: Path
) -> None:
    tasks = await killed_everywhere(forks, point, tmp_path, deadline=SOON)
    assert {task.state for task in tasks} == {TaskState.EXPIRED}


@pytest.mark.parametrize("point", ["host.claimed", "host.tool_ran", "host.thought"])
async def test_a_worker_that_dies_in_a_process_of_its_own_is_heard_of_once(
    forks: Server, others: Server, point: str, tmp_path: Path
) -> None:
    """The manager's process lives on: it finds the worker gone, and the next one that runs it does the work."""
    home = tmp_path / "home"
    await delegations.furnish(home)
    with kept_on_failure(f"task-alone-{point}", home):
        managing = asyncio.to_thread(forks.ask, **case(home, cast=(MANAGER,)))
        async with asyncio.TaskGroup() as group:
            managed = group.create_task(managing)
            dying = case(home, cast=(WORKER,), failpoint=f"{point}:kill:1")
            assert await asyncio.to_thread(others.ask, **dying) == KILLED
            assert await asyncio.to_thread(others.ask, **case(home, cast=(WORKER,))) == SETTLED
        assert managed.result() == SETTLED
        await assert_it_came_home_once(home, TaskState.DONE)


async def test_a_worker_that_dies_each_time_has_failed(forks: Server, others: Server, tmp_path: Path) -> None:
    home = tmp_path / "home"
    await delegations.furnish(home, "[host]\nsweep_seconds = 0.5\n")
    dying = case(home, cast=(WORKER,), failpoint="host.prethink:kill:1")
    with kept_on_failure("task-twice", home):
        async with asyncio.TaskGroup() as group:
            managed = group.create_task(asyncio.to_thread(forks.ask, **case(home, cast=(MANAGER,))))
            for _ in range(2):
                assert await asyncio.to_thread(others.ask, **dying) == KILLED
        assert managed.result() == SETTLED
        task = await assert_it_came_home_once(home, TaskState.FAILED)
        assert task.result == "its host was lost twice"


async def test_a_worker_that_dies_for_good_is_told_of_at_the_deadline(
    forks: Server, others: Server, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    await delegations.furnish(home)
    with kept_on_failure("task-for-good", home):
        async with asyncio.TaskGroup() as group:
            dying = case(home, cast=(WORKER,), failpoint="host.prethink:kill:1")
            died = group.create_task(asyncio.to_thread(others.ask, **dying))
            await there(home, WORKER)
            managing = case(home, cast=(MANAGER,), deadline=LATER)
            managed = group.create_task(asyncio.to_thread(forks.ask, **managing))
        assert (died.result(), managed.result()) == (KILLED, SETTLED)
        await assert_it_came_home_once(home, TaskState.EXPIRED)


async def test_a_deadline_that_passes_while_all_processes_are_dead_is_told_at_the_next_start(
    forks: Server, tmp_path: Path
) -> None:
    home = tmp_path / "home"
    await delegations.furnish(home)
    with kept_on_failure("task-all-dead", home):
        assert forks.ask(**case(home, failpoint="host.tool_ran:kill:1", deadline=LATER)) == KILLED
        [task] = await tasks_in(home)
        assert task.is_open
        await until(tell_time, lambda now: now > task.deadline)
        assert forks.ask(**case(home, cast=(MANAGER,), deadline=LATER)) == SETTLED
        await assert_it_came_home_once(home, TaskState.EXPIRED)


async def there(home: Path, name: str) -> None:
    """Until a process runs this agent."""

    async def running() -> set[str]:
        reads = SqliteReads(home / "moot.db")
        try:
            return {agent for host in await reads.hosts() for agent in host.agents}
        finally:
            await reads.close()

    await until(running, lambda agents: name in agents)


async def tell_time() -> float:
    return time.time()
