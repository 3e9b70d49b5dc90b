"""Every filter of a search, alone and together: exactly what the plain reading of stores/query_match.py finds."""

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pytest
from msgspec import structs

from moot.model.change import DropMember, PutConversation, PutMember, PutParticipant, ReviseMessage
from moot.model.conversation import ConversationKind, Member
from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Message
from moot.model.participant import Kind, Participant
from moot.model.query import Has, Mark, Query
from moot.ports import Page
from moot.stores.query_match import matches
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.samples import REVISION
from tests.contract.store.verbs import conversation, put, say, saying, together

START = 1_800_000_000.0
HOUR = 3600.0
USER, ARYA, BOB, ODD = map(ParticipantId, ("user", "arya", "bob", 'b"ø b*'))
ROOM = conversation("room")
PAIR = conversation("pair", kind=ConversationKind.DIRECT)
QUICK = conversation("quick", kind=ConversationKind.EPHEMERAL)
FOREIGN = conversation("foreign")
MEMBERS = {ROOM.id: (USER, ARYA, BOB), PAIR.id: (USER, ARYA), QUICK.id: (USER, BOB), FOREIGN.id: (ODD,)}

SAID: tuple[tuple[Any, str, dict[str, Any]], ...] = (
    (ROOM, "the plan for the harvest", {}),
    (ROOM, "plan it with `code` and https://a.example", {"author": ARYA, "kind": Kind.AGENT, "mentions": (BOB,)}),
    (ROOM, "the harvest: plan B", {"author": BOB, "kind": Kind.AGENT, "reply_to": 2}),
    (PAIR, "only for you: the plan", {}),
    (PAIR, "a plan, half said", {"author": ARYA, "kind": Kind.AGENT, "metadata": {"partial": True}}),
    (QUICK, "one quick plan", {}),
    (QUICK, "```\nplan\n```", {"author": BOB, "kind": Kind.AGENT, "mentions": (USER, ARYA)}),
    (FOREIGN, "a foreign plan at http://b.example", {"author": ODD, "kind": Kind.EXTERNAL}),
    (ROOM, "arya joined the plan", {"author": ParticipantId("system"), "kind": Kind.SYSTEM}),
    (ROOM, "to be edited", {"author": ARYA, "kind": Kind.AGENT}),
    (ROOM, "to be deleted plan", {"author": ARYA, "kind": Kind.AGENT}),
)  # fmt: skip


async def enrolled(store: WholeStore) -> None:
    await put(store, *(PutParticipant(Participant(who, who, Kind.AGENT)) for who in (USER, ARYA, BOB, ODD)))


@pytest.fixture
async def told(place: Place, store: WholeStore) -> WholeStore:
    await enrolled(store)
    for room in (ROOM, PAIR, QUICK, FOREIGN):
        await put(store, PutConversation(room))
        for n, who in enumerate(MEMBERS[room.id]):
            await put(store, PutMember(Member(room.id, who, position=n, joined_at=START)))
    for room, text, fields in SAID:
        await say(store, room.id, text, **fields)
        await place.clock.advance(HOUR)
    await store.search(Query(), 1)  # what follows changes rows that the index knows
    for seq, text in ((5, "edited, a plan by now"), (6, "")):
        message = await store.message(ROOM.id, seq)
        assert message is not None
        revision = structs.replace(REVISION, conversation=ROOM.id, seq=seq)
        await put(store, ReviseMessage(structs.replace(message, text=text, version=2), revision))
    return store


async def everything(store: WholeStore) -> list[Message]:
    return [m for where in MEMBERS for m in await store.messages(where, Page(limit=100))]


def kind_of(where: ConversationId) -> ConversationKind:
    return next(room.kind for room in (ROOM, PAIR, QUICK, FOREIGN) if room.id == where)


PARTS: list[dict[str, Any]] = [
    {"terms": ("plan",)},
    {"terms": ("THE harvest",)},
    {"terms": ("harvest the",)},
    {"authors": (ARYA,)},
    {"authors": (ARYA, BOB)},
    {"authors": (ODD,)},
    {"addressed": (ARYA,)},
    {"addressed": (BOB, USER)},
    {"places": (ROOM.id,)},
    {"places": (PAIR.id, FOREIGN.id)},
    {"kinds": (Kind.AGENT,)},
    {"kinds": (Kind.HUMAN, Kind.SYSTEM)},
    {"rooms": (ConversationKind.DIRECT, ConversationKind.EPHEMERAL)},
    {"rooms": (ConversationKind.TASK,)},
    {"has": (Has.LINK,)},
    {"has": (Has.CODE,)},
    {"has": (Has.MENTION, Has.CODE)},
    {"has": (Has.REPLY,)},
    {"marks": (Mark.EDITED,)},
    {"marks": (Mark.DELETED,)},
    {"marks": (Mark.PARTIAL,)},
    {"after": START + 3 * HOUR},
    {"before": START + 3 * HOUR},
    {"after": START + 2 * HOUR, "before": START + 4.5 * HOUR},
    {"after": START + 1000 * HOUR},
    {"before": 0.0},
    {"reader": BOB},
    {"reader": ARYA},
    {"reader": ParticipantId("nobody")},
]


