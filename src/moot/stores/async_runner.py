"""The runner for an engine that is asynchronous itself: the same batches, bounds and failures, in a task of the loop.

Beside runner.py, which has what both share: deciding and folding, what a bad row means, how callers are told.
Below: an engine whose every step is awaited, as one that speaks to a database server is.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Sequence
from typing import Protocol, TypeVar

from moot.failpoints import failpoint
from moot.model.event import Commit
from moot.ports import Scope
from moot.stores.desk import Desk, Dirty
from moot.stores.runner import (
    BadRow,
    Chore,
    Job,
    Source,
    Writer,
    decided,
    end_process,
    fail_alone,
    has_only_bad,
    settle,
)

T = TypeVar("T")


class TryAgain(BaseException):
    """What the batch was decided on no longer holds, or was not enough: it is to be run again from the beginning.

    No refusal, so that no decision can take it for its own. An engine raises it a bounded number of times.
    """

    def __init__(self, reason: str, *, bad_row: bool = False) -> None:
        super().__init__(reason)
        self.bad_row = bad_row
        """The cause may be one row that will never fit, rather than a concurrent writer."""


class AsyncEngine(Protocol):
    """All that an asynchronous adapter writes. Used by one task at a time."""

    async def begin(self) -> None: ...
    async def load(self, scopes: Sequence[Scope]) -> Desk: ...
    async def write(self, dirty: Dirty) -> None: ...
    async def commit(self) -> None: ...
    async def rollback(self) -> None: ...
    async def again(self, reason: TryAgain) -> None:
        """Before a batch is run again; raises where it has been tried often enough."""
        ...

    async def close(self) -> None: ...


async def run_batch(engine: AsyncEngine, jobs: list[Job], source: Source) -> Commit:
    """One transaction for all jobs. Their answers and errors are set; returns what happened, in order."""
    failpoint("write.begin")
    try:
        await engine.begin()
        failpoint("write.begun")
        desk = await engine.load([job.scope for job in jobs])
        failpoint("write.loaded")
        last_event = desk.last_event
        dirty = decided(desk, jobs, source)
        if dirty:
            await engine.write(dirty)
        failpoint("write.precommit")
        await engine.commit()
        failpoint("write.postcommit")
    except BaseException:  # whatever stopped it, nothing of the batch may stay
        await engine.rollback()
        raise
    return dirty.commit(last_event, alone=desk.alone)


async def run_jobs(engine: AsyncEngine, jobs: list[Job], source: Source) -> list[Commit]:
    """A batch; where one row in it is bad, each command alone, so that only its own fails."""
    while True:
        try:
            return [await run_batch(engine, jobs, source)]
        except TryAgain as again:
            bad = await _run_again(engine, jobs, again)
            if bad is None:
                continue
            if has_only_bad(jobs, bad):
                return []
            break
        except BadRow as bad:
            if has_only_bad(jobs, bad):
                return []
            break
    done: list[Commit] = []
    left = deque(jobs)
    while left:
        try:
            done += await run_jobs(engine, [left[0]], source)
        except Exception as failure:  # those before it are committed, and have to hear so
            fail_alone(left, failure)
        left.popleft()
    return done


async def _run_again(engine: AsyncEngine, jobs: list[Job], again: TryAgain) -> BadRow | None:
    """Clear what was decided, and let the engine say whether it may be run again; or that a row is bad after all."""
    for job in jobs:
        job.error = job.answer = None
    try:
        await engine.again(again)
    except BadRow as bad:
        return bad
    return None


class AsyncRunner(Writer):
    """The store's write side over an asynchronous engine, with one writing task."""

    def __init__(self, engine: AsyncEngine, source: Source, on_commit: Callable[[Commit], None]) -> None:
        super().__init__(source, on_commit)
        self._engine = engine
        self._work = asyncio.Event()
        self._task = self._loop.create_task(self._write(), name="moot-writer")

    async def call(self, work: Callable[[], Awaitable[T]]) -> T:
        """Run something on the writer's connection, between two batches."""
        answer: T = await self._called(work)
        return answer

    async def close(self) -> None:
        """Finish what was accepted, then stop the writer and the engine."""
        self._closing = True
        self._wake()
        await asyncio.wait([self._task])

    def _wake(self) -> None:
        self._work.set()

    async def _write(self) -> None:
        try:
            while (work := await self._next_work()) is not None:
                jobs, chore = work
                if jobs:
                    await self._run(jobs)
                if chore is not None:
                    await _run_chore(chore)
        finally:
            self._closing = True
            left: list[Job | Chore] = [*self._waiting, *self._chores]
            for one in left:  # none, unless the task itself was ended
                settle(one, asyncio.CancelledError())
            await self._engine.close()

    async def _run(self, jobs: list[Job]) -> None:
        error: BaseException | None = None
        done: list[Commit] = []
        try:
            done = await run_jobs(self._engine, jobs, self._source)
        except SystemExit as fatal:
            end_process(fatal)
        except asyncio.CancelledError as ended:
            for job in jobs:
                settle(job, ended)
            raise
        except BaseException as failure:  # the batch failed as one; its callers hear it
            error = failure
        self._telling = True
        self._loop.call_soon(self._settle, jobs, error, done)

    async def _next_work(self) -> tuple[list[Job], Chore | None] | None:
        """None when all is done and closed."""
        self._asleep = True
        while self._telling or not (self._waiting or self._chores):
            if self._closing and not self._telling:
                return None
            self._work.clear()
            await self._work.wait()
        self._asleep = False
        return self._batch()


async def _run_chore(chore: Chore) -> None:
    try:
        chore.answer = await chore.work()
    except asyncio.CancelledError:
        settle(chore, asyncio.CancelledError())
        raise
    except BaseException as error:  # whatever it was, it is the caller's to see; the writer goes on
        chore.error = error
    settle(chore, None)
