"""On PostgreSQL a desk is kept while no other hub writes, and then holds what a fresh one would."""

import asyncio
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import asyncpg
import pytest
from hypothesis import given, settings
from msgspec import structs

from moot.flow import configure, create, enrol, pause, post
from moot.flow.enrol import Newcomer
from moot.model.change import Change, Decision, PutConversation, PutMember, PutParticipant, PutTurn, TalkIn
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.limits import Terms
from moot.model.participant import Kind
from moot.model.turn import TurnState
from moot.ports import Scope
from moot.stores import kept_desk
from moot.stores.desk import Dirty, chains_of
from moot.stores.fold import fold
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of
from moot.stores.postgres.batch.load import LockedLoad
from moot.stores.postgres.batch.numbered_desk import Demanded, NumberedDesk
from moot.stores.postgres.engine import PostgresEngine
from moot.stores.postgres.server import Server
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from tests.replay.test_invariants import History, histories, setups, times
from tests.replay.test_kept_desk import MEMBER, NOTHING, ROOM, RUNNING, SEAT, assert_same
from tests.replay.test_work import act_out, playing, policies
from tests.replay.test_work import histories as work_histories
from tests.support.history import Player, Setup
from tests.support.postgres import empty_database

USER, ARYA = ParticipantId("user"), ParticipantId("arya")
load = LockedLoad.desk


class Compared:
    """Every desk that is loaded is compared with a fresh one; `kept` counts those that came from the batch before."""

    def __init__(self) -> None:
        self.kept = 0

    def install(self, patch: pytest.MonkeyPatch) -> None:
        async def load_twice(loading: LockedLoad, connection: Any, scopes: Sequence[Scope]) -> NumberedDesk:
            desk = await load(loading, connection, scopes)
            fresh_load = LockedLoad(loading._place, loading._schema)
            fresh_load.demands = loading.demands
            fresh = await load(fresh_load, connection, scopes)
            self.kept += desk.alone
            for root in [root for root in chains_of(fresh) if desk.lacks(root)]:
                desk.roots[root] = fresh.roots.get(root)  # type: ignore[assignment]  # it would be fetched when asked for
            assert_same(desk, fresh, scopes)
            return desk

        patch.setattr(LockedLoad, "desk", load_twice)


@pytest.mark.parametrize("most_rooms", [1, 1024])
@settings(max_examples=times(0.1))
@given(setup=setups, history=histories)
@pytest.mark.timeout(900)
def test_a_desk_kept_on_postgresql_holds_what_a_fresh_one_would(
    most_rooms: int, setup: Setup, history: History
) -> None:
    compared = Compared()
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        compared.install(patch)
        patch.setattr(kept_desk, "MAX_ROOMS", most_rooms)
        player = Player(setup, "postgresql", Path(folder))
        player.begin()
        try:
            for act in history:
                player.act(*act)
            player.settle(talk=2)
        finally:
            player.close()


@settings(max_examples=times(0.1))
@given(policy=policies, history=work_histories)
@pytest.mark.timeout(900)
def test_a_desk_kept_on_postgresql_holds_what_a_fresh_one_would_of_tasks(
    policy: str, history: History
) -> None:
    with pytest.MonkeyPatch.context() as patch:
        Compared().install(patch)
        with playing(policy, "postgresql") as player:
            act_out(player, history)


class Two:
    """Two hubs on one database, and a conversation."""

    def __init__(self, url: str, ours: PostgresStore, theirs: PostgresStore, where: ConversationId) -> None:
        self.url = url
        self.ours = ours
        self.theirs = theirs
        self.where = where

    async def say(self, store: PostgresStore, text: str = "hello") -> int:
        said = await store.transact(post, post.posting(USER, self.where, text))
        return int(said.message.seq)

    def has_kept(self) -> bool:
        engine: Any = self.ours._runner._engine
        return bool(engine._desk.alone)

    async def settle_in(self) -> None:
        """Ours has heard that nobody else writes."""
        for _ in range(3):
            await self.say(self.ours)
        assert self.has_kept()


@pytest.fixture
async def two() -> Any:
    url = await empty_database()
    source = Source(time.time, Terms(), ConversationIds())
    ours, theirs = [await PostgresStore.open(address_of(url), source) for _ in range(2)]
    await ours.transact(enrol, enrol.Enrol((Newcomer("user", Kind.HUMAN), Newcomer("arya", Kind.AGENT))))
    made = await ours.transact(create, create.Create(USER, "room", ("arya",)))
    yield Two(url, ours, theirs, made.id)
    await asyncio.gather(ours.close(), theirs.close())


async def test_a_desk_is_kept_until_another_hub_writes(two: Two) -> None:
    await two.settle_in()
    assert await two.say(two.theirs) == 4
    assert await two.say(two.ours) == 5
    assert not two.has_kept()
    await two.settle_in()


async def test_what_a_hub_wrote_is_seen_when_it_has_closed(two: Two) -> None:
    """Its row goes with it; that it wrote must not."""
    await two.settle_in()
    passing = await PostgresStore.open(address_of(two.url), Source(time.time, Terms(), ConversationIds()))
    head = await two.say(passing)
    await passing.close()
    await two.ours.transact(configure, configure.Configure(USER, two.where, name="hall"))
    assert await two.say(two.ours) > head


