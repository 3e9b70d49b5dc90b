"""Writes that settle inside their decision who may: what a token learns or does beside that decision."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doors.http.world import World, opened
from tests.doors.mcp.conftest import came_in

NOT_THERE = "c0000000000000z"
ROOM = "/api/conversations/room/messages"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(tmp_path) as found:
        yield found


@pytest.mark.req("P-06")
async def test_a_reply_to_something_tells_no_foreign_conversation_from_none(world: World) -> None:
    hidden = await world.hub.conversations.create("hidden")
    for answered in (
        f"{hidden.id}:1",
        "hidden:1",
        "c0000000000000y:1",
        "room:1",
        "nothing",
        f"{hidden.id}:0",
    ):
        told = []
        for ref in (hidden.id, NOT_THERE):
            body = {"text": "hello", "reply_to": answered}
            answer = await world.ask("karl", "POST", f"/api/conversations/{ref}/messages", body)
            told.append((answer.status_code, answer.text.replace(ref, "ID")))
        assert told[0] == told[1], answered
    first = (await world.ask("karl", "POST", ROOM, {"text": "one"})).json()["id"]
    for answered, status in ((first, 201), ("room:1", 201), (f"{hidden.id}:1", 404), ("room:99999", 404)):
        answer = await world.ask("karl", "POST", ROOM, {"text": "two", "reply_to": answered})
        assert answer.status_code == status, answered


@pytest.mark.req("P-06")
async def test_no_door_tells_names_of_conversations_that_come_near(world: World) -> None:
    await world.hub.conversations.create("secret-merger")
    near = {"conversation": "secret-merge", "text": "hello"}
    async with came_in(world, "bob") as bob:
        told = [await bob.error("post", **near), await bob.error("search", query="in:secret-merge word")]
    told.append(
        (await world.ask("bob", "POST", "/api/conversations/secret-merge/messages", {"text": "x"})).json()
    )
    told.append((await world.ask("bob", "GET", "/api/search?q=in:secret-merge+word")).json())
    assert [one["name"] for one in told if "secret-merger" in str(one)] == []
    async with came_in(world, "owner") as owner:
        assert "secret-merger" in str(await owner.error("search", query="in:secret-merge word"))
