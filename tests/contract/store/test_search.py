"""Search finds words in whatever was committed before, and no text a person types can break it."""

import pytest
from msgspec import structs

from moot.model.change import DropConversation, PutConversation, ReviseMessage
from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Revision
from moot.model.query import Query
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.samples import REVISION
from tests.contract.store.verbs import conversation, put, say, saying, together

ROOM, OTHER = conversation("room"), conversation("other")
HOSTILE = [
    "",
    " ",
    '"',
    '""',
    '"""',
    "'",
    "*",
    "AND",
    "OR",
    "NOT",
    "NEAR(",
    "NEAR(a b, 2)",
    "a-b",
    "-a",
    "^",
    "^a",
    "(",
    ")",
    "a AND",
    "content:a",
    "a:b",
    "{a b}:c",
    "a*",
    '"a"*',
    "a + b",
    "\\",
    "%",
    "_",
    ";",
    "--",
    "' OR 1=1 --",
    "\x00",
    "a\x00b",
    "\ud800",
    "\U0001f980",
    "?1",
    ":x",
    "a" * 5000,
    "b " * 5000,
]


@pytest.fixture
async def told(place: Place, store: WholeStore) -> WholeStore:
    await put(store, PutConversation(ROOM), PutConversation(OTHER))
    for where, text in (
        (ROOM, "The quick brown fox"),
        (ROOM, "jumps over the lazy dog"),
        (OTHER, "a quick reply"),
    ):
        await say(store, where.id, text)
        await place.clock.advance(1)
    return store


async def found(store: WholeStore, query: str, limit: int = 10) -> list[str]:
    return [message.text for message, _ in await store.search(Query(terms=tuple(query.split())), limit)]


async def test_words_are_found_in_any_case_and_order(told: WholeStore) -> None:
    assert await found(told, "fox") == ["The quick brown fox"]
    assert await found(told, "FOX quick") == ["The quick brown fox"]
    assert await found(told, "fox dog") == []
    assert await found(told, "unicorn") == []


async def test_hits_come_newest_first_with_the_text_around_them(told: WholeStore) -> None:
    hits = await told.search(Query(terms=("quick",)), 10)
    assert [message.conversation for message, _ in hits] == [OTHER.id, ROOM.id]
    assert all("quick" in piece for _, piece in hits)
    assert len(await told.search(Query(terms=("quick",)), 1)) == 1


@pytest.mark.parametrize("query", HOSTILE, ids=ascii)
async def test_nothing_a_person_can_type_breaks_it(told: WholeStore, query: str) -> None:
    name = query.encode("utf-8", "replace").decode()
    for terms in ((query,), tuple(query.split())[:64]):
        asked = Query(terms=terms, authors=(ParticipantId(name),), places=(ConversationId(name),))
        assert await told.search(asked, 10) == []
        await told.search(Query(terms=terms, addressed=(ParticipantId(name),)), 10)
    assert await found(told, "fox") == ["The quick brown fox"]


async def test_words_that_look_like_operators_are_words(store: WholeStore) -> None:
    await put(store, PutConversation(ROOM))
    text = 'war AND peace, NEAR(you), a-b "said" she*'
    await say(store, ROOM.id, text)
    for query in ("AND", "war AND peace", "NEAR(you)", "a-b", '"said"', "she*"):
        assert await found(store, query) == [text], query


async def test_an_edit_is_found_by_its_new_words_only(told: WholeStore) -> None:
    for before_it_was_ever_searched in (False, True):
        seq = await say(told, ROOM.id, "original wording")
        if not before_it_was_ever_searched:
            assert await found(told, "original") == ["original wording"]
        message = await told.message(ROOM.id, seq)
        assert message is not None
        edited = structs.replace(message, text="changed phrase", version=2)
        await put(told, ReviseMessage(edited, revision_of(seq)))
        assert await found(told, "original") == []
        assert (await found(told, "changed"))[0] == "changed phrase"


def revision_of(seq: int) -> Revision:
    return structs.replace(REVISION, conversation=ROOM.id, seq=seq)


async def test_a_deleted_text_is_no_longer_found(told: WholeStore) -> None:
    message = await told.message(ROOM.id, 1)
    assert message is not None
    assert await found(told, "fox")
    await put(told, ReviseMessage(structs.replace(message, text="", version=2), revision_of(1)))
    assert await found(told, "fox") == []


async def test_an_erased_conversation_is_no_longer_found(told: WholeStore) -> None:
    assert await found(told, "quick") == ["a quick reply", "The quick brown fox"]
    await put(told, DropConversation(OTHER.id))
    assert await found(told, "quick") == ["The quick brown fox"]
    await put(told, PutConversation(OTHER))
    await say(told, OTHER.id, "quick again")
    assert await found(told, "quick") == ["quick again", "The quick brown fox"]


async def test_everything_committed_before_the_question_is_found(store: WholeStore) -> None:
    await put(store, PutConversation(ROOM))
    await together(store, [saying(ROOM.id, f"needle number{n}") for n in range(500)])
    assert len(await found(store, "needle", 1000)) == 500
    assert await found(store, "number463") == ["needle number463"]


async def test_the_next_process_finds_what_this_one_never_searched(place: Place) -> None:
    store = await place.open()
    await put(store, PutConversation(ROOM))
    await say(store, ROOM.id, "left unindexed")
    assert await found(await place.reopen(), "unindexed") == ["left unindexed"]
