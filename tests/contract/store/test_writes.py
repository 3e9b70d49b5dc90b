"""One transaction for whatever waits: gapless order, all or nothing for each command, for that one only."""

from typing import Any

import pytest
from msgspec import structs

from moot.errors import BadValue, Conflict
from moot.model.change import AppendMessage, Decision, PutConversation, PutTurn
from moot.model.conversation import Conversation
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.ports import Page
from moot.rules import audit
from moot.rules.draft import Seen
from tests.contract.store import samples
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.verbs import (
    Act,
    act,
    acting,
    conversation,
    do,
    in_one_batch,
    look,
    put,
    said,
    say,
    saying,
    together,
)

pytestmark = pytest.mark.req("K-04")

ROOM = conversation("room")


@pytest.fixture
async def room(store: WholeStore) -> Conversation:
    await put(store, PutConversation(ROOM))
    return ROOM


async def texts(store: WholeStore, where: Conversation) -> list[str]:
    return [message.text for message in await store.messages(where.id, Page(limit=10_000))]


async def test_messages_posted_at_once_are_numbered_without_gap_or_repeat(store: WholeStore) -> None:
    rooms = [conversation(f"room-{n}") for n in range(3)]
    await put(store, *(PutConversation(one) for one in rooms))
    acts = [saying(rooms[n % 3].id, f"text {n}") for n in range(300)]
    seqs = await together(store, acts)
    for n, one in enumerate(rooms):
        messages = await store.messages(one.id, Page(limit=1000))
        assert [message.seq for message in messages] == list(range(1, 101))
        assert sorted(seqs[n::3]) == list(range(1, 101))
        assert {message.seq: message.text for message in messages} == {
            seq: f"text {k}" for k, seq in enumerate(seqs) if k % 3 == n
        }
        known = await store.conversation(one.id)
        assert known is not None
        assert audit.verify(messages, [], known.chain, known.chain_length) is None


async def test_an_answer_means_that_the_next_process_has_it(place: Place) -> None:
    store = await place.open()
    await put(store, PutConversation(ROOM))
    seq = await say(store, ROOM.id, "kept")
    kept = await store.message(ROOM.id, seq)
    again = await place.reopen()
    assert kept is not None
    assert await again.message(ROOM.id, seq) == kept
    assert await say(again, ROOM.id, "goes on") == seq + 1


async def test_a_refusal_leaves_nothing(store: WholeStore, room: Conversation) -> None:
    def refuse(seen: Seen, at: Moment) -> Decision[None]:
        said(room, "never")
        raise Conflict("no")

    with pytest.raises(Conflict, match="no"):
        await do(store, refuse, conversations=(room.id,))
    assert await texts(store, room) == []
    assert await store.events(after=0) == []


async def test_a_crashing_decider_fails_alone(store: WholeStore, room: Conversation) -> None:
    def crash(seen: Seen, at: Moment) -> Decision[None]:
        raise ZeroDivisionError("a bug")

    acts = [saying(room.id, "one"), act(crash, conversations=(room.id,)), saying(room.id, "two")]
    first, failed, second = await together(store, acts)
    assert (first, second) == (1, 2)
    assert isinstance(failed, ZeroDivisionError)
    assert await texts(store, room) == ["one", "two"]


async def test_a_crashing_decider_fails_alone_in_its_transaction(
    durable: None, store: WholeStore, room: Conversation
) -> None:
    def crash(seen: Seen, at: Moment) -> Decision[None]:
        raise ZeroDivisionError("a bug")

    acts = [saying(room.id, "one"), act(crash, conversations=(room.id,)), saying(room.id, "two")]
    first, failed, second = await in_one_batch(store, acts)
    assert (first, second) == (1, 2)
    assert isinstance(failed, ZeroDivisionError)
    assert await texts(store, room) == ["one", "two"]


