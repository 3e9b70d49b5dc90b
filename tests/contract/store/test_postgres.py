"""What only a database server can get wrong: who it is, who else writes, what becomes of an answer that is lost."""

import asyncio
import time
from collections.abc import AsyncIterator
from functools import partial
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from msgspec import structs

from moot.errors import BadValue, Conflict, StoreNewer, StoreUnwritable
from moot.flow import create, enrol, post
from moot.flow.enrol import Newcomer
from moot.model.chain import Pair, Root
from moot.model.change import (
    Decision,
    PutConversation,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRecord,
    PutRoot,
    PutTurn,
)
from moot.model.conversation import ConversationKind, Member
from moot.model.ids import ParticipantId, RootId, TurnId
from moot.model.limits import Terms
from moot.model.moment import Moment
from moot.model.participant import Kind, Participant, Quota
from moot.model.query import Query
from moot.model.records.bookmark import BOOKMARKS
from moot.model.turn import RuleName, TurnState
from moot.ports import Page
from moot.rules.draft import Seen
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of
from moot.stores.postgres.migrate import shipped
from moot.stores.postgres.statements import SCHEMA
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store import samples
from tests.contract.store.verbs import act, acting, conversation, do, look, put, say
from tests.support.postgres import empty_database, server
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("K-04")

ROOM = conversation("room")
ANN, BOB = ParticipantId("ann"), ParticipantId("bob")


def source() -> Source:
    return Source(time.time, Terms(), ConversationIds())


async def opened(url: str, **options: Any) -> PostgresStore:
    return await PostgresStore.open(address_of(url, **options), source())


@pytest.fixture
async def url() -> str:
    return await empty_database()


@pytest.fixture
async def two(url: str) -> AsyncIterator[tuple[PostgresStore, PostgresStore]]:
    """Two hubs on one database."""
    stores = await opened(url), await opened(url)
    yield stores
    for store in stores:
        await store.close()


@pytest.fixture
async def sql(url: str) -> AsyncIterator[Any]:
    connection = await asyncpg.connect(url, server_settings={"search_path": "moot"})
    yield connection
    await connection.close()


# --- the server ----------------------------------------------------------------------------------------------


async def test_a_server_that_may_lose_what_it_acknowledged_is_refused_unless_that_is_fine(sql: Any) -> None:
    await sql.execute("CREATE DATABASE lax")
    try:
        await sql.execute("ALTER DATABASE lax SET synchronous_commit = off")
        with pytest.raises(StoreUnwritable, match="synchronous_commit=off"):
            await opened(server().url("lax"))
        store = await opened(server().url("lax"), unsafe=True)
        assert (await store.check()).durable is False
        await store.close()
    finally:
        await sql.execute("DROP DATABASE lax WITH (FORCE)")


async def test_another_encoding_is_refused(sql: Any) -> None:
    await sql.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0")
    try:
        with pytest.raises(StoreUnwritable, match="LATIN1"):
            await opened(server().url("latin"))
    finally:
        await sql.execute("DROP DATABASE latin WITH (FORCE)")


async def test_a_newer_schema_is_refused_and_left_alone(url: str, sql: Any) -> None:
    there = f"{url}&schema=newer"
    await (await opened(there)).close()
    await sql.execute("INSERT INTO newer.schema_version VALUES (99, 99, '9.9', 'then')")
    try:
        with pytest.raises(StoreNewer, match=r"9\.9"):
            await opened(there)
    finally:
        await sql.execute("DROP SCHEMA newer CASCADE")


async def test_an_older_schema_is_brought_up_whatever_its_shapes_show(url: str, sql: Any) -> None:
    there = f"{url}&schema=older"
    await sql.execute("CREATE SCHEMA older; SET search_path TO older")
    try:
        await sql.execute(SCHEMA.versions)
        for step in shipped()[:7]:
            await sql.execute(step.script)
            await sql.execute(SCHEMA.record, step.number, 1, "0.1.0", "then")
        await sql.execute("CREATE VIEW cli_sessions_shape AS SELECT * FROM cli_sessions")
        store = await opened(there)
        await put(store, PutConversation(ROOM))
        await store.close()
    finally:
        await sql.execute("DROP SCHEMA older CASCADE")


