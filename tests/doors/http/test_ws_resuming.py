"""A client that comes back goes on where it was: nothing missed, and nothing twice where it counts."""

import asyncio
import itertools
import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from moot.doors.http.listener import serving
from moot.doors.http.streams import reader as listeners
from moot.doors.http.streams import resume
from moot.doors.http.streams.acks import EVERY_SECONDS
from moot.doors.http.wire.frames import SocketWire
from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.bookmark import BOOKMARKS
from tests.contract.store.verbs import look
from tests.doors.http.sockets import refused, talking
from tests.doors.http.world import World, opened
from tests.support.beneath import store_of
from tests.support.waiting import until

PATH = "/ws/conversations/hall"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """A hall in which only people talk."""
    async with opened(tmp_path) as found:
        await found.hub.conversations.create("hall", participants=["karl", "bob"])
        yield found


def by_karl(text: str) -> str:
    return f"karl: {text}"


async def say(world: World, *texts: str, who: str = "karl") -> None:
    for text in texts:
        await world.hub.acting_as(who).post("hall", text)


async def kept(world: World, client: str = "phone") -> tuple[int, int] | None:
    """Where the server believes the owner's client to be, on disk."""
    where = (await world.hub.conversations.get("hall")).id
    key = (ParticipantId("user"), client, ConversationId(where))
    mark = await look(
        store_of(world.hub), lambda seen: seen.record(BOOKMARKS, *key), records=(BOOKMARKS.one(*key),)
    )
    return None if mark is None else (mark.seq, mark.frames)


def _now(look_: Callable[[], Any]) -> Callable[[], Awaitable[Any]]:
    async def seen() -> Any:
        return look_()

    return seen


async def _noted(world: World, frames: int, client: str = "phone") -> None:
    await until(lambda: kept(world, client), lambda mark: mark is not None and mark[1] == frames)


@pytest.mark.req("K-11")
async def test_a_new_client_begins_with_what_comes_next(world: World) -> None:
    await say(world, "before")
    async with talking(world, path=PATH, client="phone") as user:
        await say(world, "now")
        assert await user.next() == by_karl("now")


@pytest.mark.req("K-11")
async def test_a_new_client_may_say_where_to_begin(world: World) -> None:
    await say(world, "one", "two", "three")
    for query in ({"client": "phone", "after": 1}, {"after": 1}):
        async with talking(world, path=PATH, **query) as user:
            assert await user.texts(2) == [by_karl("two"), by_karl("three")]
    async with talking(world, path=PATH, after=99) as user:
        await say(world, "four")
        assert await user.next() == by_karl("four")


@pytest.mark.req("K-11")
async def test_who_comes_back_hears_what_was_said_meanwhile(world: World) -> None:
    async with talking(world, path=PATH, client="phone") as user:
        await say(world, "one", "two")
        await user.texts(2)
        await _noted(world, 2)
    await say(world, *(f"meanwhile {n}" for n in range(450)))
    async with talking(world, path=PATH, client="phone", after=0) as user:
        assert await user.texts(450) == [by_karl(f"meanwhile {n}") for n in range(450)]
        await say(world, "live again")
        assert await user.next() == by_karl("live again")


@pytest.mark.req("K-11")
async def test_who_counts_hears_each_message_exactly_once_however_it_was_cut_off(world: World) -> None:
    """Connections are dropped at random, before anything was noted, with frames on the way that nobody reads."""
    chance, expected = random.Random(7), [f"text {n}" for n in range(400)]

    async def speak() -> None:
        for n, text in enumerate(expected):
            await say(world, text)
            if n % 10 == 0:
                await world.hub.post("hall", "my own words are not told to me")
            if n % 50 == 0:
                joined = n % 100 == 0
                change = world.hub.conversations.join if joined else world.hub.conversations.leave
                await change("hall", "quiet")

    async with talking(world, path=PATH, client="phone"):
        pass
    speaking = asyncio.create_task(speak())
    heard: list[str] = []
    while len(heard) < len(expected):
        async with talking(world, path=PATH, client="phone", received=len(heard)) as user:
            for _ in range(chance.randrange(40)):
                if len(heard) == len(expected):
                    break
                frame = await user.next()
                if not frame.startswith("! "):
                    heard.append(frame)
            user.connection.transport.abort()
    await speaking
    assert heard == [by_karl(text) for text in expected]


