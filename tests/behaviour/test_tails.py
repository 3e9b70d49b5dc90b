"""The newest messages kept as bytes are those of the store, whoever wrote, edited, deleted or renamed since."""

import asyncio
import os
import time
from contextlib import aclosing, nullcontext
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot import Hub, shapes
from moot.brains.code import AgentSpec
from moot.flow import edit_message, erase, post
from moot.hub import tails
from moot.hub.queries.encoded import StreamedEvent
from moot.model.ids import ConversationId, ParticipantId
from moot.model.limits import Terms
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore

READ = msgspec.json.Decoder(list[shapes.Message])
USER = ParticipantId("user")
LONG = "x" * (tails.MAX_LINE_BYTES + 1)

moves = st.lists(
    st.one_of(
        st.tuples(st.just("post"), st.booleans(), st.sampled_from(["short", "another", LONG])),
        st.tuples(st.just("edit"), st.booleans(), st.integers(1, 12)),
        st.tuples(st.just("delete"), st.booleans(), st.integers(1, 12)),
        st.tuples(st.just("rename"), st.just(False), st.sampled_from(["rob", "bob", "bo"])),
        st.tuples(st.just("look"), st.just(False), st.sampled_from([1, 3, 60])),
    ),
    min_size=1,
    max_size=12,
)


async def think(turn: Any) -> str:
    await turn.prompt()
    return "read"


prompted = AgentSpec("reader", think)
"""An agent that is given a prompt, as a model would be."""


async def elsewhere(home: Path) -> SqliteStore | PostgresStore:
    """A writer in another process, of which nobody here is told."""
    source = Source(time.time, Terms(), ConversationIds())
    if url := os.environ.get("MOOT_STORE__URL"):
        return await PostgresStore.open(address_of(url), source)
    return await SqliteStore.open(home, source)


async def newest(hub: Hub, limit: int) -> list[shapes.Message]:
    return READ.decode(await hub.encoded.newest("room", limit))


async def changed(store: Any, hub: Hub, seq: int, text: str | None) -> None:
    found = {message.seq: message for message in await hub.messages("room", limit=100)}
    before = found.get(seq)
    if before is None or before.kind != "human" or before.metadata.get("deleted"):
        return
    where = ConversationId(before.conversation)
    await store.transact(edit_message, edit_message.EditMessage(USER, where, seq, before.version, text))


@settings(max_examples=25)
@given(plan=moves, is_streamed=st.booleans())
def test_what_is_kept_is_what_is_stored(
    plan: list[tuple[str, bool, Any]], is_streamed: bool, tmp_path_factory: Any
) -> None:
    asyncio.run(played(plan, is_streamed, tmp_path_factory.mktemp("home")))


async def played(plan: list[tuple[str, bool, Any]], is_streamed: bool, home: Path) -> None:
    async with Hub.open(home) as hub:
        with hub._core.tails.streamed() if is_streamed else nullcontext():
            await played_out(plan, hub, home)


async def played_out(plan: list[tuple[str, bool, Any]], hub: Hub, home: Path) -> None:
    await hub.agents.create("bob", external=True)
    await hub.conversations.create("room", participants=["bob"])
    far = await elsewhere(home)
    name = "bob"
    try:
        for move, by_other, what in plan:
            store = far if by_other else hub._core.parts.store
            if move == "post":
                await store.transact(post, post.posting(USER, "room", f"@bob {what}"))
            elif move in ("edit", "delete"):
                await changed(store, hub, what, "other words" if move == "edit" else None)
            elif move == "rename" and what != name:
                name = (await hub.agents.rename(name, what)).name
            limit = what if move == "look" else 5
            expected = await hub.newest("room", limit)
            for message in expected:
                line = await hub._core.tails.message(ConversationId(message.conversation), message.seq)
                assert msgspec.json.decode(line or b"", type=shapes.Message) == message
            if move != "post":  # so that several are kept before anybody pulls
                assert await newest(hub, limit) == expected
    finally:
        await far.close()


