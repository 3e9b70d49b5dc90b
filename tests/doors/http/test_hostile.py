"""Whatever comes in, the answer is no worse than a refusal, and the server goes on: bodies, queries, paths and
headers of every route in the table, and what is hardly HTTP. The corpus is tests/support/hostile.py."""

import asyncio
import json
from collections.abc import Iterator
from itertools import count
from typing import Any
from urllib.parse import quote_from_bytes

import pytest

from moot.doors.http.api.route import Route
from moot.doors.http.api.routes import ROUTES
from moot.doors.http.wire import http1
from tests.doors.http.wire import Reply, Wire, read_reply
from tests.doors.http.world import World
from tests.support.hostile import TEXTS, documents
from tests.support.processes import NIGHTLY
from tests.support.waiting import PATIENCE

ENOUGH = 5000
DAILY = 4
AT_LEAST = 24
"""Of each route, however few there are."""
EVERY = 10
"""As many hostile requests for each good one beside them."""
GOOD: dict[str, Any] = {
    "name": "x",
    "text": "x",
    "message": "x",
    "participants": [],
    "force": [],
    "scopes": ["read"],
}
"""A value for each field that a body may have; the others are left out where they are not hostile."""
SLOW_FIELDS = {"timeout"}
"""Waiting is what these are for."""
LEAKS = (b"Traceback", b'File "', b".py", b"site-packages", b"sqlite", b"apsw")

Case = tuple[str, str, bytes, bytes | None, tuple[bytes, ...]]
"""What it is, method, target, body, headers."""
JSON = b"Content-Type: application/json"
MATCH = b"If-Match: 1"


def quoted(text: str) -> bytes:
    return quote_from_bytes(text.encode("utf-8", "surrogatepass"), safe="").encode()


def path(route: Route, id: bytes = b"room", name: bytes = b"quiet") -> bytes:
    return route.path.encode().replace(b"{id}", id).replace(b"{name}", name)


def usual(route: Route) -> bytes | None:
    """A body that is all right."""
    if route.method in ("GET", "DELETE"):
        return None
    fields = route.body.__struct_encode_fields__ if route.body is not None else ()
    return json.dumps({field: GOOD[field] for field in fields if field in GOOD}).encode()


MEDIA = (
    b"", b"Content-Type: text/plain", b"Content-Type: application/json; charset=utf-16", b"Content-Type: \xff",
    b"Content-Type: application/xml", b"Content-Type: multipart/form-data", b"Content-Encoding: gzip",
)  # fmt: skip


def of_bodies(route: Route) -> Iterator[Case]:
    if route.body is None:
        spoiled: Any = documents({})
    else:
        fields = route.body.__struct_encode_fields__
        spoiled = documents({field: GOOD.get(field, "x") for field in fields})
    for what, raw in spoiled:
        yield what, route.method, path(route), raw, (JSON, MATCH)
    for media in MEDIA:
        headers = (media, MATCH) if media else (MATCH,)
        yield f"media {media!r}", route.method, path(route), usual(route) or b"{}", headers


RAW_QUERIES = (
    b"?", b"?&&&", b"?=", b"?%", b"?%zz=1", b"?a=1&a=1", b"?\xff=\xfe", b"?x[]=1", b"?" + b"a=1&" * 2000,
    b"?limit=1&limit=2", b"?q=%00", b"?%00=1", b"?limit=1;drop", b"??", b"?#", b"?limit=%F0%9F%A6%80",
    b"?after=1e3", b"?archived=maybe",
)  # fmt: skip


def of_queries(route: Route) -> Iterator[Case]:
    body = usual(route)
    for raw in RAW_QUERIES:
        yield f"query {raw[:20]!r}", route.method, path(route) + raw, body, (JSON, MATCH)
    for field in route.query.__struct_encode_fields__:
        for text in TEXTS if field not in SLOW_FIELDS else ("", "x", "-1", "nan", "1e309"):
            target = path(route) + b"?" + field.encode() + b"=" + quoted(text)
            yield f"{field}={text[:20]!a}", route.method, target, body, (JSON, MATCH)


