"""Signing in to the page: a code that is good once, a token of the browser's own, and how both end."""

import asyncio
from pathlib import Path

import pytest

from moot.doors.http import app
from moot.doors.http.gate.rate import BURST
from moot.testing import ManualClock
from tests.doors.http.world import World, opened
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE

STALE = "this link does not sign in any more"


async def code_for(world: World, name: str = "user", **body: float) -> str:
    made = await world.post(f"/api/agents/{name}/sign-in-codes", body)
    assert made.status_code == 201
    assert made.json()["path"] == f"/#code={made.json()['code']}"
    return str(made.json()["code"])


async def signed_in(world: World, name: str = "user", key: str = "browser") -> dict[str, object]:
    answer = await world.ask(None, "POST", "/api/sign-in", {"code": await code_for(world, name)})
    assert answer.status_code == 200, answer.text
    world.tokens[key] = answer.json()["token"]
    found: dict[str, object] = answer.json()
    return found


async def test_a_code_is_exchanged_once_for_a_token_of_the_browsers_own(world: World) -> None:
    code = await code_for(world)
    first = await world.ask(None, "POST", "/api/sign-in", {"code": code})
    again = await world.ask(None, "POST", "/api/sign-in", {"code": code})
    assert (first.status_code, again.status_code) == (200, 401)
    assert (again.json()["title"], again.json()["code"]) == (STALE, "E300")
    found = first.json()
    assert (found["participant"], found["owner"]) == ("user", True)
    assert found["token"].startswith("moot_br_user_")
    assert found["token"] not in (world.tokens["owner"], code)
    assert "set-cookie" not in first.headers


async def test_of_many_that_show_the_same_code_at_once_one_is_let_in(world: World) -> None:
    code = await code_for(world)
    asked = [world.ask(None, "POST", "/api/sign-in", {"code": code}) for _ in range(8)]
    statuses = sorted(answer.status_code for answer in await asyncio.gather(*asked))
    assert statuses == [200, *[401] * 7]


async def test_codes_that_are_unknown_or_revoked_are_refused_in_the_same_words(world: World) -> None:
    code = await code_for(world, "karl")
    [listed] = [
        token
        for token in (await world.get("/api/agents/karl/tokens")).json()["tokens"]
        if token["kind"] == "code"
    ]
    assert listed["expires_at"] is not None
    assert (await world.ask("owner", "DELETE", f"/api/agents/karl/tokens/{listed['id']}")).status_code == 200
    refusals = [
        (await world.ask(None, "POST", "/api/sign-in", {"code": text})).json() for text in (code, "guessed")
    ]
    assert refusals[0] == refusals[1]
    assert refusals[0]["title"] == STALE
    assert (await world.ask(None, "POST", "/api/sign-in", {"code": ""})).status_code == 422


async def test_a_code_is_no_token(world: World) -> None:
    world.tokens["code"] = await code_for(world)
    assert (await world.ask("code", "GET", "/api/status")).status_code == 401


async def test_a_browser_of_the_owner_may_what_the_owner_may_and_one_of_a_person_does_not(
    world: World,
) -> None:
    await signed_in(world)
    found = await signed_in(world, "karl", "karls")
    assert (found["owner"], found["scopes"]) == (False, ["read", "post"])
    for who, status in (("browser", 200), ("karls", 403)):
        assert (await world.ask(who, "GET", "/api/audit")).status_code == status
        assert (await world.ask(who, "GET", "/api/status")).status_code == 200
    mine = await world.ask("browser", "POST", "/api/conversations/room/messages", {"text": "hello"})
    theirs = await world.ask("karls", "POST", "/api/conversations/room/messages", {"text": "hi"})
    assert (mine.json()["from"], theirs.json()["from"]) == ("user", "karl")
    said = (await world.get("/api/conversations/room/messages")).json()["messages"]
    assert {message["metadata"].get("door") for message in said if message["kind"] == "human"} == {"web"}
    assert (await world.ask("karls", "POST", "/api/agents/user/sign-in-codes", {})).status_code == 403


async def test_only_people_sign_in_and_only_the_owner_lets_them(world: World) -> None:
    refused = await world.post("/api/agents/arya/sign-in-codes", {})
    assert (refused.status_code, refused.json()["title"]) == (403, "arya is no person: only people sign in")
    assert (await world.ask("karl", "POST", "/api/agents/karl/sign-in-codes", {})).status_code == 403
    assert (await world.post("/api/agents/karl/sign-in-codes", {"seconds": 1e9})).status_code == 422