async def test_a_command_sees_what_the_one_before_it_in_the_same_transaction_did(
    durable: None, store: WholeStore
) -> None:
    later = structs.replace(ROOM, version=2)
    acts = [
        act(lambda seen, at: Decision([PutConversation(ROOM)], None)),
        saying(ROOM.id, "hello", key="k"),
        act(
            lambda seen, at: Decision([PutConversation(later)], seen.replay(samples.ARYA, "k")),
            conversations=(ROOM.id,),
        ),
        act(lambda seen, at: Decision([], seen.conversation(ROOM.id)), conversations=(ROOM.id,)),
    ]
    _, seq, _, seen_last = await in_one_batch(store, acts)
    assert seq == 1
    assert seen_last == later


async def test_a_preview_answers_and_stores_nothing(store: WholeStore, room: Conversation) -> None:
    assert await store.preview(acting, saying(room.id, "what if")) == 1
    assert await texts(store, room) == []
    assert await store.conversation(room.id) == room
    assert await store.last_event() == 0
    assert await say(store, room.id, "for real") == 1


async def test_a_turn_id_is_never_given_twice(place: Place) -> None:
    store = await place.open()
    await put(store, PutConversation(samples.CONVERSATION))

    def take(seen: Seen, at: Moment) -> Decision[TurnId]:
        turn = structs.replace(samples.TURN, id=at.turn_id())
        return Decision([PutTurn(turn)], turn.id)

    given = [await do(store, take) for _ in range(3)]
    assert 0 < given[0] < given[1] < given[2]
    store = await place.reopen()
    assert await do(store, take) > given[2]


async def test_a_moment_has_whole_microseconds(place: Place, store: WholeStore) -> None:
    place.clock.set(1_800_000_000.123456789)
    at = await do(store, lambda seen, at: Decision([], at.now))
    assert at == 1_800_000_000.123457


async def test_a_key_finds_its_message_again(store: WholeStore, room: Conversation) -> None:
    await say(store, room.id, "first", key="k-1", digest="d")
    await say(store, room.id, "without")
    author = (await store.messages(room.id, Page()))[0].author
    first = await store.message(room.id, 1)
    assert first is not None
    assert await look(store, lambda seen: seen.replay(author, "k-1"), key=(author, "k-1")) == first
    assert await look(store, lambda seen: seen.replay(author, "k-2"), key=(author, "k-2")) is None
    assert await look(store, lambda seen: seen.replay(samples.ARYA, "k-1"), key=(samples.ARYA, "k-1")) is None


BAD: list[dict[str, Any]] = [
    {"text": "lone \ud800 surrogate"},
    {"depth": 2**63},
    {"key": "taken"},
    {"metadata": {"x": object()}},
    {"seq": 1},
    {"hop": None},
]


@pytest.mark.parametrize("bad", BAD, ids=lambda bad: next(iter(bad)))
async def test_a_row_that_cannot_be_stored_fails_only_its_own_command(
    durable: None, store: WholeStore, room: Conversation, bad: dict[str, Any]
) -> None:
    await say(store, room.id, "before", key="taken")

    def broken(seen: Seen, at: Moment) -> Decision[None]:
        found = seen.conversation(room.id)
        assert found is not None
        append, *others = said(found, "bad")
        assert isinstance(append, AppendMessage)
        message = structs.replace(append.message, **bad)
        return Decision([structs.replace(append, message=message), *others], None)

    acts: list[Act] = [saying(room.id, "one"), act(broken, conversations=(room.id,)), saying(room.id, "two")]
    first, failed, second = await in_one_batch(store, acts)
    assert (first, second) == (2, 3)
    assert isinstance(failed, BadValue)
    assert await texts(store, room) == ["before", "one", "two"]


async def test_commits_are_told_in_order_and_only_when_they_are_kept(
    place: Place, store: WholeStore, room: Conversation
) -> None:
    await together(store, [saying(room.id, f"text {n}") for n in range(50)])
    await store.preview(acting, saying(room.id, "not told"))
    told = [event.id for event in place.told]
    assert len(told) == 50
    assert told == sorted(set(told))
    assert place.told == await store.events(after=0)


async def test_a_closed_store_takes_nothing_more_and_loses_nothing_it_took(place: Place) -> None:
    store = await place.open()
    await put(store, PutConversation(ROOM))
    seqs = await together(store, [saying(ROOM.id, f"text {n}") for n in range(20)])
    store = await place.reopen()
    assert sorted(seqs) == [message.seq for message in await store.messages(ROOM.id, Page())]