RAW_PARTS = (
    b"%", b"%zz", b"%ff%fe", b"%c0%af", b"%ed%a0%80", b"%2e%2e", b"%2f", b"%5c", b"%00", b"a%0d%0ab", b"%u0041",
    b"*", b"a;b", b"%F0%9F%A6%80", b"a" * 9000, b"~", b"room%20", b"room%00", b"ROOM", b"room/", b"-1", b"9" * 400,
    b"x:9" + b"9" * 300, b":1", b"room:-1", b"room:1.5", b"room:%D9%A3",
)  # fmt: skip


def of_paths(route: Route) -> Iterator[Case]:
    if "{" not in route.path:
        return
    body = usual(route)
    for part in (*RAW_PARTS, *map(quoted, filter(None, TEXTS))):
        safe = part if part not in (b".", b"..") else part.replace(b".", b"%2e")
        yield f"path {safe[:20]!r}", route.method, path(route, safe, safe), body, (JSON, MATCH)


TOKENS = (
    b"", b"Bearer", b"Bearer ", b"Bearer \xff", b"Bearer " + b"x" * 9000, b"Basic dXNlcjp4", b"bearer a b",
    b"Bearer null",
)  # fmt: skip
HEADERS = (
    b"Moot-Act-As: ", b"Moot-Act-As: nobody", b"Moot-Act-As: \xff\xfe", b"Moot-Act-As: " + b"x" * 9000,
    b"Moot-Act-As: system", b"If-Match: ", b"If-Match: W/", b'If-Match: "', b"If-Match: -1", b"If-Match: 1e3",
    b"If-Match: " + b"9" * 5000, b"If-Match: \xb2", b"Idempotency-Key: ", b"Idempotency-Key: \xff",
    b"Idempotency-Key: " + b"k" * 9000, b"Last-Event-ID: " + b"9" * 5000, b"Last-Event-ID: -1",
    b"Last-Event-ID: \xb2", b"Range: bytes=" + b"0-0," * 10_000, b"Range: bytes=-1", b"Accept: \xff",
    b"Accept-Encoding: " + b"gzip," * 5000, b"Cookie: " + b"a=b;" * 5000, b"X-Forwarded-For: 127.0.0.1",
    b"X-HTTP-Method-Override: DELETE", b"Expect: 200-ok", b"Upgrade: h2c", b"Connection: upgrade",
    b"Forwarded: for=evil", b"TE: trailers", b"X-A: " + b"x" * 30_000, b"Content-Length : 5", b"A" * 3000 + b": 1",
)  # fmt: skip


def of_headers(route: Route) -> Iterator[Case]:
    body = usual(route)
    for header in HEADERS:
        yield f"header {header[:30]!r}", route.method, path(route), body, (JSON, MATCH, header)
    yield "200 headers", route.method, path(route), body, tuple(b"X-%d: x" % n for n in range(190))
    for token in TOKENS:
        yield f"token {token[:20]!r}", route.method, path(route), body, (JSON, b"Authorization: " + token)


