"""A token is settled by the decision that uses it, over MCP too: nothing is read before a write, and a revoked one is
answered 401 with its next call, whoever revoked it and whatever hint was lost."""

from pathlib import Path
from typing import Any

import pytest

from moot.doors.credentials import Credential
from moot.doors.http.mount import SettledAnswer
from moot.errors import Unauthenticated
from moot.hub.commands.broadcast import to_each
from moot.model.ids import ParticipantId
from moot.model.records.token import TokenId
from moot.rules.access import Principal, Standing, unauthenticated
from tests.doors.http.test_admission import revoke_elsewhere
from tests.doors.http.world import World
from tests.doors.mcp.conftest import ERAS, came_in
from tests.doors.mcp.test_access import ARGUMENTS, FRAMES, posted, request
from tests.support.reads import counted
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("P-06")


async def revoked(world: World, folder: Path) -> dict[str, str]:
    """A token of bob's that was used here, and that another process has revoked without telling anybody."""
    if "bob" not in {seat.name for seat in (await world.hub.conversations.get("room")).participants}:
        await world.hub.conversations.join("room", "bob")
        await world.hub.post("room", "hello @bob")
        await world.hub.settled(timeout=PATIENCE)
    issued = await world.hub.agents.issue_token("bob")
    headers = {"Authorization": f"Bearer {issued.token}"}
    first = await posted(world, request(ERAS[1]), ERAS[1], headers)
    assert first.status_code == 200
    await revoke_elsewhere(folder, "bob", issued.id)
    return headers


async def state(world: World) -> list[Any]:
    """What a call could have changed."""
    turns = await world.hub.turns(agent="bob")
    told = [await world.hub.messages(one.id) for one in await world.hub.conversations.list()]
    return [told, turns, (await world.hub.agents.get("bob")).name]


@pytest.mark.parametrize("tool", ARGUMENTS)
async def test_a_tool_called_with_a_token_revoked_elsewhere_does_nothing_and_is_answered_401(
    world: World, tmp_path: Path, tool: str
) -> None:
    calls = {era: request(era, "tools/call", name=tool, arguments=ARGUMENTS[tool]) for era in ERAS}
    for era, call in calls.items():
        headers = await revoked(world, tmp_path)
        before = await state(world)
        for _ in range(2):  # first it is known, and then a stranger's
            answer = await posted(world, call, era, headers)
            assert (answer.status_code, answer.json()["name"]) == (401, "unauthenticated"), era
            assert answer.headers["www-authenticate"].startswith("Bearer")
        assert await state(world) == before, era
    good = {"Authorization": f"Bearer {world.tokens['bob']}"}
    for era, call in calls.items():
        assert (await posted(world, call, era, good)).status_code == 200, era


BAD_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("nope", {}),
    ("post", {"conversation": "room"}),
    ("send_to_agent", {"target": "nobody", "message": "x"}),
    ("read_conversation", {"conversation": "nowhere"}),
    ("set_name", {"name": "karl"}),
]


@pytest.mark.parametrize("era", ERAS)
async def test_a_revoked_token_is_told_nothing_else_whatever_is_wrong(
    world: World, tmp_path: Path, era: str
) -> None:
    headers = await revoked(world, tmp_path)
    for name, arguments in BAD_CALLS:
        answer = await posted(world, request(era, "tools/call", name=name, arguments=arguments), era, headers)
        assert answer.status_code == 401, name
    for method in ("tools/list", "resources/list", "resources/templates/list", "ping", "nope"):
        assert (await posted(world, request(era, method), era, headers)).status_code == 401, method


@pytest.mark.parametrize("era", ERAS)
async def test_what_makes_no_sense_is_answered_401_too(world: World, tmp_path: Path, era: str) -> None:
    for number, frame in enumerate(FRAMES):
        answer = await posted(world, frame, era, await revoked(world, tmp_path))
        assert answer.status_code == 401, (number, frame[:80])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("tool", ["send_to_agent", "post"])