def queries() -> Iterator[Query]:
    yield Query()
    for part in PARTS:
        yield Query(**part)
    for one, other in combinations(PARTS, 2):
        if not one.keys() & other.keys():
            yield Query(**one, **other)


@pytest.mark.req("J-12")
async def test_each_filter_and_each_two_of_them_find_exactly_what_they_say(told: WholeStore) -> None:
    messages = await everything(told)
    sizes: set[int] = set()
    for query in queries():
        expected = [
            m.id for m in messages if matches(query, m, kind_of(m.conversation), MEMBERS[m.conversation])
        ]
        found = [m.id for m, _ in await told.search(query, 100)]
        assert sorted(found) == sorted(expected), query
        assert await told.count(query, 100) == len(expected), query
        sizes.add(len(expected))
    assert len(sizes) > 5


@pytest.mark.req("J-12")
@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ({"authors": (ARYA,), "terms": ("plan",), "rooms": (ConversationKind.DIRECT,)}, ["a plan, half said"]),
        ({"addressed": (ARYA,)}, ["```\nplan\n```", "only for you: the plan"]),
        ({"addressed": (BOB,)}, ["one quick plan", "plan it with `code` and https://a.example"]),
        ({"has": (Has.LINK,)}, ["a foreign plan at http://b.example", "plan it with `code` and https://a.example"]),
        ({"marks": (Mark.EDITED,)}, ["edited, a plan by now"]),
        ({"marks": (Mark.DELETED,)}, [""]),
        ({"marks": (Mark.PARTIAL,)}, ["a plan, half said"]),
        ({"before": START + HOUR}, ["the plan for the harvest"]),
        ({"terms": ("the plan",)}, ["arya joined the plan", "only for you: the plan", "the plan for the harvest"]),
    ],
)  # fmt: skip
async def test_what_the_filters_mean(told: WholeStore, query: dict[str, Any], texts: list[str]) -> None:
    assert [message.text for message, _ in await told.search(Query(**query), 100)] == texts


async def test_a_deleted_message_is_found_only_where_it_is_asked_for(told: WholeStore) -> None:
    assert "" not in [message.text for message, _ in await told.search(Query(), 100)]
    assert len(await told.search(Query(), 100)) == len(SAID) - 1


async def test_foreign_hits_take_nobodys_place(told: WholeStore) -> None:
    await together(told, [saying(FOREIGN.id, f"plan number {n}") for n in range(300)])
    asked = Query(terms=("plan",), reader=BOB)
    newest = [message.text for message, _ in await told.search(asked, 2)]
    assert newest == ["edited, a plan by now", "arya joined the plan"]
    assert await told.count(Query(terms=("plan",)), 200) == 200


async def test_who_left_finds_no_more(told: WholeStore) -> None:
    assert await told.count(Query(reader=BOB, places=(QUICK.id,)), 10) == 2
    await put(told, DropMember(QUICK.id, BOB))
    assert await told.count(Query(reader=BOB, places=(QUICK.id,)), 10) == 0


async def test_one_reader_of_many_conversations_finds_in_all_of_them(store: WholeStore) -> None:
    """More than the index is asked for by name."""
    await enrolled(store)
    for n in range(520):
        room = conversation(f"n{n}")
        await put(store, PutConversation(room), PutMember(Member(room.id, ARYA, position=0, joined_at=START)))
        if n % 65 == 0:
            await say(store, room.id, f"needle {n}")
    await put(store, PutConversation(FOREIGN))
    await say(store, FOREIGN.id, "needle elsewhere")
    assert await store.count(Query(terms=("needle",), reader=ARYA), 100) == 8


async def test_what_was_said_long_ago_and_stored_today_is_found_by_its_time(
    place: Place, store: WholeStore
) -> None:
    """As an import leaves it: late in the table, early in time."""
    await put(store, PutConversation(ROOM))
    for n in range(3):
        await say(store, ROOM.id, f"today {n}")
    await say(store, ROOM.id, "years ago", at=START - 1e8)
    assert await store.count(Query(before=START - 1e7), 10) == 1
    await say(store, ROOM.id, "today 3")
    assert [m.text for m, _ in await store.search(Query(before=START - 1e7), 10)] == ["years ago"]
    assert len(await store.search(Query(after=START - 1e7), 10)) == 4
