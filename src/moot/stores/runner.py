"""The runner: takes all waiting commands, loads their scopes, decides and folds each, writes once, commits once.

Memory, SQLite and PostgreSQL share this; an adapter is its engine. The next batch is what queued during the last
commit, and what those it answered write at once (natural group commit). All of a batch is decided at one moment.
Refusals and crashing deciders leave nothing behind, so there are no savepoints. An acknowledgement goes out only
after the commit returned.
"""

import asyncio
import os
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from time import perf_counter
from typing import Any, NoReturn, Protocol, TypeVar

from moot.errors import BadValue, MootError, StoreUnwritable
from moot.failpoints import failpoint
from moot.model.event import Commit
from moot.model.ids import ConversationId
from moot.model.limits import Terms
from moot.model.moment import Moment
from moot.ports import BatchWatcher, Scope, Verb
from moot.stores.desk import Desk, Dirty
from moot.stores.fold import fold
from moot.stores.outbox import lay_out

T = TypeVar("T")

MAX_IN_BATCH = 512
MAX_WAITING = 20_000
ACKS_PER_PASS = 16
"""Futures settled per pass of the event loop, so that a large batch does not stall it."""


class BadRow(Exception):
    """The engine refused a row for what it holds; the commands of the batch are tried again one by one."""


class Engine(Protocol):
    """All that an adapter writes. Called from one thread at a time."""

    def begin(self) -> None: ...
    def load(self, scopes: Sequence[Scope]) -> Desk: ...
    def write(self, dirty: Dirty) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...


class Job:
    __slots__ = ("answer", "command", "done", "dry", "error", "scope", "verb")

    def __init__(
        self, verb: Verb[Any, Any], command: Any, dry: bool, done: "asyncio.Future[Any] | None" = None
    ) -> None:
        self.verb = verb
        self.command = command
        self.dry = dry
        self.done = done
        self.scope: Scope = verb.scope(command)
        self.answer: Any = None
        self.error: BaseException | None = None


class Chore:
    """Something other than a command that only the writer's thread may do, between two batches."""

    __slots__ = ("answer", "done", "error", "work")

    def __init__(self, work: Callable[[], Any]) -> None:
        self.work = work
        self.answer: Any = None
        self.error: BaseException | None = None
        self.done: asyncio.Future[Any] | None = None

    def run(self) -> None:
        try:
            self.answer = self.work()
        except BaseException as error:  # whatever it was, it is the caller's to see; the writer goes on
            self.error = error


class Source:
    """Where moments come from: the clock, the terms in force, new conversation ids."""

    def __init__(
        self,
        now: Callable[[], float],
        terms: Terms,
        conversation_id: Callable[[], ConversationId],
        *,
        has_outbox: bool = False,
    ) -> None:
        self.now = now
        self.terms = terms
        self.conversation_id = conversation_id
        self.has_outbox = has_outbox
        """Whether events also go to an external log."""

    def moment(self, desk: Desk) -> Moment:
        return Moment(
            round(self.now(), 6), self.terms, desk.turn_id, lambda: desk.note_new(self.conversation_id())
        )


def decided(desk: Desk, jobs: list[Job], source: Source) -> Dirty:
    """Decide each job on what the ones before it left, at one moment; what there is to write for all of them."""
    dirty, at = Dirty(), source.moment(desk)
    for job in jobs:
        try:
            decision = job.verb.decide(job.command, desk, at)
        except Exception as error:  # a refusal or a bug is its caller's to see; the batch goes on
            job.error = error
            continue
        job.answer = decision.answer
        if not job.dry:
            fold(desk, decision.changes, dirty)
    if source.has_outbox:
        lay_out(desk, dirty, at.now)
    failpoint("write.decided")
    return dirty


