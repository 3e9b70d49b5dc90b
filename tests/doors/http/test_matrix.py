"""Everybody at every route: who gets in, cell by cell. A route that is not listed here fails."""

import asyncio
from typing import Any

import pytest

from moot import agent
from moot.doors.http.api.route import Route
from moot.doors.http.api.routes import ROUTES, SOCKETS
from tests.doors.http.sockets import refused, talking
from tests.doors.http.world import World
from tests.support.waiting import PATIENCE, until

PEOPLE = ("owner", "karl", "arya", "bob", "revoked", None)
ALL, MEMBERS, PERSONS, HERSELF, OWNER, BOB = (
    {"owner", "karl", "arya", "bob"},
    {"owner", "karl", "arya"},
    {"owner", "karl"},
    {"owner", "arya"},
    {"owner"},
    {"bob"},
)
EVERYBODY = {*ALL, "revoked", None}

MAY: dict[str, Any] = {
    "GET /healthz": EVERYBODY,
    "GET /readyz": ALL,
    "GET /metrics": ALL,
    "GET /openapi.json": ALL,
    "GET /api/status": ALL,
    "GET /api/limits": ALL,
    "GET /api/settled": OWNER,
    "GET /api/usage": OWNER,
    "GET /api/audit": OWNER,
    "GET /api/audit/verify": OWNER,
    "GET /api/search": ALL,
    "GET /api/events": ALL,
    "GET /api/conversations": ALL,
    "POST /api/conversations": PERSONS,
    "POST /api/implicit": PERSONS,
    "POST /api/ephemeral": PERSONS,
    "GET /api/conversations/{id}": MEMBERS,
    "PATCH /api/conversations/{id}": PERSONS,
    "DELETE /api/conversations/{id}": PERSONS,
    "POST /api/conversations/{id}/participants": PERSONS,
    "DELETE /api/conversations/{id}/participants/{name}": MEMBERS,
    "POST /api/conversations/{id}/continue": PERSONS,
    "POST /api/conversations/{id}/unarchive": PERSONS,
    "POST /api/conversations/{id}/dissolve": PERSONS,
    "POST /api/conversations/{id}/stop": PERSONS,
    "POST /api/conversations/{id}/read": MEMBERS,
    "GET /api/conversations/{id}/settled": MEMBERS,
    "POST /api/conversations/{id}/preview": MEMBERS,
    "GET /api/commands": ALL,
    "POST /api/conversations/{id}/commands": PERSONS,
    "GET /api/conversations/{id}/messages": MEMBERS,
    "POST /api/conversations/{id}/messages": MEMBERS,
    "GET /api/messages/{id}": MEMBERS,
    "PATCH /api/messages/{id}": {"arya"},
    "DELETE /api/messages/{id}": MEMBERS,
    "GET /api/messages/{id}/why": MEMBERS,
    "GET /api/messages/{id}/deliveries": MEMBERS,
    "POST /api/messages/{id}/again": MEMBERS,
    "POST /api/messages/{id}/reply": MEMBERS,
    "GET /api/turns": ALL,
    "GET /api/turns/{id}": MEMBERS,
    "GET /api/turns/{id}/view": BOB,
    "POST /api/turns/{id}/end": BOB,
    "POST /api/turns/{id}/give-back": BOB,
    "POST /api/turns/{id}/redeliver": MEMBERS,
    "GET /api/spawned": ALL,
    "POST /api/spawned": OWNER,
    "GET /api/now": ALL,
    "GET /api/now/hour": ALL,
    "POST /api/hosted-agents": OWNER,
    "GET /api/providers": OWNER,
    "POST /api/providers/{name}/test": OWNER,
    "GET /api/backups": OWNER,
    "POST /api/backups": OWNER,
    "POST /api/imports": OWNER,
    "POST /api/agents/{name}/start": OWNER,
    "POST /api/agents/{name}/stop": OWNER,
    "POST /api/agents/{name}/ping": OWNER,
    "GET /api/agents/{name}/files": OWNER,
    "PUT /api/agents/{name}/files/{id}": OWNER,
    "GET /api/logs": OWNER,
    "GET /api/settings": OWNER,
    "PUT /api/settings/{id}": OWNER,
    "GET /api/live": ALL,
    "GET /api/dead-letters": ALL,
    "GET /api/agents": ALL,
    "POST /api/agents": OWNER,
    "POST /api/agents/broadcast": ALL,
    "GET /api/agents/{name}": ALL,
    "PUT /api/agents/{name}": HERSELF,
    "DELETE /api/agents/{name}": OWNER,
    "POST /api/agents/{name}/messages": ALL,
    "POST /api/agents/{name}/send": ALL,
    "POST /api/agents/{name}/ask": ALL,
    "POST /api/agents/{name}/check": {"owner", "bob"},
    "GET /api/agents/{name}/received": HERSELF,
    "GET /api/agents/{name}/context": HERSELF,
    "GET /api/agents/{name}/replay": OWNER,
    "GET /api/agents/{name}/conversations": HERSELF,
    "GET /api/agents/{name}/inbox": HERSELF,
    "POST /api/agents/{name}/interrupt": OWNER,
    "POST /api/agents/{name}/pause": OWNER,
    "POST /api/agents/{name}/resume": OWNER,
    "GET /api/agents/{name}/tokens": HERSELF,
    "POST /api/agents/{name}/tokens": HERSELF,
    "DELETE /api/agents/{name}/tokens/{id}": HERSELF,
}
MAY |= {
    "POST /api/sign-in": EVERYBODY,
    "POST /api/sign-out": {"karl", "arya", "bob"},
    "POST /api/agents/{name}/sign-in-codes": OWNER,
    "POST /api/reload": OWNER,
    "POST /api/limits/reset": OWNER,
    "GET /api/links": ALL,
    "POST /api/links": OWNER,
    "PUT /api/links": OWNER,
    "GET /api/links/{id}": ALL,
    "PUT /api/links/{id}": OWNER,
    "DELETE /api/links/{id}": OWNER,
    "GET /api/links/{id}/prompts": PERSONS,
    "GET /api/links/{id}/messages": PERSONS,
    "GET /api/agents/{name}/links": ALL,
    "GET /api/topology": ALL,
    "PUT /api/topology/positions": PERSONS,
    "GET /api/decisions": ALL,
    "GET /api/decisions/{id}": {"karl", "bob"},
    "POST /api/decisions/{id}": {"karl"},
    "GET /api/tasks": ALL,
    "POST /api/tasks": PERSONS,
    "GET /api/tasks/{id}": {*OWNER, *BOB},
    "PATCH /api/tasks/{id}": {*OWNER, *BOB},
    "GET /api/notes": ALL,
    "POST /api/notes": PERSONS,
    "GET /api/notes/{name}": MEMBERS,
    "PUT /api/notes/{name}": MEMBERS,
    "DELETE /api/notes/{name}": PERSONS,
    "POST /api/notes/{name}/append": MEMBERS,
    "POST /api/notes/{name}/revert": MEMBERS,
    "GET /api/notes/{name}/history": MEMBERS,
    "GET /api/notes/{name}/permissions": PERSONS,
    "PUT /api/notes/{name}/permissions": PERSONS,
}
"""Bob has the task, and asks karl to decide; arya may write the note, and bob does not see it."""
SOCKETS_MAY: dict[str, Any] = {
    "WS /ws/conversations/{id}": MEMBERS,
    "WS /ws/agents/{name}": ALL,
}
BODIES: dict[str, Any] = {
    "POST /api/conversations": {"name": "new"},
    "POST /api/implicit": {"participants": ["arya", "quiet"]},
    "POST /api/ephemeral": {"target": "quiet"},
    "POST /api/conversations/{id}/stop": {},
    "POST /api/conversations/{id}/read": {"seq": 1},
    "POST /api/messages/{id}/again": {"agents": ["quiet"]},
    "POST /api/messages/{id}/reply": {"text": "hello"},
    "POST /api/turns/{id}/end": {"text": "hello"},
    "POST /api/agents/{name}/send": {"text": "hello"},
    "POST /api/agents/{name}/ask": {"text": "hello", "timeout": 40},
    "POST /api/agents/{name}/check": {},
    "PATCH /api/conversations/{id}": {"settings": {"max_depth": 3}},
    "POST /api/conversations/{id}/participants": {"name": "quiet"},
    "POST /api/conversations/{id}/preview": {"text": "hello"},
    "POST /api/conversations/{id}/commands": {"line": "/help"},
    "POST /api/conversations/{id}/messages": {"text": "hello"},
    "PATCH /api/messages/{id}": {"text": "other words"},
    "POST /api/agents": {"name": "newcomer"},
    "POST /api/agents/broadcast": {"message": "hello"},
    "PUT /api/agents/{name}": {"role": "other"},
    "POST /api/agents/{name}/messages": {"message": "hello"},
    "POST /api/agents/{name}/tokens": {"scopes": ["read"]},
    "POST /api/links": {"from": "osha", "to": "meera"},
    "PUT /api/links": {"links": [], "dry_run": True},
    "PUT /api/links/{id}": {"enabled": False},
    "PUT /api/topology/positions": {"positions": {"arya": {"x": 1, "y": 2}}},
    "PUT /api/agents/{name}/files/{id}": {"text": "You test."},
    "PUT /api/settings/{id}": {"value": "3"},
    "POST /api/hosted-agents": {"name": "hosted"},
    "POST /api/imports": {"text": "no export", "dry_run": True},
    "POST /api/spawned": {"template": "reviewer"},
    "POST /api/sign-in": {"code": "of the person who signs in"},
    "POST /api/agents/{name}/sign-in-codes": {"seconds": 60},
    "POST /api/limits/reset": {"from": "arya", "to": "quiet"},
    "POST /api/decisions/{id}": {"answer": "yes"},
    "POST /api/tasks": {"to": "quiet", "task": "some work"},
    "PATCH /api/tasks/{id}": {"state": "working"},
    "POST /api/notes": {"name": "new"},
    "PUT /api/notes/{name}": {"text": "hello"},
    "POST /api/notes/{name}/append": {"text": "hello"},
    "POST /api/notes/{name}/revert": {"to": 1},
    "PUT /api/notes/{name}/permissions": {"agent": "quiet", "access": "read"},
}
QUERIES = {
    "GET /api/search": "?q=hello",
    "GET /api/conversations/{id}/settled": "?timeout=0",
    "GET /api/settled": "?timeout=0",
    "GET /api/agents/{name}/context": "?conversation=room",
}
NAMES = {
    "POST /api/agents/{name}/messages": "quiet",
    "POST /api/agents/{name}/send": "quiet",
    "POST /api/agents/{name}/ask": "quiet",
    "POST /api/agents/{name}/check": "bob",
    "POST /api/agents/{name}/sign-in-codes": "karl",
    "DELETE /api/agents/{name}": "leaver",
    "POST /api/providers/{name}/test": "anthropic",
}
FOR_ANOTHER_REASON = {
    "POST /api/agents/{name}/start": {403},
    "POST /api/agents/{name}/stop": {403},
    "GET /api/logs": {404},
    "POST /api/spawned": {404},
    "POST /api/imports": {422},
}
"""What is refused to whoever may: arya is a function of this test, the hub has neither a log nor templates, and no
export is imported."""
GOOD = range(200, 300)
NO = {None: {401}, "revoked": {401}}