def cases(route: Route) -> list[Case]:
    """All of them at night; by day every fourth one, begun elsewhere for each route."""
    made = [*of_queries(route), *of_paths(route), *of_headers(route)]
    if route.method not in ("GET", "HEAD"):
        made += of_bodies(route)
    step = 1 if NIGHTLY else min(DAILY, max(1, len(made) // AT_LEAST))
    return made[sum(map(ord, route.key)) % step :: step]


def judge(case: Case, reply: Reply) -> None:
    what, method, target, _, _ = case
    about = (what, method, target[:100], reply.status, reply.body[:500])
    assert reply.status < 500, about
    assert reply.status != 200 or reply.headers["content-type"] != "text/html", about
    if reply.status >= 400:
        assert reply.headers.get("content-type") in ("application/problem+json", "application/json"), about
        assert isinstance(json.loads(reply.body), dict), about
        assert not any(leak in reply.body for leak in LEAKS), about


def test_the_corpus_is_as_large_as_promised_and_knows_every_route() -> None:
    tried = {route.key: len(cases(route)) for route in ROUTES if not route.streams}
    assert sum(tried.values()) >= ENOUGH
    assert min(tried.values()) > 20


@pytest.mark.req("P-06")
@pytest.mark.timeout(900)
async def test_hostile_input_is_refused_and_nothing_worse(world: World, wire: Wire) -> None:
    """Beside it good traffic goes on and is answered."""
    tried = count()
    async with asyncio.TaskGroup() as good:
        for route in ROUTES:
            if route.streams:
                continue
            await _restored(world)
            for case in cases(route):
                if next(tried) % EVERY == 0:
                    good.create_task(_good_request(world))
                _, method, target, body, headers = case
                alone = any(header.startswith(b"Authorization") for header in headers)
                host = [f"Host: 127.0.0.1:{world.at.port}".encode()] if alone else None
                judge(case, await wire.ask(method, target, body, headers, instead=host))
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


async def _good_request(world: World) -> None:
    async with asyncio.timeout(PATIENCE):
        assert (await world.get("/api/limits")).status_code == 200


async def _restored(world: World) -> None:
    """What the last route may have taken away, or renamed."""
    if "room" not in {one.name for one in await world.hub.conversations.list()}:
        await world.hub.conversations.create("room", participants=["karl", "arya"])
    quiet = await world.hub.agents.get("quiet")
    if quiet.activity["state"] == "removed":
        await world.hub.agents.create(quiet.name)
    await world.hub.agents.resume("quiet")


# --- hardly HTTP ---------------------------------------------------------------------------------------------

CHUNKED = b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked\r\n\r\n"
RAW = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.0\r\n\r\n",
    b"GET /healthz\r\n\r\n",
    b"GET /healthz HTTP/9.9\r\n\r\n",
    b"nonsense\r\n\r\n",
    b"\r\n" * 5000,
    b"\0" * 5000,
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"GET /healthz HTTP/1.1\nHost: a\n\n",
    b"GET /healthz HTTP/1.1\r\n Folded: x\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nNo colon\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\0\r\n\r\n",
    b"GET /\xff\xfe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /healthz\0 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 0x5\r\n\r\nhello",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nTransfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n",
    CHUNKED + b"zz\r\n",
    CHUNKED + b"-1\r\n",
    CHUNKED + b"ffffffffffffffffffff\r\n",
    CHUNKED + b"5;" + b"x" * 100_000 + b"\r\nhello\r\n0\r\n\r\n",
    CHUNKED + b"1\r\n{\r\n" * 2000 + b"0\r\n\r\n",
    CHUNKED + b"0\r\n" + b"T: x\r\n" * 5000 + b"\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n" + b"".join(b"X-%d: y\r\n" % n for n in range(20_000)) + b"\r\n",
    b"GET / HTTP/1.1\r\n" + b"X" * 2_000_000,
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"CONNECT evil:80 HTTP/1.1\r\nHost: evil:80\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"TRACE / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"BREW /pot HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET http://evil/ HTTP/1.1\r\nHost: evil\r\n\r\n",
    b"GET //evil/%2e%2e HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n",
    b"GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n" * 500,
]  # fmt: skip


async def test_what_is_hardly_http_does_no_harm(world: World) -> None:
    """All of it at once, each on a connection of its own."""
    answers = await asyncio.gather(*(_answer_to(world, sent) for sent in RAW))
    good = (b"HTTP/1.1 2", b"HTTP/1.1 5", b"HTTP/1.0 2")
    assert [
        (sent[:60], answer) for sent, answer in zip(RAW, answers, strict=True) if answer.startswith(good)
    ] == []
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


async def _answer_to(world: World, sent: bytes) -> bytes:
    """The beginning of what is answered; nothing where it is cut off, or more is waited for, here for two seconds."""
    reader, writer = await asyncio.open_connection("127.0.0.1", world.at.port)
    writer.write(sent)
    try:
        async with asyncio.timeout(2):
            return await reader.read(200)
    except (TimeoutError, ConnectionError):
        return b""
    finally:
        writer.close()


def begun(world: World, length: bytes) -> bytes:
    """The head of a post whose body is still to come."""
    host = f"Host: 127.0.0.1:{world.at.port}\r\nAuthorization: Bearer {world.tokens['owner']}".encode()
    return b"\r\n".join((b"POST /api/agents HTTP/1.1", host, JSON, length, b"", b""))


async def test_sixteen_megabytes_are_refused_without_being_read(world: World, wire: Wire) -> None:
    told = await wire.send(begun(world, b"Content-Length: 16777216"))
    assert told.status == 413
    piece = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    told = await wire.send(begun(world, b"Transfer-Encoding: chunked") + piece * 2)
    assert told.status == 413
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


LATE = 408


# --- slow, large and unfinished ------------------------------------------------------------------------------


@pytest.mark.req("P-06")
@pytest.mark.parametrize(
    ("sent", "status"),
    [
        (b"", LATE),
        (b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n", LATE),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 20_000, 431),
        (b"GET / HTTP/1.1\r\n" + b"X: y\r\n" * 300 + b"\r\n", 431),
        (b"GET / HTTP/1.1\r\nX: " + b"y" * 70_000 + b"\r\n\r\n", 431),
    ],
    ids=["nothing", "half a head", "endless head", "many headers", "a long header"],
)
async def test_a_head_must_come_soon_and_be_small(
    world: World, monkeypatch: pytest.MonkeyPatch, sent: bytes, status: int
) -> None:
    """Also the second one on a connection."""
    if not sent:
        monkeypatch.setattr(http1, "HEAD_SECONDS", 0.3)
    reader, writer = await asyncio.open_connection("127.0.0.1", world.at.port)
    async with asyncio.timeout(PATIENCE):
        if sent:
            writer.write(b"GET /healthz HTTP/1.1\r\nHost: evil\r\n\r\n")
            assert (await read_reply(reader)).status == 421
        if status == LATE:
            monkeypatch.setattr(http1, "HEAD_SECONDS", 0.3)
        writer.write(sent)
        told = await read_reply(reader)
        assert (told.status, told.headers["content-type"]) == (status, "application/problem+json")
        assert await reader.read() == b""
    writer.close()


@pytest.mark.req("P-06")
async def test_a_body_must_come_soon(world: World, wire: Wire, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "BODY_SECONDS", 0.3)
    told = await wire.send(begun(world, b"Content-Length: 20") + b"{")
    assert told.status == 408


@pytest.mark.req("P-06")
async def test_fifty_that_dawdle_keep_nobody_waiting(world: World) -> None:
    dawdling = [await asyncio.open_connection("127.0.0.1", world.at.port) for _ in range(50)]
    for n, (_, writer) in enumerate(dawdling):
        writer.write(b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1:"[: n + 1])
    async with asyncio.timeout(PATIENCE):
        for _ in range(50):
            assert (await world.get("/api/agents")).status_code == 200
            for _, writer in dawdling[:10]:
                writer.write(b"x")
    for _, writer in dawdling:
        writer.close()


async def test_who_leaves_in_the_middle_leaves_no_error_behind(world: World) -> None:
    for _ in range(5):
        _, writer = await asyncio.open_connection("127.0.0.1", world.at.port)
        writer.write(begun(world, b"Content-Length: 20") + b"{")
        await writer.drain()
        writer.close()
        await writer.wait_closed()
    numbers = (await world.get("/metrics")).text
    assert 'status="500"' not in numbers