async def test_a_write_over_mcp_reads_nothing_before_and_nothing_after(
    world: World, monkeypatch: pytest.MonkeyPatch, tool: str, era: str
) -> None:
    await world.hub.conversations.join("room", "bob")
    async with came_in(world, "bob", era) as bob:
        await bob(tool, **ARGUMENTS[tool])
        await world.hub.settled(timeout=PATIENCE)
        reads = counted(monkeypatch)
        monkeypatch.setattr(world.hub._core.parts.log, "committed", lambda events: None)
        monkeypatch.setattr(world.hub._core.tails, "on_commit", lambda commit: None)
        assert (await bob(tool, **ARGUMENTS[tool]))["delivered"]
        assert reads == []


async def test_a_conversation_is_read_over_mcp_with_two_looks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    await world.hub.conversations.join("room", "bob")
    await world.hub.post("room", "hello")
    await world.hub.settled(timeout=PATIENCE)
    async with came_in(world, "bob") as bob:
        first = await bob("read_conversation", conversation="room")
        assert first["messages"] == [message.to_dict() for message in await world.hub.newest("room", 50)]
        reads = counted(monkeypatch)
        assert await bob("read_conversation", conversation="room") == first
        assert sorted(reads) == ["records", "version"]


async def test_a_broadcast_that_reaches_nobody_settles_nothing(world: World, tmp_path: Path) -> None:
    """Without a decision there is nobody to say that the token is good."""
    headers = await revoked(world, tmp_path)
    world.hub._core.directory.people = list  # type: ignore[method-assign]
    call = request(ERAS[1], "tools/call", name="broadcast", arguments={"message": "x"})
    assert (await posted(world, call, ERAS[1], headers)).status_code == 401


async def test_a_broadcast_ends_with_the_revocation_of_its_token(world: World) -> None:
    written: list[str] = []

    async def write(who: ParticipantId) -> None:
        written.append(who)
        if len(written) > 1:
            raise unauthenticated()

    with pytest.raises(Unauthenticated):
        await to_each(world.hub._core.directory.people(), write, "b1")
    assert len(written) == 2


# --- the answer that waits -------------------------------------------------------------------------------

START = {"type": "http.response.start", "status": 200, "headers": []}
BODY = {"type": "http.response.body", "body": b"hello", "more_body": False}
WHO = Principal(Standing.PARTICIPANT, ParticipantId("bob"), "bob", token=TokenId("t1"))


class Wire:
    """What went out, and how often it was asked whether it may."""

    def __init__(self, *, good: bool, who: Principal = WHO) -> None:
        self.sent: list[Any] = []
        self.asked = 0
        self._good = good
        self.shown = Credential(who, self._ask)
        self.answer = SettledAnswer(self.shown, self._send)

    async def _ask(self) -> bool:
        self.asked += 1
        return self._good

    async def _send(self, message: Any) -> None:
        self.sent.append(message)


async def test_the_head_of_an_answer_waits_until_there_is_something_to_tell() -> None:
    wire = Wire(good=True)
    await wire.answer(START)
    assert (wire.sent, wire.asked) == ([], 0)
    await wire.answer(BODY)
    await wire.answer(BODY)
    assert (wire.sent, wire.asked) == ([START, BODY, BODY], 1)


async def test_what_a_decision_settled_meanwhile_is_not_asked_again() -> None:
    wire = Wire(good=False)
    await wire.answer(START)
    wire.shown.settle()
    await wire.answer(BODY)
    assert (wire.sent, wire.asked) == ([START, BODY], 0)


async def test_an_answer_on_a_bad_credential_is_replaced_as_a_whole() -> None:
    wire = Wire(good=False)
    for message in (START, {**BODY, "more_body": True}, BODY):
        await wire.answer(message)
    assert [(one["type"], one.get("status")) for one in wire.sent] == [
        ("http.response.start", 401),
        ("http.response.body", None),
    ]
    assert b"hello" not in wire.sent[1]["body"]


async def test_who_shows_no_token_of_a_participant_waits_for_nothing() -> None:
    wire = Wire(good=False, who=Principal(Standing.OWNER))
    await wire.answer(START)
    assert (wire.sent, wire.asked) == ([START], 0)