def run_batch(engine: Engine, jobs: list[Job], source: Source) -> Commit:
    """One transaction for all jobs. Their answers and errors are set; returns what happened, in order."""
    failpoint("write.begin")
    try:
        engine.begin()
        failpoint("write.begun")
        desk = engine.load([job.scope for job in jobs])
        failpoint("write.loaded")
        last_event = desk.last_event
        dirty = decided(desk, jobs, source)
        if dirty:
            engine.write(dirty)
        failpoint("write.precommit")
        engine.commit()
        failpoint("write.postcommit")
    except BaseException:  # whatever stopped it, nothing of the batch may stay
        engine.rollback()
        raise
    return dirty.commit(last_event, alone=desk.alone)


def run_jobs(engine: Engine, jobs: list[Job], source: Source) -> list[Commit]:
    """A batch; where one row in it is bad, each command alone, so that only its own fails."""
    try:
        return [run_batch(engine, jobs, source)]
    except BadRow as bad:
        if has_only_bad(jobs, bad):
            return []
    done: list[Commit] = []
    left = deque(jobs)
    while left:
        try:
            done += run_jobs(engine, [left[0]], source)
        except Exception as failure:  # those before it are committed, and have to hear so
            fail_alone(left, failure)
        left.popleft()
    return done


def fail_alone(left: deque[Job], failure: Exception) -> None:
    """Of commands that are tried one by one, the first of these failed. Where the store is out of reach, so did those
    behind it: trying each of them would take as long again."""
    left[0].error, left[0].answer = failure, None
    while isinstance(failure, StoreUnwritable) and len(left) > 1:
        left.pop().error = failure


def has_only_bad(jobs: list[Job], bad: BadRow) -> bool:
    """A row was bad: whether it is known whose. That caller then gets the error; otherwise each command is tried
    alone."""
    for job in jobs:
        job.error = job.answer = None
    if len(jobs) == 1:
        jobs[0].error = BadValue(f"this cannot be stored: {bad}", detail="nothing was written")
    return len(jobs) == 1


class Writer:
    """What all runners share: the waiting commands, bounded, and how callers get their answers."""

    def __init__(self, source: Source, on_commit: Callable[[Commit], None]) -> None:
        self._source = source
        self._on_commit = on_commit
        self._waiting: deque[Job] = deque()
        self._chores: deque[Chore] = deque()
        self._closing = False
        self._asleep = False
        """The writer waits for work. Set before it looks for some, so that whoever adds some and does not see it
        asleep is seen; taking the lock for each command would cost more than the rest of adding it."""
        self._telling = False
        """Callers of the last batch are still getting their answers. What they write next belongs in the next
        batch, so the writer waits for it: starting now would only take the interpreter from them, for a smaller
        batch."""
        self._loop = asyncio.get_running_loop()
        self._began = 0.0
        """When the batch under way was taken up."""
        self._hosts_moved = True
        """Hosts may have come or gone since the last commit that listeners heard of; commits without events are not
        announced."""
        self.watchers: list[BatchWatcher] = []

    def submit(self, verb: Verb[Any, Any], command: Any, *, dry: bool = False) -> "asyncio.Future[Any]":
        """The answer to come: after the synced commit; for a dry run, after deciding."""
        if self._closing:
            raise StoreUnwritable("the store is closing", fix=("try again when the hub is back",))
        if len(self._waiting) >= MAX_WAITING:
            raise StoreUnwritable(
                f"{MAX_WAITING} writes are already waiting", fix=("slow down",), retry_after_ms=1000
            )
        done = self._loop.create_future()
        job = Job(verb, command, dry, done)
        self._waiting.append(job)
        if self._asleep and not self._telling:
            self._wake()
        return done

    async def _called(self, work: Callable[[], Any]) -> Any:
        if self._closing:
            raise StoreUnwritable("the store is closing", fix=("try again when the hub is back",))
        chore = Chore(work)
        chore.done = self._loop.create_future()
        self._chores.append(chore)
        self._wake()
        return await chore.done

    def _wake(self) -> None:
        """Wake the writer: there is work, or it is to stop."""
        raise NotImplementedError

    def _batch(self) -> tuple[list[Job], Chore | None]:
        """What queued meanwhile, as one batch, and at most one chore."""
        count = min(len(self._waiting), MAX_IN_BATCH)
        self._began = perf_counter()
        jobs = [self._waiting.popleft() for _ in range(count)]
        return jobs, self._chores.popleft() if self._chores else None

    def _settle(self, jobs: list[Job], error: BaseException | None, done: list[Commit]) -> None:
        try:
            for watcher in self.watchers:
                watcher(len(jobs), perf_counter() - self._began, error is not None)
            failpoint("write.preack")
            for commit in done:
                self._hosts_moved = self._hosts_moved or commit.hosts_may_differ
                if commit.events:
                    commit.hosts_may_differ, self._hosts_moved = self._hosts_moved, False
                    self._on_commit(commit)
        finally:
            self._ack(jobs, error, 0)  # whatever a listener did, it is committed, and its callers are told

    def _ack(self, jobs: list[Job], error: BaseException | None, start: int) -> None:
        end = start + ACKS_PER_PASS
        for job in jobs[start:end]:
            settle(job, error)
        if end < len(jobs):
            self._loop.call_soon(self._ack, jobs, error, end)
        else:
            self._loop.call_soon(self._all_answered)

    def _all_answered(self) -> None:
        """All callers have their answers, and have had a chance to write again."""
        self._telling = False
        self._wake()


