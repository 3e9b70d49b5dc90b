"""A program elsewhere: the hub over HTTP, through lost answers, restarts and refusals."""

import asyncio
import ssl
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.client.connect import STATUS
from moot.client.transport import http, paging
from moot.client.transport.socket_transport import Voice
from moot.errors import (
    BadValue,
    HubAbsent,
    NotFound,
    NotPermitted,
    RateLimited,
    TimedOut,
    Unauthenticated,
)
from tests.support.elsewhere import Elsewhere, Wire
from tests.support.waiting import PATIENCE, until


@agent("arya")
async def arya(turn: Any) -> str:
    return f"heard {turn.text}".replace("@", "")


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """How long a client asks again is not tried here, and a hub on a busy machine may need longer."""
    monkeypatch.setattr(http, "RETRY_SECONDS", PATIENCE)


@pytest.fixture
def place(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


@pytest.fixture
async def wire(place: Elsewhere) -> AsyncIterator[Wire]:
    async with Wire(place.port).laid() as laid:
        yield laid


# --- finding the hub -------------------------------------------------------------------------------------


@pytest.mark.req("P-04")
async def test_a_hub_elsewhere_is_used_like_one_that_is_open_here(place: Elsewhere) -> None:
    async with place.up([arya]), Hub.connect(place.url, token=place.token) as hub:
        assert hub.name == "user"
        assert (await hub.ask("arya", "hello", timeout=40)).text == "heard hello"


async def test_the_token_comes_from_the_caller_or_the_environment(
    place: Elsewhere, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with place.up():
        with pytest.raises(Unauthenticated, match="no token to connect with"):
            async with Hub.connect(place.url):
                pass
        monkeypatch.setenv("MOOT_TOKEN", place.token)
        async with Hub.connect(place.url) as hub:
            assert hub.name == "user"
        with pytest.raises(Unauthenticated, match="no valid token"):
            async with Hub.connect(place.url, token="moot_ow_wrong"):
                pass


@pytest.mark.req("P-06")
@pytest.mark.parametrize(
    ("url", "nearby", "checks"),
    [
        ("http://127.0.0.1:8420", True, False),
        ("https://127.0.0.1:8420", True, True),
        ("http://hub", False, True),
    ],
)
async def test_certificates_are_read_wherever_one_could_be_shown(
    url: str, nearby: bool, checks: bool
) -> None:
    """Also for a plain address that is elsewhere: the way there may lead through a proxy."""
    transport = http.HttpTransport(url, "t", nearby=nearby)
    pool: Any = transport._client._transport
    assert (pool._pool._ssl_context.verify_mode == ssl.CERT_REQUIRED) is checks
    await transport.close()


@pytest.mark.parametrize("url", ["127.0.0.1:8420", "ftp://127.0.0.1", "http://", "http://me:pw@127.0.0.1"])
async def test_what_is_no_address_is_refused(url: str) -> None:
    with pytest.raises(BadValue, match="not the address of a hub"):
        async with Hub.connect(url, token="t"):
            pass


@pytest.mark.req("P-06")
async def test_a_token_does_not_travel_in_the_open() -> None:
    with pytest.raises(BadValue, match="unencrypted"):
        async with Hub.connect("http://moot.example.org", token="t"):
            pass


async def test_where_no_hub_answers_that_is_said(place: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "RETRY_SECONDS", 0.2)
    with pytest.raises(HubAbsent, match="no hub at"):
        async with Hub.connect(place.url, token="t"):
            pass


async def test_something_else_that_answers_is_no_hub(place: Elsewhere) -> None:
    async def page(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 6\r\n\r\n<html>")
        writer.close()

    server = await asyncio.start_server(page, "127.0.0.1", place.port)
    async with server:
        with pytest.raises(HubAbsent, match="is not a Moot hub"):
            async with Hub.connect(place.url, token="t"):
                pass


# --- lost and repeated -----------------------------------------------------------------------------------


async def test_an_answer_that_is_lost_is_asked_for_again_and_nothing_is_stored_twice(
    place: Elsewhere, wire: Wire
) -> None:
    async with place.up([arya]) as here, Hub.connect(wire.url, token=place.token) as hub:
        await hub.conversations.create("room", participants=["arya"])
        wire.answers_to_lose = 1
        receipt = await hub.post("room", "once")
        assert receipt.replayed
        wire.answers_to_lose = 1
        told = await hub.broadcast("to all")
        assert told["delivered_to"] == ["arya"]
        wire.answers_to_lose = 1
        answer = await hub.ask("arya", "a question", timeout=40)
        assert answer.text == "heard a question"
        assert [m.text for m in await here.messages("room")].count("once") == 1
        pair = [m.text for m in await here.messages(answer.conversation) if m.sender == "user"]
        assert pair == ["to all", "a question"]


async def test_what_could_happen_twice_is_not_repeated(place: Elsewhere, wire: Wire) -> None:
    async with place.up() as here, Hub.connect(wire.url, token=place.token) as hub:
        wire.answers_to_lose = 1
        with pytest.raises(HubAbsent):
            await hub.conversations.create("room")
        assert [one.name for one in await here.conversations.list()] == ["room"]
        assert sum(b"POST" in line for line in wire.requests) == 1


async def test_a_hub_that_is_just_starting_is_waited_for(place: Elsewhere) -> None:
    async with place.up(), Hub.connect(place.url, token=place.token) as hub:
        assert hub.name == "user"
    asking = asyncio.ensure_future(_asked(place))
    async with place.up():
        assert await asyncio.wait_for(asking, PATIENCE) == "user"


async def _asked(place: Elsewhere) -> str:
    async with Hub.connect(place.url, token=place.token) as hub:
        return hub.name


async def test_who_asks_too_often_waits_and_goes_on(tmp_path: Path) -> None:
    place = Elsewhere(tmp_path, "requests_per_second = 20.0")
    async with place.up() as here:
        await here.agents.create("x", external=True)
        token = (await here.agents.issue_token("x")).token
        async with Hub.connect(place.url, token=token) as hub:
            found = [await hub.agents.get("x") for _ in range(120)]
    assert {agent.name for agent in found} == {"x"}


@pytest.mark.req("J-04")
async def test_what_the_hubs_own_limits_refuse_is_told_at_once(tmp_path: Path) -> None:
    place = Elsewhere(tmp_path, "pair_per_minute = 1")
    async with place.up() as here:
        for name in ("x", "y"):
            await here.agents.create(name, external=True)
        token = (await here.agents.issue_token("x")).token
        async with Wire(place.port).laid() as wire, Hub.connect(wire.url, token=token) as hub:
            await hub.send("y", "one")
            with pytest.raises(RateLimited) as refused:
                await hub.send("y", "two")
            assert refused.value.retry_after_ms
            assert sum(b"POST" in line for line in wire.requests) == 2, "it is not asked again"


async def test_a_long_wait_goes_on_in_pieces(place: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PIECE_SECONDS", 0.05)
    async with place.up() as here, Hub.connect(place.url, token=place.token) as hub:
        await hub.agents.create("x", external=True)
        asking = asyncio.ensure_future(hub.ask("x", "well?", timeout=40))
        x = here.acting_as("x")
        [asked] = (await until(x.mailbox.check, lambda found: bool(found.messages))).messages
        await x.mailbox.reply(asked.id, "well")
        assert (await asyncio.wait_for(asking, PATIENCE)).text == "well"
        assert len(await hub.messages(asked.conversation)) == 2
        with pytest.raises(TimedOut, match=r"x did not answer within 0.2 s"):
            await hub.ask("x", "and?", timeout=0.2)


# --- who may ---------------------------------------------------------------------------------------------


@pytest.mark.req("P-06")
async def test_a_participants_token_opens_what_is_its_own(place: Elsewhere) -> None:
    async with place.up([arya]) as here:
        await here.agents.create("x", external=True)
        await here.conversations.create("secret", participants=["arya"])
        token = (await here.agents.issue_token("x")).token
        async with Hub.connect(place.url, token=token) as hub:
            assert hub.name == "x"
            assert (await hub.send("arya", "hello")).sender == "x"
            with pytest.raises(NotFound):
                await hub.messages("secret")
            with pytest.raises(NotPermitted):
                await hub.acting_as("arya").send("x", "as somebody else")
            with pytest.raises(NotPermitted):
                await hub.agents.pause("arya")


async def test_settings_of_a_hub_elsewhere_are_not_read_from_here(place: Elsewhere) -> None:
    async with place.up(), Hub.connect(place.url, token=place.token) as hub:
        with pytest.raises(NotPermitted):
            _ = hub.settings
        with pytest.raises(BadValue, match="of no use on another machine"):
            await hub.agents.where("user")


# --- events ----------------------------------------------------------------------------------------------


class Ear:
    """Keeps what a stream tells."""

    def __init__(self, hub: Any, **filters: Any) -> None:
        self.texts: list[str] = []
        self._task = asyncio.ensure_future(self._follow(hub, filters))

    async def _follow(self, hub: Any, filters: dict[str, Any]) -> None:
        async for event in hub.events(types=("message.posted",), **filters):
            self.texts.append(event.body["text"])

    async def heard(self, *texts: str) -> None:
        async def look() -> list[str]:
            if self._task.done():
                self._task.result()
            return self.texts

        await until(look, lambda found: found == list(texts))

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.wait([self._task])


@pytest.mark.req("S-13")
@pytest.mark.parametrize("begun", [True, False], ids=["from an event on", "from now on"])
async def test_a_stream_goes_on_over_a_restart_without_gap_or_repeat(place: Elsewhere, begun: bool) -> None:
    here = await place.start()
    await here.conversations.create("room")
    async with Hub.connect(place.url, token=place.token) as hub:
        ear = Ear(hub, conversation="room", after=hub.position if begun else None)
        if not begun:
            await until(lambda: _streams(hub), lambda count: count == 1)
        await place.stop()
        async with Hub.open(place.home) as alone:  # nobody listens, and something is said
            await alone.post("room", "while it was away")
        here = await place.start()
        await here.post("room", "after")
        await ear.heard("while it was away", "after")
        await here.post("room", "later")
        await ear.heard("while it was away", "after", "later")
        await ear.close()
    await place.stop()


async def _streams(hub: Any) -> int:
    return int((await hub._transport.ask(STATUS, dict[str, Any], Voice()))["streams"])


async def test_a_stream_whose_connection_breaks_again_and_again_misses_nothing(
    place: Elsewhere, wire: Wire
) -> None:
    async with place.up() as here, Hub.connect(wire.url, token=place.token) as hub:
        await here.conversations.create("room")
        ear = Ear(hub, after=hub.position)
        for n in range(30):
            await here.post("room", str(n))
            if n % 5 == 0:
                await until(_told(ear), lambda heard: len(heard) > 0)
                wire.cut()
        await ear.heard(*(str(n) for n in range(30)))
        await ear.close()


def _told(ear: Ear) -> Any:
    async def look() -> list[str]:
        return ear.texts

    return look


async def test_a_stream_from_before_what_is_kept_is_reset(place: Elsewhere) -> None:
    async with place.up() as here, Hub.connect(place.url, token=place.token) as hub:
        await here.conversations.create("room")
        async for event in hub.events(after=hub.position + 10**15):
            assert (event.type, event.id) == ("reset", None)
            break


async def test_a_stream_that_finds_no_hub_says_so(place: Elsewhere, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http, "PATIENCE_SECONDS", 0.3)
    await place.start()
    async with Hub.connect(place.url, token=place.token) as hub:
        ear = Ear(hub, after=hub.position)
        await until(lambda: _streams(hub), lambda count: count == 1)
        await place.stop()
        with pytest.raises(HubAbsent):
            await ear.heard("never")


@pytest.mark.req("P-06")
async def test_a_stream_ends_with_its_token(place: Elsewhere) -> None:
    async with place.up() as here:
        await here.agents.create("x", external=True)
        issued = await here.agents.issue_token("x")
        async with Hub.connect(place.url, token=issued.token) as hub:
            ear = Ear(hub, after=hub.position)
            await until(lambda: _streams(hub), lambda count: count == 1)
            await here.agents.revoke_token("x", issued.id)
            with pytest.raises(Unauthenticated):
                await ear.heard("never")
