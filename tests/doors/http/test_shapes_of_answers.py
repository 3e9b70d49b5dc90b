"""What an answer has to look like, over HTTP; and the same key gives the same task (SPEC M-05)."""

import pytest

from tests.doors.http.world import World

pytestmark = pytest.mark.req("M-05")


async def test_an_answer_that_does_not_fit_is_an_outcome_with_both(world: World) -> None:
    asked = await world.post("/api/agents/arya/ask", {"text": "how many?", "shape": {"type": "integer"}})
    assert (asked.status_code, asked.json()["outcome"]) == (200, "failed")
    error = asked.json()["error"]
    assert (error["code"], error["expected"]) == ("E503", {"type": "integer"})
    assert error["answer"].startswith("arya heard")
    chosen = await world.post("/api/agents/arya/ask", {"text": "hm", "choices": ["arya heard hm", "no"]})
    assert chosen.json()["message"]["metadata"]["answer"] == "arya heard hm"
    unknown = await world.post("/api/agents/arya/ask", {"text": "?", "shape": {"$ref": "x"}})
    assert (unknown.status_code, unknown.json()["code"]) == (422, "E204")


@pytest.mark.req("S-10")
async def test_the_same_key_gives_the_same_task_and_another_body_is_409(world: World) -> None:
    body = {"to": "stubborn", "task": "count them", "shape": {"type": "integer"}}
    first = await world.post("/api/tasks", body, Idempotency_Key="k1")
    again = await world.post("/api/tasks", body, Idempotency_Key="k1")
    assert first.status_code == 201
    assert again.json()["id"] == first.json()["id"]
    other = await world.post("/api/tasks", body | {"task": "count others"}, Idempotency_Key="k1")
    assert (other.status_code, other.json()["code"]) == (409, "E205")
    assert len((await world.get("/api/tasks")).json()["tasks"]) == 1
