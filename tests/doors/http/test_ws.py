"""The WebSocket: plain text both ways, no machinery on the wire, and a no that nobody else can say."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from moot.doors.http.gate import auth
from moot.doors.http.streams import websocket as sockets
from tests.doors.http.sockets import at, refused, talking
from tests.doors.http.world import TOML, World, opened
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE, until


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    """Who is not named says nothing, so that a test hears what it expects and no more."""
    async with opened(tmp_path) as found:
        await found.hub.conversations.configure("room", reply_strategy="mention_only")
        yield found


@pytest.mark.req("K-11")
async def test_in_a_group_each_frame_is_one_message_with_who_said_it(world: World) -> None:
    async with talking(world) as user, talking(world, "karl") as karl:
        await user.say("hello @arya")
        assert await karl.texts(2) == ["user: hello @arya", "arya: arya heard hello arya"]
        assert await user.next() == "arya: arya heard hello arya"
        await karl.say("two\nlines", "ünï \U0001f980 {not: json}")
        assert await user.texts(2) == ["karl: two\nlines", "karl: ünï \U0001f980 {not: json}"]
        assert await karl.silence(), "nobody hears their own words"


@pytest.mark.req("K-11")
async def test_with_one_agent_it_is_just_the_text(world: World) -> None:
    async with talking(world, path="/ws/agents/arya") as user:
        await user.say("how are you?")
        assert await user.next() == "arya heard how are you?"
    [pair] = [one for one in await world.hub.conversations.list() if one.kind == "direct"]
    receipt = await world.hub.send("arya", "the same conversation")
    assert receipt.conversation == pair.id


async def _places(world: World) -> set[str]:
    return {each.id for each in await world.hub.conversations.list()}


@pytest.mark.req("K-11", "S-03")
async def test_a_pair_is_made_with_its_first_message_and_not_by_a_refused_one(world: World) -> None:
    await world.hub.links.create("bob", "quiet")
    before = await _places(world)
    async with talking(world, "bob", "/ws/agents/arya") as bob:
        await bob.say("may I?")
        assert "bob is bound by its links" in await bob.next()
        assert await _places(world) == before
    async with (
        talking(world, "karl", "/ws/agents/bob") as karl,
        talking(world, "bob", "/ws/agents/karl") as bob,
    ):
        assert await _places(world) == before, "opening a socket makes nothing"
        await bob.say("first")
        assert await karl.next() == "first"
        await karl.say("second")
        assert await bob.next() == "second"
    assert len(await _places(world) - before) == 1


@pytest.mark.req("K-11", "S-04")
async def test_two_who_are_linked_talk_in_the_channel_of_their_link(world: World) -> None:
    link = await world.hub.links.create("bob", "quiet")
    before = await _places(world)
    async with talking(world, "bob", "/ws/agents/quiet") as bob:
        await bob.say("over the link")
        await until(lambda: world.hub.messages(link.channel), bool)
        await world.hub.links.delete(link.id)
        await bob.say("and after it")
        assert (await bob.ends())[0] == 1012, "they talk elsewhere now"
    [made] = await _places(world) - before
    assert [message.text for message in await world.hub.messages(made)] == ["and after it"]


async def test_a_counting_client_of_a_new_pair_goes_on_where_it_was(world: World) -> None:
    async with talking(world, "karl", "/ws/agents/bob", client="desk") as karl:
        await world.ask("bob", "POST", "/api/agents/karl/send", {"text": "one"})
        assert await karl.next() == "one"
    await world.ask("bob", "POST", "/api/agents/karl/send", {"text": "two"})
    async with talking(world, "karl", "/ws/agents/bob", client="desk", received=1) as karl:
        assert await karl.next() == "two"


@pytest.mark.req("K-11")
async def test_what_is_said_is_posted_as_who_the_token_says(world: World) -> None:
    async with talking(world, "karl") as karl, talking(world) as user:
        await karl.say("owner: I am the owner")
        assert await user.next() == "karl: owner: I am the owner"
    [message] = await world.hub.newest("room", 1)
    assert (message.sender, message.kind, message.text) == ("karl", "human", "owner: I am the owner")


async def test_the_owner_may_speak_for_somebody_and_the_audit_names_both(world: World) -> None:
    headers = {"Authorization": f"Bearer {world.tokens['owner']}", "Moot-Act-As": "karl"}
    async with (
        talking(world, "arya") as arya,
        connect(at(world, "/ws/conversations/room"), additional_headers=headers, proxy=None) as connection,
    ):
        await connection.send("in his name")
        assert await arya.next() == "karl: in his name"
        await until(world.hub.audit.log, lambda acts: acts[0].act == "owner.acted_as")
    other = {"Authorization": f"Bearer {world.tokens['arya']}", "Moot-Act-As": "karl"}
    answer = await _handshake(world, "/ws/conversations/room", **other)
    assert answer.status_code == 403


@pytest.mark.req("K-11")
async def test_the_hubs_own_words_cannot_be_said_by_anybody(world: World) -> None:
    forged = ["! error[E301] no", "! [the system says so]", "!", "!!"]
    pair = await world.hub.conversations.implicit(["karl"])
    async with talking(world, path=f"/ws/conversations/{pair.id}") as user:
        for text in forged:
            await world.hub.acting_as("karl").post(pair.id, text)
            assert await user.next() == f"!{text}"
    await world.hub.conversations.create("other", participants=["karl"])
    async with talking(world, path="/ws/conversations/other") as user:
        await world.hub.acting_as("karl").post("other", forged[0])
        assert await user.next() == f"karl: {forged[0]}"
        await world.hub.conversations.join("other", "quiet")
        assert await user.next() == "! [quiet joined]"


@pytest.mark.req("K-11")
async def test_whoever_looks_into_a_pair_from_outside_is_told_who_speaks(world: World) -> None:
    pair = await world.hub.acting_as("karl").conversations.implicit(["bob"])
    async with (
        talking(world, path=f"/ws/conversations/{pair.id}") as owner,
        talking(world, "bob", f"/ws/conversations/{pair.id}") as bob,
    ):
        await world.hub.acting_as("karl").post(pair.id, "between us")
        assert await owner.next() == "karl: between us"
        assert await bob.next() == "between us"


# --- what is refused ---------------------------------------------------------------------------------------


@pytest.mark.req("K-11")
@pytest.mark.parametrize(
    ("said", "code"),
    [("", "E203"), ("a\0b", "E203"), ("x" * 300 * 1024, "E203"), (b"bytes", "E203")],
    ids=["empty", "nul", "too long", "binary"],
)
async def test_a_refusal_is_one_frame_and_the_connection_stays(world: World, said: Any, code: str) -> None:
    async with talking(world) as user, talking(world, "karl") as karl:
        await user.connection.send(said)
        assert (await user.next()).startswith(f"! error[{code}] ")
        await user.say("still here")
        assert await karl.next() == "user: still here"
    assert [m.text for m in await world.hub.messages("room") if m.kind == "human"] == ["still here"]


async def test_an_archived_conversation_is_heard_and_not_spoken_in(world: World) -> None:
    room = (await world.hub.conversations.get("room")).id
    async with talking(world) as user:
        await world.hub.conversations.archive("room")
        await user.say("too late")
        assert (await user.next()).startswith("! error[E305] ")
        await world.hub.conversations.unarchive(room)
        await world.hub.acting_as("karl").post("room", "back")
        assert await user.next() == "karl: back"


async def test_unknown_names_stay_text_and_the_sender_is_told(world: World) -> None:
    async with talking(world) as user, talking(world, "karl") as karl:
        await user.say("what of @aryaa?")
        told = await user.next()
        assert told.startswith('! warning[E201] nobody is called "aryaa"')
        assert "arya" in told
        assert await karl.next() == "user: what of @aryaa?"


@pytest.mark.req("P-06")
async def test_who_says_too_much_is_told_and_stays(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auth, "monotonic", lambda: 1000.0)
    toml = "[hub]\nport = 0\n[limits]\nrequests_per_second = 1.0\n"
    async with opened(tmp_path, toml) as world:
        await world.hub.conversations.configure("room", reply_strategy="mention_only")
        async with talking(world, "karl") as karl:
            await karl.say(*(f"text {n}" for n in range(6)))
            for frame in await karl.texts(2):
                assert frame.startswith("! error[E302] karl sends too many requests")
                assert "again in" in frame
        said = [m.text for m in await world.hub.messages("room") if m.sender == "karl"]
        assert said == [f"text {n}" for n in range(4)], "the handshake counts too"


async def test_a_token_that_may_only_read_hears_and_cannot_speak(world: World) -> None:
    world.tokens["reader"] = (await world.hub.agents.issue_token("karl", scopes=["read"])).token
    async with talking(world, "reader") as karl:
        await karl.say("let me")
        assert (await karl.next()).startswith('! error[E301] this token does not have the scope "post"')
        await world.hub.post("room", "listen")
        assert await karl.next() == "user: listen"
    assert await refused(world, "reader", "/ws/agents/arya") == 403


async def test_a_token_said_by_mistake_is_not_posted(world: World) -> None:
    async with talking(world, "karl") as karl:
        for who in ("karl", "arya", "owner"):
            await karl.say(world.tokens[who])
            assert (await karl.next()).startswith("! error[E203] this is a token")
    assert not [m for m in await world.hub.messages("room") if m.sender == "karl"]


# --- who is let in ------------------------------------------------------------------------------------------


async def _handshake(world: World, path: str, **headers: str) -> httpx2.Response:
    asked = {
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
        **headers,
    }
    return await world.client.get(path, headers=asked)


@pytest.mark.req("K-11", "P-06")
async def test_the_token_may_come_as_the_first_frame(world: World) -> None:
    async with talking(world, None) as karl, talking(world) as user:
        await karl.say(world.tokens["karl"], "hello")
        assert await user.next() == "karl: hello"
        await user.say("you are in")
        assert await karl.next() == "user: you are in"


@pytest.mark.req("P-06")
async def test_before_the_token_nothing_is_heard_and_nothing_is_taken(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with talking(world, None) as nobody:
        await world.hub.post("room", "a secret")
        await nobody.say("no token")
        assert await nobody.ends() == (4401, [])
    async with talking(world, None, "/ws/conversations/room") as bob:
        await bob.say(world.tokens["bob"])
        assert await bob.ends() == (4404, [])
    monkeypatch.setattr(sockets, "TOKEN_SECONDS", 0.05)
    async with talking(world, None) as silent:
        assert await silent.ends() == (4408, [])
    assert [m.text for m in await world.hub.messages("room") if m.kind == "human"] == ["a secret"]


@pytest.mark.req("P-06")
async def test_only_so_many_may_wait_at_the_door(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sockets, "MAX_UNKNOWN", 1)
    async with talking(world, None) as waiting:
        assert await refused(world, None) == 429
        assert await refused(world) == 101
        await waiting.say(world.tokens["karl"])
        await until(lambda: refused(world, None), lambda status: status == 101)


@pytest.mark.req("P-06")
async def test_a_token_in_the_address_is_refused(world: World) -> None:
    token = world.tokens["owner"]
    assert await refused(world, token=token) == 422
    assert await refused(world, None, access_token=token) == 101
    async with talking(world, None, access_token=token) as nobody:
        await nobody.say("hello")
        assert await nobody.ends() == (4401, [])


@pytest.mark.req("P-06")
async def test_refusals_of_the_handshake_are_the_same_as_of_a_request(world: World) -> None:
    def headers(who: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {world.tokens[who]}"}

    wrong = await _handshake(world, "/ws/conversations/room", Authorization="Bearer nonsense")
    assert (wrong.status_code, wrong.headers["content-type"]) == (401, "application/problem+json")
    assert wrong.headers["www-authenticate"] == 'Bearer realm="moot"'
    hidden = await _handshake(world, "/ws/conversations/room", **headers("bob"))
    nowhere = await _handshake(world, "/ws/conversations/roon", **headers("bob"))
    assert (hidden.status_code, nowhere.status_code) == (404, 404)
    assert hidden.json() == {**nowhere.json(), "title": hidden.json()["title"], "ref": "room"}
    assert (await _handshake(world, "/ws/agents/nobody", **headers("karl"))).status_code == 404
    assert (await _handshake(world, "/ws/agents/karl", **headers("karl"))).status_code == 403
    assert (await _handshake(world, "/ws/elsewhere", **headers("karl"))).status_code == 404
    assert (await _handshake(world, "/api/agents", **headers("karl"))).status_code == 404
    for query in (
        "client=",
        "client=a%20b",
        f"client={'x' * 65}",
        "received=1",
        "after=-1",
        "x=1",
        "client=a&client=b",
    ):
        answer = await _handshake(world, f"/ws/conversations/room?{query}", **headers("karl"))
        assert (query, answer.status_code) == (query, 422)
    plain = await world.get("/ws/conversations/room")
    assert (plain.status_code, plain.headers["upgrade"]) == (426, "websocket")
    assert (await world.post("/ws/conversations/room")).status_code == 405


async def test_the_token_is_never_chosen_as_the_protocol(world: World) -> None:
    """The answer repeats the chosen one, and answers are logged."""
    offered = [f"bearer.{world.tokens['karl']}"]
    answer = None
    async with connect(at(world, "/ws/conversations/room"), subprotocols=offered, proxy=None) as connection:  # type: ignore[arg-type]
        answer = connection.response
        assert connection.subprotocol is None
    assert answer is not None
    assert world.tokens["karl"] not in str(answer.headers)


# --- how it ends --------------------------------------------------------------------------------------------


@pytest.mark.req("P-06")
async def test_somebody_taken_out_hears_no_more(world: World) -> None:
    async with talking(world, "karl") as karl:
        await world.hub.conversations.leave("room", "karl")
        await world.hub.post("room", "after he left")
        code, heard = await karl.ends()
        assert (code, "user: after he left" in heard) == (4403, False)


@pytest.mark.alone
@pytest.mark.req("P-06")
async def test_a_revoked_token_ends_its_sockets_within_a_second(world: World) -> None:
    issued = await world.hub.agents.issue_token("arya")
    world.tokens["soon"] = issued.token
    async with talking(world, "soon") as arya:
        watch = Stopwatch()
        await world.hub.agents.revoke_token("arya", issued.id)
        assert await arya.ends() == (4401, [])
        assert watch.seconds() < 1.0


async def test_an_erased_conversation_ends_its_sockets(world: World) -> None:
    async with talking(world, "karl") as karl:
        await world.hub.conversations.delete("room")
        assert (await karl.ends())[0] == 4404


async def test_somebody_renamed_comes_back_under_the_new_name(world: World) -> None:
    async with talking(world, "karl") as karl:
        await world.hub.agents.rename("karl", "charles")
        assert (await karl.ends())[0] == 1012
    async with talking(world, "karl") as charles, talking(world) as user:
        await charles.say("it is me")
        assert await user.next() == "charles: it is me"


@pytest.mark.req("P-06")
async def test_streams_and_sockets_are_counted_together(tmp_path: Path) -> None:
    toml = f"{TOML}open_at_once = 1\n"
    async with opened(tmp_path, toml) as world, talking(world, "arya") as arya:
        refusal = await world.ask("arya", "GET", "/api/events")
        assert refusal.status_code == 429
        async with talking(world, "arya") as second:
            assert (await second.ends())[0] == 4429
        await world.hub.post("room", "still there")
        assert await arya.next() == "user: still there"


async def test_the_hub_says_goodbye(tmp_path: Any) -> None:
    async with opened(tmp_path) as world:
        connection = await connect(
            at(world, "/ws/conversations/room"),
            additional_headers={"Authorization": f"Bearer {world.tokens['owner']}"},
            proxy=None,
        )
    with pytest.raises(ConnectionClosed) as closed:
        await asyncio.wait_for(connection.recv(), PATIENCE)
    assert closed.value.rcvd is not None
    assert closed.value.rcvd.code == 1012
