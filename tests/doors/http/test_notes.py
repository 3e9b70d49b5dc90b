"""Shared notes over HTTP: versions as ETags, conflicts with both texts, and who is told of what (SPEC S-15)."""

import asyncio
from typing import Any

import pytest
from msgspec import json

from tests.doors.http.world import World
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("S-15")
NOTE = "/api/notes/deploy"


@pytest.fixture
async def note(world: World) -> dict[str, Any]:
    """One that arya may read."""
    made = await world.post("/api/notes", {"name": "deploy", "text": "canary: red"})
    assert made.status_code == 201
    assert made.headers["location"] == NOTE
    assert made.headers["etag"] == '"1"'
    shared = await world.ask("owner", "PUT", f"{NOTE}/permissions", {"agent": "arya", "access": "read"})
    assert [(p["agent"], p["access"]) for p in shared.json()["permissions"]] == [("arya", "read")]
    found: dict[str, Any] = made.json()
    return found


async def test_a_note_has_the_fields_that_everything_outside_relies_on(
    world: World, note: dict[str, Any]
) -> None:
    assert (
        note.items() >= {"name": "deploy", "text": "canary: red", "version": 1, "updated_by": "user"}.items()
    )
    assert note["updated_at"].endswith("Z")
    listed = (await world.get("/api/notes")).json()
    assert listed == {"notes": [note]}
    assert (await world.ask("arya", "GET", NOTE)).json() == note


@pytest.mark.parametrize("way", ["body", "If-Match", "etag"])
async def test_a_stale_version_is_409_with_both_texts(world: World, note: dict[str, Any], way: str) -> None:
    def seen(version: int) -> dict[str, Any]:
        if way == "body":
            return {"body": {"text": "mine", "version": version}}
        return {"body": {"text": "mine"}, "If_Match": f'"{version}"' if way == "etag" else str(version)}

    await world.ask("owner", "PUT", NOTE, {"text": "canary: green", "version": 1})
    stale = await world.ask("karl", "PUT", NOTE, **seen(1))
    assert stale.status_code == 409
    assert stale.headers["content-type"] == "application/problem+json"
    told = stale.json()
    assert (told["code"], told["current_text"], told["your_text"]) == ("E205", "canary: green", "mine")
    assert (told["current_version"], told["updated_by"]) == (2, "user")
    written = await world.ask("karl", "PUT", NOTE, **seen(2))
    assert (written.status_code, written.headers["etag"], written.json()["updated_by"]) == (
        200,
        '"3"',
        "karl",
    )


async def test_a_write_says_what_it_saw_or_that_it_does_not_care(world: World, note: dict[str, Any]) -> None:
    blind = await world.ask("owner", "PUT", NOTE, {"text": "mine"})
    assert blind.status_code == 428
    over = await world.ask("owner", "PUT", NOTE, {"text": "mine"}, If_Match="*")
    assert (over.status_code, over.json()["version"]) == (200, 2)
    assert (await world.ask("owner", "PUT", NOTE, {"text": "mine"}, If_Match="x")).status_code == 422


async def test_versions_are_read_listed_and_brought_back(world: World, note: dict[str, Any]) -> None:
    for number in range(1, 4):
        await world.ask("owner", "PUT", NOTE, {"text": f"line {number}", "version": number})
    old = await world.get(f"{NOTE}?version=1")
    assert (old.json()["text"], old.headers["etag"]) == ("canary: red", '"1"')
    assert (await world.get(f"{NOTE}?version=9")).status_code == 404
    page = (await world.get(f"{NOTE}/history?limit=3")).json()
    assert ([v["version"] for v in page["versions"]], page["next"]) == ([4, 3, 2], 2)
    rest = (await world.get(f"{NOTE}/history?before=2")).json()
    assert ([v["version"] for v in rest["versions"]], rest["next"]) == ([1], None)
    back = await world.post(f"{NOTE}/revert", {"to": 1})
    assert (back.json()["version"], back.json()["text"]) == (5, "canary: red")
    more = await world.post(f"{NOTE}/append", {"text": "and more"})
    assert more.json()["text"] == "canary: red\nand more"


