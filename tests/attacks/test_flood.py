"""Floods without a token, from every transport: whoever is inside goes on, and whoever comes anew gets in.

How much those inside notice is measured by `make bench W=FLOOD`; here it is counted what strangers get done.
"""

import asyncio
import resource
import time
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from moot.doors.http.wire import frames, unauthenticated
from moot.doors.http.wire.admission import raise_descriptor_limit
from moot.doors.http.wire.http1 import REQUEST_SECONDS, BoundedProtocol
from moot.doors.http.wire.intake import STRANGERS_PIECE, Intake
from moot.doors.http.wire.unauthenticated import Strangers
from tests.doors.http.test_ws_hostile import CONT, PING, PONG, TEXT, Raw, frame
from tests.doors.http.world import World, opened
from tests.support.waiting import PATIENCE, until


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(tmp_path) as found:
        assert (await posted(found)) == 201, "a member is inside before the flood"
        yield found


async def posted(world: World) -> int:
    answer = await world.ask("karl", "POST", "/api/conversations/room/messages", {"text": "good morning"})
    return answer.status_code


async def connected(world: World) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    return await asyncio.open_connection("127.0.0.1", world.at.port)


def request(world: World, more: str = "", path: str = "/api/status") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{world.at.port}\r\n{more}\r\n".encode()