@pytest.mark.req("K-11")
async def test_without_counting_some_may_come_again_and_none_is_missing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The connection breaks on the server's side, now and then, with messages on the way."""
    expected = [by_karl(f"text {n}") for n in range(300)]
    wires: list[SocketWire] = []

    def remember(wire: SocketWire) -> None:
        wires.append(wire)

    monkeypatch.setattr(SocketWire, "start_keepalive", remember)
    async with talking(world, path=PATH, client="phone"):
        pass
    speaking = asyncio.create_task(say(world, *(f"text {n}" for n in range(300))))
    heard: list[str] = []
    for frames in itertools.count(20, 20):  # later and later, so that it ends even if no place was ever noted
        async with talking(world, path=PATH, client="phone") as user:
            for _ in range(frames):
                heard.append(await user.next())
                if heard[-1] == expected[-1]:
                    break
            wires[-1].transport.abort()
            heard += (await user.ends())[1]
        if expected[-1] in heard:
            break
    await speaking
    assert list(dict.fromkeys(heard)) == expected


@pytest.mark.req("K-11")
async def test_what_a_library_answered_for_and_its_program_never_saw_comes_again(world: World) -> None:
    async with talking(world, path=PATH, client="phone") as user:
        await say(world, *(f"text {n}" for n in range(10)))
        await _noted(world, 10)
        assert await user.texts(3) == [by_karl(f"text {n}") for n in range(3)]
    async with talking(world, path=PATH, client="phone", received=3) as user:
        assert await user.texts(7) == [by_karl(f"text {n}") for n in range(3, 10)]


@pytest.mark.req("K-11")
async def test_what_was_only_written_and_never_received_is_not_noted(world: World) -> None:
    """A reader that takes nothing from its socket does not answer, so its place stays."""
    async with talking(world, path=PATH, client="phone") as user:
        await say(world, "received")
        await _noted(world, 1)
        user.connection.transport.pause_reading()
        await say(world, *(f"lost {n}" for n in range(5)))
        await asyncio.sleep(3 * EVERY_SECONDS)
        assert await kept(world) is not None
        assert (await kept(world) or (0, 0))[1] == 1
        user.connection.transport.abort()
    async with talking(world, path=PATH, client="phone") as user:
        assert await user.texts(5) == [by_karl(f"lost {n}") for n in range(5)]


async def test_edits_are_not_told_and_a_deleted_message_keeps_its_place(world: World) -> None:
    async with talking(world, path=PATH, client="phone") as user:
        await say(world, "one")
        assert await user.next() == by_karl("one")
        [first] = await world.hub.newest("hall", 1)
        await world.hub.acting_as("karl").edit(first.id, "other words", version=1)
        assert await user.silence(0.1)
    await say(world, "two", "three")
    second = (await world.hub.newest("hall", 2))[0]
    await world.hub.acting_as("karl").delete(second.id, version=1)
    async with talking(world, path=PATH, client="phone", received=1) as user:
        assert await user.texts(2) == [by_karl(""), by_karl("three")]
    await world.hub.acting_as("karl").delete(first.id, version=2)
    async with talking(world, path=PATH, client="phone", received=3) as user:
        await say(world, "four")
        assert await user.next() == by_karl("four")


@pytest.mark.req("K-11")
async def test_each_client_each_participant_and_each_conversation_has_its_own_place(world: World) -> None:
    for client, who in (("phone", "owner"), ("desk", "owner"), ("phone", "bob")):
        async with talking(world, who, PATH, client=client):
            pass
    await say(world, "one")
    async with talking(world, path=PATH, client="phone") as phone:
        assert await phone.next() == by_karl("one")
        await _noted(world, 1)
    await say(world, "two")
    for client, who, waits in (("phone", "owner", 1), ("desk", "owner", 2), ("phone", "bob", 2)):
        async with talking(world, who, PATH, client=client) as reader:
            assert await reader.texts(waits) == [by_karl("one"), by_karl("two")][-waits:]
    async with talking(world, path="/ws/conversations/room", client="phone") as elsewhere:
        assert await elsewhere.silence(0.1)


