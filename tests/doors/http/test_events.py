"""The event stream: nothing missed, nothing twice, nothing that is not the reader's."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest

from moot.doors.http.gate import auth
from moot.doors.http.streams import fanout as fans
from moot.doors.http.streams import sse
from moot.doors.http.streams.sse import Stream
from moot.rules.access import Principal, Standing
from tests.doors.http.world import TOML, World, opened
from tests.support.beneath import store_of
from tests.support.waiting import PATIENCE, until


class Reader:
    """Reads a stream event by event, as `(id, type, data)`."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self._lines = response.aiter_lines()

    async def next(self, seconds: float = PATIENCE) -> tuple[int, str, Any]:
        number, kind, data = 0, "", None
        async with asyncio.timeout(seconds):
            async for line in self._lines:
                if line.startswith("id: "):
                    number = int(line[4:])
                elif line.startswith("event: "):
                    kind = line[7:]
                elif line.startswith("data: "):
                    data = json.loads(line[6:])
                elif not line and kind == "cursor":
                    assert data == {"after": str(number)}
                    kind = ""
                elif not line and kind:
                    return number, kind, data
        raise EOFError

    async def live(self) -> None:
        async with asyncio.timeout(PATIENCE):
            async for line in self._lines:
                if line == ": following":
                    return

    async def ends(self, without: str = "\0") -> bool:
        """The stream is over, and did not say this before."""
        try:
            while without not in str(await self.next()):
                pass
        except EOFError:
            return True
        return False

    async def commented(self, times: int) -> None:
        async with asyncio.timeout(PATIENCE):
            for _ in range(times):
                while not (await anext(self._lines)).startswith(":"):
                    pass

    async def texts(self, count: int) -> list[str]:
        found: list[str] = []
        while len(found) < count:
            _, kind, data = await self.next()
            if kind == "message.posted":
                found.append(data["body"]["text"])
        return found

    async def until(self, is_last: Callable[[str, Any], bool]) -> list[tuple[str, Any]]:
        """Types and data of everything up to this one."""
        found: list[tuple[str, Any]] = []
        while not found or not is_last(*found[-1]):
            _, kind, data = await self.next()
            found.append((kind, data))
        return found


@asynccontextmanager
async def following(
    world: World, who: str = "owner", query: str = "", **headers: str
) -> AsyncIterator[Reader]:
    sent = {name.replace("_", "-"): value for name, value in headers.items()}
    sent["Authorization"] = f"Bearer {world.tokens[who]}"
    async with world.client.stream("GET", f"/api/events{query}", headers=sent) as response:
        assert response.status_code == 200, await response.aread()
        assert response.headers["content-type"] == "text/event-stream"
        reader = Reader(response)
        if "after" not in query and not headers:
            await reader.live()
        yield reader


async def _streams(world: World) -> int:
    return int((await world.get("/api/status")).json()["streams"])


async def say(world: World, *texts: str, where: str = "room") -> None:
    for text in texts:
        await world.hub.post(where, text)


@pytest.mark.req("S-13")
async def test_what_happens_is_told_as_it_happens(world: World) -> None:
    async with following(world, query="?conversation=room&types=message.posted,turn.finished") as reader:
        await say(world, "hello @arya")
        seen = [await reader.next() for _ in range(3)]
    assert [kind for _, kind, _ in seen] == ["message.posted", "message.posted", "turn.finished"]
    number, _, told = seen[0]
    assert (told["id"], told["body"]["text"], told["by"]) == (str(number), "hello @arya", "user")
    assert set(told) == {"id", "type", "at", "conversation", "by", "body"}


@pytest.mark.req("S-13", "J-01")
async def test_what_is_told_of_an_agent_is_the_agent(world: World) -> None:
    async with following(world, query="?types=agent.status,agent.renamed") as reader:
        await world.hub.agents.pause("arya")
        await world.hub.agents.rename("arya", "stark")
        _, _, paused = await reader.next()
        _, _, renamed = await reader.next()
    assert (paused["body"]["id"], paused["body"]["paused"], paused["body"]["role"]) == (
        "arya",
        True,
        "engineer",
    )
    assert (renamed["body"]["name"], renamed["body"]["previous_name"]) == ("stark", "arya")


@pytest.mark.req("S-13")
async def test_links_tasks_and_decisions_are_told_in_the_shapes_they_have_everywhere(world: World) -> None:
    types = "link.created,task.created,task.ended,decision.created,decision.answered"
    await world.hub.agents.create("eve", external=True)
    await world.hub.agents.rename("eve", "evelyn")  # names are told, not ids
    async with following(world, query=f"?types={types}") as reader:
        link = await world.hub.links.create("bob", "evelyn", relationship="superior")
        task = await world.hub.acting_as("bob").delegate("evelyn", "count them")
        ended = await world.hub.tasks.update(task.id, "cancelled")
        asking = asyncio.ensure_future(world.hub.acting_as("bob").ask("user", "may I?", choices=["yes"]))
        told = {}
        for _ in range(4):
            _, kind, event = await reader.next()
            told[kind] = event["body"]
        [asked] = await world.hub.decisions.list()
        answered = await world.hub.decisions.answer(asked.id, "yes")
        await asking
        _, kind, event = await reader.next()
        told[kind] = event["body"]
    now = json.loads(json.dumps((await world.hub.links.get(link.id)).to_dict()))
    assert told["link.created"] == now
    assert told["link.created"]["sentence"] == "bob is superior of evelyn. Both may start."
    for kind, shape in (
        ("task.created", task),
        ("task.ended", ended),
        ("decision.created", asked),
        ("decision.answered", answered),
    ):
        assert told[kind] == json.loads(json.dumps(shape.to_dict())), kind


