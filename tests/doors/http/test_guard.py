"""Requests that are not meant for us, or that a foreign page sends, get nowhere."""

import asyncio
import base64
import socket
from typing import Any

import pytest

from moot.doors.http.gate.origin import hosts, refusal_for
from moot.doors.http.listener import check_place, is_loopback, listening_socket
from moot.doors.http.wire.http1 import BoundedProtocol
from moot.errors import BadValue, PortTaken
from moot.settings import HubSettings
from tests.doors.http.wire import Wire
from tests.doors.http.world import World
from tests.support.waiting import PATIENCE

PORT = 8420
ALLOWED = hosts(["hub.example"], PORT)

GOOD_HOSTS = ["127.0.0.1:8420", "localhost:8420", "LOCALHOST:8420", "[::1]:8420", "hub.example:8420"]
BAD_HOSTS = [
    "", "127.0.0.1", "localhost", "[::1]", "hub.example", "127.0.0.1:8421", "127.0.0.1:80", "localhost.:8420",
    "127.0.0.1.:8420", "localhost.evil:8420", "127.0.0.1.evil:8420", "evil.localhost:8420", "evil:8420",
    "127.0.0.1:8420.evil", "127.0.0.1:8420@evil", "evil@127.0.0.1:8420", "127.1:8420", "0.0.0.0:8420",
    "2130706433:8420", "0x7f000001:8420", "017700000001:8420", "[::ffff:127.0.0.1]:8420", "::1:8420",
    "[0:0:0:0:0:0:0:1]:8420", "127.0.0.2:8420", " 127.0.0.1:8420", "127.0.0.1:8420 ", "127.0.0.1: 8420",
    "127.0.0.1:08420", "127.0.0.1:8420/", "http://127.0.0.1:8420", "null", "*", "127.0.0.1:8420,evil:8420",
    "localhost\u202e:8420", "127.0.0.1:", ":8420", "sub.hub.example:8420", "hub.example.evil:8420",
]  # fmt: skip
GOOD_ORIGINS = [
    None,
    "http://127.0.0.1:8420",
    "http://localhost:8420",
    "http://[::1]:8420",
    "HTTP://LOCALHOST:8420",
]
BAD_ORIGINS = [
    "", "null", "https://127.0.0.1:8420", "http://127.0.0.1", "http://localhost", "http://evil:8420",
    "http://127.0.0.1.evil:8420", "http://localhost.evil:8420", "http://localhost:8420.evil", "file://",
    "http://evil@localhost:8420", "http://localhost:8421", "http://localhost:8420/", "localhost:8420",
    "http://localhost.:8420", "chrome-extension://abc", "http://127.0.0.1:8420, http://evil",
]  # fmt: skip


def judge(*pairs: tuple[str, str]) -> int:
    headers = [(name.encode(), value.encode("utf-8")) for name, value in pairs]
    answer = refusal_for(headers, ALLOWED)
    return 200 if answer is None else answer.status


@pytest.mark.req("P-06")
def test_hosts_and_origins_are_exactly_ours() -> None:
    assert len(BAD_HOSTS) + len(BAD_ORIGINS) >= 40
    assert [host for host in GOOD_HOSTS if judge(("host", host)) != 200] == []
    assert [host for host in BAD_HOSTS if judge(("host", host)) != 421] == []
    for origin in GOOD_ORIGINS:
        extra = [("origin", origin)] if origin is not None else []
        assert judge(("host", GOOD_HOSTS[0]), *extra) == 200, origin
    wrong = [origin for origin in BAD_ORIGINS if judge(("host", GOOD_HOSTS[0]), ("origin", origin)) != 403]
    assert wrong == []


def test_a_header_given_twice_is_not_ours() -> None:
    good = ("host", GOOD_HOSTS[0])
    assert judge() == 421
    assert judge(good, good) == 421
    assert judge(good, ("origin", "http://localhost:8420"), ("origin", "http://evil")) == 403


def test_the_port_goes_without_saying_only_where_it_does() -> None:
    assert "localhost" in hosts([], 80)
    assert "localhost" in hosts([], 443, "https")
    assert "localhost" not in hosts([], 443)


@pytest.mark.req("P-06")
async def test_the_guard_stands_in_front_of_everything(world: World) -> None:
    token = {"Authorization": f"Bearer {world.tokens['owner']}"}
    for path in ("/healthz", "/api/agents", "/api/events", "/metrics", "/nowhere"):
        foreign = await world.client.get(path, headers={**token, "Host": "evil.example"})
        assert (foreign.status_code, foreign.headers["content-type"]) == (421, "application/problem+json")
        page = await world.client.get(path, headers={**token, "Origin": "http://evil.example"})
        assert page.status_code == 403
        assert "access-control-allow-origin" not in page.headers
    own = await world.client.get("/api/agents", headers={**token, "Origin": world.at.url})
    assert own.status_code == 200