async def test_a_message_here_does_not_hide_an_edit_made_elsewhere(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        where = ConversationId((await hub.conversations.create("room")).id)
        far = await elsewhere(tmp_path)
        with hub._core.tails.streamed():
            await hub.post("room", "before")
            await changed(far, hub, 1, "edited")
            await hub.post("room", "after")
            kept = [await hub._core.tails.message(where, seq) for seq in (1, 2)]
        await far.close()
        texts = [msgspec.json.decode(line or b"", type=shapes.Message).text for line in kept]
        assert texts == ["edited", "after"]


async def test_a_tail_is_bounded_in_messages_and_conversations(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tails, "MAX_CONVERSATIONS", 2)
    async with Hub.open(tmp_path) as hub:
        for name in ("a", "b", "c"):
            await hub.conversations.create(name)
            for number in range(tails.MAX_MESSAGES + 5):
                await hub.post(name, f"{number}")
                await hub.encoded.newest(name, 3)
        kept = hub._core.tails._tails
        assert len(kept) == 2
        assert max(len(tail.lines) for tail in kept.values()) == tails.MAX_MESSAGES
        whole = READ.decode(await hub.encoded.newest("c", 100))
        assert [message.text for message in whole] == [str(n) for n in range(tails.MAX_MESSAGES + 5)]


async def test_all_tails_together_are_bounded_in_bytes(tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(tails, "MAX_BYTES", 20_000)
    async with Hub.open(tmp_path) as hub:
        kept = hub._core.tails
        for number in range(4):
            await hub.conversations.create(f"room{number}")
            for _ in range(2):
                await hub.post(f"room{number}", "x" * 4000)
            await hub.encoded.newest(f"room{number}", 10)
        assert len(kept._tails) == 2, "those that nobody asked for longest are let go"
        await hub.encoded.newest("room3", 10)
        for _ in range(2):
            await hub.post("room3", "x" * 4000)
        assert kept._size == sum(len(line) for tail in kept._tails.values() for line in tail.lines)
        assert 0 < kept._size <= 20_000
        assert len(READ.decode(await hub.encoded.newest("room3", 10))) == 4


async def test_a_pull_of_an_active_conversation_reads_its_version_alone(
    tmp_path: Path, monkeypatch: Any
) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "one")
        await hub.encoded.newest("room", 20)
        await hub.post("room", "two")
        reads = hub._core.tails._reads

        async def refuse(*given: Any) -> Any:
            raise AssertionError("the messages were read again")

        monkeypatch.setattr(reads, "messages", refuse)
        assert [message.text for message in await newest(hub, 20)] == ["one", "two"]


async def test_what_is_streamed_is_written_down_once_at_its_commit(tmp_path: Path, monkeypatch: Any) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "before anybody listened")

        async def refuse(*given: Any) -> Any:
            raise AssertionError("the message was read again")

        async with aclosing(hub.encoded.stream(hub.position)) as stream:  # type: ignore[type-var]
            first = asyncio.ensure_future(anext(stream))
            await asyncio.sleep(0)  # it listens
            monkeypatch.setattr(hub._core.tails._reads, "message", refuse)
            for text in ("one", "two"):
                await hub.post("room", text)
            told = [await first, await anext(stream)]
        heard = [msgspec.json.decode(one.message or b"", type=shapes.Message).text for one in told]
        assert heard == ["one", "two"]
        assert [json_of(one)["body"]["text"] for one in told] == heard


def json_of(streamed: StreamedEvent) -> Any:
    return msgspec.json.decode(streamed.to_json())


class Busy:
    """Reads that take their time: before a version is told, something else happens here."""

    def __init__(self, reads: Any) -> None:
        self._reads = reads
        self.meanwhile: list[Any] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._reads, name)

    async def version(self, *asked: Any) -> Any:
        if self.meanwhile and (work := self.meanwhile.pop(0)) is not None:
            await work()
        return await self._reads.version(*asked)


async def test_what_happens_during_a_look_does_not_shift_it(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        where = ConversationId((await hub.conversations.create("room")).id)
        for number in range(tails.MAX_MESSAGES):
            await hub.post("room", str(number))
        await hub.encoded.newest("room", 3)
        kept = hub._core.tails
        busy = kept._reads = Busy(kept._reads)
        busy.meanwhile = [lambda: hub.post("room", "newest")]
        found = await kept.message(where, 1)
        assert msgspec.json.decode(found or b"", type=shapes.Message).text == "0"


async def test_a_rename_during_a_look_is_not_lost(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("bob", external=True)
        await hub.conversations.create("room", participants=["bob"])
        await hub.acting_as("bob").post("room", "hello")

        async def renamed() -> None:
            await hub.agents.rename("bob", "rob")
            await hub._core.directory.refresh()

        kept = hub._core.tails
        busy = kept._reads = Busy(kept._reads)
        busy.meanwhile = [None, renamed]
        await newest(hub, 3)
        assert await newest(hub, 3) == await hub.newest("room", 3)


async def test_of_two_renames_looked_up_at_once_both_are_told(tmp_path: Path, monkeypatch: Any) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("bob", external=True)
        directory = hub._core.directory
        as_bob = await directory._reads.participants()
        as_rob = [msgspec.structs.replace(who, name="rob") if who.name == "bob" else who for who in as_bob]
        answers = [as_rob, as_bob]

        async def participants() -> Any:
            mine = answers.pop(0)
            await asyncio.sleep(0)
            return mine

        told: list[str] = []
        monkeypatch.setattr(directory._reads, "participants", participants)
        monkeypatch.setattr(directory, "on_rename", lambda: told.append(directory.name(ParticipantId("bob"))))
        await asyncio.gather(directory.refresh(), directory.refresh())
        assert told == ["rob", "bob"]


SECRET = "not to be kept"


def is_held(hub: Hub) -> bool:
    """Whether the words lie anywhere in what is kept at hand of messages and prompts."""
    core = hub._core
    lines = [line for tail in core.tails._tails.values() for line in tail.lines]
    return any(SECRET.encode() in kept for kept in (*lines, *core.context._last.values()))


@pytest.mark.parametrize("by_other", [False, True], ids=["here", "elsewhere"])
@pytest.mark.parametrize("what", ["conversation", "message"])
async def test_what_is_taken_back_does_not_lie_in_memory_either(
    tmp_path: Path, what: str, by_other: bool
) -> None:
    async with Hub.open(tmp_path, agents=[prompted]) as hub:
        room = await hub.conversations.create("room", participants=["reader"])
        await hub.post("room", f"@reader {SECRET}")
        await hub.settled("room", timeout=40)
        await newest(hub, 3)
        core = hub._core
        assert {key[1] for key in core.context._last} == {room.id} == set(core.tails._tails)
        assert is_held(hub)
        far = await elsewhere(tmp_path)
        store = far if by_other else core.parts.store
        if what == "conversation":
            await store.transact(erase, erase.Erase(USER, room.id))
        else:
            await changed(store, hub, 1, None)
        await core.parts.log.catch_up()
        await far.close()
        assert not is_held(hub)
