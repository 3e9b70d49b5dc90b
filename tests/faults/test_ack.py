"""When a caller is told `ok`, and what a transaction may leave: the two sentences everything else rests on.

An acknowledgement goes out after a synced commit and never before; what failed, was refused or only previewed
leaves nothing, neither on the disk nor for the next command of the same transaction.
"""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from moot.errors import StoreUnwritable
from moot.flow import post
from moot.model.conversation import GroupSettings
from moot.model.event import Event
from moot.model.ids import ParticipantId
from moot.model.limits import Limits
from moot.stores.desk import Dirty
from moot.stores.memory_engine import MemoryEngine, Shelf
from moot.stores.runner import Job, run_batch
from moot.stores.sqlite.store import SqliteStore
from tests.support.waiting import PATIENCE
from tests.support.world import World

USER = ParticipantId("user")
FULL = 2


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    world = World("sqlite", tmp_path, GroupSettings(), Limits())
    await world.open()
    await world.enrol(["ann", "ben"], [], [])
    await world.make("room", ["ann", "ben"], "group", {})
    yield world
    await world.close()


def around_commit(store: SqliteStore, instead: Callable[[Callable[[], None]], None]) -> None:
    """Put something around the commit of a batch that holds a message; it runs in the writer's thread."""
    engine = store._engine
    write, commit = engine.write, engine.commit
    holds_message = [False]

    def noting(dirty: Dirty) -> None:
        holds_message[0] = bool(dirty.messages)
        write(dirty)

    engine.write = noting  # type: ignore[method-assign]
    engine.commit = lambda: instead(commit) if holds_message[0] else commit()  # type: ignore[method-assign]


async def test_an_answer_waits_for_the_commit(world: World) -> None:
    reached, go = threading.Event(), threading.Event()

    def held(commit: Callable[[], None]) -> None:
        reached.set()
        assert go.wait(PATIENCE)
        commit()

    around_commit(world.store, held)
    posting = asyncio.create_task(world.post("room", "user", "hello @ann", key="k"))
    try:
        assert await asyncio.to_thread(reached.wait, PATIENCE)
        for _ in range(100):
            await asyncio.sleep(0)
        assert not posting.done(), "the caller was told before the commit"
    finally:
        go.set()
    assert (await posting).seq == 1


async def test_what_could_not_be_committed_is_nobodys_answer(world: World) -> None:
    told: list[Event] = []
    world.store._tell = told.extend

    def failing(commit: Callable[[], None]) -> None:
        raise StoreUnwritable("the disk is full")

    commit = world.store._engine.commit
    around_commit(world.store, failing)
    with pytest.raises(StoreUnwritable):
        await world.post("room", "user", "hello @ann", key="k")
    world.store._engine.commit = commit
    assert told == []
    assert await world.messages("room") == []
    again = await world.post("room", "user", "hello @ann", key="k")
    assert (again.seq, again.replayed) == (1, False)


async def test_the_writer_syncs_every_commit(world: World) -> None:
    """A kill cannot see this, the page cache survives it; a power cut would."""
    health = await world.store.check()
    assert health.durable
    assert health.facts == {"journal": "wal", "synchronous": str(FULL)}


async def test_a_preview_leaves_nothing_for_the_next_command_of_its_transaction() -> None:
    world = World("memory", Path(), GroupSettings(), Limits())
    await world.open()
    await world.enrol(["ann", "ben"], [], [])
    await world.make("room", ["ann", "ben"], "group", {})
    shelf: Shelf = world.shelf
    alone = await world.store.preview(post, post.posting(USER, "room", "hello everybody"))
    jobs = [
        Job(post, post.posting(USER, "room", "what if @ben @ann", key="k1"), dry=True),
        Job(post, post.posting(USER, "room", "hello everybody"), dry=False),
    ]
    run_batch(MemoryEngine(shelf), jobs, world.source)
    assert [job.error for job in jobs] == [None, None]
    assert jobs[1].answer.receipt() == alone.receipt()
    assert [message.text for message in await world.messages("room")] == ["hello everybody"]
    assert await world.show("room") == ["ann may ready"]


async def test_a_refusal_leaves_nothing_for_the_next_command_of_its_transaction() -> None:
    """The limiter's eleventh message is refused after the pair was looked at; the twelfth finds ten."""
    world = World("memory", Path(), GroupSettings(), Limits())
    await world.open()
    await world.enrol(["ann", "ben"], [], [])
    await world.make("pair", ["ann", "ben"], "direct", {})
    jobs = [
        Job(post, post.posting(ParticipantId("ann"), "pair", f"number {n} of twelve in a row"), dry=False)
        for n in range(12)
    ]
    run_batch(MemoryEngine(world.shelf), jobs, world.source)
    assert [type(job.error).__name__ for job in jobs] == ["NoneType"] * 10 + ["RateLimited"] * 2
    [pair] = world.shelf.pairs.values()
    assert len(pair.sent) == 10
    assert [message.seq for message in await world.messages("pair")] == list(range(1, 11))
