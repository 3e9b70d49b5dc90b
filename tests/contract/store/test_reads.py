"""The read ports: windows, listings, what is due, who is there, what happened."""

from typing import Any

import pytest
from msgspec import structs

from moot.model.change import (
    AddSummary,
    Emit,
    PutConversation,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRoot,
    PutTurn,
)
from moot.model.conversation import ConversationKind
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.message import Summary
from moot.model.participant import Kind, Participant
from moot.model.turn import Turn, TurnState
from moot.ports import ConversationVersion, Page
from tests.contract.store import samples
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.verbs import conversation, put, say, saying, together

ROOM, OTHER = conversation("room"), conversation("other")


@pytest.fixture
async def hundred(store: WholeStore) -> WholeStore:
    """A hundred messages in one conversation, a few in another."""
    await put(store, PutConversation(ROOM), PutConversation(OTHER))
    acts = [saying(ROOM.id, f"text {n}") for n in range(1, 101)]
    await together(store, [*acts, saying(OTHER.id, "elsewhere")])
    return store


@pytest.mark.parametrize(
    ("page", "seqs"),
    [
        (Page(), range(1, 101)),
        (Page(limit=5), range(1, 6)),
        (Page(after=97), range(98, 101)),
        (Page(after=10, limit=3), range(11, 14)),
        (Page(after=100), ()),
        (Page(after=1000), ()),
        (Page(newest=True, limit=20), range(81, 101)),
        (Page(newest=True, limit=1), (100,)),
        (Page(newest=True, limit=1000), range(1, 101)),
        (Page(newest=True, before=50, limit=3), range(47, 50)),
        (Page(newest=True, before=1), ()),
        (Page(newest=True, after=98, limit=10), range(99, 101)),
        (Page(before=4), range(1, 4)),
        (Page(after=2, before=5), range(3, 5)),
        (Page(limit=0), ()),
        (Page(limit=0, newest=True), ()),
    ],
    ids=repr,
)
async def test_a_page_is_what_it_says_oldest_first(hundred: WholeStore, page: Page, seqs: Any) -> None:
    assert [message.seq for message in await hundred.messages(ROOM.id, page)] == list(seqs)


async def test_one_message_is_found_by_its_address(hundred: WholeStore) -> None:
    found = await hundred.message(ROOM.id, 100)
    assert found is not None
    assert found.id == "c-room:100"
    for seq in (0, -1, 101):
        assert await hundred.message(ROOM.id, seq) is None
    assert await hundred.message(ConversationId("c-nowhere"), 1) is None


async def test_conversations_are_listed_by_standing_and_kind(store: WholeStore) -> None:
    task = conversation("task", kind=ConversationKind.TASK)
    gone = conversation("gone", archived=True)
    await put(store, *(PutConversation(one) for one in (ROOM, task, gone)))

    async def names(*, archived: bool, kind: str | None = None) -> set[str]:
        return {one.name for one in await store.conversations(archived=archived, kind=kind)}

    assert await names(archived=False) == {"room", "task"}
    assert await names(archived=True) == {"gone"}
    assert await names(archived=False, kind="task") == {"task"}
    assert await names(archived=True, kind="task") == set()


async def test_members_are_listed_in_joining_order(store: WholeStore) -> None:
    late = structs.replace(samples.MEMBER, participant=ParticipantId("a"), position=11)
    early = structs.replace(samples.MEMBER, participant=ParticipantId("z"), position=2)
    await put(store, PutMember(late), PutMember(early))
    assert await store.members(samples.WHERE) == [early, late]
    assert await store.members(ROOM.id) == []


async def test_members_of_all_conversations_are_one_look(store: WholeStore) -> None:
    gone = conversation("gone", archived=True)
    await put(store, *(PutConversation(one) for one in (ROOM, OTHER, gone)))
    inside = [
        structs.replace(samples.MEMBER, conversation=where, participant=ParticipantId(name), position=place)
        for where, name, place in (
            (ROOM.id, "z", 1),
            (ROOM.id, "a", 2),
            (OTHER.id, "a", 1),
            (gone.id, "a", 1),
        )
    ]
    await put(store, *map(PutMember, reversed(inside)))
    found = await store.members_everywhere(archived=False)
    assert [member for member in found if member.conversation == ROOM.id] == inside[:2]
    assert {member.conversation for member in found} == {ROOM.id, OTHER.id}
    assert await store.members_everywhere(archived=True) == inside[3:]