async def test_signing_out_ends_this_token_and_no_other(world: World) -> None:
    await signed_in(world, key="one")
    await signed_in(world, key="two")
    assert (await world.ask("one", "POST", "/api/sign-out")).status_code == 204
    assert (await world.ask("one", "GET", "/api/status")).status_code == 401
    posted = await world.ask("one", "POST", "/api/conversations/room/messages", {"text": "late"})
    assert posted.status_code == 401
    assert (await world.ask("two", "GET", "/api/status")).status_code == 200
    refused = await world.post("/api/sign-out")
    assert (refused.status_code, refused.json()["title"]) == (
        403,
        "the owner's own token cannot be signed out",
    )


@pytest.mark.alone
@pytest.mark.parametrize("name", ["user", "karl"])
async def test_revoking_ends_the_stream_of_a_browser_within_a_second(world: World, name: str) -> None:
    found = await signed_in(world, name)
    headers = {"Authorization": f"Bearer {found['token']}"}
    async with world.client.stream("GET", "/api/events", headers=headers) as stream:
        lines = stream.aiter_lines()
        await anext(lines)
        watch = Stopwatch()
        gone = await world.ask("owner", "DELETE", f"/api/agents/{name}/tokens/{found['id']}")
        assert gone.json()["kind"] == "browser"
        async with asyncio.timeout(PATIENCE):
            async for _ in lines:
                pass
        assert watch.seconds() < 1.0
    assert (await world.ask("browser", "GET", "/api/agents")).status_code == 401


async def test_a_token_that_the_page_issues_outlives_the_page(world: World) -> None:
    await signed_in(world)
    made = await world.ask("browser", "POST", "/api/agents/arya/tokens", {"scopes": ["read"]})
    world.tokens["made"] = made.json()["token"]
    await world.ask("browser", "POST", "/api/sign-out")
    assert (await world.ask("made", "GET", "/api/status")).status_code == 200


async def test_of_many_browsers_the_one_that_was_unused_for_longest_is_signed_out(world: World) -> None:
    world_hub = world.hub
    tokens = []
    for _ in range(21):
        made = await world_hub.agents.sign_in_code("karl")
        tokens.append((await world_hub.agents.sign_in(made.code)).token)
    statuses = []
    for token in (tokens[0], tokens[1], tokens[-1]):
        world.tokens["karls"] = token
        statuses.append((await world.ask("karls", "GET", "/api/status")).status_code)
    assert statuses == [401, 200, 200]


async def test_trying_too_often_is_refused_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(app, "monotonic", lambda: 1000.0)
    allowed = int(app.SIGN_INS_PER_SECOND * BURST)
    async with opened(tmp_path) as world:
        guess = ("POST", "/api/sign-in", {"code": "guessed"})
        answers = await asyncio.gather(*(world.ask(None, *guess) for _ in range(allowed + 5)))
    refused = [answer for answer in answers if answer.status_code == 429]
    assert [answer.status_code for answer in answers].count(401) == allowed
    assert (len(refused), int(refused[0].headers["retry-after"])) == (5, 1)


async def test_neither_code_nor_token_is_in_audit_events_or_lists(world: World) -> None:
    code = await code_for(world)
    found = (await world.ask(None, "POST", "/api/sign-in", {"code": code})).json()
    audit = (await world.get("/api/audit")).text
    assert "sign_in.offered" in audit
    assert "sign_in.done" in audit
    listed = (await world.get("/api/agents/user/tokens")).text
    for text in (audit, listed):
        assert code not in text
        assert found["token"] not in text


async def test_a_code_is_good_for_a_minute(tmp_path: Path) -> None:
    from moot import Hub  # noqa: PLC0415
    from moot.errors import Unauthenticated  # noqa: PLC0415

    clock = ManualClock()
    async with Hub.open(tmp_path, clock=clock) as hub:
        early, late = [await hub.agents.sign_in_code("user") for _ in range(2)]
        await clock.advance(59)
        assert (await hub.agents.sign_in(early.code)).participant == "user"
        await clock.advance(1)
        with pytest.raises(Unauthenticated, match=STALE):
            await hub.agents.sign_in(late.code)