async def test_several_hubs_may_start_at_once_on_a_database_that_has_nothing(url: str, sql: Any) -> None:
    there = f"{url}&schema=fresh"
    try:
        stores = await asyncio.gather(*(opened(there) for _ in range(4)))
        await put(stores[0], PutConversation(ROOM))
        assert [await store.conversation("room") for store in stores] == [ROOM] * 4
        for store in stores:
            await store.close()
    finally:
        await sql.execute("DROP SCHEMA fresh CASCADE")


async def test_no_secret_of_an_address_is_ever_shown() -> None:
    where = "postgresql://moot:hunter2@127.0.0.1:1/moot?sslmode=disable&password=hunter2"
    with pytest.raises(StoreUnwritable) as gone:
        await opened(where)
    assert "hunter2" not in f"{gone.value.to_dict()} {gone.value} {gone.value.detail}"
    assert gone.value.retry_after_ms


@pytest.mark.parametrize("url", ["postgresql://h/d?schema=Bad-Name", "postgresql://h:port/d"])
def test_an_address_that_cannot_be_one_is_refused(url: str) -> None:
    with pytest.raises(BadValue, match=r"store\.url"):
        address_of(url)


async def test_ids_go_on_behind_those_of_a_dump_from_a_busier_server(url: str, sql: Any) -> None:
    store = await opened(url)
    await put(store, PutConversation(ROOM))
    await say(store, ROOM.id, "before")
    far = ((await sql.fetchval("SELECT max(id) FROM events") >> 16) + 1_000_000) << 16
    await sql.execute("UPDATE events SET id = $1", far)
    await store.close()
    store = await opened(url)
    await say(store, ROOM.id, "after")
    assert await sql.fetchval("SELECT min(id) FROM events") == far
    assert await store.last_event() > far
    await store.close()
    await sql.execute("UPDATE counters SET value = 0 WHERE name = 'base'")


# --- others who write ------------------------------------------------------------------------------------------


def more(kind: str) -> Any:
    """A command that counts on in a row which no conversation guards."""
    mark = structs.replace(samples.BOOKMARK, seq=0)

    def decide(seen: Seen, at: Moment) -> Decision[int]:
        if kind == "record":
            bookmark = seen.record(BOOKMARKS, *BOOKMARKS.key(mark)) or mark
            count = bookmark.seq + 1
            return Decision([PutRecord(BOOKMARKS, structs.replace(bookmark, seq=count))], count)
        if kind == "chain":
            root = seen.root(RootId("r")) or Root(id=RootId("r"), turns=0)
            return Decision([PutRoot(structs.replace(root, turns=root.turns + 1))], root.turns + 1)
        if kind == "limiter":
            pair = seen.pair(ANN, BOB) or Pair(sender=ANN, receiver=BOB, level=0)
            return Decision([PutPair(structs.replace(pair, level=pair.level + 1))], pair.level + 1)
        if kind == "quota":
            quota = seen.quota(ANN) or Quota(agent=ANN, hour=1, turns=0)
            return Decision([PutQuota(structs.replace(quota, turns=quota.turns + 1))], quota.turns + 1)
        person = seen.participant(ANN)
        assert person is not None
        count = int(person.role or "0") + 1
        return Decision([PutParticipant(structs.replace(person, role=str(count)))], count)

    scopes: dict[str, dict[str, Any]] = {
        "record": {"records": (BOOKMARKS.one(*BOOKMARKS.key(mark)),)},
        "chain": {"roots": (RootId("r"),)},
        "limiter": {"refs": ("pair",)},
        "quota": {"names": (ANN,)},
        "person": {"names": (ANN,)},
    }
    return act(decide, **scopes[kind])


@pytest.mark.parametrize("kind", ["record", "chain", "limiter", "quota", "person"])
async def test_no_hub_writes_over_what_another_has_just_written(
    two: tuple[PostgresStore, PostgresStore], kind: str
) -> None:
    alone = conversation("pair", kind=ConversationKind.DIRECT)
    agents = [Participant(id=who, name=who, kind=Kind.AGENT) for who in (ANN, BOB)]
    await put(
        two[0],
        PutConversation(alone),
        *(PutParticipant(who) for who in agents),
        *(PutMember(Member(alone.id, who.id, n, 1.0)) for n, who in enumerate(agents)),
    )

    async def count(store: PostgresStore) -> list[int]:
        return [await store.transact(acting, more(kind)) for _ in range(15)]

    left, right = await asyncio.gather(*map(count, two))
    assert sorted(left + right) == list(range(1, 31))