async def test_the_newest_message_and_what_is_unread_of_all_conversations_are_one_look(
    store: WholeStore,
) -> None:
    gone, silent = conversation("gone", archived=True), conversation("silent")
    await put(store, *(PutConversation(one) for one in (ROOM, OTHER, gone, silent)))
    reader = ParticipantId("reader")
    await put(store, PutParticipant(Participant(id=reader, name=reader, kind=Kind.HUMAN)))
    for where in (ROOM.id, gone.id, silent.id):
        member = structs.replace(samples.MEMBER, conversation=where, participant=reader, cursor=1)
        await put(store, PutMember(member))
    acts = [
        saying(ROOM.id, "read"),
        saying(ROOM.id, "not read"),
        saying(ROOM.id, "mine", author=reader),
        saying(ROOM.id, "deleted", metadata={"deleted": True}),
        saying(ROOM.id, "a notice", kind=Kind.SYSTEM),
        saying(ROOM.id, "a task ended", kind=Kind.SYSTEM, metadata={"task": "k1"}),
        saying(ROOM.id, "nor this", metadata={"deep": {"deleted": True}}),
    ]
    await together(
        store, [*acts, saying(OTHER.id, "elsewhere"), saying(gone.id, "one"), saying(gone.id, "two")]
    )

    async def seen(*, archived: bool, limit: int) -> dict[str, tuple[str, int]]:
        found = await store.glances(reader, archived=archived, limit=limit)
        return {one.conversation: (one.last.text if one.last else "", one.unread) for one in found}

    assert await seen(archived=False, limit=100) == {ROOM.id: ("nor this", 3), OTHER.id: ("elsewhere", 0)}
    assert await seen(archived=False, limit=2) == {ROOM.id: ("nor this", 2), OTHER.id: ("elsewhere", 0)}
    assert await seen(archived=True, limit=100) == {gone.id: ("two", 1)}
    everywhere = await store.glances(ParticipantId("nobody"), archived=False, limit=9)
    assert {one.unread for one in everywhere} == {0}


async def test_how_far_a_conversation_has_come_and_who_is_in_it_is_one_look(store: WholeStore) -> None:
    who = Participant(id=ParticipantId("x"), name="x", kind=Kind.AGENT)
    inside = structs.replace(samples.MEMBER, conversation=ROOM.id, participant=who.id)
    await put(store, PutConversation(ROOM), PutParticipant(who), PutMember(inside))
    for length in range(3):
        for ref in (ROOM.id, ROOM.name):
            assert await store.version(ref) == ConversationVersion(ROOM.id, length)
            for name, is_in in (("x", True), ("y", False)):
                expected = ConversationVersion(ROOM.id, length, has_member=is_in)
                assert await store.version(ref, ParticipantId(name)) == expected
        await say(store, ROOM.id, "more")
    assert await store.version("nowhere") is None
    assert await store.version("nowhere", ParticipantId("x")) is None


async def test_participants_are_listed(store: WholeStore) -> None:
    people = [
        Participant(id=ParticipantId(name), name=name, kind=Kind.HUMAN, created_at=float(n))
        for n, name in enumerate(("zoe", "amy"))
    ]
    await put(store, *(PutParticipant(who) for who in people))
    assert await store.participants() == people
    assert await store.participant("nobody") is None


def turn(
    number: int,
    agent: str,
    where: str,
    state: TurnState,
    *,
    due: float = 0.0,
    hi: int = 7,
    lo: int | None = None,
) -> Turn:
    return structs.replace(
        samples.TURN,
        id=TurnId(number),
        agent=ParticipantId(agent),
        conversation=ConversationId(where),
        state=state,
        due=due,
        hi=hi,
        lo=samples.TURN.lo if lo is None else lo,
    )


TURNS = [
    turn(1, "arya", "c-1", TurnState.SAID),
    turn(2, "bob", "c-1", TurnState.READY),
    turn(3, "arya", "c-2", TurnState.OWED),
    turn(4, "arya", "c-1", TurnState.RUNNING),
    turn(5, "bob", "c-2", TurnState.CANCELLED),
]


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({}, [1, 2, 3, 4, 5]),
        ({"conversation": "c-1"}, [1, 2, 4]),
        ({"agent": "arya"}, [1, 3, 4]),
        ({"conversation": "c-1", "agent": "arya"}, [1, 4]),
        ({"states": [TurnState.READY, TurnState.OWED]}, [2, 3]),
        ({"states": [TurnState.SAID, TurnState.OWED]}, [1, 3]),
        ({"agent": "arya", "states": (TurnState.RUNNING,)}, [4]),
        ({"agent": "arya", "states": (TurnState.SAID,)}, [1]),
        ({"conversation": "c-1", "states": (TurnState.SAID, TurnState.RUNNING)}, [1, 4]),
        ({"conversation": "c-2", "agent": "bob", "states": (TurnState.CANCELLED,)}, [5]),
        ({"limit": 2}, [4, 5]),
        ({"conversation": "c-1", "limit": 2}, [2, 4]),
        ({"conversation": "c-9"}, []),
        ({"agent": "nobody", "states": (TurnState.READY,)}, []),
    ],
)
async def test_turns_are_listed_by_what_is_asked(
    store: WholeStore, asked: dict[str, Any], ids: list[int]
) -> None:
    await put(store, *(PutTurn(one) for one in TURNS))
    assert [one.id for one in await store.turns(**asked)] == ids