def test_every_route_is_in_the_matrix() -> None:
    assert {route.key for route in ROUTES} == set(MAY)
    assert {route.key for route in ROUTES if route.body is not None} == set(BODIES)
    assert {socket.key for socket in SOCKETS} == set(SOCKETS_MAY)


@pytest.mark.req("P-06")
async def test_who_gets_in(world: World) -> None:
    wrong = []
    for route in ROUTES:
        for who in PEOPLE:
            status = await _knock(world, route, who)
            let_in = FOR_ANOTHER_REASON.get(route.key, GOOD)
            expected = let_in if who in MAY[route.key] else NO.get(who, {403, 404})
            if status not in expected:
                wrong.append((route.key, who, status))
    assert wrong == []


@pytest.mark.req("P-06", "K-11")
async def test_who_gets_in_by_a_socket(world: World) -> None:
    """With the handshake, and by the first frame."""
    wrong = []
    for socket in SOCKETS:
        path = socket.path.format(id="room", name="quiet")
        for who in PEOPLE:
            expected = {101} if who in SOCKETS_MAY[socket.key] else NO.get(who, {403, 404})
            statuses = [await _first_frame(world, path, who)]
            statuses += [await refused(world, who, path)] if who is not None else []
            wrong += [(socket.key, who, status) for status in statuses if status not in expected]
    assert wrong == []


