"""Slash commands over HTTP: read by the one parser, carried out as everywhere, asked about where something goes."""

from pathlib import Path

import pytest

from moot.rules.words import slash
from tests.doors.http.world import TOML, World, opened

ROOM = "/api/conversations/room/commands"


async def test_every_command_is_listed_with_how_it_is_written(world: World) -> None:
    listed = (await world.get("/api/commands")).json()["commands"]
    offered = [row.form for row in slash.ROWS.values() if slash.Surface.PAGE in row.on]
    assert [row["usage"] for row in listed] == offered


@pytest.mark.req("G-12")
async def test_a_command_is_carried_out_and_answers_in_lines(world: World) -> None:
    done = await world.post(ROOM, {"line": "/group list"})
    assert done.status_code == 200
    assert any("arya" in line for line in done.json()["lines"])
    moved = (await world.post(ROOM, {"line": "/group create arya quiet"})).json()["moved"]
    found = (await world.get(f"/api/conversations/{moved}")).json()
    assert {seat["name"] for seat in found["participants"]} >= {"arya", "quiet"}


@pytest.mark.parametrize(
    ("line", "text"), [("//why", "/why"), ("/usr/bin is full", "/usr/bin is full"), ("hey", "hey")]
)
async def test_words_are_given_back_to_be_said(world: World, line: str, text: str) -> None:
    assert (await world.post(ROOM, {"line": line})).json()["say"] == text


async def test_an_unknown_command_is_refused_and_never_said(world: World) -> None:
    refused = await world.post(ROOM, {"line": "/compact"})
    assert (refused.status_code, refused.json()["name"]) == (422, "bad_value")
    assert (await world.get("/api/conversations/room/messages")).json()["messages"] == []


async def test_what_takes_something_away_is_asked_about_first(world: World) -> None:
    asked = (await world.post(ROOM, {"line": "/group dissolve"})).json()
    assert "dissolve" in asked["asks"]
    assert not (await world.get("/api/conversations/room")).json()["archived"]
    where = (await world.get("/api/conversations/room")).json()["id"]
    await world.post(ROOM, {"line": "/group dissolve", "confirmed": True})
    assert (await world.get(f"/api/conversations/{where}")).json()["archived"]


async def test_only_the_owner_starts_agents_from_a_chat(tmp_path: Path) -> None:
    template = '[templates.helper]\nbrain = "demo"\nrole = "helps"\n'
    async with opened(tmp_path, f"{TOML}{template}") as world:
        refused = await world.ask("karl", "POST", ROOM, {"line": "/spawn helper"})
        assert (refused.status_code, refused.json()["title"]) == (403, "only the owner may use /spawn")
        assert (await world.get("/api/agents/helper")).status_code == 404
        assert (await world.post(ROOM, {"line": "/spawn helper"})).status_code == 200


async def test_only_the_owner_renames_agents_from_a_chat(world: World) -> None:
    refused = await world.ask("karl", "POST", ROOM, {"line": "/name arya nymeria"})
    assert refused.status_code == 403
    assert (await world.get("/api/agents/arya")).status_code == 200
