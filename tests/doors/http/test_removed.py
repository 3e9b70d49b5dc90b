"""Whoever was taken out over HTTP is in no list, gets no broadcast, and is not written to."""

from tests.doors.http.world import World


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