@pytest.mark.req("S-13")
@pytest.mark.parametrize("header", [True, False])
async def test_resuming_misses_nothing_and_repeats_nothing(world: World, header: bool) -> None:
    expected = [f"text {n}" for n in range(60)]
    heard: list[str] = []
    cursor = world.hub.position
    saying = asyncio.create_task(say(world, *expected))
    while len(heard) < len(expected):
        how: dict[str, Any] = {"Last_Event_ID": str(cursor)} if header else {"query": f"?after={cursor}"}
        async with following(world, **how) as reader:
            for _ in range(7):
                if len(heard) == len(expected):
                    break
                number, kind, told = await reader.next()
                if kind == "agent.activity":
                    continue  # told live, and from no place in the log
                assert number > cursor
                cursor = number
                if kind == "message.posted" and told["by"] == "user":
                    heard.append(told["body"]["text"])
    await saying
    assert heard == expected


@pytest.mark.req("S-13")
async def test_nobody_is_handed_an_event_that_the_hub_does_not_know_of_yet(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Who came back with it at once would be taken for one from the future, reset, and told it again."""
    log, before = world.hub._core.parts.log, world.hub.position
    monkeypatch.setattr(log, "committed", lambda events: None)
    await say(world, "hello")
    assert world.hub.position == before, "it is in the store, and nobody was told"
    past = await world.hub.history.past(before)
    assert past.events
    assert world.hub.position >= past.reached


def is_listener(kind: str, told: Any) -> bool:
    """The last that happens: quiet has another role now."""
    return kind == "agent.status" and told["body"].get("role") == "listener"


@pytest.mark.req("P-06")
async def test_each_reader_hears_what_it_may(world: World) -> None:
    await world.hub.conversations.create("secret", participants=["arya"])
    async with (
        following(world, "karl") as karl,
        following(world, "arya") as arya,
        following(world, "bob") as bob,
    ):
        await say(world, "for the secret ones", where="secret")
        await say(world, "for the room")
        assert await arya.texts(2) == ["for the secret ones", "for the room"]
        assert await karl.texts(1) == ["for the room"]
        await world.hub.agents.change("quiet", role="listener")
        heard = await bob.until(is_listener)
        assert {kind for kind, _ in heard} <= {"agent.status", "agent.activity"}
        assert {told["conversation"] for _, told in heard} == {None}


@pytest.mark.req("P-06")
async def test_resuming_gives_nothing_that_reading_would_not(world: World) -> None:
    await say(world, "before bob came")
    await world.hub.agents.change("quiet", role="listener")
    async with following(world, "bob", "?after=0") as bob:
        for kind, told in await bob.until(is_listener):
            assert kind.startswith("agent."), told
    async with following(world, "arya", "?after=0") as arya:
        assert await arya.texts(1) == ["before bob came"]


async def test_somebody_taken_out_hears_no_more(world: World) -> None:
    async with following(world, "karl", "?conversation=room") as karl, following(world, "karl") as all_of_it:
        await say(world, "while he is in")
        assert await karl.texts(1) == ["while he is in"]
        await world.hub.conversations.leave("room", "karl")
        await say(world, "after he left")
        assert await karl.ends(without="after he left")
        assert await all_of_it.texts(1) == ["while he is in"]
        await world.hub.agents.change("quiet", role="listener")
        assert "after he left" not in str(await all_of_it.until(is_listener))


@pytest.mark.req("P-06")
async def test_a_revoked_token_ends_its_streams(world: World) -> None:
    issued = await world.hub.agents.issue_token("arya")
    world.tokens["soon"] = issued.token
    async with following(world, "soon") as reader:
        await world.hub.agents.revoke_token("arya", issued.id)
        assert await reader.ends()


async def test_a_stream_of_another_conversation_is_refused(world: World) -> None:
    answer = await world.ask("bob", "GET", "/api/events?conversation=room")
    assert (answer.status_code, answer.json()["code"]) == (404, "E201")
    assert (await world.get("/api/events?agent=nobody")).status_code == 404


@pytest.mark.req("S-13")
async def test_who_was_told_more_by_another_hub_goes_on_from_there(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    log, before = world.hub._core.parts.log, world.hub.position
    with monkeypatch.context() as unheard:
        unheard.setattr(log, "committed", lambda commit: None)
        await say(world, "told elsewhere")
    assert world.hub.position == before, "it is in the store, and nobody was told"
    cursor = await store_of(world.hub).last_event()
    async with following(world, query=f"?types=message.posted&after={cursor}") as reader:
        await say(world, "onwards")
        number, kind, told = await reader.next()
        assert (kind, number > cursor) == ("message.posted", True), "and was not reset"
        assert told["body"]["text"] == "onwards"


async def test_what_cannot_be_resumed_is_reset(world: World) -> None:
    last = world.hub.position
    async with following(world, query=f"?after={last + 1000}") as reader:
        assert await reader.next() == (0, "reset", {"after": str(last)})
        await say(world, "onwards")
        assert await reader.texts(1) == ["onwards"]


@pytest.mark.req("S-13")
async def test_a_cursor_below_what_is_kept_is_reset_once(world: World) -> None:
    await say(world, "long ago")
    await world.hub.settled(timeout=PATIENCE)
    await store_of(world.hub).forget_events(before=2**40)
    horizon = world.hub.position
    async with following(world, query="?after=1") as reader:
        assert await reader.next() == (0, "reset", {"after": str(horizon)})
        await say(world, "today")
        assert await reader.texts(1) == ["today"]


async def test_silence_is_filled_with_comments(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "HEARTBEAT_SECONDS", 0.05)
    async with following(world) as reader:
        await reader.commented(3)


@pytest.mark.req("S-13")
async def test_who_does_not_read_is_let_go_with_its_cursor(world: World) -> None:
    big = "x" * 100_000
    await world.hub.conversations.create("hall")
    cursor = world.hub.position
    async with following(world, query="?types=message.posted") as slow, following(world) as quick:
        for n in range(60):
            await say(world, f"{n} {big}", where="hall")
            while (await quick.next())[1] != "message.posted":
                pass
        heard: list[int] = []
        while True:
            number, kind, told = await slow.next()
            if kind == "lagged":
                break
            heard.append(int(told["body"]["text"].split()[0]))
            cursor = number
        assert told == {"after": str(cursor)}
        with pytest.raises(EOFError):
            await slow.next()
    assert heard == list(range(len(heard)))
    async with following(world, query=f"?types=message.posted&after={cursor}") as again:
        while len(heard) < 60:
            heard.append(int((await again.next())[2]["body"]["text"].split()[0]))
    assert heard == list(range(60))
    assert "moot_streams_lagged_total 1.0" in (await world.get("/metrics")).text


async def test_a_follower_is_bounded_in_events_and_in_bytes() -> None:
    frame = fans.Frame(1, "message.posted", None, None, b"x" * 100)
    follower = fans.StreamFollower(fans.Wants(Principal(Standing.OWNER)))
    assert all(follower.push(frame) for _ in range(fans.MAX_EVENTS))
    assert follower.push(fans.Frame(0, "turn.delta", None, None, b"x"))
    assert not follower.push(frame)
    assert (follower.ending, await follower.take(1)) == ("lagged", [])
    heavy = fans.StreamFollower(fans.Wants(Principal(Standing.OWNER)))
    assert not heavy.push(fans.Frame(1, "message.posted", None, None, b"x" * (fans.MAX_BYTES + 1)))


@pytest.mark.req("P-06")
async def test_one_participant_has_so_many_streams_and_no_more(tmp_path: Any) -> None:
    async with opened(tmp_path, f"{TOML}open_at_once = 1\n") as world:
        async with following(world, "arya"):
            refused = await world.ask("arya", "GET", "/api/events")
            assert (refused.status_code, refused.json()["code"]) == (429, "E302")
            async with following(world), following(world):
                pass
        await until(lambda: _streams(world), lambda count: count == 0)
        async with following(world, "arya"):
            pass


@pytest.mark.req("P-06")
async def test_who_asks_too_often_is_told_when_to_come_back(
    tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(auth, "monotonic", lambda: 1000.0)
    toml = "[hub]\nport = 0\n[limits]\nrequests_per_second = 1.0\n"
    async with opened(tmp_path, toml) as world:
        statuses = [(await world.ask("arya", "GET", "/api/limits")).status_code for _ in range(6)]
        assert statuses == [200] * 5 + [429]
        limited = await world.ask("arya", "GET", "/api/limits")
        assert (limited.json()["code"], limited.headers["retry-after"]) == ("E302", "1")
        assert (await world.ask("bob", "GET", "/api/limits")).status_code == 200
        assert {(await world.get("/api/limits")).status_code for _ in range(20)} == {200}


@pytest.mark.req("P-06")
async def test_a_token_revoked_while_its_stream_reads_the_past_hears_nothing_new(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    issued = await world.hub.agents.issue_token("arya")
    world.tokens["soon"] = issued.token
    catch_up = Stream._catch_up

    async def slowly(stream: Stream, send: Any) -> None:
        await catch_up(stream, send)
        await world.hub.agents.revoke_token("arya", issued.id)
        await catch_up(stream, send)

    monkeypatch.setattr(Stream, "_catch_up", slowly)
    sent = {"Authorization": f"Bearer {issued.token}"}
    async with asyncio.timeout(PATIENCE), world.client.stream("GET", "/api/events", headers=sent) as response:
        heard = "".join([piece async for piece in response.aiter_text()])
    assert "following" not in heard
