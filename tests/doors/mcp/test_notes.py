"""Shared notes over MCP: listed for whom they are of use, refusals as results (SPEC S-15, J-02)."""

import pytest

from moot.doors.mcp.tools import TOOLS
from tests.doors.http.world import World
from tests.doors.mcp.conftest import ERAS, Called, came_in
from tests.doors.mcp.test_surface import MAX_TOKENS, cost

pytestmark = pytest.mark.req("S-15", "J-02")
both_eras = pytest.mark.parametrize("era", ERAS)
READ, WRITE = "read_shared_note", "write_shared_note"


async def note_tools(who: Called) -> set[str]:
    listed = await who.client.list_tools()
    return {tool.name for tool in listed.tools} & {READ, WRITE}


@both_eras
async def test_an_agent_reads_and_writes_what_it_was_granted(world: World, era: str) -> None:
    await world.hub.notes.create("deploy", "canary: red")
    await world.hub.notes.share("deploy", "bob", "read_write")
    async with came_in(world, "bob", era) as bob:
        read = await bob(READ, name="deploy")
        assert (read["text"], read["version"], read["updated_by"]) == ("canary: red", 1, "user")
        assert await bob(WRITE, name="deploy", text="canary: green", version=1) == {
            "name": "deploy",
            "version": 2,
        }
        stale = await bob.error(WRITE, name="deploy", text="mine", version=1)
        assert (stale["code"], stale["current_version"], stale["updated_by"]) == ("E205", 2, "bob")
        assert (stale["current_text"], stale["your_text"]) == ("canary: green", "mine")
        assert stale["fix"] == ['read_shared_note(name="deploy")']
        unread = await bob.error(WRITE, name="deploy", text="mine")
        assert (unread["code"], unread["current_version"], unread["current_text"]) == (
            "E205",
            2,
            "canary: green",
        )
        assert "say which version you have read" in unread["title"]
    assert (await world.hub.notes.get("deploy")).updated_by == "bob"


@both_eras
async def test_the_tools_are_listed_where_they_are_of_use(world: World, era: str) -> None:
    async with came_in(world, "bob", era) as bob, came_in(world, "owner", era) as owner:
        assert await note_tools(bob) == await note_tools(owner) == set()
        await world.hub.notes.create("deploy")
        assert (await note_tools(bob), await note_tools(owner)) == (set(), {READ, WRITE})
        await world.hub.notes.share("deploy", "bob", "read")
        assert await note_tools(bob) == {READ}
        await world.hub.notes.share("deploy", "bob", "read_write")
        assert await note_tools(bob) == {READ, WRITE}
        await world.hub.notes.share("deploy", "bob", "none")
        assert await note_tools(bob) == set()


@pytest.mark.req("M-10")
async def test_who_has_everything_is_listed_less_than_1500_tokens(world: World) -> None:
    await world.hub.links.create("eve", "bob", relationship="superior")
    await world.hub.links.create("bob", "arya", relationship="superior")
    async with came_in(world, "bob") as bob:
        names = {tool.name for tool in (await bob.client.list_tools()).tools}
        assert "set_name" not in names
        await world.hub.delegate("bob", "some work")
        await world.hub.notes.create("deploy")
        await world.hub.notes.share("deploy", "bob", "read_write")
        listed = (await bob.client.list_tools()).tools
        without_templates = {tool.name for tool in TOOLS} - {"set_name", "spawn_agent"}
        assert {tool.name for tool in listed} == without_templates
        assert (await bob("set_name", name="robert"))["success"], "who calls it anyway may"
        assert cost(listed) < MAX_TOKENS


async def test_a_refusal_names_what_it_may_read_and_whom_to_ask(world: World) -> None:
    for name in ("deploy", "secret"):
        await world.hub.notes.create(name, name)
    await world.hub.notes.share("deploy", "bob", "read")
    async with came_in(world, "bob") as bob:
        hidden = await bob.error(READ, name="secret")
        assert (hidden["name"], hidden["available"], hidden["suggestions"]) == (
            "note_not_found",
            ["deploy"],
            [],
        )
        assert (await bob.error(READ, name="depoly"))["suggestions"] == ["deploy"]
        denied = await bob.error(WRITE, name="deploy", text="mine")
        assert denied["name"] == "not_permitted"
        assert denied["fix"] == ["ask the owner to let bob write to the note deploy"]
        assert "arguments are name" in (await bob.error(READ))["detail"]