@pytest.mark.req("K-11")
async def test_a_count_that_cannot_be_is_refused_with_what_to_do(world: World, monkeypatch: Any) -> None:
    await say(world, "one", "two")
    assert await refused(world, path=PATH, client="phone", received=1) == 409, (
        "a new client has received nothing"
    )
    async with talking(world, path=PATH, client="desk", after=0) as user:
        await user.texts(2)
    assert await refused(world, path=PATH, client="desk", received=3) == 409
    assert await refused(world, path=PATH, client="desk", received=2) == 101
    monkeypatch.setattr(resume, "MAX_DISTANCE", 1)
    assert await refused(world, path=PATH, client="desk", received=2) in (101, 409)


async def test_the_newest_connection_of_a_client_is_the_one_that_counts(world: World) -> None:
    async with talking(world, path=PATH, client="phone") as old:
        async with talking(world, path=PATH, client="phone") as new:
            assert await old.ends() == (4409, [])
            await say(world, "to the new one")
            assert await new.next() == by_karl("to the new one")
        assert await refused(world, path=PATH, client="phone") == 101


@pytest.mark.req("K-11")
async def test_after_an_orderly_stop_nothing_comes_twice(world: World, tmp_path: Path) -> None:
    """The answer to the goodbye says that everything has arrived, so that nobody has to wait for a round."""
    facts = {"instance": "i2", "started_at": None}
    async with serving(world.hub, home=tmp_path, owner_token=world.tokens["owner"], facts=facts) as at:
        soon = World(world.hub, at, world.client, world.tokens)
        phone = talking(soon, path=PATH, client="phone")
        connection = await phone.__aenter__()
        listening = asyncio.create_task(connection.ends())
        await say(world, "one", "two")
        await until(_now(lambda: connection.received), lambda received: received == 2)
    assert await listening == (1012, [by_karl("one"), by_karl("two")])
    await phone.__aexit__(None, None, None)
    assert (await kept(world) or (0, 0))[1] == 2
    async with talking(world, path=PATH, client="phone") as user:
        await say(world, "three")
        assert await user.next() == by_karl("three")


async def test_a_conversation_erased_takes_its_bookmarks_along(world: World) -> None:
    async with talking(world, path=PATH, client="phone"):
        pass
    assert await kept(world) is not None
    where = (await world.hub.conversations.get("hall")).id
    await world.hub.conversations.delete("hall")
    key = (ParticipantId("user"), "phone", ConversationId(where))
    store = store_of(world.hub)
    assert (
        await look(store, lambda seen: seen.record(BOOKMARKS, *key), records=(BOOKMARKS.one(*key),)) is None
    )


async def test_readers_cost_one_commit_a_round_however_many_they_are(world: World, monkeypatch: Any) -> None:
    written: list[int] = []
    rounds: list[float] = []
    bookmarks = type(world.hub.conversations.bookmarks)
    move, sleep = bookmarks.move, asyncio.sleep

    async def counted(self: Any, marks: Any) -> None:
        written.append(len(marks))
        await move(self, marks)

    async def slept(seconds: float, *result: Any) -> Any:
        rounds.extend([seconds] if seconds == EVERY_SECONDS else [])
        return await sleep(seconds, *result)

    monkeypatch.setattr(bookmarks, "move", counted)
    monkeypatch.setattr(asyncio, "sleep", slept)
    async with AsyncExitStack() as stack:
        readers = [
            await stack.enter_async_context(talking(world, path=PATH, client=f"c{n}")) for n in range(20)
        ]
        await say(world, *(f"text {n}" for n in range(30)))
        for reader in readers:
            await reader.texts(30)
        for n in range(20):
            await _noted(world, 30, f"c{n}")
    assert 0 < len(written) <= len(rounds), f"each round is one commit, not one for each reader: {written}"
    assert max(written) > 1


async def test_what_the_fan_skipped_is_read_from_the_store(world: World, monkeypatch: Any) -> None:
    """A message that is not the next one is never taken for it."""
    push = listeners.Listener.push
    lost = [3]

    def forgetful(self: Any, frame: Any) -> bool:
        if frame.message is not None and frame.message.seq in lost:
            return True
        return push(self, frame)

    monkeypatch.setattr(listeners.Listener, "push", forgetful)
    async with talking(world, path=PATH) as user:
        await say(world, *(f"text {n}" for n in range(6)))
        assert await user.texts(6) == [by_karl(f"text {n}") for n in range(6)]
