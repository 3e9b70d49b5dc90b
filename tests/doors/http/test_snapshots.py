"""State and then events: positions in answers, conversations as lists show them, what running turns have said."""

import asyncio
from typing import Any

import pytest

from moot import agent
from tests.doors.http.world import World
from tests.support.reads import counted
from tests.support.waiting import PATIENCE, until


@agent("talker")
async def talker(turn: Any) -> None:
    await turn.say("\U0001f600 first ")
    await turn.say("words")
    await asyncio.sleep(30)


async def test_an_answer_says_which_event_it_surely_contains(world: World) -> None:
    before = world.hub.position
    posted = await world.post("/api/conversations/room/messages", {"text": "hello"})
    for path in ("/api/conversations", "/api/agents", "/api/conversations/room/messages", "/api/topology"):
        answer = await world.get(path)
        assert int(answer.headers["moot-position"]) >= before, path
    assert "moot-position" not in posted.headers
    assert "moot-position" not in (await world.get("/api/conversations/nowhere")).headers
    await world.get("/api/conversations/room/settled?timeout=40")
    snapshot = await world.get("/api/conversations/room/messages")
    position = int(snapshot.headers["moot-position"])
    assert position == world.hub.position
    await world.post("/api/conversations/room/messages", {"text": "more"})
    async for event in world.hub.events(after=position, types=("message.posted",)):
        assert event.body["text"] == "more"
        break


async def test_a_list_of_conversations_has_head_unread_and_the_last_message(world: World) -> None:
    await world.hub.conversations.create("two", participants=["karl"])
    for text in ("one", "two", "x" * 1000):
        await world.hub.acting_as("karl").post("two", text)
    await world.hub.conversations.create("empty")
    listed = (await world.get("/api/conversations")).json()["conversations"]
    room, empty = {one["name"]: one for one in listed}["two"], {one["name"]: one for one in listed}["empty"]
    assert (room["head"], room["unread"]) == (3, 3)
    assert (room["last"]["from"], room["last"]["seq"], room["last"]["text"]) == ("karl", 3, "x" * 280)
    assert (empty["head"], empty["unread"], empty["last"]) == (0, 0, None)
    await world.post("/api/conversations/two/read", {"seq": 2})
    mine = (await world.get("/api/conversations")).json()["conversations"]
    theirs = (await world.ask("karl", "GET", "/api/conversations")).json()["conversations"]
    assert [one["unread"] for one in mine if one["name"] == "two"] == [1]
    assert [(one["name"], one["unread"]) for one in theirs] == [("room", 0), ("two", 0)]
    assert [one.unread for one in await world.hub.conversations.overview() if one.name == "two"] == [1]


async def test_listing_takes_as_many_reads_for_many_conversations_as_for_one(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    reads = counted(monkeypatch)
    await world.get("/api/conversations")
    once = list(reads)
    for number in range(5):
        await world.hub.conversations.create(f"more-{number}")
    reads.clear()
    await world.get("/api/conversations")
    assert (reads, bool(once)) == (once, True)


async def test_what_a_running_turn_has_said_so_far_can_be_read_and_goes_on_as_pieces(world: World) -> None:
    await world.hub.host([talker])
    await world.hub.conversations.join("room", "talker")
    await world.post("/api/conversations/room/messages", {"text": "@talker go on"})

    async def live(who: str = "owner", path: str = "/api/live") -> Any:
        return (await world.ask(who, "GET", path)).json()["turns"]

    found = await until(live, lambda turns: turns and turns[0]["text"].endswith("words"))
    [turn] = found
    assert (turn["agent"], turn["text"], turn["offset"]) == ("talker", "\U0001f600 first words", 0)
    assert await live(path="/api/live?conversation=room") == found
    assert await live("bob") == []
    assert await live("karl") == found
    running = await world.hub.turn(turn["turn"])
    assert (running.state, running.conversation) == ("running", turn["conversation"])
    await world.hub.conversations.stop("room")
    assert await until(live, lambda turns: not turns) == []


async def test_pieces_say_where_they_belong(world: World) -> None:
    await world.hub.host([talker])
    await world.hub.conversations.join("room", "talker")
    pieces: list[tuple[int, str]] = []

    async def listen() -> None:
        async for event in world.hub.events(types=("turn.delta",)):
            pieces.append((event.body["offset"], event.body["text"]))
            if len(pieces) == 2:
                return

    listening = asyncio.create_task(listen())
    await asyncio.sleep(0)
    await world.hub.post("room", "@talker go on")
    await asyncio.wait_for(listening, PATIENCE)
    assert pieces == [(0, "\U0001f600 first "), (9, "words")]
    await world.hub.conversations.stop("room")
