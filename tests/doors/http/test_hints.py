"""What can be done about a refusal, a warning or a brake is said in requests: a program has no shell."""

from typing import Any

from moot import agent
from tests.doors.http.sockets import talking
from tests.doors.http.world import World


@agent("ann")
async def ann(turn: Any) -> str:
    return "@ben thank you!"


@agent("ben")
async def ben(turn: Any) -> str:
    return "@ann no, thank you!"


async def test_a_refusal_names_the_request_that_mends_it(world: World) -> None:
    made = (await world.post("/api/conversations", {"name": "plan", "participants": ["arya"]})).json()
    assert (await world.ask("owner", "DELETE", "/api/conversations/plan")).status_code == 204
    refused = (await world.post(f"/api/conversations/{made['id']}/messages", {"text": "hi"})).json()
    assert refused["fix"] == [f"POST /api/conversations/{made['id']}/unarchive"]
    method, path = refused["fix"][0].split()
    assert (await world.ask("owner", method, path)).status_code == 200
    assert (await world.post("/api/conversations/plan/messages", {"text": "hi"})).status_code == 201


async def test_a_warning_names_a_request(world: World) -> None:
    pair = (await world.post("/api/implicit", {"participants": ["arya"]})).json()["id"]
    for way in ("messages", "preview"):
        told = (await world.post(f"/api/conversations/{pair}/{way}", {"text": "and @quiet?"})).json()
        [warning] = told["warnings"]
        assert warning["message"] == "quiet is not in this conversation"
        assert warning["fix"] == ["POST /api/implicit with the participants arya, quiet"]


async def test_a_socket_says_it_in_one_frame(world: World) -> None:
    async with talking(world, path="/ws/agents/arya") as talker:
        await talker.say("and @quiet?")
        told = [await talker.next() for _ in range(2)]
    wanted = "quiet is not in this conversation; try: POST /api/implicit with the participants arya, quiet"
    assert any(frame.endswith(f"warning[E304] {wanted}") for frame in told), told


async def test_a_brake_names_a_request_in_the_stream(world: World) -> None:
    await world.hub.host([ann, ben])
    room = await world.hub.conversations.create("thanks", participants=["ann", "ben"])
    await world.hub.conversations.configure(room.id, max_agent_turns_per_message=12, max_depth=12)
    await world.hub.post(room.id, "@ann please")
    await world.hub.settled(room.id)
    sent = {"Authorization": f"Bearer {world.tokens['owner']}"}
    async with world.client.stream(
        "GET", "/api/events?after=0&types=brake.tripped", headers=sent
    ) as streamed:
        lines = streamed.aiter_lines()
        data = [line async for line in _until_data(lines)]
    assert '"fix":["POST /api/conversations/thanks/continue"]' in data[-1]
    assert (await world.post("/api/conversations/thanks/continue")).status_code == 200


async def _until_data(lines: Any) -> Any:
    async for line in lines:
        yield line
        if line.startswith("data:") and "brake" in line:
            return