async def _first_frame(world: World, path: str, who: str | None) -> int:
    """101, or the status that the close code stands for."""
    async with talking(world, None, path) as somebody:
        await somebody.say(world.tokens[who] if who is not None else "no token", "")
        told = await somebody.ends_or_says()
        return 101 if told.startswith("! error[E203]") else int(told) - 4000


async def _knock(world: World, route: Route, who: str | None) -> int:
    """A request that only the caller's standing can make fail; its own things are laid out anew each time."""
    path = await _path(world, route)
    headers = {"If-Match": "*"} if "If-Match" in route.headers else {}
    if who is not None:
        headers["Authorization"] = f"Bearer {world.tokens[who]}"
    if route.streams:
        async with world.client.stream(route.method, path, headers=headers) as stream:
            return int(stream.status_code)
    body = BODIES.get(route.key)
    if route.key in ("POST /api/conversations", "POST /api/notes"):
        body = {"name": f"new-{who}"}
    if route.key == "POST /api/sign-in":
        body = {"code": (await world.hub.agents.sign_in_code("karl")).code}
    if route.key == "POST /api/sign-out" and who in MAY[route.key]:
        fresh = await world.hub.agents.issue_token(str(who))
        headers["Authorization"] = f"Bearer {fresh.token}"
    answer = await world.client.request(route.method, path, json=body, headers=headers)
    assert answer.status_code < 500, answer.text
    return int(answer.status_code)