async def test_names_that_cannot_be_are_422_and_those_that_are_taken_409(
    world: World, note: dict[str, Any]
) -> None:
    wrong = await world.post("/api/notes", {"name": "a/b"})
    assert (wrong.status_code, wrong.json()["code"], wrong.json()["suggestions"]) == (422, "E202", ["a-b"])
    assert (await world.post("/api/notes", {"name": "deploy"})).status_code == 409
    assert (await world.post("/api/notes", {"name": "x", "text": "x" * 300_000})).status_code == 422
    made = await world.post("/api/notes", {"name": "größe"})
    assert made.headers["location"] == "/api/notes/gr%C3%B6%C3%9Fe"
    assert (await world.get(made.headers["location"])).json()["name"] == "größe"


async def told(world: World, who: str, after: int, until: int) -> list[tuple[str, str]]:
    """What somebody's stream tells of notes, from an event up to another."""
    found: list[tuple[str, str]] = []
    headers = {"Authorization": f"Bearer {world.tokens[who]}", "Last-Event-ID": str(after)}
    async with (
        asyncio.timeout(PATIENCE),
        world.client.stream("GET", "/api/events", headers=headers) as stream,
    ):
        async for line in stream.aiter_lines():
            if line.startswith("id: ") and int(line[4:]) >= until:
                return found
            if line.startswith("data: ") and '"note.' in line:
                event = json.decode(line[6:])
                found.append((event["type"], event["body"]["text"]))
    return found


async def test_readers_and_people_are_told_and_nobody_else(world: World, note: dict[str, Any]) -> None:
    start = world.hub.position
    await world.ask("owner", "PUT", NOTE, {"text": "canary: green", "version": 1})
    await world.post("/api/notes", {"name": "secret", "text": "hush"})
    until = world.hub.position
    await world.hub.agents.create("somebody")
    everything = [("note.changed", "canary: green"), ("note.created", "hush")]
    for who, expected in (("owner", everything), ("karl", everything), ("arya", everything[:1]), ("bob", [])):
        assert await told(world, who, start, until + 1) == expected, who
    await world.ask("owner", "PUT", f"{NOTE}/permissions", {"agent": "arya", "access": "none"})
    await world.hub.agents.create("somebody-else")
    assert await told(world, "arya", start, until + 1) == [], (
        "what it may no longer read it is not told again"
    )


async def test_of_another_note_of_the_same_name_only_its_own_readers_are_told(
    world: World, note: dict[str, Any]
) -> None:
    start = world.hub.position
    await world.ask("owner", "PUT", NOTE, {"text": "the old one", "version": 1})
    await world.ask("owner", "DELETE", NOTE)
    await world.post("/api/notes", {"name": "deploy", "text": "anew"})
    await world.ask("owner", "PUT", NOTE, {"text": "the new one", "version": 1})
    await world.ask("owner", "PUT", f"{NOTE}/permissions", {"agent": "arya", "access": "read"})
    until = world.hub.position
    await world.hub.agents.create("somebody")
    owner = await told(world, "owner", start, until + 1)
    assert [text for kind, text in owner if kind == "note.changed"] == ["", "the new one"]
    assert await told(world, "arya", start, until + 1) == [
        ("note.created", "anew"),
        ("note.changed", "the new one"),
        ("note.shared", "the new one"),
    ]


async def test_who_else_may_read_a_note_is_told_to_people_and_to_whom_it_is_about(
    world: World, note: dict[str, Any]
) -> None:
    await world.hub.notes.share("deploy", "bob", "read")
    start = world.hub.position
    await world.hub.notes.share("deploy", "quiet", "read_write")
    await world.hub.notes.share("deploy", "bob", "read_write")
    until = world.hub.position
    await world.hub.agents.create("somebody")
    for who, expected in (("karl", 2), ("bob", 1), ("arya", 0)):
        assert len(await told(world, who, start, until + 1)) == expected, who
