"""Whoever was taken out over HTTP is in no list, gets no broadcast, and is not written to."""

from typing import Any

import pytest

from tests.doors.http.world import World
from tests.doors.mcp.conftest import came_in


async def test_who_is_removed_is_not_there_for_anybody(world: World) -> None:
    await world.hub.agents.create("leaver")
    before = {each["name"] for each in (await world.get("/api/agents")).json()["agents"]}
    assert "leaver" in before
    gone = await world.ask("owner", "DELETE", "/api/agents/leaver")
    assert (gone.status_code, gone.json()["activity"]["state"]) == (200, "removed")
    assert {each["name"] for each in (await world.get("/api/agents")).json()["agents"]} == before - {"leaver"}
    told = await world.ask("arya", "POST", "/api/agents/leaver/messages", {"message": "hello"})
    assert told.status_code == 404
    assert told.json()["delivered"] is False
    assert "leaver" not in told.json()["available"]
    sent = await world.post("/api/agents/broadcast", {"message": "hello"})
    assert "leaver" not in str(sent.json())


BY_OWNER: list[tuple[str, Any]] = [
    ("/api/conversations/room/messages", {"text": "hello"}),
    ("/api/agents/quiet/messages", {"message": "hello"}),
    ("/api/agents/quiet/send", {"text": "hello"}),
    ("/api/agents/leaver/check", {}),
]


@pytest.mark.parametrize(("path", "body"), BY_OWNER)
async def test_the_owner_does_nothing_in_the_name_of_who_was_removed(
    world: World, path: str, body: Any
) -> None:
    await world.hub.agents.create("leaver", external=True)
    await world.hub.conversations.join("room", "leaver")
    good = await world.ask("owner", "POST", path, body, Moot_Act_As="leaver")
    assert good.status_code in (200, 201)
    await world.ask("owner", "DELETE", "/api/agents/leaver")
    before = len(await world.hub.messages("room"))
    told = await world.ask("owner", "POST", path, body, Moot_Act_As="leaver")
    assert told.status_code == 404
    assert "leaver was removed" in told.text
    assert len(await world.hub.messages("room")) == before


async def test_nor_over_mcp(world: World) -> None:
    await world.hub.agents.create("leaver", external=True)
    await world.hub.conversations.join("room", "leaver")
    async with came_in(world, "owner", **{"Moot-Act-As": "leaver"}) as spoken_for:
        assert (await spoken_for("post", conversation="room", text="before"))["delivered"]
        await world.hub.agents.remove("leaver")
        assert "removed" in (await spoken_for.error("post", conversation="room", text="after"))["title"]
        assert "removed" in (await spoken_for.error("check_messages"))["title"]