@pytest.mark.req("P-06", "K-11")
async def test_sockets_are_opened_under_our_own_names_only(world: World) -> None:
    """Every form of Host and Origin, over the wire; the token is a good one each time."""
    port = world.at.port
    key = base64.b64encode(bytes(16)).decode()
    upgrade = f"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
    token = f"Authorization: Bearer {world.tokens['owner']}\r\n"
    ours = f"127.0.0.1:{port}"

    async def status(host: str, origin: str | None, path: str) -> int:
        extra = "" if origin is None else f"Origin: {origin}\r\n"
        asked = f"GET {path} HTTP/1.1\r\nHost: {host}\r\n{upgrade}{token}{extra}\r\n"
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(asked.encode())
        line = await asyncio.wait_for(reader.readline(), PATIENCE)
        writer.close()
        return int(line.split()[1])

    def here(form: str) -> str:
        return form.replace("8420", str(port)).replace("8421", str(port + 1))

    wrong: list[tuple[str, str | None, int]] = []
    for path in ("/ws/conversations/room", "/ws/agents/arya", "/ws/nowhere", "/api/agents"):
        good = 101 if path.count("/") == 3 else 404
        tried: list[tuple[str, str | None, int]] = [(here(form), None, good) for form in GOOD_HOSTS[:4]]
        tried += [(ours, origin and here(origin), good) for origin in GOOD_ORIGINS]
        tried += [(here(form), None, 421) for form in BAD_HOSTS if form.strip() == form and form]
        tried += [(ours, here(form), 403) for form in BAD_ORIGINS]
        for host, origin, expected in tried:
            found = await status(host, origin, path)
            if found != expected and not (found == 400 and expected in (403, 421)):
                wrong.append((host, origin, found))
    assert wrong == []


@pytest.mark.req("P-06")
@pytest.mark.parametrize("path", ["/healthz", "/api/agents", "/api/events"])
async def test_no_form_of_host_or_origin_gets_past_a_real_socket(world: World, wire: Wire, path: str) -> None:
    token = f"Authorization: Bearer {world.tokens['owner']}".encode()
    ours = f"Host: 127.0.0.1:{world.at.port}".encode()
    hosts = [
        host for host in BAD_HOSTS if host == host.strip()
    ]  # white space around a value is no part of it
    forms = [[b"Host: " + _here(world, host)] for host in hosts]
    forms += [[ours, b"Origin: " + _here(world, origin)] for origin in BAD_ORIGINS]
    assert len(forms) >= 40
    passed = []
    for form in forms:
        told = await wire.ask("GET", path.encode(), headers=(), instead=[*form, token])
        if told.status not in (400, 403, 421):
            passed.append((form, told.status))
    assert passed == []


def _here(world: World, form: str) -> bytes:
    return form.replace(str(PORT), str(world.at.port)).encode()


async def test_only_a_bearer_header_lets_in(world: World) -> None:
    token = world.tokens["owner"]
    for headers in (
        {"Authorization": token},
        {"Authorization": f"Basic {token}"},
        {"Authorization": "Bearer"},
        {"Authorization": f"Bearer {token}x"},
        {"Authorization": f"Bearer {token[:-1]}"},
        {"Cookie": f"token={token}"},
        {"X-Forwarded-For": "127.0.0.1"},
    ):
        answer = await world.client.get("/api/agents", headers=headers)
        assert (answer.status_code, answer.headers["www-authenticate"]) == (401, 'Bearer realm="moot"')
        assert "set-cookie" not in answer.headers
    assert (await world.client.get(f"/api/agents?token={token}")).status_code == 401
    assert (
        await world.client.get("/api/agents", headers={"Authorization": f"bearer {token}"})
    ).status_code == 200


@pytest.mark.req("P-06")
@pytest.mark.parametrize(
    ("host", "more", "openly", "refused"),
    [
        ("127.0.0.1", {}, False, False),
        ("127.0.0.2", {}, False, False),
        ("::1", {}, False, False),
        ("localhost", {}, False, False),
        ("0.0.0.0", {}, False, True),
        ("::", {}, False, True),
        ("192.168.1.5", {}, False, True),
        ("hub.example", {}, False, True),
        ("localhost.evil", {}, False, True),
        ("0.0.0.0", {}, True, False),
        ("0.0.0.0", {"certificate": "c.pem", "key": "k.pem"}, False, False),
    ],
)
def test_it_listens_elsewhere_only_with_tls_or_on_an_explicit_word(
    host: str, more: dict[str, Any], openly: bool, refused: bool
) -> None:
    settings = HubSettings(host=host, **more)
    if refused:
        with pytest.raises(BadValue):
            check_place(settings, openly=openly)
    else:
        check_place(settings, openly=openly)
    assert not (refused and is_loopback(host))


def test_a_taken_port_is_said_in_words() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken, pytest.raises(PortTaken) as raised:
        listening_socket("127.0.0.1", taken.getsockname()[1])
    assert raised.value.code == "E401"


async def test_answers_are_sent_at_once(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without TCP_NODELAY each could wait 40 ms for the client's acknowledgement of its first half."""
    accepted: list[socket.socket] = []
    connection_made = BoundedProtocol.connection_made

    def noted(protocol: BoundedProtocol, transport: asyncio.Transport) -> None:
        accepted.append(transport.get_extra_info("socket"))
        connection_made(protocol, transport)

    monkeypatch.setattr(BoundedProtocol, "connection_made", noted)
    assert (await world.ask(None, "GET", "/healthz")).status_code == 200
    assert [one.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) for one in accepted] == [1]