async def test_of_two_who_take_a_name_at_once_one_hears_that_it_is_taken(
    two: tuple[PostgresStore, PostgresStore],
) -> None:
    def take(id: str, seen: Seen, at: Moment) -> Decision[str]:
        if seen.find("wanted") is not None:
            raise Conflict("taken")
        return Decision([PutConversation(structs.replace(conversation("wanted"), id=id))], id)

    for n in range(5):
        name = ("wanted",)
        tries = [do(store, partial(take, f"c-{n}-{k}"), refs=name) for k, store in enumerate(two)]
        results = await asyncio.gather(*tries, return_exceptions=True)
        assert {type(result) for result in results} == {Conflict, str}
        await put(two[0], PutConversation(structs.replace(await _found(two[0]), archived=True)))


async def _found(store: PostgresStore) -> Any:
    found = await store.conversation("wanted")
    assert found is not None
    return found


async def test_hubs_that_write_in_each_others_order_never_wait_for_each_other_for_good(
    two: tuple[PostgresStore, PostgresStore],
) -> None:
    rooms = [conversation(f"room-{n}") for n in range(6)]
    await put(two[0], *(PutConversation(room) for room in rooms))
    async with asyncio.timeout(PATIENCE):
        await asyncio.gather(
            *(say(store, room.id, "x") for _ in range(10) for room in rooms for store in (two[0], two[1])),
            *(
                say(store, room.id, "y")
                for _ in range(10)
                for room in rooms[::-1]
                for store in (two[1], two[0])
            ),
        )
    for room in rooms:
        assert [m.seq for m in await two[0].messages(room.id, Page(limit=100))] == list(range(1, 41))


# --- what is not laid out ----------------------------------------------------------------------------------------


async def test_a_long_queue_of_questions_is_seen_whole_by_whoever_comes_to_its_end(url: str) -> None:
    store = await opened(url)
    alone = conversation("alone", kind=ConversationKind.DIRECT)
    ann = Participant(id=ANN, name="ann", kind=Kind.AGENT)
    await put(store, PutConversation(alone), PutParticipant(ann), PutMember(Member(alone.id, ANN, 0, 1.0)))
    queued = structs.replace(
        samples.TURN,
        agent=ANN,
        conversation=alone.id,
        state=TurnState.WAITING,
        reason=RuleName.ASK,
        round=0,
    )
    asks = [structs.replace(queued, id=TurnId(n)) for n in range(1, 201)]
    await put(store, *(PutTurn(turn) for turn in asks))
    assert asks[0].is_queued_ask
    here = {"conversations": (alone.id,)}
    assert await look(store, lambda seen: len(seen.asks(alone.id)), **here) == 200
    assert await look(store, lambda seen: [t.id for t in seen.asks(alone.id).all()], **here) == [
        t.id for t in asks
    ]
    await store.close()


# --- an answer that is lost ------------------------------------------------------------------------------------


class Losing:
    """A connection that breaks at the commit, before the server has it or behind it."""

    def __init__(self, connection: Any, *, stored: bool) -> None:
        self._connection = connection
        self._stored = stored

    def __getattr__(self, name: str) -> Any:
        return getattr(self._connection, name)

    async def execute(self, statement: str, *values: Any) -> Any:
        if statement == "COMMIT":
            if self._stored:
                await self._connection.execute(statement)
            raise ConnectionResetError("the line is dead")
        return await self._connection.execute(statement, *values)


async def test_a_commit_whose_answer_was_lost_is_answered_when_it_was_stored(url: str) -> None:
    store = await opened(url)
    await put(store, PutConversation(ROOM))
    store._engine._connection = Losing(store._engine._connection, stored=True)
    assert await say(store, ROOM.id, "once", key="k") == 1
    assert await say(store, ROOM.id, "goes on") == 2
    assert [m.text for m in await store.messages(ROOM.id, Page())] == ["once", "goes on"]
    await store.close()


async def test_a_commit_that_never_arrived_is_told_as_not_stored(url: str) -> None:
    store = await opened(url)
    await put(store, PutConversation(ROOM))
    store._engine._connection = Losing(store._engine._connection, stored=False)
    with pytest.raises(StoreUnwritable) as lost:
        await say(store, ROOM.id, "never")
    assert "nothing of this was stored" in (lost.value.detail or "")
    assert await say(store, ROOM.id, "first") == 1
    await store.close()