async def test_a_turn_or_round_nobody_had_is_not_there(store: WholeStore) -> None:
    assert await store.turn(TurnId(1)) is None
    assert await store.round(ROOM.id, 1) is None


async def test_what_is_due_is_found_by_its_moment(store: WholeStore) -> None:
    assert await store.next_due() is None
    assert await store.due(1e12) == []
    turns = [
        turn(1, "arya", "c-2", TurnState.READY, due=200.0),
        turn(2, "bob", "c-1", TurnState.HELD, due=100.0),
        turn(3, "cid", "c-1", TurnState.RUNNING, due=100.5),
        turn(4, "dan", "c-3", TurnState.SAID, due=1.0),
        turn(5, "eve", "c-4", TurnState.OWED, due=0.0),
    ]
    await put(store, *(PutTurn(one) for one in turns))
    assert await store.next_due() == 100.0
    assert await store.due(99.999999) == []
    assert await store.due(100.0) == ["c-1"]
    assert await store.due(1000.0) == ["c-1", "c-2"]
    await put(store, *(PutTurn(structs.replace(one, state=TurnState.SAID)) for one in turns[1:3]))
    assert await store.next_due() == 200.0
    assert await store.due(1000.0) == ["c-2"]


def happening(kind: EventType, where: str | None = None) -> Emit:
    return Emit(Event(type=kind, at=1.5, conversation=ConversationId(where) if where else None))


async def test_events_come_in_order_from_any_point_and_by_what_is_asked(store: WholeStore) -> None:
    assert await store.last_event() == 0
    await put(
        store,
        happening(EventType.MESSAGE_POSTED, "c-1"),
        happening(EventType.AGENT_JOINED),
        happening(EventType.MESSAGE_POSTED, "c-2"),
    )
    await put(store, happening(EventType.TURN_READY, "c-1"))

    async def ids(**asked: Any) -> list[int]:
        return [event.id for event in await store.events(**{"after": 0, **asked})]

    one, two, three, four = await ids()
    assert 0 < one < two < three < four, "they rise; nobody promises that they are dense"
    assert [event.type for event in await store.events(after=0)] == [
        "message.posted",
        "agent.joined",
        "message.posted",
        "turn.ready",
    ]
    assert await ids(after=two) == [three, four]
    assert await ids(after=three - 1) == [three, four]
    assert await ids(after=four) == []
    assert await ids(limit=2) == [one, two]
    assert await ids(conversation="c-1") == [one, four]
    assert await ids(types=["message.posted"]) == [one, three]
    assert await ids(types=("message.posted", "turn.ready"), conversation="c-1", after=one) == [four]
    assert await ids(types=["nothing"]) == []
    assert await store.last_event() == four


async def test_events_are_forgotten_from_the_beginning_and_their_numbers_are_not_given_again(
    store: WholeStore,
) -> None:
    assert (await store.horizon(), await store.forget_events(before=100.0)) == (0, 0)
    for at in (1.0, 2.0, 9.0, 3.0):
        await put(store, Emit(Event(type=EventType.AGENT_JOINED, at=at)))
    _, second, _, last = [event.id for event in await store.events(after=0)]
    assert await store.forget_events(before=4.0) == 2
    assert [event.at for event in await store.events(after=0)] == [9.0, 3.0], "it is a beginning that goes"
    assert (await store.horizon(), await store.last_event()) == (second, last)
    assert await store.forget_events(before=10.0) == 2
    assert (await store.horizon(), await store.last_event(), await store.events(after=0)) == (last, last, [])
    await put(store, Emit(Event(type=EventType.AGENT_JOINED, at=11.0)))
    [new] = await store.events(after=0)
    assert new.id > last


async def test_events_of_messages_point_at_them(hundred: WholeStore) -> None:
    events = await hundred.events(after=0, conversation=ROOM.id)
    assert [event.seq for event in events] == list(range(1, 101))
    assert sorted(event.id for event in events) == [event.id for event in events]


