"""Pages of what has happened: nobody is led beyond an event that may still become visible."""

from pathlib import Path

import pytest

from moot import Hub
from tests.support.beneath import store_of


async def test_a_page_ends_before_an_event_that_may_still_become_visible(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "one")
        before = (await hub.history.past(0)).reached
        await hub.post("room", "two")
        store = store_of(hub)

        async def settled() -> int:
            return before  # another writer holds an id right behind it

        with monkeypatch.context() as patched:
            patched.setattr(store, "last_event", settled)
            page = await hub.history.past(0)
            assert page.reached == before
            assert max(int(event.id or 0) for event in page.events) == before
        rest = await hub.history.past(page.reached)
        assert [event.type for event in rest.events if event.type == "message.posted"] == ["message.posted"]