async def test_hubs_that_write_in_turn_never_give_a_seq_twice(two: Two) -> None:
    seqs = [await two.say(store) for _ in range(10) for store in (two.ours, two.theirs)]
    assert seqs == list(range(1, 21))
    together = await asyncio.gather(*(two.say(store) for _ in range(20) for store in (two.ours, two.theirs)))
    assert sorted(together) == list(range(21, 61))


async def test_what_another_hub_changes_besides_talk_is_seen_too(two: Two) -> None:
    await two.settle_in()
    await two.theirs.transact(pause, pause.Pause("arya", paused=True))
    await two.say(two.ours, "@arya are you there?")
    [arya] = [one for one in await two.ours.participants() if one.id == ARYA]
    assert arya.paused
    desk: Any = two.ours._runner._engine._desk  # type: ignore[attr-defined]
    assert desk.participants[ARYA].paused


async def test_what_is_written_by_hand_is_seen(two: Two) -> None:
    """An operator at the server's own shell, or an older Moot, names itself nowhere; the tables note it."""
    await two.settle_in()
    address = address_of(two.url)
    connection = await asyncpg.connect(address.dsn, server_settings={"search_path": address.schema})
    await connection.execute("UPDATE conversations SET next_seq = 100 WHERE id = $1", two.where)
    await connection.close()
    assert await two.say(two.ours) == 100


async def test_nothing_is_kept_of_a_batch_that_failed(two: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    await two.settle_in()
    engine: Any = two.ours._runner._engine

    async def fail(dirty: Any) -> None:
        raise OSError("the disk of the client is gone")

    with monkeypatch.context() as patch:
        patch.setattr(engine, "write", fail)
        with pytest.raises(OSError, match="gone"):
            await two.say(two.ours)
    assert await two.say(two.ours) == 4
    assert not two.has_kept()


async def batch(engine: PostgresEngine, *changes: Change, scope: Scope = NOTHING) -> NumberedDesk:
    await engine.begin()
    desk, dirty = await engine.load([scope]), Dirty()
    fold(desk, changes, dirty)
    if dirty:
        await engine.write(dirty)
    await engine.commit()
    assert isinstance(desk, NumberedDesk)
    return desk


async def test_members_who_have_changed_come_with_a_room_that_only_a_turn_names() -> None:
    engine = await PostgresEngine.open(Server(address_of(await empty_database())))
    seat = structs.replace(SEAT, conversation=ROOM.id)
    ended = structs.replace(RUNNING, state=TurnState.SAID)
    await batch(engine, PutConversation(ROOM), PutParticipant(MEMBER), PutMember(seat), PutTurn(ended))
    here = Scope(conversations=(ROOM.id,))
    await batch(engine, scope=here)
    first = await batch(engine, scope=here)
    await batch(
        engine, PutParticipant(structs.replace(MEMBER, display="Asked")), scope=Scope(names=(MEMBER.id,))
    )
    desk = await batch(engine, scope=Scope(turns=(ended.id,)))
    assert desk is first
    assert desk.participants[MEMBER.id].display == "Asked"
    await engine.close()


async def test_a_room_on_the_desk_that_was_not_locked_is_not_written() -> None:
    """The batch is run again with its lock."""
    engine = await PostgresEngine.open(Server(address_of(await empty_database())))
    await batch(engine, PutConversation(ROOM))
    here = Scope(conversations=(ROOM.id,))
    for _ in range(2):
        await batch(engine, scope=here)
    await engine.begin()
    desk, dirty = await engine.load([NOTHING]), Dirty()
    fold(desk, [TalkIn(structs.replace(ROOM, next_seq=9))], dirty)
    with pytest.raises(Demanded, match="was not locked"):
        await engine.write(dirty)
    await engine.rollback()
    assert engine._loading.demands.conversations == {ROOM.id}
    await engine.close()


async def test_a_decision_may_ask_for_many_chains_that_were_not_loaded(two: Two) -> None:
    asked = [RootId(f"elsewhere:{n}") for n in range(20)]

    def decide(command: None, seen: Any, at: Any) -> Decision[int]:
        return Decision([], sum(seen.root(root) is None for root in asked))

    verb: Any = SimpleNamespace(scope=lambda command: NOTHING, decide=decide)
    assert await two.ours.transact(verb, None) == len(asked)


async def test_a_writer_that_closes_leaves_no_row(two: Two) -> None:
    await two.say(two.theirs)
    await two.say(two.ours)
    address = address_of(two.url)
    connection = await asyncpg.connect(address.dsn, server_settings={"search_path": address.schema})
    assert await connection.fetchval("SELECT count(*) FROM writers WHERE id NOT IN ('', '-')") == 2
    await two.theirs.close()
    assert await connection.fetchval("SELECT count(*) FROM writers WHERE id NOT IN ('', '-')") == 1
    await connection.close()
