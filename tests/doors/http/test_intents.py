"""Intents over HTTP: refused as anywhere else, with the request that would do it (SPEC S-10)."""

import pytest

from tests.doors.http.world import World

pytestmark = pytest.mark.req("S-10")


@pytest.mark.parametrize("path", ["/api/agents/arya/send", "/api/conversations/room/messages"])
async def test_an_unknown_intent_is_422_and_delegating_is_another_request(world: World, path: str) -> None:
    unknown = await world.post(path, {"text": "@arya hello", "intent": "greet"})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "E204")
    assert "inform, ask, delegate, report, escalate, approve, decline" in unknown.json()["detail"]
    refused = await world.post(path, {"text": "@arya do it", "intent": "delegate"})
    assert (refused.status_code, refused.json()["fix"]) == (422, ["POST /api/tasks with to arya"])
    fine = await world.post(path, {"text": "@arya hello", "intent": "inform"})
    assert fine.status_code == 201


async def test_an_escalation_to_a_report_is_403_and_names_the_link(world: World) -> None:
    link = await world.hub.links.create("arya", "bob", relationship="superior")
    refused = await world.ask(
        "arya", "POST", "/api/agents/bob/send", {"text": "you do it", "intent": "escalate"}
    )
    assert (refused.status_code, refused.json()["link"]) == (403, link.id)
    up = await world.ask("bob", "POST", "/api/agents/arya/send", {"text": "help", "intent": "escalate"})
    assert up.status_code == 201
