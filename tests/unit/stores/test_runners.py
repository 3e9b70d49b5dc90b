"""Both runners, over an engine in a thread and an asynchronous one: the same batches, answers and failures."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from typing import Any, cast

import pytest

from moot.errors import BadValue, NotFound, StoreUnwritable
from moot.model.change import Decision, Emit
from moot.model.event import Commit, Event, EventType
from moot.model.limits import Terms
from moot.ports import Scope
from moot.stores import async_runner, runner
from moot.stores.async_runner import AsyncRunner, TryAgain
from moot.stores.desk import Desk, Dirty
from moot.stores.ids import ConversationIds
from moot.stores.memory_engine import MemoryEngine, Shelf
from moot.stores.runner import BadRow, Runner, Source
from tests.contract.store.verbs import Act, act, acting
from tests.support.waiting import PATIENCE

BAD = "bad"


class Plan:
    """What an engine did, and where it fails."""

    def __init__(self) -> None:
        self.shelf = Shelf()
        self.steps: list[str] = []
        self.sizes: list[int] = []
        self.fails: dict[str, BaseException] = {}
        self.gone_after = 0
        """How many commits there are before it is out of reach."""

    def step(self, name: str) -> None:
        self.steps.append(name)
        if name == "begin" and self.gone_after and self.steps.count("commit") == self.gone_after:
            raise StoreUnwritable("the server went away")
        if name in self.fails:
            raise self.fails[name]

    def batch(self, scopes: Sequence[Scope]) -> Desk:
        self.step("load")
        self.sizes.append(len(scopes))
        return MemoryEngine(self.shelf).load(scopes)

    def written(self, dirty: Dirty) -> None:
        self.step("write")
        if any(event.type == BAD for event in dirty.events):
            raise BadRow("a bad event")

    @property
    def stored(self) -> list[str]:
        return [event.type for event in self.shelf.events]


class ThreadEngine:
    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self._dirty = Dirty()

    def begin(self) -> None:
        self.plan.step("begin")
        self._dirty = Dirty()

    def load(self, scopes: Sequence[Scope]) -> Desk:
        return self.plan.batch(scopes)

    def write(self, dirty: Dirty) -> None:
        self.plan.written(dirty)
        self._dirty = dirty

    def commit(self) -> None:
        self.plan.step("commit")
        MemoryEngine(self.plan.shelf).write(self._dirty)

    def rollback(self) -> None:
        self.plan.steps.append("rollback")

    def close(self) -> None:
        self.plan.steps.append("close")


class TaskEngine:
    """The same, with the loop given to others in each step."""

    def __init__(self, plan: Plan) -> None:
        self._engine = ThreadEngine(plan)

    async def begin(self) -> None:
        await asyncio.sleep(0)
        self._engine.begin()

    async def load(self, scopes: Sequence[Scope]) -> Desk:
        await asyncio.sleep(0)
        return self._engine.load(scopes)

    async def write(self, dirty: Dirty) -> None:
        await asyncio.sleep(0)
        self._engine.write(dirty)

    async def commit(self) -> None:
        await asyncio.sleep(0)
        self._engine.commit()

    async def rollback(self) -> None:
        await asyncio.sleep(0)
        self._engine.rollback()

    async def again(self, reason: TryAgain) -> None:
        raise reason

    async def close(self) -> None:
        await asyncio.sleep(0)
        self._engine.close()


class World:
    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.plan = Plan()
        self.told: list[str] = []
        self.on_commit: Callable[[Commit], None] = lambda commit: None
        source = Source(lambda: 1.0, Terms(), ConversationIds(lambda: 1.0))
        self.runner: Runner | AsyncRunner = (
            Runner(ThreadEngine(self.plan), source, self._committed)
            if kind == "thread"
            else AsyncRunner(TaskEngine(self.plan), source, self._committed)
        )

    def _committed(self, commit: Commit) -> None:
        self.told += [event.type for event in commit.events]
        self.on_commit(commit)

    async def do(self, *acts: Act, dry: bool = False) -> list[Any]:
        """All at once; errors come back as values."""
        async with asyncio.timeout(PATIENCE):
            waiting = [self.runner.submit(acting, one, dry=dry) for one in acts]
            return await asyncio.gather(*waiting, return_exceptions=True)

    async def call(self, work: Callable[[], Any]) -> Any:
        if isinstance(self.runner, Runner):
            return await self.runner.call(work)

        async def awaited() -> Any:
            await asyncio.sleep(0)
            return work()

        return await self.runner.call(awaited)


@pytest.fixture(params=["thread", "task"])
async def world(request: pytest.FixtureRequest) -> AsyncIterator[World]:
    world = World(request.param)
    yield world
    await world.runner.close()


def saying(kind: str) -> Act:
    return act(lambda seen, at: Decision([Emit(Event(cast(EventType, kind), at.now))], kind))


def refusing() -> Act:
    def refuse(seen: Any, at: Any) -> Any:
        raise NotFound("nobody is here", what="agent", ref="x")

    return act(refuse)


async def test_commands_that_wait_are_one_batch_and_one_commit(world: World) -> None:
    assert await world.do(saying("first")) == ["first"]
    kinds = [f"n{n}" for n in range(100)]
    assert await world.do(*map(saying, kinds)) == kinds
    assert world.told == world.plan.stored == ["first", *kinds]
    assert sum(world.plan.sizes) == 101
    assert len(world.plan.sizes) <= 4, "what queued during a commit is the next batch"


async def test_no_batch_is_larger_than_the_most(world: World) -> None:
    many = runner.MAX_IN_BATCH * 2 + 10
    await world.do(*[saying("x")] * many)
    assert max(world.plan.sizes) <= runner.MAX_IN_BATCH
    assert len(world.told) == many


async def test_a_refusal_is_its_callers_alone_and_leaves_nothing(world: World) -> None:
    first, refused, second = await world.do(saying("one"), refusing(), saying("two"))
    assert (first, second) == ("one", "two")
    assert isinstance(refused, NotFound)
    assert world.plan.stored == ["one", "two"]


async def test_a_bad_row_fails_only_its_own_command(world: World) -> None:
    first, bad, second = await world.do(saying("one"), saying(BAD), saying("two"))
    assert (first, second) == ("one", "two")
    assert isinstance(bad, BadValue)
    assert world.told == world.plan.stored == ["one", "two"]


async def test_of_commands_tried_one_by_one_the_stored_are_told_so_whatever_happens_then(
    world: World,
) -> None:
    world.plan.gone_after = 2
    said = await world.do(saying("one"), saying("two"), saying(BAD), saying("three"))
    assert said[:2] == ["one", "two"]
    assert [type(one) for one in said[2:]] == [StoreUnwritable, StoreUnwritable]
    assert world.told == world.plan.stored == ["one", "two"]
    assert world.plan.steps.count("begin") == 4, "nobody asks a server that is away for each of them"


async def test_a_watcher_that_fails_keeps_nobody_waiting(world: World) -> None:
    asyncio.get_running_loop().set_exception_handler(lambda loop, context: None)

    def fails(*_: Any) -> None:
        raise ValueError("a watcher")

    world.runner.watchers.append(fails)
    assert await world.do(saying("one")) == ["one"]
    assert await world.do(saying("two")) == ["two"]


@pytest.mark.parametrize("step", ["begin", "load", "write", "commit"])
async def test_where_a_step_fails_all_fail_nothing_stays_and_the_next_batch_goes_on(
    world: World, step: str
) -> None:
    world.plan.fails[step] = StoreUnwritable("the disk is full")
    failed = await world.do(saying("one"), saying("two"))
    assert [type(one) for one in failed] == [StoreUnwritable, StoreUnwritable]
    assert world.plan.stored == world.told == []
    assert "rollback" in world.plan.steps, "also what was half begun"
    world.plan.fails.clear()
    assert await world.do(saying("three")) == ["three"]
    assert world.plan.stored == ["three"]


async def test_a_failed_commit_is_never_tried_again(world: World) -> None:
    world.plan.fails["commit"] = StoreUnwritable("the server went away")
    await world.do(saying("one"), saying("two"))
    assert world.plan.steps.count("commit") <= 2, "once for each batch there was"
    assert world.plan.steps.count("commit") == world.plan.steps.count("begin")


async def test_what_only_looks_is_answered_and_not_stored(world: World) -> None:
    assert await world.do(saying("what if"), dry=True) == ["what if"]
    assert world.plan.stored == world.told == []
    assert "write" not in world.plan.steps


async def test_callers_are_told_after_the_commit_whatever_a_listener_does(world: World) -> None:
    caught: list[Any] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda loop, context: caught.append(context["exception"])
    )

    def fails(commit: Commit) -> None:
        assert "commit" in world.plan.steps
        raise ValueError("a listener")

    world.on_commit = fails
    assert await world.do(saying("one")) == ["one"]
    assert await world.do(saying("two")) == ["two"]
    assert [type(one) for one in caught] == [ValueError, ValueError]


async def test_chores_run_between_batches_and_their_errors_are_their_callers(world: World) -> None:
    def broken() -> None:
        raise ValueError("a chore")

    seen: list[list[str]] = []
    writing = [world.runner.submit(acting, saying("one"))]
    await world.call(lambda: seen.append(list(world.plan.steps)))
    await asyncio.gather(*writing)
    assert not seen[0] or seen[0][-1] == "commit"
    with pytest.raises(ValueError, match="a chore"):
        await world.call(broken)
    assert await world.do(saying("two")) == ["two"]


async def test_closing_finishes_what_was_accepted_and_takes_no_more(world: World) -> None:
    waiting = [world.runner.submit(acting, saying(f"n{n}")) for n in range(20)]
    await world.runner.close()
    assert await asyncio.gather(*waiting) == [f"n{n}" for n in range(20)]
    assert world.plan.steps[-1] == "close"
    with pytest.raises(StoreUnwritable, match="closing"):
        world.runner.submit(acting, saying("late"))
    with pytest.raises(StoreUnwritable, match="closing"):
        await world.call(list)


async def test_too_many_that_wait_are_refused(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runner, "MAX_WAITING", 0)
    with pytest.raises(StoreUnwritable, match="0 writes are already waiting"):
        world.runner.submit(acting, saying("x"))


async def test_a_sync_that_failed_ends_the_process_of_a_task_too(monkeypatch: pytest.MonkeyPatch) -> None:
    ended: list[str] = []

    def end(fatal: SystemExit) -> None:
        ended.append(str(fatal))
        raise StoreUnwritable("in a test the process goes on")

    monkeypatch.setattr(async_runner, "end_process", end)
    world = World("task")
    assert isinstance(world.runner, AsyncRunner)
    world.plan.fails["commit"] = SystemExit("the disk lost what it had")
    world.runner.submit(acting, saying("one"))
    with pytest.raises(StoreUnwritable, match="in a test"):
        await world.runner._task
    assert ended == ["the disk lost what it had"]


async def test_a_writing_task_that_is_ended_tells_all_who_wait() -> None:
    world = World("task")
    writer = world.runner
    assert isinstance(writer, AsyncRunner)
    waiting: list[asyncio.Future[Any]] = []

    def ends(seen: Any, at: Any) -> Decision[None]:
        waiting.append(writer.submit(acting, saying("behind it")))
        writer._task.cancel()
        return Decision([Emit(Event(cast(EventType, "half done"), at.now))], None)

    waiting.append(writer.submit(acting, act(ends)))
    with pytest.raises(asyncio.CancelledError):
        await writer._task
    told = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(one) for one in told] == [RuntimeError, RuntimeError]
    assert world.plan.stored == []
    assert world.plan.steps[-2:] == ["rollback", "close"]
