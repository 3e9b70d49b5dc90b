"""Who may pass the MCP door, tool by tool; and what comes in that is meant for somebody else, or to do harm."""

import asyncio
import json
import random
from typing import Any

import httpx2
import pytest

from moot.doors.credentials import Credential
from moot.doors.mcp.caller import Caller
from moot.doors.mcp.tools import TOOLS, run_tool
from moot.doors.open_limit import OpenAtOnce
from moot.model.ids import ParticipantId
from moot.rules.access import Principal, Standing
from tests.doors.http.test_guard import BAD_HOSTS, BAD_ORIGINS
from tests.doors.http.world import World
from tests.doors.mcp.conftest import ERAS, came_in
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("P-06")

ARGUMENTS: dict[str, dict[str, Any]] = {
    "list_agents": {},
    "send_to_agent": {"target": "quiet", "message": "x"},
    "broadcast": {"message": "x"},
    "check_messages": {},
    "wait_for_messages": {"timeout_seconds": 0},
    "reply": {"message_id": "room:1", "text": "x"},
    "post": {"conversation": "room", "text": "x"},
    "read_conversation": {"conversation": "room"},
    "search": {"query": "x"},
    "why": {"message_id": "room:1"},
    "ask": {"target": "quiet", "question": "x"},
    "delegate": {"target": "quiet", "task": "x"},
    "update_task": {"id": "t0", "state": "done"},
    "spawn_agent": {"template": "coder"},
    "read_shared_note": {"name": "deploy"},
    "write_shared_note": {"name": "deploy", "text": "x", "version": 1},
    "set_name": {"name": "another"},
}
OWN = frozenset({"check_messages", "wait_for_messages"})
INSIDE = frozenset({"reply", "post", "read_conversation", "why"})
WRITING = (
    frozenset(
        {"send_to_agent", "broadcast", "reply", "post", "ask", "update_task", "write_shared_note", "set_name"}
    )
    | OWN
)
NOTES = frozenset({"read_shared_note", "write_shared_note"})
YES, HIDDEN, NO = None, "E201", "E301"
NARROW = {"spawn_agent": (("owner",), HIDDEN), "delegate": (("owner", "karl"), YES)}
"""Tools that few may use, and what these get: there is no template here."""


def expected(tool: str, who: str) -> str | None:
    """The code of the refusal; None where it is let through."""
    if who in ("bob", "reader") and tool in INSIDE:
        return HIDDEN
    if who == "reader" and tool in WRITING:
        return NO
    if who == "arya" and tool in OWN:
        return NO
    if tool in NOTES:
        return HIDDEN if who not in ("owner", "karl") else YES
    if tool in NARROW:
        may, otherwise = NARROW[tool]
        return otherwise if who in may else NO
    return HIDDEN if tool == "update_task" else YES


def test_every_tool_is_in_the_matrix() -> None:
    assert {tool.name for tool in TOOLS} == ARGUMENTS.keys()


@pytest.mark.parametrize("who", ["owner", "karl", "arya", "bob", "reader"])
async def test_each_may_what_it_may_and_nothing_else(world: World, who: str) -> None:
    await world.hub.post("room", "hello")
    await world.hub.settled(timeout=PATIENCE)
    await world.hub.notes.create("deploy")
    issued = await world.hub.agents.issue_token("bob", scopes=["read"])
    world.tokens["reader"] = issued.token
    async with came_in(world, who) as caller:
        for tool, arguments in ARGUMENTS.items():
            found = await caller.client.call_tool(tool, arguments)
            code = found.structured_content["error"]["code"] if found.is_error else None
            assert code == expected(tool, who), (tool, who, found.structured_content)


async def test_a_token_that_may_only_post_reads_nothing(world: World) -> None:
    world.tokens["writer"] = (await world.hub.agents.issue_token("bob", scopes=["post"])).token
    await world.hub.send("bob", "not to be read")
    async with came_in(world, "writer") as writer:
        for tool in ("check_messages", "wait_for_messages", "list_agents", "search"):
            arguments = {"query": "x"} if tool == "search" else {}
            assert (await writer.error(tool, **arguments))["code"] == NO


async def test_the_audit_names_both_where_the_owner_speaks_for_somebody(world: World) -> None:
    async with came_in(world, "owner", **{"Moot-Act-As": "bob"}) as spoken_for:
        await spoken_for("list_agents")
    assert await world.hub.audit.log(acts=["owner.acted_as"])


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize("token", [None, "revoked", "made up"])
async def test_without_a_good_token_nothing_is_heard(world: World, token: str | None, era: str) -> None:
    secret = world.tokens.get(token or "", token)
    headers = {} if secret is None else {"Authorization": f"Bearer {secret}"}
    answer = await posted(world, request(era), era, headers)
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"].startswith("Bearer")
    assert answer.json()["name"] == "unauthenticated"


async def test_a_revoked_token_ends_with_its_revocation(world: World) -> None:
    issued = await world.hub.agents.issue_token("bob")
    world.tokens["soon"] = issued.token
    async with came_in(world, "soon") as bob:
        await bob("list_agents")
        await world.hub.agents.revoke_token("bob", issued.id)
        answer = await posted(world, request(ERAS[1]), ERAS[1], {"Authorization": f"Bearer {issued.token}"})
        assert answer.status_code == 401


async def test_a_token_that_is_revoked_while_it_waits_is_handed_nothing(world: World) -> None:
    issued = await world.hub.agents.issue_token("bob")
    world.tokens["soon"] = issued.token
    async with came_in(world, "soon") as bob:
        waiting = asyncio.ensure_future(bob.error("wait_for_messages", timeout_seconds=20))
        await until(lambda: world.hub.agents.get("bob"), lambda who: who.reachability == "live")
        await world.hub.agents.revoke_token("bob", issued.id)
        await world.hub.send("bob", "not for who had that token")
        assert (await asyncio.wait_for(waiting, PATIENCE))["name"] == "unauthenticated"
    async with came_in(world, "bob") as bob:
        assert len((await bob("check_messages"))["messages"]) == 1