class Runner(Writer):
    """The store's write side over an engine, with one writer thread."""

    def __init__(self, engine: Engine, source: Source, on_commit: Callable[[Commit], None]) -> None:
        super().__init__(source, on_commit)
        self._engine = engine
        self._work = threading.Condition()
        self._thread = threading.Thread(target=self._write, name="moot-writer", daemon=True)
        self._thread.start()

    async def call(self, work: Callable[[], T]) -> T:
        """Run something on the writer's thread, between two batches."""
        answer: T = await self._called(work)
        return answer

    async def close(self) -> None:
        """Finish what was accepted, then stop the writer and the engine."""
        self._closing = True
        self._wake()
        await asyncio.to_thread(self._thread.join)

    def _wake(self) -> None:
        with self._work:
            self._work.notify()

    def _write(self) -> None:
        while (work := self._next_work()) is not None:
            jobs, chore = work
            if jobs:
                error: BaseException | None = None
                done: list[Commit] = []
                try:
                    done = run_jobs(self._engine, jobs, self._source)
                except SystemExit as fatal:
                    end_process(fatal)
                except BaseException as failure:  # the batch failed as one; its callers hear it
                    error = failure
                self._telling = True
                self._loop.call_soon_threadsafe(self._settle, jobs, error, done)
            if chore is not None:
                chore.run()
                self._loop.call_soon_threadsafe(settle, chore, None)
        self._engine.close()

    def _next_work(self) -> tuple[list[Job], Chore | None] | None:
        """None when all is done and closed."""
        with self._work:
            self._asleep = True
            while self._telling or not (self._waiting or self._chores):
                if self._closing and not self._telling:
                    return None
                self._work.wait()
            self._asleep = False
            return self._batch()


def end_process(fatal: SystemExit) -> NoReturn:
    """A sync that failed may have lost what the page cache said it held: nothing more can be promised."""
    sys.stderr.write(f"{fatal}\n")
    sys.stderr.flush()
    os._exit(1)


def settle(job: Job | Chore, error: BaseException | None) -> None:
    """Tell the caller how its command went."""
    if job.done is None or job.done.done():
        return
    failure = error or job.error
    if failure is None:
        job.done.set_result(job.answer)
    elif isinstance(failure, MootError | Exception):
        job.done.set_exception(failure)
    else:
        job.done.set_exception(RuntimeError(f"the writer stopped: {failure!r}"))
