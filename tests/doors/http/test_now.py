"""Where things stand, over HTTP: the same function that the command line shows."""

import asyncio
from typing import Any

from moot import agent
from tests.doors.http.world import World
from tests.support.waiting import until


@agent("broken")
async def broken(turn: Any) -> str:
    raise RuntimeError("on purpose")


async def rows(world: World, who: str = "owner", part: str = "needs_you") -> dict[str, Any]:
    found = (await world.ask(who, "GET", "/api/now")).json()[part]
    return {row["what"]: row for row in found}


async def test_what_needs_a_person_says_what_can_be_done_as_a_request(world: World) -> None:
    await world.hub.host([broken])
    await world.hub.conversations.create("trouble", participants=["broken"])
    await world.hub.post("trouble", "@broken please")
    await world.hub.settled("trouble")
    failed = (await rows(world))["failed"]
    assert (failed["agent"], failed["conversation"], failed["state"]) == ("broken", "trouble", "failed")
    assert failed["fix"] == [f"POST /api/turns/{failed['turn']}/redeliver"]
    assert "on purpose" in failed["error"]


async def test_what_was_not_read_hides_nothing_that_failed(world: World) -> None:
    await world.hub.conversations.create("two", participants=["karl"])
    await world.hub.acting_as("karl").post("two", "have you seen this?")
    await world.hub.host([broken])
    await world.hub.conversations.create("trouble", participants=["broken"])
    await world.hub.post("trouble", "@broken please")
    await world.hub.settled("trouble")
    [first] = (await world.ask("owner", "GET", "/api/now?limit=1")).json()["needs_you"]
    assert first["what"] == "failed"


async def test_unread_messages_are_the_readers_own(world: World) -> None:
    await world.hub.conversations.create("two", participants=["karl"])
    await world.hub.acting_as("karl").post("two", "have you seen this?")
    unread = (await rows(world))["unread"]
    assert (unread["conversation"], unread["count"]) == ("two", 1)
    assert unread["message"]["text"] == "have you seen this?"
    assert await rows(world, "karl") == {}
    await world.hub.conversations.read("two", 1)
    assert await rows(world) == {}


async def test_a_decision_that_waits_for_somebody_needs_them_alone(world: World) -> None:
    asking = asyncio.create_task(
        world.hub.acting_as("bob").ask("karl", "merge?", choices=["yes", "no"], timeout=60)
    )
    question = (await until(lambda: rows(world, "karl"), lambda found: "question" in found))["question"]
    assert (question["agent"], question["decision"]["choices"]) == ("bob", ["yes", "no"])
    assert "question" not in await rows(world)
    await world.hub.acting_as("karl").decisions.answer(question["decision"]["id"], "yes")
    assert (await asking).text == "yes"
    assert "question" not in await rows(world, "karl")


async def test_working_is_told_to_those_who_are_there(world: World) -> None:
    await world.hub.conversations.create("slow", participants=["stubborn"])
    await world.hub.post("slow", "@stubborn take your time")
    working = await until(lambda: rows(world, part="working"), bool)
    assert (working["working"]["agent"], working["working"]["conversation"]) == ("stubborn", "slow")
    assert await rows(world, "karl", "working") == {}
    await world.hub.conversations.stop("slow")


async def test_brakes_in_force_are_named(world: World) -> None:
    for number in range(4):
        await world.hub.acting_as("arya").send("quiet", f"message {number}")
    brakes = (await world.get("/api/now")).json()["brakes"]
    [pair] = [brake for brake in brakes if brake["rule"] == "pair_limit"]
    assert pair["agents"] == ["arya", "quiet"]
    assert pair["seconds"] > 0
    assert (await world.ask("karl", "GET", "/api/now")).json()["brakes"] == []
