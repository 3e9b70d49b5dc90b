"""Outside agents at the HTTP door: they wait, are handed turns, and end them; who waits is not waited for for ever."""

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest

from moot.doors.http.api import conversations
from tests.doors.http.world import World
from tests.support.elsewhere import Elsewhere
from tests.support.waiting import PATIENCE, until


async def reach(world: World, name: str) -> str:
    return (await world.hub.agents.get(name)).reachability


@pytest.mark.req("J-02")
async def test_an_outside_agent_checks_replies_and_passes(world: World) -> None:
    sent = await world.hub.send("bob", "which port?")
    found = (await world.ask("bob", "POST", "/api/agents/bob/check", {})).json()
    assert set(found) == {"messages", "next", "must_answer", "earlier", "handed"}
    assert found["must_answer"] == [message["id"] for message in found["messages"]] == [sent.id]
    path = f"/api/messages/{sent.id}/reply"
    first = await world.ask("bob", "POST", path, {"text": "5173"}, Idempotency_Key="r1")
    again = await world.ask("bob", "POST", path, {"text": "5173"}, Idempotency_Key="r1")
    assert (first.status_code, again.status_code, again.json()["id"]) == (201, 200, first.json()["id"])
    await world.hub.send("bob", "thanks")
    [thanks] = (await world.ask("bob", "POST", "/api/agents/bob/check", {"handed": []})).json()["messages"]
    silent = await world.ask("bob", "POST", f"/api/messages/{thanks['id']}/reply", {"text": "[PASS]"})
    assert (silent.status_code, silent.content) == (204, b"")


async def test_a_reply_by_the_conversations_name_ends_the_turn_too(world: World) -> None:
    await world.hub.conversations.create("build", participants=["bob"])
    sent = await world.hub.post("build", "@bob ready?")
    await world.ask("bob", "POST", "/api/agents/bob/check", {})
    answered = await world.ask("bob", "POST", f"/api/messages/build:{sent.seq}/reply", {"text": "yes"})
    assert answered.status_code == 201
    assert [turn.state for turn in await world.hub.turns(agent="bob")] == ["said"]


async def test_a_question_has_its_outcome_in_the_answer(world: World) -> None:
    async def asked(name: str, **more: Any) -> Any:
        return (await world.post(f"/api/agents/{name}/ask", {"text": "well?", **more})).json()

    assert (await asked("arya"))["message"]["text"] == "arya heard well?"
    passed, late = await asked("quiet"), await asked("bob", timeout=0.05)
    assert (passed["outcome"], passed["message"], passed["error"]["code"]) == ("passed", None, "E505")
    assert (late["outcome"], late["error"]["name"]) == ("timed_out", "timed_out")


async def test_who_goes_while_it_waits_takes_nothing_along(world: World) -> None:
    async with httpx2.AsyncClient(base_url=world.at.url, timeout=PATIENCE) as leaving:
        headers = {"Authorization": f"Bearer {world.tokens['bob']}"}
        waiting = asyncio.ensure_future(
            leaving.post("/api/agents/bob/check", json={"wait_seconds": 60}, headers=headers, timeout=90)
        )
        await until(lambda: reach(world, "bob"), lambda word: word == "live")
        waiting.cancel()
        await asyncio.wait([waiting])
    await until(lambda: reach(world, "bob"), lambda word: word != "live")
    await world.hub.send("bob", "hello")
    [turn] = await world.hub.turns(agent="bob")
    assert turn.state in ("owed", "ready")


async def test_a_hub_that_stops_sends_away_who_waits(tmp_path: Path) -> None:
    place = Elsewhere(tmp_path)
    here = await place.start()
    await here.agents.create("bob", external=True)
    headers = {"Authorization": f"Bearer {place.token}"}
    async with httpx2.AsyncClient(base_url=place.url, headers=headers, timeout=90) as client:
        ask, check = {"text": "well?", "timeout": 60}, {"wait_seconds": 60, "handed": []}
        asking = asyncio.ensure_future(client.post("/api/agents/bob/ask", json=ask))
        await until(lambda: here.turns(agent="bob"), lambda turns: len(turns) == 1)
        held = (await client.post("/api/agents/bob/check", json=check)).json()["handed"]
        waiting = asyncio.ensure_future(client.post("/api/agents/bob/check", json={**check, "held": held}))
        await until(lambda: here.agents.get("bob"), lambda who: who.reachability == "live")
        await asyncio.wait_for(place.stop(), PATIENCE)  # not the minute that they would wait
        for answer in (await asking, await waiting):
            assert (answer.status_code, answer.json()["code"]) == (503, "E402")
            assert answer.headers["retry-after"] == "1"


