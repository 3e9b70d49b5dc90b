"""Whatever comes in, the answer is no worse than a refusal, and the server goes on."""

import asyncio
import json
from typing import Any
from urllib.parse import quote

import pytest

from moot.doors.http.routes import ROUTES
from moot.doors.http.table import Route
from tests.doors.http.world import World
from tests.support.processes import NIGHTLY

DAILY = 2

TEXTS: list[str] = [
    "", " ", ".", "..", "../../etc/passwd", "%", "%00", "a\0b", "\n", "\r\nX: y", "'", '"', "' OR 1=1 --",
    "); DROP TABLE messages; --", "\u202eevil", "\ufeff", "e\u0301", "\U0001f980" * 50, "x" * 5000, "null",
    "-1", "0", "9" * 40, "1e309", "NaN", "²", "٣", "room", "system", "human", "all", "user:1", ":", "a:b:c",
    "{{7*7}}", "${HOME}", "<script>alert(1)</script>", "*", "[", "(", "NEAR(a b)", '"unclosed', "a* OR b^2", "ǆ",
]  # fmt: skip
VALUES: list[Any] = [
    None, True, 0, -1, 2**63, 10**40, 1.5, [], {}, [[]], ["x"] * 500, {"a": {"b": {}}}, *TEXTS,
]  # fmt: skip


def some(of: list[Any], seed: str) -> list[Any]:
    """All of them at night; by day a part, begun elsewhere for each route."""
    return of if NIGHTLY else of[sum(map(ord, seed)) % DAILY :: DAILY]


async def send(world: World, method: str, path: str, content: bytes | None = None, **more: str) -> int:
    headers = {"Authorization": f"Bearer {world.tokens['owner']}", "If-Match": "1", **more}
    if content is not None:
        headers["Content-Type"] = "application/json"
    answer = await world.client.request(method, path, content=content, headers=headers)
    assert answer.status_code < 500, (method, path, content, answer.text)
    if answer.status_code >= 400:
        assert answer.headers["content-type"] in ("application/problem+json", "application/json")
    return int(answer.status_code)


def bodies(route: Route) -> list[bytes]:
    if route.body is None:
        return [b"", b"{}", b"[]", b"nonsense", b"\xff"]
    fields = route.body.__struct_encode_fields__
    usual = {"name": "x", "text": "x", "message": "x"}
    good = {field: usual[field] for field in fields if field in usual}
    made = [json.dumps({**good, field: value}).encode() for field in fields for value in VALUES]
    nested = b'{"settings":' + b'{"a":' * 5000 + b"1" + b"}" * 5000 + b"}"
    return [
        *some(made, route.key),
        b"",
        b"null",
        b"[]",
        b"{",
        b'{"a":1,}',
        b"\xff\xfe",
        b'{"name":"\\ud800"}',
        nested,
    ]


@pytest.mark.req("P-06")
@pytest.mark.timeout(600)
async def test_hostile_input_is_refused_and_nothing_worse(world: World) -> None:
    sent = 0
    for route in ROUTES:
        if not route.streams:
            await _restored(world)
            sent += await _tried(world, route)
    assert sent > 1000
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200


async def _restored(world: World) -> None:
    """What the last route may have taken away."""
    if "room" not in {one.name for one in await world.hub.conversations.list()}:
        await world.hub.conversations.create("room", participants=["karl", "arya"])


async def _tried(world: World, route: Route) -> int:
    sent = 0
    path = route.path.format(id="room", name="quiet")
    for field in route.query.__struct_encode_fields__ if "settled" not in path else ():
        for text in some(TEXTS, route.key + field):
            await send(world, route.method, f"{path}?{field}={quote(text, safe='')}")
            sent += 1
    for text in some(TEXTS, route.key) if "{" in route.path else ():
        hostile = route.path.format(id=quote(text, safe=""), name=quote(text, safe=""))
        body = b"{}" if route.method in ("POST", "PUT", "PATCH") else None
        await send(world, route.method, hostile.replace("/..", "/%2e%2e"), body)
        sent += 1
    for content in bodies(route) if route.method != "GET" else ():
        await send(world, route.method, path, content)
        sent += 1
    return sent


RAW = [
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /healthz HTTP/1.0\r\n\r\n",
    b"nonsense\r\n\r\n",
    b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc",
    b"GET /healthz HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: -5\r\n\r\n",
    b"POST /api/agents HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: " + b"a" * 200_000 + b"\r\n\r\n",
    b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"CONNECT evil:80 HTTP/1.1\r\nHost: evil:80\r\n\r\n",
    b"GET http://evil/ HTTP/1.1\r\nHost: evil\r\n\r\n",
]


@pytest.mark.parametrize("sent", RAW, ids=range(len(RAW)))
async def test_what_is_hardly_http_does_no_harm(world: World, sent: bytes) -> None:
    reader, writer = await asyncio.open_connection("127.0.0.1", world.at.port)
    writer.write(sent)
    try:
        async with asyncio.timeout(0.5):
            answer = await reader.read(200)
    except (TimeoutError, ConnectionError):
        answer = b""
    writer.close()
    assert not answer.startswith((b"HTTP/1.1 2", b"HTTP/1.1 5", b"HTTP/1.0 2")), answer
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200
