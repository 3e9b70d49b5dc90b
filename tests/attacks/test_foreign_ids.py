"""Ids of others, asked for with a token of one's own: they look like ids of nothing, wherever they are written."""

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.doors.http.api.route import SubjectKind
from moot.doors.http.api.routes import ROUTES
from tests.doors.http.test_matrix import BODIES
from tests.doors.http.world import World, opened

NOT_THERE = {"id": "c0000000000000z", "message": "c0000000000000z:1", "turn": "987654321"}


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """bob is in no conversation; "room" is one of others, with a message and turns."""
    async with opened(tmp_path) as found:
        for scope in ("read", "post"):
            token = await found.hub.agents.issue_token("bob", scopes=[scope])
            found.tokens[f"bob-{scope}"] = token.token
        await found.hub.post("room", "@arya the secret plan")
        await found.hub.settled("room")
        yield found


async def _knocked(world: World, who: str, key: str, ids: dict[str, str]) -> tuple[int, str]:
    """What is answered at a route; what the caller wrote itself is taken out of it."""
    method, _, path = key.partition(" ")
    route = next(route for route in ROUTES if route.key == key)
    name = {SubjectKind.MESSAGE: "message", SubjectKind.TURN: "turn"}.get(route.about, "id")
    path = path.replace("{id}", ids[name]).replace("{name}", "arya")
    answer = await world.ask(who, method, path, BODIES.get(key), If_Match="*")
    return answer.status_code, _without(ids[name], answer.text)


def _without(id: str, text: str) -> str:
    return re.sub(rf"(?<!\w){id}(?!\w)", "ID", text)


@pytest.mark.req("P-06")
@pytest.mark.parametrize("who", ["bob", "bob-read", "bob-post"])
async def test_no_route_tells_a_foreign_id_from_none(world: World, who: str) -> None:
    room = (await world.hub.conversations.get("room")).id
    turn = (await world.hub.turns(conversation="room"))[0].id
    there = {"id": room, "message": f"{room}:1", "turn": turn}
    wrong = {}
    routes = [r.key for r in ROUTES if r.about not in (SubjectKind.HUB, SubjectKind.AGENT)]
    for key in routes:
        foreign, none = [await _knocked(world, who, key, ids) for ids in (there, NOT_THERE)]
        if foreign != none:
            wrong[key] = (foreign, none)
    assert wrong == {}
    assert len(routes) > 20


async def test_ids_in_queries_and_headers_are_no_better(world: World) -> None:
    room = (await world.hub.conversations.get("room")).id
    turn = (await world.hub.turns(conversation="room"))[0].id
    for path in ("/api/agents/bob/context?conversation={}", "/api/turns?conversation={}"):
        answers = [await world.ask("bob", "GET", path.format(ref)) for ref in (room, NOT_THERE["id"])]
        assert [one.status_code for one in answers] == [404, 404]
        assert _without(room, answers[0].text) == _without(NOT_THERE["id"], answers[1].text)
    letter = ("POST", "/api/agents/quiet/messages", {"message": "hello"})
    answers = [await world.ask("bob", *letter, Moot_Turn=ref) for ref in (turn, NOT_THERE["turn"])]
    assert [one.status_code for one in answers] == [404, 404]
    assert _without(turn, answers[0].text) == _without(NOT_THERE["turn"], answers[1].text)
    assert (await world.ask("bob", *letter)).status_code == 200


async def test_a_taken_chat_or_name_says_nothing_of_whose_it_is(world: World) -> None:
    made = await world.hub.conversations.create("hidden", channel=("slack", "C1"))
    theirs = {"name": "mine", "channel_type": "slack", "channel_group_id": "C1"}
    for body in (theirs, {"name": "hidden"}):
        refused = await world.ask("karl", "POST", "/api/conversations", body)
        assert refused.status_code == 409
        assert made.id not in refused.text
        assert "hidden" not in refused.text.replace('the name \\"hidden\\"', "")
        told = await world.post("/api/conversations", body)
        assert (told.status_code, made.id in told.text) == (409, True), "the owner is told"


async def test_why_somebodys_turn_failed_is_no_news_for_strangers(tmp_path: Path) -> None:
    @agent("clumsy")
    async def clumsy(turn: Any) -> str:
        raise ValueError(f"cannot make sense of: {turn.text}")

    async with opened(tmp_path) as world, Hub.open(tmp_path, agents=[clumsy]):
        receipt = await world.hub.send("clumsy", "the launch is on friday")
        await world.hub.settled(receipt.conversation)
        for path in ("/api/agents", "/api/agents/clumsy"):
            assert "friday" in (await world.get(path)).text
            told = await world.ask("bob", "GET", path)
            assert (told.status_code, "friday" in told.text, '"error"' in told.text) == (200, False, True)