@pytest.mark.req("P-06")
async def test_nobody_speaks_in_the_turn_of_another(world: World) -> None:
    await world.hub.send("bob", "hello")
    [turn] = (await world.hub.acting_as("bob").mailbox.check(handed=())).handed
    path = "/api/agents/quiet/send"
    forged = await world.ask("arya", "POST", path, {"text": "x"}, Moot_Turn=turn)
    assert (forged.status_code, forged.json()["code"]) == (404, "E201")
    own = await world.ask("bob", "POST", path, {"text": "x"}, Moot_Turn=turn)
    assert (own.status_code, own.json()["hop"]) == (201, 1)
    nowhere = await world.ask("bob", "POST", path, {"text": "x"}, Moot_Turn="soon")
    assert nowhere.status_code == 404
    await world.hub.acting_as("bob").mailbox.end(turn)
    over = await world.ask("bob", "POST", path, {"text": "y"}, Moot_Turn=turn)
    assert (over.status_code, over.json()["code"]) == (409, "E307")


@pytest.mark.req("P-06")
async def test_a_token_that_is_revoked_while_it_waits_is_told_nothing(world: World) -> None:
    issued = await world.hub.agents.issue_token("bob")
    world.tokens["soon"] = issued.token
    waiting = asyncio.ensure_future(world.ask("soon", "POST", "/api/agents/bob/check", {"wait_seconds": 60}))
    await until(lambda: reach(world, "bob"), lambda word: word == "live")
    await world.hub.agents.revoke_token("bob", issued.id)
    await world.hub.send("bob", "a secret")
    refused = await waiting
    assert (refused.status_code, "secret" in refused.text) == (401, False)
    again = (await world.ask("bob", "POST", "/api/agents/bob/check", {"handed": []})).json()
    assert [message["text"] for message in again["messages"]] == ["a secret"]


async def test_a_token_that_is_revoked_while_it_only_looks_is_told_nothing_either(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No decision is made for it that would notice."""
    sent = await world.hub.send("bob", "hello")
    [turn] = (await world.hub.acting_as("bob").mailbox.check(handed=())).handed
    issued = await world.hub.agents.issue_token("bob")
    world.tokens["soon"] = issued.token
    there = f"/api/conversations/{sent.conversation}/settled?timeout=60"
    begun = asyncio.Event()
    waits = conversations.settled_within

    async def noted(call: Any, where: str | None) -> Any:
        begun.set()
        return await waits(call, where)

    monkeypatch.setattr(conversations, "settled_within", noted)
    waiting = asyncio.ensure_future(world.ask("soon", "GET", there))
    await asyncio.wait_for(begun.wait(), PATIENCE)
    await world.hub.agents.revoke_token("bob", issued.id)
    await world.ask("bob", "POST", f"/api/turns/{turn}/end", {"text": "done"})
    assert (await waiting).status_code == 401


async def test_two_ends_of_one_turn_are_refused(world: World) -> None:
    await world.hub.send("bob", "hello")
    [turn] = (await world.hub.acting_as("bob").mailbox.check(handed=())).handed
    both = await world.ask("bob", "POST", f"/api/turns/{turn}/end", {"text": "x", "error": "y"})
    assert both.status_code == 422
    failed = await world.ask("bob", "POST", f"/api/turns/{turn}/end", {"error": "it broke"})
    assert (failed.json()["state"], failed.json()["error"]) == ("failed", "it broke")
    again = await world.ask("bob", "POST", f"/api/turns/{turn}/end", {"text": "x"})
    assert (again.status_code, again.json()["code"]) == (409, "E307")
