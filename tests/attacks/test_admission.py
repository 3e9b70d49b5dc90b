"""Writes that settle inside their decision who may: what a token learns or does beside that decision."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from mcp.shared.exceptions import MCPError
from msgspec import structs

from moot.doors.mcp import server, tools
from tests.doors.http.sockets import refused, talking
from tests.doors.http.world import TOML, World, opened
from tests.doors.mcp.conftest import came_in

NOT_THERE = "c0000000000000z"
ROOM = "/api/conversations/room/messages"


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(tmp_path) as found:
        yield found


@pytest.mark.req("P-06")
async def test_a_reply_to_something_tells_no_foreign_conversation_from_none(world: World) -> None:
    hidden = await world.hub.conversations.create("hidden")
    for answered in (
        f"{hidden.id}:1",
        "hidden:1",
        "c0000000000000y:1",
        "room:1",
        "nothing",
        f"{hidden.id}:0",
    ):
        told = []
        for ref in (hidden.id, NOT_THERE):
            body = {"text": "hello", "reply_to": answered}
            answer = await world.ask("karl", "POST", f"/api/conversations/{ref}/messages", body)
            told.append((answer.status_code, answer.text.replace(ref, "ID")))
        assert told[0] == told[1], answered
    first = (await world.ask("karl", "POST", ROOM, {"text": "one"})).json()["id"]
    for answered, status in ((first, 201), ("room:1", 201), (f"{hidden.id}:1", 404), ("room:99999", 404)):
        answer = await world.ask("karl", "POST", ROOM, {"text": "two", "reply_to": answered})
        assert answer.status_code == status, answered


@pytest.mark.req("P-06")
async def test_no_door_tells_names_of_conversations_that_come_near(world: World) -> None:
    await world.hub.conversations.create("secret-merger")
    near = {"conversation": "secret-merge", "text": "hello"}
    async with came_in(world, "bob") as bob:
        told = [await bob.error("post", **near), await bob.error("search", query="in:secret-merge word")]
    told.append(
        (await world.ask("bob", "POST", "/api/conversations/secret-merge/messages", {"text": "x"})).json()
    )
    told.append((await world.ask("bob", "GET", "/api/search?q=in:secret-merge+word")).json())
    assert [one["name"] for one in told if "secret-merger" in str(one)] == []
    async with came_in(world, "owner") as owner:
        assert "secret-merger" in str(await owner.error("search", query="in:secret-merge word"))


async def _revoked(world: World, whose: str) -> str:
    """A token that was good, is known here, and is revoked."""
    issued = await world.hub.agents.issue_token(whose)
    world.tokens["revoked"] = issued.token
    assert (await world.ask("revoked", "POST", "/api/agents/quiet/send", {"text": "x"})).status_code == 201
    await world.hub.agents.revoke_token(whose, issued.id)
    return issued.token


JSON = {"Content-Type": "application/json"}
UNREAD: list[tuple[bytes, dict[str, str]]] = [
    (b"{", JSON),
    (b"{}", {"Content-Type": "text/plain"}),
    (b"x" * 3_000_000, JSON),
    (b'{"text": "x"}', {**JSON, "Moot-Act-As": "arya"}),
    (b'{"text": "x"}', {**JSON, "Moot-Turn": "1"}),
    (b'{"text": "x"}', {**JSON, "Idempotency-Key": "x" * 300}),
]


@pytest.mark.parametrize(
    ("body", "headers"), UNREAD, ids=["no json", "media", "size", "act as", "turn", "key"]
)
async def test_a_revoked_token_is_told_nothing_but_that(
    world: World, body: bytes, headers: dict[str, str]
) -> None:
    token = await _revoked(world, "karl")
    sent = {**headers, "Authorization": f"Bearer {token}"}
    answer = await world.client.request("POST", ROOM, content=body, headers=sent)
    assert (answer.status_code, answer.json()["code"]) == (401, "E300")
    good = {**headers, "Authorization": f"Bearer {world.tokens['karl']}"}
    assert (await world.client.request("POST", ROOM, content=body, headers=good)).status_code != 401


async def test_a_revoked_token_cannot_use_up_what_its_participant_may_ask(tmp_path: Path) -> None:
    async with opened(tmp_path, TOML.replace("100000.0", "2.0")) as world:
        await _revoked(world, "karl")
        refused = [await world.ask("revoked", "POST", ROOM, {"text": "x"}) for _ in range(30)]
        assert {answer.status_code for answer in refused} == {401}
        assert (await world.ask("karl", "POST", ROOM, {"text": "x"})).status_code == 201


async def test_a_revoked_token_makes_nobody_reachable(world: World) -> None:
    await _revoked(world, "bob")
    await world.ask("revoked", "POST", ROOM, {"text": "x"})
    noticed: list[str] = []
    agents = world.hub._core.sessions
    agents.seen = lambda who, door: noticed.append(who)  # type: ignore[method-assign,assignment,misc]
    assert (await world.ask("revoked", "POST", ROOM, {"text": "x"})).status_code == 401
    assert noticed == []
    await world.ask("bob", "POST", ROOM, {"text": "x"})
    assert noticed == ["bob"]


async def test_a_key_that_was_used_elsewhere_is_a_conflict_also_for_a_first_letter(world: World) -> None:
    """It made no pair, and was told that nobody has the name."""
    before = {one.id for one in await world.hub.conversations.list()}
    assert (await world.ask("karl", "POST", ROOM, {"text": "x"}, Idempotency_Key="k")).status_code == 201
    bodies = {"messages": {"message": "x"}, "send": {"text": "x"}, "ask": {"text": "x", "timeout": 1}}
    for path, body in bodies.items():
        answer = await world.ask("karl", "POST", f"/api/agents/bob/{path}", body, Idempotency_Key="k")
        assert (answer.status_code, answer.json()["name"]) == (409, "conflict"), path
    assert {one.id for one in await world.hub.conversations.list()} == before
    sent = [
        await world.ask("karl", "POST", "/api/agents/bob/send", bodies["send"], Idempotency_Key="new")
        for _ in range(2)
    ]
    assert [(one.status_code, one.json()["replayed"]) for one in sent] == [(201, False), (200, True)]


async def test_a_letter_is_known_again_although_the_name_kept_here_is_wrong(world: World) -> None:
    letter = ("POST", "/api/agents/bob/send", {"text": "x"})
    first = await world.ask("karl", *letter, Idempotency_Key="k")
    directory = world.hub._core.directory
    bob, quiet = directory.called("bob"), directory.called("quiet")
    known = {id: who for id, who in directory._people.items() if who is not bob}
    directory._people = {**known, quiet.id: structs.replace(quiet, name="bob")}
    again = await world.ask("karl", *letter, Idempotency_Key="k")
    assert (again.status_code, again.json()["id"]) == (200, first.json()["id"])


async def test_the_owner_speaks_over_mcp_under_another_name_too(world: World) -> None:
    await world.hub.agents.rename(world.hub.name, "boss")
    async with came_in(world, "owner") as owner:
        assert (await owner("post", conversation="room", text="hello"))["delivered"]
        assert (await owner("send_to_agent", target="bob", message="hello"))["delivered"]
        assert "bob" in (await owner("broadcast", message="hello"))["delivered_to"]
    newest = (await world.hub.messages("room"))[0]
    assert (newest.sender, newest.text) == ("boss", "hello")


async def test_a_token_without_the_scope_learns_no_names_from_letters(world: World) -> None:
    """Names are for who may read; a letter to nobody tells which there are."""
    for scope in ("admin", "read"):
        world.tokens["weak"] = (await world.hub.agents.issue_token("bob", scopes=[scope])).token
        for path, body in (("messages", {"message": "x"}), ("send", {"text": "x"})):
            for name in ("karl", "karll"):
                answer = await world.ask("weak", "POST", f"/api/agents/{name}/{path}", body)
                assert (answer.status_code, answer.json()["name"]) == (403, "not_permitted"), (path, name)
                assert "stubborn" not in answer.text
        away = await world.ask("weak", "POST", "/api/conversations/nowhere/messages", {"text": "x"})
        assert (away.status_code, "stubborn" in away.text) == (404, False)
    told = await world.ask("bob", "POST", "/api/agents/karll/messages", {"message": "x"})
    assert (told.status_code, "stubborn" in told.text) == (404, True)


@pytest.mark.req("P-06")
async def test_names_tell_neither_that_an_id_is_one_nor_whose_a_name_is(world: World) -> None:
    hidden = await world.hub.conversations.create("hidden")
    mine = (await world.ask("karl", "POST", "/api/conversations", {"name": "mine"})).json()["id"]
    other = (await world.ask("karl", "POST", "/api/conversations", {"name": "other"})).json()["id"]
    for method, path in (("POST", "/api/conversations"), ("PATCH", f"/api/conversations/{mine}")):
        told = [await world.ask("karl", method, path, {"name": id}) for id in (hidden.id, NOT_THERE)]
        assert [answer.status_code for answer in told] == [422, 422]
        assert told[0].text.replace(hidden.id, "ID") == told[1].text.replace(NOT_THERE, "ID")
        taken = await world.ask("karl", method, path, {"name": "hidden"})
        assert (taken.status_code, hidden.id in taken.text) == (409, False)
        own = await world.ask("karl", method, path, {"name": "other"})
        assert (own.status_code, other in own.text) == (409, True), "what one is in, one may know"
    await world.ask("karl", "DELETE", f"/api/conversations/{mine}")
    new = await world.hub.conversations.create("mine")
    back = await world.ask("karl", "POST", f"/api/conversations/{mine}/unarchive")
    assert (back.status_code, new.id in back.text) == (409, False)
    back = await world.post(f"/api/conversations/{mine}/unarchive")
    assert (back.status_code, new.id in back.text) == (409, True), "the owner is told"


@pytest.mark.parametrize("tool", ["post", "send_to_agent", "reply", "set_name", "broadcast"])
async def test_a_token_revoked_behind_the_gate_writes_nothing_over_mcp(
    world: World, monkeypatch: pytest.MonkeyPatch, tool: str
) -> None:
    await world.hub.conversations.join("room", "bob")
    asked = await world.hub.send("bob", "a question")
    issued = await world.hub.agents.issue_token("bob")
    world.tokens["soon"] = issued.token
    told: dict[str, dict[str, str]] = {
        "post": {"conversation": "room", "text": "too late"},
        "send_to_agent": {"target": "karl", "message": "too late"},
        "reply": {"message_id": asked.id, "text": "too late"},
        "set_name": {"name": "too-late"},
        "broadcast": {"message": "too late"},
    }
    inner = tools.run_tool

    async def called(*given: Any) -> Any:
        await world.hub.agents.revoke_token("bob", issued.id)
        return await inner(*given)

    async with came_in(world, "soon") as bob:
        await bob("check_messages")
        monkeypatch.setattr(server, "run_tool", called)
        with pytest.raises(MCPError):  # 401, which a client has no answer to
            await bob.client.call_tool(tool, told[tool])
    assert await world.hub.search('from:bob "too late"') == []
    assert (await world.hub.agents.get("bob")).name == "bob"
    async with came_in(world, "bob") as bob:
        monkeypatch.setattr(server, "run_tool", inner)
        assert (await bob(tool, **told[tool])) != {}


async def test_who_left_a_conversation_does_not_find_it_by_those_in_it(world: World) -> None:
    """By name or id it is not there any more; nor by the ways that make one when it is first needed."""
    group = {"participants": ["arya", "bob"]}
    made = (await world.ask("karl", "POST", "/api/implicit", group)).json()["id"]
    pair = (await world.ask("bob", "POST", "/api/agents/karl/send", {"text": "hello"})).json()["conversation"]
    alone = {"target": "bob", "key": "k"}
    asked = (await world.ask("karl", "POST", "/api/ephemeral", alone)).json()["id"]
    async with talking(world, "karl", "/ws/agents/bob", after=0) as karl:
        assert "hello" in await karl.next(), "while it is in it"
    for where in (made, pair, asked):
        left = await world.ask("karl", "DELETE", f"/api/conversations/{where}/participants/karl")
        assert left.status_code == 204
    await world.hub.conversations.join(made, "stubborn")
    await world.ask("bob", "POST", f"/api/conversations/{pair}/messages", {"text": "behind its back"})
    for path, body in (("/api/implicit", group), ("/api/ephemeral", alone)):
        answer = await world.ask("karl", "POST", path, body)
        assert (answer.status_code, answer.json()["name"]) == (404, "conversation_not_found"), path
        assert "stubborn" not in answer.text
    assert await refused(world, "karl", "/ws/agents/bob", after=0) == 404
    assert await refused(world, "bob", "/ws/agents/karl", after=0) == 101
