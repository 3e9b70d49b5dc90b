"""What each route answers when all is well, and how it says no."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot.doors.http.api.problems import STATUSES
from moot.doors.http.api.routes import ROUTES
from moot.doors.http.app import by_path
from moot.errors import tree
from moot.testing import ManualClock
from tests.doors.http.world import World, opened


@pytest.fixture
async def still(tmp_path: Path) -> AsyncIterator[World]:
    """A world in which no time passes, however long it takes."""
    async with opened(tmp_path, clock=ManualClock()) as found:
        yield found


def test_the_table_of_statuses_is_complete() -> None:
    assert set(STATUSES) == set(tree())


def test_every_row_stands_in_the_table_once() -> None:
    assert len({route.key for route in ROUTES}) == len(ROUTES)


async def test_a_conversation_lives_its_life(world: World) -> None:
    made = await world.post("/api/conversations", {"name": "plan", "participants": ["arya"]})
    assert made.status_code == 201
    where = made.json()["id"]
    assert made.headers["location"] == f"/api/conversations/{where}"
    assert [seat["name"] for seat in made.json()["participants"]] == ["user", "arya"]
    assert (await world.get("/api/conversations/plan")).json()["id"] == where
    listed = (await world.get("/api/conversations")).json()
    assert [one["name"] for one in listed["conversations"]] == ["room", "plan"]
    first = (await world.get("/api/conversations?limit=1")).json()
    rest = (await world.get(f"/api/conversations?limit=1&after={first['next']}")).json()
    assert [one["name"] for one in (*first["conversations"], *rest["conversations"])] == ["room", "plan"]
    changed = await world.ask(
        "owner", "PATCH", f"/api/conversations/{where}",
        {"name": "design", "settings": {"max_agent_turns_per_message": 5}},
    )  # fmt: skip
    assert (changed.json()["name"], changed.json()["settings"]["max_agent_turns_per_message"]) == (
        "design",
        5,
    )
    joined = await world.post(f"/api/conversations/{where}/participants", {"name": "bob"})
    assert joined.json()["participants"][-1]["name"] == "bob"
    assert (
        await world.ask("owner", "DELETE", f"/api/conversations/{where}/participants/bob")
    ).status_code == 204
    assert (await world.post(f"/api/conversations/{where}/continue")).json() == {"resumed": False}
    assert (await world.ask("owner", "DELETE", "/api/conversations/design")).status_code == 204
    archived = (await world.get("/api/conversations?archived=true")).json()["conversations"]
    assert [one["id"] for one in archived] == [where]
    closed = await world.post(f"/api/conversations/{where}/messages", {"text": "hello"})
    assert (closed.status_code, closed.json()["code"]) == (409, "E305")
    assert (await world.post(f"/api/conversations/{where}/unarchive")).json()["archived"] is False
    assert (await world.ask("owner", "DELETE", "/api/conversations/design?purge=true")).status_code == 204
    gone = await world.get("/api/conversations/design")
    assert (gone.status_code, gone.headers["content-type"]) == (404, "application/problem+json")
    assert gone.json()["code"] == "E201"


async def test_a_message_is_posted_answered_paged_and_explained(world: World) -> None:
    told = await world.post("/api/conversations/room/messages", {"text": "hello @arya"})
    assert told.status_code == 201
    receipt = told.json()
    assert (receipt["from"], receipt["seq"], receipt["replayed"]) == ("user", 1, False)
    assert [(d["agent"], d["duty"]) for d in receipt["deliveries"]] == [("arya", "must"), ("quiet", "may")]
    settled = (await world.get("/api/conversations/room/settled?timeout=40")).json()
    assert settled == {"settled": True, "open": []}
    page = (await world.get("/api/conversations/room/messages?limit=1")).json()
    assert ([m["text"] for m in page["messages"]], page["next"]) == (["hello @arya"], 1)
    rest = (await world.get(f"/api/conversations/room/messages?after={page['next']}")).json()
    assert ([m["from"] for m in rest["messages"]], rest["next"]) == (["arya"], None)
    newest = (await world.get("/api/conversations/room/messages?before=3&limit=1")).json()
    assert [m["seq"] for m in newest["messages"]] == [2]
    why = (await world.get(f"/api/messages/{receipt['id']}/why")).json()
    assert {row["agent"]: row["state"] for row in why["agents"]} == {"arya": "answered", "quiet": "passed"}
    turns = (await world.get("/api/turns?conversation=room&agent=arya")).json()["turns"]
    assert [turn["state"] for turn in turns] == ["said"]
    given = (await world.get(f"/api/turns/{turns[0]['id']}")).json()["given"]
    assert given["messages"]
    hits = (await world.get("/api/search?q=heard")).json()["hits"]
    assert [hit["message"]["from"] for hit in hits] == ["arya"]


@pytest.mark.req("J-03")
async def test_the_same_key_stores_once_and_another_body_under_it_is_refused(world: World) -> None:
    path, body = "/api/conversations/room/messages", {"text": "once"}
    first = await world.post(path, body, Idempotency_Key="k1")
    again = await world.post(path, body, Idempotency_Key="k1")
    other = await world.post(path, {"text": "twice"}, Idempotency_Key="k1")
    assert [answer.status_code for answer in (first, again, other)] == [201, 200, 409]
    assert (again.json()["replayed"], again.json()["id"]) == (True, first.json()["id"])
    assert len((await world.get(f"{path}?limit=100")).json()["messages"]) >= 1
    assert (await world.post(path, body, Idempotency_Key="x" * 300)).status_code == 422


async def test_edits_need_the_version_that_was_seen(world: World) -> None:
    sent = (await world.post("/api/conversations/room/messages", {"text": "helo"})).json()
    path = f"/api/messages/{sent['id']}"
    assert (await world.get(path)).headers["etag"] == '"1"'
    assert (await world.ask("owner", "PATCH", path, {"text": "hello"})).status_code == 428
    edited = await world.ask("owner", "PATCH", path, {"text": "hello"}, If_Match='"1"')
    assert (edited.status_code, edited.headers["etag"], edited.json()["text"]) == (200, '"2"', "hello")
    stale = await world.ask("owner", "PATCH", path, {"text": "hullo"}, If_Match="1")
    assert (stale.status_code, stale.json()["current_version"]) == (412, 2)
    assert stale.json()["current_text"] == "hello"
    assert (await world.ask("owner", "PATCH", path, {"text": "x"}, If_Match="soon")).status_code == 422
    deleted = await world.ask("owner", "DELETE", path, If_Match="*")
    assert deleted.json()["metadata"]["deleted"] is True


async def test_a_preview_stores_nothing(world: World) -> None:
    preview = (await world.post("/api/conversations/room/preview", {"text": "@arya?"})).json()
    assert (preview["must"], preview["may"]) == (["arya"], ["quiet"])
    assert (await world.get("/api/conversations/room/messages")).json()["messages"] == []


async def test_waiting_for_the_end_is_bounded(world: World) -> None:
    await world.post("/api/agents/stubborn/messages", {"message": "hello"})
    where = (await world.get("/api/agents/stubborn/conversations")).json()["conversations"][0]["id"]
    told = (await world.get(f"/api/conversations/{where}/settled?timeout=0.05")).json()
    assert (told["settled"], [turn["agent"] for turn in told["open"]]) == (False, ["stubborn"])
    assert (await world.get(f"/api/conversations/{where}/settled?timeout=nan")).status_code == 422


@pytest.mark.req("J-03", "J-01")
async def test_agents_are_listed_changed_and_enrolled(world: World) -> None:
    listed = (await world.ask("arya", "GET", "/api/agents")).json()
    assert (listed["self"], [a["name"] for a in listed["agents"]]) == (
        "arya",
        ["arya", "quiet", "stubborn", "bob"],
    )
    listed = (await world.get("/api/agents")).json()["agents"]
    assert {agent["name"]: agent["project"] for agent in listed}["arya"] == ""
    wanted = {"name": "stark", "project": "/srv/site"}
    refused = await world.ask("arya", "PUT", "/api/agents/arya", wanted)
    assert (refused.status_code, "only the owner" in refused.json()["title"]) == (403, True)
    assert (await world.get("/api/agents/arya")).json()["name"] == "arya", "nothing has changed"
    changed = await world.ask("owner", "PUT", "/api/agents/arya", wanted)
    assert (changed.json()["name"], changed.json()["aliases"], changed.json()["project"]) == (
        "stark",
        ["arya"],
        "/srv/site",
    )
    assert (await world.ask("arya", "GET", "/api/agents")).json()["self"] == "stark"
    taken = await world.ask("arya", "PUT", "/api/agents/stark", {"name": "bob"})
    assert (taken.status_code, taken.json()["code"]) == (409, "E202")
    new = await world.post("/api/agents", {"name": "nymeria", "role": "wolf"})
    assert (new.status_code, new.json()["kind"]) == (201, "external")
    paused = (await world.post("/api/agents/quiet/pause")).json()
    assert paused["activity"]["state"] == "paused"
    assert (await world.post("/api/agents/quiet/resume")).json()["activity"]["state"] != "paused"
    assert (await world.post("/api/agents/quiet/interrupt")).status_code == 200


@pytest.mark.req("J-03", "J-05")
async def test_writing_to_an_agent_answers_in_the_seeds_shapes(still: World) -> None:
    world = still
    sent = await world.ask("arya", "POST", "/api/agents/quiet/messages", {"message": "hello"})
    assert sent.status_code == 200
    assert set(sent.json()) == {"delivered", "target", "id", "seq", "reachability"}
    assert (sent.json()["delivered"], sent.json()["target"], sent.json()["seq"]) == (True, "quiet", 1)
    await world.hub.settled()
    soon = (await world.ask("arya", "POST", "/api/agents/quiet/messages", {"message": "more"})).json()
    assert soon["delayed_ms"] > 0
    missing = await world.ask("arya", "POST", "/api/agents/nobody/messages", {"message": "hello"})
    assert missing.status_code == 404
    assert missing.json() == {
        "delivered": False, "error": "Agent not found", "available": ["bob", "quiet", "stubborn"],
    }  # fmt: skip
    for _ in range(8):
        await world.ask("arya", "POST", "/api/agents/quiet/messages", {"message": "again"})
    turns = (await world.ask("arya", "GET", "/api/turns?agent=quiet")).json()["turns"]
    newest = (await world.ask("arya", "GET", f"/api/turns?agent=quiet&before={2**53 - 1}&limit=1")).json()
    assert newest == {"turns": turns[-1:], "next": None}
    earlier = (await world.ask("arya", "GET", f"/api/turns?agent=quiet&before={turns[-1]['id']}")).json()
    assert (earlier["turns"], len(turns[-1]["held"])) == (turns[:-1], 8)
    limited = await world.ask("arya", "POST", "/api/agents/quiet/messages", {"message": "again"})
    assert limited.status_code == 429
    assert set(limited.json()) == {"delivered", "error", "retry_after_ms"}
    assert (limited.json()["delivered"], limited.json()["error"]) == (False, "Rate limited")
    assert int(limited.headers["retry-after"]) >= 1


@pytest.mark.req("J-03")
async def test_a_broadcast_reaches_everybody_else(world: World) -> None:
    told = (await world.ask("arya", "POST", "/api/agents/broadcast", {"message": "hear, hear"})).json()
    assert set(told) == {"delivered_to", "failed", "broadcast_id"}
    assert (told["delivered_to"], told["failed"]) == (["quiet", "stubborn", "bob"], [])


async def test_an_inbox_holds_what_waits(world: World) -> None:
    await world.post("/api/agents/bob/messages", {"message": "are you there?"})
    waiting = (await world.ask("bob", "GET", "/api/agents/bob/inbox")).json()["messages"]
    assert [(m["from"], m["text"]) for m in waiting] == [("user", "are you there?")]


@pytest.mark.req("P-06")
async def test_tokens_are_issued_listed_and_revoked(world: World) -> None:
    issued = await world.ask("arya", "POST", "/api/agents/arya/tokens", {"scopes": ["read"]})
    assert issued.status_code == 201
    assert set(issued.json()) == {"id", "agent", "token", "scopes"}
    world.tokens["reader"] = issued.json()["token"]
    assert (await world.ask("reader", "GET", "/api/conversations/room")).status_code == 200
    refused = await world.ask("reader", "POST", "/api/conversations/room/messages", {"text": "hello"})
    assert (refused.status_code, refused.json()["code"]) == (403, "E301")
    beyond = await world.ask("arya", "POST", "/api/agents/arya/tokens", {"scopes": ["admin"]})
    assert beyond.status_code == 403
    listed = (await world.ask("arya", "GET", "/api/agents/arya/tokens")).json()["tokens"]
    assert issued.json()["token"] not in str(listed)
    path = f"/api/agents/arya/tokens/{issued.json()['id']}"
    assert (await world.ask("owner", "DELETE", path)).json()["revoked_at"]
    assert (await world.ask("reader", "GET", "/api/conversations/room")).status_code == 401
    assert (await world.ask("owner", "DELETE", "/api/agents/bob/tokens/none")).status_code == 404
    audit = (await world.get("/api/audit?limit=500")).json()["entries"]
    acts = [
        (entry["act"], entry["by"], entry["door"]) for entry in audit if entry["act"].startswith("token.")
    ]
    assert acts[:2] == [("token.revoked", "user", "http"), ("token.issued", "arya", "http")]


async def test_the_owner_speaks_for_others_and_the_audit_names_both(world: World) -> None:
    sent = await world.post("/api/conversations/room/messages", {"text": "as arya"}, Moot_Act_As="arya")
    assert sent.json()["from"] == "arya"
    hidden = await world.ask("owner", "GET", "/api/conversations/room", Moot_Act_As="bob")
    assert hidden.status_code == 404
    forged = await world.ask("bob", "GET", "/api/agents", Moot_Act_As="arya")
    assert forged.status_code == 403
    [acted] = (await world.get("/api/audit?acts=owner.acted_as")).json()["entries"]
    assert (acted["by"], acted["detail"]["as"]) == ("user", "arya")
    assert acted["detail"]["what"] == "POST /api/conversations/room/messages"
    [posted] = (await world.get("/api/audit?conversation=room&limit=1")).json()["entries"]
    assert (posted["by"], posted["on_behalf_of"], posted["door"]) == ("user", "arya", "http")


@pytest.mark.req("P-07")
async def test_operators_see_health_readiness_and_numbers(world: World) -> None:
    assert (await world.ask(None, "GET", "/healthz")).json() == {"status": "ok"}
    assert (await world.get("/readyz")).json() == {"status": "ready"}
    numbers = await world.get("/metrics")
    assert numbers.headers["content-type"].startswith("text/plain")
    assert 'moot_http_requests_total{method="GET",path="/healthz",status="200"} 1.0' in numbers.text
    status = (await world.get("/api/status")).json()
    assert (status["user"], status["agents"], status["live"]) == ("user", 4, 3)
    assert (await world.get("/api/limits")).json()["settings"]["chain_turns"] == 16


# --- how it says no --------------------------------------------------------------------------------------


async def test_every_path_says_which_methods_it_knows(world: World) -> None:
    for path, rows in by_path(ROUTES).items():
        refused = await world.ask("owner", "TRACE", path.format(id="x", name="x"))
        assert refused.status_code == 405, path
        allowed = set(refused.headers["allow"].split(", "))
        streams = any(route.streams for route in rows.values())
        assert allowed == set(rows) | ({"HEAD"} if "GET" in rows and not streams else set()), path


async def test_an_unknown_address_is_answered_in_json(world: World) -> None:
    for path in ("/x", "/api", "/api/", "/api/agents/", "/api/conversations/room/", "/x%00y", "/%2e%2e/etc"):
        answer = await world.get(path)
        assert (answer.status_code, answer.json()["status"]) == (404, 404), path


async def test_heads_have_no_body(world: World) -> None:
    answer = await world.ask("owner", "HEAD", "/api/agents")
    assert (answer.status_code, answer.content) == (200, b"")
    assert int(answer.headers["content-length"]) > 10


@pytest.mark.parametrize(
    ("content", "media", "status"),
    [
        (b'{"text": "hello"', "application/json", 400),
        (b"", "application/json", 400),
        (b'{"text": "\xff"}', "application/json", 400),
        (b'{"text": "\\ud800"}', "application/json", 400),
        (b"[" * 100_000, "application/json", 422),
        (b'{"text": 5}', "application/json", 422),
        (b"[]", "application/json", 422),
        (b'{"text": ""}', "application/json", 422),
        (b'{"text": "a\\u0000b"}', "application/json", 422),
        (b'{"text": "x", "more": 1}', "application/json", 422),
        (b'{"text": "hello"}', "text/plain", 415),
        (b"text=hello", "application/x-www-form-urlencoded", 415),
        (b'{"text": "%s"}' % (b"x" * 300_000), "application/json", 422),
        (b'{"text": "%s"}' % (b"x" * 2_000_000), "application/json", 413),
    ],
)
async def test_what_cannot_be_read_is_refused(world: World, content: bytes, media: str, status: int) -> None:
    headers = {"Authorization": f"Bearer {world.tokens['owner']}", "Content-Type": media}
    path = "/api/conversations/room/messages"
    answer = await world.client.post(path, content=content, headers=headers)
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert (await world.get(path)).json()["messages"] == []


@pytest.mark.parametrize(
    "path",
    [
        "/api/conversations?limit=0",
        "/api/conversations?limit=x",
        "/api/conversations?sort=up",
        "/api/conversations?limit=1&limit=2",
        "/api/conversations/room/messages?after=-1",
        "/api/conversations/room/messages?after=99999999999999999999",
        "/api/conversations/room/settled?timeout=1e9",
        "/api/turns?state=lazy",
        "/api/search",
        "/api/events?after=x",
    ],
)
async def test_a_query_that_does_not_fit_is_refused(world: World, path: str) -> None:
    assert (await world.get(path)).status_code == 422


@pytest.mark.parametrize(
    "path",
    ["/api/turns/²", "/api/turns/" + "9" * 40, "/api/turns/x", "/api/messages/x", "/api/messages/room:1"],
)
async def test_what_is_not_there_is_not_found(world: World, path: str) -> None:
    assert (await world.get(path)).status_code == 404


async def test_long_numbers_in_an_address_are_no_trouble(world: World) -> None:
    where = (await world.get("/api/conversations/room")).json()["id"]
    for seq in ("0", "9" * 30, "9" * 5000):
        assert (await world.get(f"/api/messages/{where}:{seq}")).status_code in (404, 422)


@pytest.mark.req("G-01")
@pytest.mark.parametrize(
    ("settings", "status"),
    [
        ({"max_depth": 3}, 200),
        ({"max_depth": 3.0}, 200),
        ({"max_depth": None}, 200),
        ({"max_depth": 3.5}, 422),
        ({"max_depth": 0}, 422),
        ({"max_depth": 10**30}, 422),
        ({"cooldown_seconds": 0}, 200),
        ({"cooldown_seconds": 1e300}, 422),
        ({"agent_reply_timeout": -1}, 422),
        ({"reply_strategy": "loud"}, 422),
        ({"volume": 11}, 422),
    ],
    ids=str,
)
async def test_settings_take_what_moot_toml_takes(world: World, settings: Any, status: int) -> None:
    changed = await world.ask("owner", "PATCH", "/api/conversations/room", {"settings": settings})
    assert changed.status_code == status, changed.text
    made = await world.post("/api/conversations", {"name": "other", "settings": settings})
    assert made.status_code == (201 if status == 200 else 422)


DESCRIBED = ("name", "role", "display", "project")


@pytest.mark.parametrize(
    ("field", "value"),
    [("role", "two\nlines"), ("role", "x" * 501), ("display", "a\u202eb"), ("display", "x" * 129), ("project", "a\0b")],
)  # fmt: skip
async def test_what_is_said_of_an_agent_takes_what_moot_toml_takes(
    world: World, field: str, value: str
) -> None:
    before = (await world.get("/api/agents/bob")).json()
    changed = await world.ask("bob", "PUT", "/api/agents/bob", {field: value})
    assert (changed.status_code, changed.json()["code"]) == (422, "E204")
    assert f"{field} = " in changed.json()["title"]
    after = (await world.get("/api/agents/bob")).json()
    assert [after[name] for name in DESCRIBED] == [before[name] for name in DESCRIBED]
    if field != "project":
        assert (await world.post("/api/agents", {"name": "new", field: value})).status_code == 422


async def test_a_reply_is_to_a_message_of_its_own_conversation(world: World) -> None:
    first = (await world.post("/api/conversations/room/messages", {"text": "one"})).json()["id"]
    await world.hub.conversations.create("hall")
    await world.hub.post("hall", "a first message here too")
    path = "/api/conversations/{}/messages"
    good = await world.post(path.format("room"), {"text": "two", "reply_to": first})
    by_name = await world.post(path.format("room"), {"text": "two", "reply_to": "room:1"})
    foreign = await world.post(path.format("hall"), {"text": "two", "reply_to": first})
    assert [good.status_code, by_name.status_code, foreign.status_code] == [201, 201, 404]
    assert (await world.hub.message(good.json()["id"])).reply_to == first


@pytest.mark.parametrize(
    ("turns", "status"), [(1, 201), (2.0, 201), (0, 422), (1.5, 422), ("3", 422), (1001, 422)]
)
async def test_a_whole_number_may_be_written_with_a_point(world: World, turns: Any, status: int) -> None:
    told = await world.post("/api/conversations/room/messages", {"text": "x", "max_turns": turns})
    assert told.status_code == status, told.text


async def test_nobody_writes_to_themselves(world: World) -> None:
    told = await world.ask("arya", "POST", "/api/agents/arya/messages", {"message": "hello me"})
    assert (told.status_code, told.json()["delivered"]) == (403, False)


async def test_null_is_a_word_in_a_query_and_nothing_else(world: World) -> None:
    await world.hub.agents.create("null", external=True)
    assert (await world.get("/api/conversations/room/messages?before=null")).status_code == 422
    assert (await world.get("/api/turns?agent=null")).json()["turns"] == []
    assert (await world.get("/api/conversations?kind=null")).status_code == 422
    assert (await world.get("/api/conversations?kind=loud")).status_code == 422


@pytest.mark.parametrize("key", [{}, {"Idempotency_Key": "k"}], ids=["without a key", "with a key"])
async def test_a_post_to_nowhere_or_to_what_is_closed_is_refused(world: World, key: dict[str, str]) -> None:
    """Looked up before or not, the owner is told the same."""
    where = (await world.hub.conversations.create("hall")).id
    assert (await world.post("/api/conversations/hall/messages", {"text": "x"}, **key)).status_code == 201
    missing = await world.post("/api/conversations/hal/messages", {"text": "x"}, **key)
    assert (missing.status_code, missing.json()["suggestions"]) == (404, ["hall"])
    await world.hub.conversations.archive(where)
    by_name = await world.post("/api/conversations/hall/messages", {"text": "x"}, Idempotency_Key="k2")
    closed = await world.post(
        f"/api/conversations/{where}/messages", {"text": "y"}, **key and {"Idempotency_Key": "k3"}
    )
    assert (by_name.status_code, closed.status_code, closed.json()["name"]) == (
        404,
        409,
        "conversation_archived",
    )


async def test_a_repeat_by_another_name_of_the_conversation_is_a_repeat(world: World) -> None:
    where = (await world.hub.conversations.get("room")).id
    first = await world.post("/api/conversations/room/messages", {"text": "once"}, Idempotency_Key="k")
    again = await world.post(f"/api/conversations/{where}/messages", {"text": "once"}, Idempotency_Key="k")
    assert (first.status_code, again.status_code, again.json()["id"]) == (201, 200, first.json()["id"])