@pytest.mark.parametrize("era", ERAS)
async def test_foreign_hosts_and_origins_are_refused_here_too(world: World, era: str) -> None:
    good = {"Authorization": f"Bearer {world.tokens['bob']}"}
    assert (await posted(world, request(era), era, good)).status_code == 200
    accepted = []
    for name, values, status in (("Host", BAD_HOSTS, 421), ("Origin", BAD_ORIGINS, 403)):
        for value in values:
            if not value.isascii() or value != value.strip():
                continue  # such a header cannot be sent
            answer = await posted(world, request(era), era, {**good, name: value})
            accepted += [(name, value, answer.status_code)] if answer.status_code != status else []
    assert accepted == []


def request(era: str, method: str = "tools/list", **params: Any) -> dict[str, Any]:
    if era != "legacy":
        params["_meta"] = {
            "io.modelcontextprotocol/protocolVersion": era,
            "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"},
            "io.modelcontextprotocol/clientCapabilities": {},
        }
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


async def posted(world: World, body: Any, era: str, headers: dict[str, str]) -> httpx2.Response:
    told = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json", **headers}
    if era != "legacy":
        method = body.get("method", "") if isinstance(body, dict) else ""
        told = {"MCP-Protocol-Version": era, "Mcp-Method": str(method), **told}
        if method == "tools/call":
            told["Mcp-Name"] = str(body["params"].get("name", ""))
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return await world.client.post("/mcp/", content=content, headers=told)


# --- harm ------------------------------------------------------------------------------------------------

TEXTS = [
    "", " ", "\x00", "\ud800", "a\x00b", "x" * 300_000, "../../etc/passwd", "'; DROP TABLE messages; --", '"', "*",
    "NEAR(", "@all", "[PASS]", "\u202e", "NaN", "1e999", "room:99999999999999999999", "room:-1", ":", "a:b:c", "%00",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 2**63, 2**64, 1.5, float("1e308"), [], {}, [[]], {"a": 1}, "1", *TEXTS,
]  # fmt: skip


def hostile(seed: int, count: int) -> list[tuple[str, dict[str, Any]]]:
    chance = random.Random(seed)
    made = []
    for _ in range(count):
        tool = chance.choice(TOOLS).name
        arguments = dict(ARGUMENTS[tool])
        for name in list(arguments) or ["limit"]:
            if chance.random() < 0.8:
                arguments[name] = chance.choice(VALUES)
        if chance.random() < 0.2:
            arguments[chance.choice(["sender", "", "__proto__", "\x00", "x" * 1000])] = chance.choice(VALUES)
        made.append((tool, arguments))
    return made


async def test_hostile_arguments_are_answered_and_the_hub_lives(world: World) -> None:
    """In process with the door's own server, so that a thousand cost seconds; the frames below go over the wire."""

    who = Principal(Standing.PARTICIPANT, ParticipantId("bob"), "bob", scopes=frozenset({"read", "post"}))
    caller = Caller(Credential(who), world.hub.acting_as("bob"), OpenAtOnce(1))
    for tool, arguments in hostile(7, 1500):
        if tool == "ask":
            arguments["deadline_seconds"] = 0
        async with asyncio.timeout(PATIENCE):
            told, wrong = await run_tool(caller, tool, arguments)
        assert isinstance(told, dict)
        assert not wrong or told["error"]["code"].startswith("E"), (tool, arguments, told)
    await world.hub.send("quiet", "still there?")


FRAMES: list[bytes] = [
    b"", b"{", b"[]", b"null", b"7", b'"x"', b"{}", b"\xff\xfe\x00", b"\xef\xbb\xbf{}", b'{"jsonrpc":"1.0"}',
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":null,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":{},"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1.5,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":1,"result":{}}',
    b'{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"x"}}',
    b'{"jsonrpc":"2.0","id":1,"method":7}',
    b'{"jsonrpc":"2.0","id":1,"method":"nope"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"post","arguments":[]}}',
    b'{"jsonrpc":"2.0","id":1,"id":2,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"x":NaN}}',
    b'{"a":' * 50_000 + b"1" + b"}" * 50_000,
    b"[" * 100_000,
    b"[" + b",".join([b'{"jsonrpc":"2.0","id":1,"method":"ping"}'] * 100) + b"]",
    b"x" * 5_000_000,
    b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///etc/passwd"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"moot://conversations/\\u0000"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"subscriptions/listen","params":{"notifications":7}}',
    b'{"jsonrpc":"2.0","id":1,"method":"logging/setLevel","params":{"level":"debug"}}',
]  # fmt: skip


@pytest.mark.parametrize("era", [*ERAS, "1999-01-01", "\\x00"])
async def test_hostile_frames_are_answered_and_the_hub_lives(world: World, era: str) -> None:
    headers = {"Authorization": f"Bearer {world.tokens['bob']}"}
    for frame in FRAMES:
        answer = await posted(world, frame, era, headers)
        assert answer.status_code < 500, (frame[:80], era, answer.status_code, answer.text[:300])
        assert "Traceback" not in answer.text
    for method in ("GET", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD", "TRACE"):
        async with asyncio.timeout(PATIENCE):
            answer = await world.client.request(method, "/mcp/", headers=headers)
        assert answer.status_code < 500, (method, answer.status_code)
    async with came_in(world, "bob") as bob:
        assert (await bob("list_agents"))["self"] == "bob"