async def _path(world: World, route: Route) -> str:
    hub, key = world.hub, route.key
    room = await hub.conversations.get("room") if "room" in await _names(world) else None
    if room is None:
        [archived] = await hub.conversations.list(archived=True)
        await hub.conversations.unarchive(archived.id)
        room = await hub.conversations.get("room")
    if "arya" not in {seat.name for seat in room.participants}:
        room = await hub.conversations.join("room", "arya")
    where, name = room.id, NAMES.get(key, "arya")
    if "/notes/{name}" in route.path:
        name = await _note(world)
    elif "/links" in route.path:
        where = await _link(world)
    if "/files/{id}" in route.path:
        where = "ROLE.md"
    elif "/settings/{id}" in route.path:
        where = "groups.max_depth"
    if "/decisions/{id}" in route.path:
        where = await _decision(world)
    elif "/tasks/{id}" in route.path:
        where = (await hub.delegate("bob", "some work")).id
    elif "/messages/{id}" in route.path:
        where = (await hub.acting_as("arya").post("room", "my words")).id
    elif route.key in (
        "GET /api/turns/{id}/view",
        "POST /api/turns/{id}/end",
        "POST /api/turns/{id}/give-back",
    ):
        where = await _turn_of_bob(world)
    elif "/redeliver" in route.path:
        await hub.host([broken])
        await hub.post("room", "@broken?")
        await hub.settled("room", timeout=PATIENCE)
        where = (await hub.turns(conversation="room", agent="broken"))[-1].id
    elif "/turns/{id}" in route.path:
        await hub.post("room", "@arya?")
        await hub.settled("room", timeout=PATIENCE)
        where = (await hub.turns(conversation="room", agent="arya"))[-1].id
    elif name == "leaver" and name not in {one.name for one in await hub.agents.list()}:
        await hub.agents.create(name)
    elif "/tokens/{id}" in route.path:
        where = (await hub.agents.issue_token("arya")).id
    return route.path.format(id=where, name=name) + QUERIES.get(key, "")


async def _decision(world: World) -> str:
    """What bob wants karl to decide, anew each time; he does not stay for the answer."""
    asking = asyncio.ensure_future(world.hub.acting_as("bob").ask("karl", "deploy now?", timeout=60))
    karl = world.hub.acting_as("karl")
    asked = await until(lambda: karl.decisions.list(state="open"), bool)
    asking.cancel()
    await asyncio.wait([asking])
    return asked[-1].id


async def _link(world: World) -> str:
    """One between two that do nothing else here, anew where somebody deleted it."""
    for name in {"osha", "meera", "jojen"} - {one.name for one in await world.hub.agents.list()}:
        await world.hub.agents.create(name)
    found = await world.hub.links.list(between="meera,jojen")
    return (found[0] if found else await world.hub.links.create("meera", "jojen")).id