async def test_a_connection_that_the_server_ended_is_made_again(url: str, sql: Any) -> None:
    store = await opened(url)
    await put(store, PutConversation(ROOM))
    await store.messages(ROOM.id, Page())
    await sql.execute(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'moot moot'"
    )
    for n in range(1, 50):
        try:
            assert await say(store, ROOM.id, "again") == 1
            break
        except StoreUnwritable:
            await asyncio.sleep(0.01 * n)
    assert [m.text for m in await store.messages(ROOM.id, Page())] == ["again"]
    await store.close()


# --- search ----------------------------------------------------------------------------------------------------

TEXTS = (
    "Crème brûlée à la carte",
    "straße STRASSE Straße",
    "naïve café — coöperate",
    "İstanbul ıssız",
    "ΣΊΣΥΦΟΣ Σίσυφος",
    "नमस्ते दुनिया",
    "日本語のテキスト",
    "한국어 텍스트",
    "مرحبا بالعالم",
    "e\u0301tude étude",
    "ﬁne ﬁligree",
    "x² + y³ = z⁴",
    "don't can’t rock'n'roll",
    "snake_case kebab-case dot.case",
    "C++ C# F#",
    "🦀 crab 🦀🦀",
    "a" * 200,
    "①② ½ Ⅷ",
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen end",
    "тест ТЕСТ Ёлка елка",
    "zero\u200bwidth",
    "tab\tand\nnewline",
    "https://example.org/path?q=1",
    "ทดสอบภาษาไทย",
)
ASKED = tuple(
    {word for text in TEXTS for word in text.split()}
    | {text for text in TEXTS if len(text) < 40}
    | {"creme brulee", "strasse", "sixteen seventeen", "case", "etude", "елка", "ΣΙΣΥΦΟΣ", "fi", "2"}
)


async def test_search_gives_what_it_gives_on_sqlite_in_every_script(url: str, tmp_path: Path) -> None:
    stores: list[Any] = [await opened(url), await SqliteStore.open(tmp_path, source())]
    for store in stores:
        await put(store, PutConversation(ROOM))
        for text in TEXTS:
            await say(store, ROOM.id, text, at=1_800_000_000.0)
    for term in sorted(ASKED):
        ours, theirs = [
            [(message.seq, piece) for message, piece in await store.search(Query(terms=(term,)), 50)]
            for store in stores
        ]
        assert ours == theirs, term
        assert await stores[0].count(Query(terms=(term,)), 50) == len(theirs)
    for store in stores:
        await store.close()


class CountedConnection:
    """As the one it stands for, and each round trip is noted."""

    def __init__(self, connection: Any) -> None:
        self._connection = connection
        self.statements: list[str] = []

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._connection, name)
        if name not in ("copy_records_to_table", "execute", "executemany", "fetch", "fetchrow", "fetchval"):
            return found

        async def call(statement: str, *values: Any, **named: Any) -> Any:
            self.statements.append(statement)
            return await found(statement, *values, **named)

        return call


async def test_posts_of_one_batch_take_six_round_trips_together() -> None:
    """Each costs time while locks are held: of the batch's own conversations and of the agents in them."""
    source = Source(time.time, Terms(), ConversationIds())
    store = await PostgresStore.open(address_of(await empty_database()), source)
    people = (Newcomer("user", Kind.HUMAN), Newcomer("arya", Kind.AGENT))
    await store.transact(enrol, enrol.Enrol(people))
    user = ParticipantId("user")
    rooms = [(await store.transact(create, create.Create(user, f"g{n}", ("arya",)))).id for n in range(4)]

    async def say_everywhere() -> None:
        await asyncio.gather(
            *(store.transact(post, post.posting(user, room, "@arya hello")) for room in rooms)
        )

    await say_everywhere()  # the turns are there from now on, and everything is on the desk that is kept
    engine: Any = store._runner._engine
    engine._connection = counted = CountedConnection(engine._connection)
    await say_everywhere()
    engine._connection = counted._connection
    await store.close()
    assert counted.statements.count("COMMIT") == 1
    assert len(counted.statements) == 6