async def test_a_read_sees_what_was_answered_before_it(store: WholeStore) -> None:
    await put(store, PutConversation(ROOM))
    for n in range(20):
        seq = await say(store, ROOM.id, f"text {n}")
        newest = await store.messages(ROOM.id, Page(newest=True, limit=1))
        assert [message.seq for message in newest] == [seq]
        events = await store.events(after=0)
        assert [event.seq for event in events] == list(range(1, seq + 1))
        assert await store.last_event() == events[-1].id


def summary(epoch: int, upto: int, where: str = "c-1") -> Summary:
    return Summary(ConversationId(where), epoch, upto, f"epoch {epoch}", "demo", at=1.5)


async def test_the_summary_that_is_found_reaches_no_further_than_asked(store: WholeStore) -> None:
    where = ConversationId("c-1")
    assert await store.summary(where, upto=100) is None
    await put(store, *map(AddSummary, (summary(1, 10), summary(2, 30), summary(1, 7, "c-2"))))
    found = [await store.summary(where, upto=upto) for upto in (9, 10, 29, 30, 1000)]
    assert [one.epoch if one else None for one in found] == [None, 1, 1, 2, 2]
    assert await store.summary_of(where, 1) == summary(1, 10)
    assert await store.summary_of(where, 3) is None


async def test_the_secret_is_the_same_for_every_process_and_after_a_restart(place: Place) -> None:
    store = await place.open()
    secret = await store.secret()
    assert len(secret) == 32
    assert await (await place.reopen()).secret() == secret


async def test_turns_about_a_message_read_it_or_never_began_however_many_came_since(
    store: WholeStore,
) -> None:
    turns = [
        turn(1, "arya", "c-1", TurnState.SAID, lo=0, hi=4),
        turn(2, "arya", "c-1", TurnState.PASSED, lo=4, hi=6),
        turn(3, "bob", "c-1", TurnState.CANCELLED, lo=0, hi=0),
        turn(4, "bob", "c-2", TurnState.SAID, lo=0, hi=9),
        turn(5, "bob", "c-1", TurnState.OWED, lo=0, hi=0),
        turn(6, "arya", "c-1", TurnState.RUNNING, lo=6, hi=7),
    ]
    later = [turn(7 + n, "arya", "c-1", TurnState.SAID, lo=10 + n, hi=11 + n) for n in range(1100)]
    await put(store, *(PutTurn(one) for one in (*turns, *later)))

    async def about(seq: int) -> list[int]:
        return [one.id for one in await store.turns_about(ConversationId("c-1"), seq)]

    assert await about(4) == [1, 3, 5]
    assert await about(5) == [2, 3, 5]
    assert await about(7) == [3, 5, 6]
    assert await about(8) == [3, 5]


async def test_earlier_turns_of_an_agent_are_those_that_read_something(store: WholeStore) -> None:
    turns = [
        turn(1, "arya", "c-1", TurnState.SAID, hi=4),
        turn(2, "arya", "c-1", TurnState.CANCELLED, hi=6),
        turn(3, "bob", "c-1", TurnState.SAID, hi=6),
        turn(4, "arya", "c-2", TurnState.SAID, hi=6),
        turn(5, "arya", "c-1", TurnState.PASSED, hi=7),
        turn(6, "arya", "c-1", TurnState.FAILED, hi=8),
        turn(7, "arya", "c-1", TurnState.RUNNING, hi=9),
        turn(8, "arya", "c-1", TurnState.EXPIRED, hi=9),
    ]
    await put(store, *(PutTurn(one) for one in turns))

    async def before(**asked: int) -> list[int]:
        return [
            one.id for one in await store.turns_before(turns[6], **{"reading_to": 0, "limit": 9, **asked})
        ]

    assert await before() == [1, 5, 6]
    assert await before(reading_to=7) == [5, 6]
    assert await before(limit=2) == [5, 6]


async def test_what_the_brakes_count_is_read_as_it_was_written(place: Place) -> None:
    store = await place.open()
    old = structs.replace(samples.PAIR, receiver=ParticipantId("c"), last=samples.AT - 100)
    other = structs.replace(samples.QUOTA, agent=samples.ARYA)
    await put(store, PutPair(samples.PAIR), PutPair(old), PutQuota(samples.QUOTA), PutQuota(other))
    await put(store, PutRoot(samples.ROOT_ROW))
    store = await place.reopen()
    assert await store.pairs(since=samples.AT) == [samples.PAIR]
    assert await store.pairs(since=0.0) == [samples.PAIR, old]
    assert await store.quotas() == [other, samples.QUOTA]
    assert await store.root(samples.ROOT) == samples.ROOT_ROW
    assert await store.root(RootId("c-x:9")) is None