@pytest.mark.parametrize("path", ["/api/status", "/mcp/", "/nowhere"])
async def test_a_stranger_that_asks_thousands_of_times_at_once_is_answered_a_little_at_a_time(
    world: World, path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[None] = []
    complete = BoundedProtocol.on_headers_complete

    def counted(protocol: BoundedProtocol) -> None:
        read.append(None)
        complete(protocol)

    monkeypatch.setattr(BoundedProtocol, "on_headers_complete", counted)
    begun = time.perf_counter()
    _, writer = await connected(world)
    writer.write(request(world, path=path) * 5000)
    async with asyncio.timeout(PATIENCE):
        assert [await posted(world) for _ in range(50)] == [201] * 50
    share = unauthenticated.BURST + unauthenticated.SHARE * (time.perf_counter() - begun)
    ahead = STRANGERS_PIECE / len(request(world, path=path))
    assert 50 < len(read) <= 50 + share / REQUEST_SECONDS + ahead + 1, (
        "no more than a stranger's share of the time"
    )
    writer.transport.abort()


async def test_what_a_member_pipelines_is_answered_whole_and_in_order(world: World) -> None:
    reader, writer = await connected(world)
    token = f"Authorization: Bearer {world.tokens['karl']}\r\n"
    paths = [f"/api/conversations?limit={1 + n % 5}" for n in range(300)]
    writer.write(b"".join(request(world, token, path) for path in paths))
    async with asyncio.timeout(PATIENCE):
        for _ in paths:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            assert head.startswith("http/1.1 200")
            await reader.readexactly(int(head.partition("content-length: ")[2].partition("\r\n")[0]))
    writer.close()


@pytest.mark.parametrize(
    "flood",
    [frame(PING) * 5000, frame(PONG) * 5000, frame(TEXT, fin=False) + frame(CONT, fin=False) * 5000],
    ids=["pings", "pongs", "empty-fragments"],
)
@pytest.mark.parametrize("token", [False, True], ids=["stranger", "member"])
async def test_frames_that_say_nothing_end_with_the_connection(
    world: World, flood: bytes, token: bool
) -> None:
    raw = await Raw.open(world, token=token)
    raw.writer.write(flood)
    assert await raw.closed() in {1008, 1006}
    assert await posted(world) == 201
    raw.close()


async def test_a_stranger_may_ping_before_it_shows_its_token(world: World) -> None:
    raw = await Raw.open(world, token=False)
    raw.writer.write(frame(PING) * (frames.MAX_UNKNOWN - 2) + frame(TEXT, world.tokens["karl"].encode()))
    await until(lambda: said_by(raw), lambda count: count >= frames.MAX_UNKNOWN - 2)
    raw.writer.write(frame(TEXT, b"here I am"))
    await until(lambda: newest(world), lambda text: "here I am" in text)
    raw.close()


async def said_by(raw: Raw) -> int:
    return bytes(raw.reader._buffer).count(b"\x8a\x00")  # type: ignore[attr-defined]


async def newest(world: World) -> str:
    return (await world.hub.newest("room", 1))[-1].text


async def test_of_too_many_idle_connections_the_oldest_go_and_newcomers_get_in(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unauthenticated, "MAX_STRANGERS", 20)
    monkeypatch.setattr(unauthenticated, "CHANCE_SECONDS", 0.0)
    crowd = [await connected(world) for _ in range(60)]

    async def left() -> int:
        return sum(not reader.at_eof() for reader, _ in crowd)

    await until(left, lambda count: count <= 20)
    assert [reader.at_eof() for reader, _ in crowd[:30]] == [True] * 30
    assert not crowd[-1][0].at_eof()
    assert await posted(world) == 201
    crowd[-1][1].write(request(world, f"Authorization: Bearer {world.tokens['karl']}\r\n"))
    assert (await asyncio.wait_for(crowd[-1][0].readline(), PATIENCE)).startswith(b"HTTP/1.1 200")
    for _, writer in crowd:
        writer.close()


# --- the parts -------------------------------------------------------------------------------------------


class Transport:
    def __init__(self, peer: str) -> None:
        self.peer = peer
        self.aborted = False

    def get_extra_info(self, name: str) -> Any:
        return (self.peer, 7)

    def abort(self) -> None:
        self.aborted = True

    def is_closing(self) -> bool:
        return self.aborted

    def pause_reading(self) -> None: ...


async def test_the_oldest_of_an_address_goes_first_and_of_all_after_that(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(unauthenticated, "MAX_OF_ONE", 2)
    monkeypatch.setattr(unauthenticated, "MAX_STRANGERS", 3)
    near, far = [[Transport(peer) for _ in range(3)] for peer in ("192.0.2.1", "192.0.2.2")]
    all_of_them = Strangers()
    for one in (*near, far[0]):
        all_of_them.add(one)  # type: ignore[arg-type]
    assert [one.aborted for one in (*near, far[0])] == [True, False, False, False]
    assert not all_of_them.has_room(), "the oldest has not had its chance"
    monkeypatch.setattr(unauthenticated, "CHANCE_SECONDS", 0.0)
    assert all_of_them.has_room()
    all_of_them.add(far[1])  # type: ignore[arg-type]
    assert [one.aborted for one in (*near, *far[:2])] == [True, True, False, False, False]


async def test_members_that_come_all_at_once_get_in_all(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unauthenticated, "MAX_STRANGERS", 20)
    token = f"Authorization: Bearer {world.tokens['karl']}\r\n"

    async def come() -> bytes:
        reader, writer = await connected(world)
        writer.write(request(world, token))
        first = await reader.readline()
        writer.close()
        return first

    async with asyncio.timeout(PATIENCE):
        found = await asyncio.gather(*(come() for _ in range(200)))
    assert set(found) == {b"HTTP/1.1 200 OK\r\n"}


async def test_what_a_member_cost_is_given_back_and_what_a_stranger_cost_is_not() -> None:
    some = Strangers()
    first, second = [some.add(Transport("here")) for _ in range(2)]  # type: ignore[arg-type]
    some.charge(first, 1.0)
    assert some.debt() > 0.9
    some.recognise(first)
    assert some.debt() == 0
    some.charge(second, 1.0)
    some.remove(second.transport)
    assert some.debt() > 0.9


async def test_what_the_machine_did_meanwhile_is_charged_to_nobody() -> None:
    """Otherwise one that was read while the machine was busy would keep all newcomers out for twenty times as long."""
    some = Strangers()
    stranger = some.add(Transport("here"))  # type: ignore[arg-type]

    def interrupted(part: bytes) -> None:
        time.sleep(0.1)  # as when another process has the core

    intake = Intake(
        some, stranger.transport, feed=interrupted, may_feed=lambda: True, resume=lambda: None, piece=512
    )
    intake.take(b"GET / HTTP/1.1")
    assert (stranger.cost > 0, some.debt()) == (True, 0.0)


async def test_who_has_spent_least_goes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    some = Strangers()
    order: list[str] = []
    some.charge(some.add(Transport("here")), unauthenticated.BURST + 0.001)  # type: ignore[arg-type]
    done = asyncio.Event()
    some.do(5.0, done.set)
    some.do(5.0, lambda: order.append("flooder"))
    some.do(0.0, lambda: order.append("newcomer"))
    await asyncio.wait_for(done.wait(), PATIENCE)
    await asyncio.sleep(0)
    assert order[0] == "newcomer"
    some.close()


@pytest.fixture
def limits() -> Iterator[tuple[int, int]]:
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    yield before
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_descriptors_are_as_many_as_may_be(limits: tuple[int, int]) -> None:
    resource.setrlimit(resource.RLIMIT_NOFILE, (256, limits[1]))
    raise_descriptor_limit()
    assert resource.getrlimit(resource.RLIMIT_NOFILE)[0] == min(limits[1], 65_536)
