"""Notes of others, asked for by name with a token of one's own: they look like notes that there are not."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot.doors.http.api.routes import ROUTES
from tests.doors.http.test_matrix import BODIES
from tests.doors.http.world import World, opened
from tests.doors.mcp.conftest import came_in

pytestmark = pytest.mark.req("S-15", "P-06")
OF_NOTES = [route.key for route in ROUTES if route.path.startswith("/api/notes/{name}")]
SECRET, NOTHING = "secret-plan", "secret-plot"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Bob, an agent, has a note of his own beside the one that he may not know of; arya may read that one."""
    async with opened(tmp_path) as found:
        await found.hub.notes.create(SECRET, "attack at dawn")
        await found.hub.notes.share(SECRET, "arya", "read")
        await found.hub.notes.create("his-own", "breakfast")
        await found.hub.notes.share("his-own", "bob", "read_write")
        for scope in ("read", "post"):
            token = await found.hub.agents.issue_token("bob", scopes=[scope])
            found.tokens[f"bob-{scope}"] = token.token
        yield found


async def knocked(world: World, who: str, key: str, name: str, **headers: str) -> tuple[int, str]:
    """What is answered at a route; what the caller wrote itself is taken out of it."""
    method, _, path = key.partition(" ")
    answer = await world.ask(
        who, method, path.replace("{name}", name), BODIES.get(key), If_Match="*", **headers
    )
    return answer.status_code, answer.text.replace(name, "NAME")


@pytest.mark.parametrize("who", ["bob", "bob-read", "bob-post"])
async def test_no_route_tells_a_hidden_note_from_none(world: World, who: str) -> None:
    assert len(OF_NOTES) == 8
    answers = {key: [await knocked(world, who, key, name) for name in (SECRET, NOTHING)] for key in OF_NOTES}
    assert {key: both for key, both in answers.items() if both[0] != both[1]} == {}
    assert all(status in (403, 404) for both in answers.values() for status, _ in both)
    assert (await world.hub.notes.get(SECRET)).version == 1


@pytest.mark.parametrize(
    "spelled",
    [
        "Secret-Plan",
        "secret-plan%20",
        "secret%2Dplan",
        "..%2Fsecret-plan",
        "secret-plan%00",
        "./secret-plan",
        "s%",
    ],
)
async def test_no_spelling_of_a_name_leads_to_a_hidden_note(world: World, spelled: str) -> None:
    for method in ("GET", "PUT", "DELETE"):
        body = {"text": "mine"} if method == "PUT" else None
        answer = await world.ask("bob", method, f"/api/notes/{spelled}", body, If_Match="*")
        assert answer.status_code in (403, 404)
        assert "dawn" not in answer.text
    assert (await world.hub.notes.get(SECRET)).text == "attack at dawn"


async def test_names_cannot_be_guessed_by_making_notes_or_by_suggestions(world: World) -> None:
    made = [await world.ask("bob", "POST", "/api/notes", {"name": name}) for name in (SECRET, NOTHING)]
    assert [answer.status_code for answer in made] == [403, 403]
    assert made[0].text == made[1].text
    near = (await world.ask("bob", "GET", "/api/notes/secret-pla")).json()
    assert (near["available"], near["suggestions"]) == (["his-own"], [])
    assert SECRET not in (await world.ask("bob", "GET", "/api/notes")).text


async def test_who_may_read_cannot_write_share_or_delete_nor_see_who_else_may(world: World) -> None:
    for key in ("PUT /api/notes/{name}", "POST /api/notes/{name}/append", "POST /api/notes/{name}/revert"):
        assert (await knocked(world, "arya", key, SECRET))[0] == 403
    for key in ("DELETE /api/notes/{name}", "GET /api/notes/{name}/permissions"):
        assert (await knocked(world, "arya", key, SECRET))[0] == 403
    grant = await world.ask(
        "arya", "PUT", f"/api/notes/{SECRET}/permissions", {"agent": "arya", "access": "read_write"}
    )
    assert grant.status_code == 403
    assert (await world.ask("arya", "GET", f"/api/notes/{SECRET}")).json()["version"] == 1


async def test_a_token_does_no_more_than_its_scope_and_nothing_once_it_is_revoked(world: World) -> None:
    note = "/api/notes/his-own"
    assert (await world.ask("bob-read", "PUT", note, {"text": "x"}, If_Match="*")).status_code == 403
    assert (await world.ask("bob-post", "GET", note)).status_code == 403
    assert (await world.ask("bob", "PUT", note, {"text": "x"}, If_Match="*")).status_code == 200
    for token in await world.hub.agents.tokens("bob"):
        await world.hub.agents.revoke_token("bob", token.id)
    for method, body in (("GET", None), ("PUT", {"text": "y"})):
        assert (await world.ask("bob", method, note, body, If_Match="*")).status_code == 401
    assert (await world.hub.notes.get("his-own")).text == "x"


async def test_a_body_cannot_say_who_wrote(world: World) -> None:
    for more in ({"updated_by": "user"}, {"by": "user"}, {"as": "user"}, {"hash": "0" * 64}):
        wrong = await world.ask("bob", "PUT", "/api/notes/his-own", {"text": "x", **more}, If_Match="*")
        assert wrong.status_code == 422
    as_user = await world.ask(
        "bob", "PUT", "/api/notes/his-own", {"text": "x"}, If_Match="*", Moot_Act_As="user"
    )
    assert as_user.status_code in (401, 403)


async def test_no_tool_tells_a_hidden_note_from_none(world: World) -> None:
    async with came_in(world, "bob") as bob:

        async def refused(tool: str, name: str, **more: Any) -> str:
            return str(await bob.error(tool, name=name, **more)).replace(name, "NAME")

        for tool, more in (
            ("read_shared_note", {}),
            ("write_shared_note", {"text": "mine"}),
            ("write_shared_note", {"text": "mine", "version": 1}),
        ):
            assert await refused(tool, SECRET, **more) == await refused(tool, NOTHING, **more)
    assert (await world.hub.notes.get(SECRET)).version == 1


async def test_hidden_notes_are_not_in_what_an_agent_is_told(world: World) -> None:
    seen = [
        await world.ask("bob", "GET", path) for path in ("/api/agents", "/api/status", "/api/search?q=dawn")
    ]
    assert all(SECRET not in answer.text and "dawn" not in answer.text for answer in seen)
