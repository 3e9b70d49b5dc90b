"""What a token can be made to do beyond its own life and number."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.flow import issue_token, rename
from tests.doors.http.world import World, opened
from tests.support.waiting import PATIENCE, until


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(tmp_path) as found:
        yield found


async def _minted(world: World, with_: str, as_: str) -> str:
    answer = await world.ask(with_, "POST", "/api/agents/bob/tokens", {"scopes": ["read", "post"]})
    assert answer.status_code == 201
    world.tokens[as_] = answer.json()["token"]
    found: str = answer.json()["id"]
    return found


@pytest.mark.req("P-06")
async def test_a_token_minted_with_a_stolen_one_ends_with_it(world: World) -> None:
    stolen = await world.hub.agents.issue_token("bob")
    world.tokens["stolen"] = stolen.token
    await _minted(world, "stolen", "child")
    await _minted(world, "child", "grandchild")
    await _minted(world, "bob", "honest")
    await world.hub.agents.revoke_token("bob", stolen.id)
    got = {who: (await world.ask(who, "GET", "/api/status")).status_code for who in world.tokens}
    assert got["stolen"] == got["child"] == got["grandchild"] == 401
    assert got["bob"] == got["honest"] == 200
    told = [entry.subject for entry in await world.hub.audit.log(acts=["token.revoked"])]
    assert len(told) == len(set(told)) == 3 + 1, "each is told; one was revoked before"


async def test_tokens_and_names_have_an_end(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(issue_token, "MAX_OWN", 4)
    monkeypatch.setattr(issue_token, "MAX_TOKENS", 6)
    monkeypatch.setattr(rename, "MAX_NAMES", 3)
    minted = [await _minted(world, "bob", f"t{n}") for n in range(3)]
    refused = await world.ask("bob", "POST", "/api/agents/bob/tokens", {"scopes": ["read"]})
    assert (refused.status_code, "already has 4 tokens" in refused.text) == (403, True)
    for id in minted[:2]:
        await world.ask("bob", "DELETE", f"/api/agents/bob/tokens/{id}")
    await _minted(world, "bob", "t3")
    await _minted(world, "bob", "t4")
    await world.ask("bob", "DELETE", f"/api/agents/bob/tokens/{minted[2]}")
    refused = await world.ask("bob", "POST", "/api/agents/bob/tokens", {"scopes": ["read"]})
    assert (refused.status_code, "revoked ones included" in refused.text) == (403, True)
    assert (await world.post("/api/agents/bob/tokens", {"scopes": ["read"]})).status_code == 201
    for name in ("bill", "buck"):
        assert (await world.ask("bob", "PUT", "/api/agents/bob", {"name": name})).status_code == 200
    assert (await world.ask("bob", "PUT", "/api/agents/bob", {"name": "burt"})).status_code == 422
    assert (await world.ask("bob", "PUT", "/api/agents/bob", {"name": "bill"})).status_code == 200


async def test_a_long_poll_that_ends_unauthorised_leaves_its_turn_to_its_agent(world: World) -> None:
    issued = await world.hub.agents.issue_token("bob")
    world.tokens["soon"] = issued.token
    waiting = asyncio.ensure_future(world.ask("soon", "POST", "/api/agents/bob/check", {"wait_seconds": 20}))
    await until(lambda: world.hub.agents.get("bob"), lambda who: who.reachability == "live")
    await world.hub.agents.revoke_token("bob", issued.id)
    await world.hub.send("bob", "for bob alone")
    assert (await asyncio.wait_for(waiting, PATIENCE)).status_code == 401
    [turn] = await world.hub.turns(agent="bob")
    assert turn.state in ("ready", "owed"), "nobody has it"
    found = await world.ask("bob", "POST", "/api/agents/bob/check", {})
    assert [message["text"] for message in found.json()["messages"]] == ["for bob alone"]
