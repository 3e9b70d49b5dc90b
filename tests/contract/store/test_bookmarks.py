"""Where clients go on reading: kept exactly, bounded, and gone with the conversation."""

import pytest
from msgspec import structs

from moot.flow import move_bookmarks, open_bookmark
from moot.model.change import DropConversation, PutConversation
from moot.model.ids import ParticipantId
from moot.model.records.bookmark import BOOKMARKS, Bookmark
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.verbs import conversation, look, put, say

ROOM = conversation("room")
USER = ParticipantId("user")
MINE = BOOKMARKS.where(participant=USER)


async def filled(store: WholeStore, messages: int = 3) -> None:
    await put(store, PutConversation(ROOM))
    for n in range(messages):
        await say(store, ROOM.id, f"text {n}")


async def opened(store: WholeStore, client: str, after: int | None = None) -> open_bookmark.OpenedBookmark:
    found: open_bookmark.OpenedBookmark = await store.transact(
        open_bookmark, open_bookmark.OpenBookmark(USER, ROOM.id, client, after)
    )
    return found


async def kept(store: WholeStore) -> list[str]:
    found: list[Bookmark] = await look(store, lambda seen: seen.records(MINE), records=(MINE,))
    return sorted(mark.client for mark in found)


@pytest.mark.req("K-11")
@pytest.mark.parametrize(("after", "begins"), [(None, 3), (0, 0), (2, 2), (99, 3)])
async def test_a_new_client_begins_at_the_head_or_where_it_says(
    store: WholeStore, after: int | None, begins: int
) -> None:
    await filled(store)
    found = await opened(store, "phone", after)
    assert (found.known, found.bookmark.seq, found.bookmark.frames) == (False, begins, 0)


@pytest.mark.req("K-11")
async def test_a_known_client_goes_on_where_it_was_also_after_a_restart(place: Place) -> None:
    store = await place.open()
    await filled(store)
    mark = (await opened(store, "phone", 0)).bookmark
    other = (await opened(store, "desk", 0)).bookmark
    await store.transact(
        move_bookmarks, move_bookmarks.MoveBookmarks((structs.replace(mark, seq=2, frames=2),))
    )
    store = await place.reopen()
    again = await opened(store, "phone", 0)
    assert (again.known, again.bookmark.seq, again.bookmark.frames) == (True, 2, 2)
    assert (await opened(store, "desk")).bookmark.seq == other.seq == 0


async def test_for_a_new_one_the_longest_unused_goes(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(open_bookmark, "MAX_BOOKMARKS", 3)
    store = await place.open()
    await filled(store)
    for client in ("a", "b", "c"):
        await opened(store, client)
        await place.clock.advance(1)
    await opened(store, "a")
    await place.clock.advance(1)
    await opened(store, "d")
    assert await kept(store) == ["a", "c", "d"]
    assert await kept(await place.reopen()) == ["a", "c", "d"]


async def test_what_is_gone_does_not_come_back_by_being_moved(store: WholeStore) -> None:
    await filled(store)
    mark = (await opened(store, "phone")).bookmark
    await put(store, DropConversation(ROOM.id))
    await store.transact(move_bookmarks, move_bookmarks.MoveBookmarks((mark,)))
    assert await kept(store) == []


async def test_a_bookmark_goes_with_its_conversation_in_the_same_transaction(store: WholeStore) -> None:
    await filled(store)
    await opened(store, "phone")
    await put(store, PutConversation(ROOM), DropConversation(ROOM.id))
    assert await look(store, lambda seen: seen.records(MINE), records=(MINE,)) == []