async def _note(world: World) -> str:
    """One that arya may write, anew where somebody deleted it."""
    if "notes-of-arya" not in {note.name for note in await world.hub.notes.list()}:
        await world.hub.notes.create("notes-of-arya", "one")
        await world.hub.notes.share("notes-of-arya", "arya", "read_write")
    return "notes-of-arya"


@agent("broken")
async def broken(turn: Any) -> str:
    raise RuntimeError("on purpose")


async def _turn_of_bob(world: World) -> str:
    """One that he has open, anew each time."""
    await world.hub.send("bob", "anybody there?")
    found = await world.hub.acting_as("bob").mailbox.check(handed=())
    return found.handed[0]


async def _names(world: World) -> set[str]:
    return {one.name for one in await world.hub.conversations.list()}


FORGED = ("sender", "from", "author", "user", "as", "kind", "root", "hop", "metadata", "seq", "agent")


@pytest.mark.req("P-06")
async def test_no_field_of_a_body_can_say_who_speaks(world: World) -> None:
    accepted = []
    for route in ROUTES:
        if route.body is None:
            continue
        path = await _path(world, route)
        for field in FORGED:
            if field in route.body.__struct_encode_fields__:
                continue  # the kind of a new conversation or participant is its own
            body = {**BODIES[route.key], field: "karl"}
            answer = await world.ask("owner", route.method, path, body, If_Match="*")
            if answer.status_code != 422:
                accepted.append((route.key, field, answer.status_code))
    assert accepted == []


@pytest.mark.req("P-06")
async def test_lists_and_hits_hold_only_what_the_caller_may_see(world: World) -> None:
    await world.post("/api/conversations/room/messages", {"text": "a secret about @arya"})
    await world.get("/api/conversations/room/settled")
    expected = {"owner": True, "karl": True, "arya": True, "bob": False}
    for who, sees in expected.items():
        hits = (await world.ask(who, "GET", "/api/search?q=secret")).json()["hits"]
        listed = (await world.ask(who, "GET", "/api/conversations")).json()["conversations"]
        turns = (await world.ask(who, "GET", "/api/turns")).json()["turns"]
        assert [bool(found) for found in (hits, listed, turns)] == [sees] * 3, who


@pytest.mark.req("J-12", "P-06")
async def test_hits_of_others_take_no_place_and_tell_nothing(world: World) -> None:
    await world.hub.conversations.create("cellar", participants=["bob"])
    await world.hub.post("cellar", "a plan for bob")
    for n in range(30):
        await world.hub.post("room", f"plan {n} for the others")

    async def asked(who: str, query: str) -> Any:
        return (await world.ask(who, "GET", f"/api/search?limit=2&q={query}")).json()

    assert [hit["message"]["text"] for hit in (await asked("bob", "plan"))["hits"]] == ["a plan for bob"]
    assert len((await asked("karl", "plan"))["hits"]) == 2
    assert (await asked("bob", "from:user 29"))["removed_by"] is None
    assert (await asked("karl", "29 kind:human from:bob"))["removed_by"] == {"filter": "from:bob", "hits": 1}
    assert (await asked("owner", "in:cellar plan"))["hits"]


@pytest.mark.req("P-06")
async def test_a_refusal_does_not_tell_what_is_there(world: World) -> None:
    for path in (
        "/api/conversations/{}",
        "/api/conversations/{}/messages",
        "/api/turns?conversation={}",
        "/api/search?q=in:{}",
    ):
        there = await world.ask("bob", "GET", path.format("room"))
        nowhere = await world.ask("bob", "GET", path.format("roon"))
        assert there.json() == {**nowhere.json(), "title": there.json()["title"], "ref": "room"}
        assert "suggestions" in there.json()
        assert "room" not in str(nowhere.json())


async def test_what_an_agent_was_given_is_its_own_and_the_owners(world: World) -> None:
    await world.post("/api/conversations/room/messages", {"text": "@arya?"})
    await world.get("/api/conversations/room/settled")
    [turn] = (await world.get("/api/turns?agent=arya")).json()["turns"]
    given = {
        who: (await world.ask(who, "GET", f"/api/turns/{turn['id']}")).json()["given"] is not None
        for who in ("owner", "karl", "arya")
    }
    assert given == {"owner": True, "karl": False, "arya": True}
