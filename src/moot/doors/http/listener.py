"""Listening: where, under which conditions, and how it ends. uvicorn runs in the hub's own loop.

On loopback nobody else can listen in. Elsewhere tokens would travel unencrypted: without TLS that must be allowed
explicitly. At the end the door drains: streams get their cursor, and requests under way may finish.
"""

import asyncio
import socket
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from email.utils import formatdate
from ipaddress import ip_address
from pathlib import Path
from typing import Any

import uvicorn
from msgspec import Struct
from uvicorn.server import ServerState

from moot import __version__
from moot.doors.http.app import Door
from moot.doors.http.gate.origin import hosts
from moot.doors.http.mount import Inner
from moot.doors.http.wire.admission import Porch, raise_descriptor_limit
from moot.doors.http.wire.direct_writer import StreamProtocol
from moot.doors.http.wire.frames import SocketWire
from moot.doors.http.wire.port_holder import holder_of
from moot.doors.http.wire.unauthenticated import Strangers
from moot.doors.open_limit import OpenAtOnce
from moot.errors import BadValue, PortTaken
from moot.hub import Hub
from moot.settings import HubSettings

DRAIN_SECONDS = 5
PING_SECONDS = 20.0
"""Between two pings of a WebSocket, and how long an answer may take."""
BACKLOG = 1024
LAST_PORT = 65535
EVERYWHERE = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}
"""Bound to all addresses: what a client on this machine uses instead."""
UNREAD_MS = 60_000
"""A connection is closed if its peer has not acknowledged sent data for this long."""


class Listening(Struct, frozen=True):
    host: str
    port: int
    url: str


class _ServerState(ServerState):
    """What all connections share: which are strangers, and the default headers of answers, made on demand."""

    def __init__(self) -> None:
        self.strangers = Strangers()
        self._second = 0
        self._headers: list[tuple[bytes, bytes]] = []
        super().__init__()

    @property
    def default_headers(self) -> list[tuple[bytes, bytes]]:
        second = int(time.time())
        if second != self._second:
            self._second = second
            self._headers = [(b"date", formatdate(second, usegmt=True).encode())]
        return self._headers

    @default_headers.setter
    def default_headers(self, headers: list[tuple[bytes, bytes]]) -> None:
        """There are no others: `_config` names none."""


class _Server(uvicorn.Server):
    """uvicorn's server without its signal handlers, which the process has, and without its loop that checks ten times a
    second whether to stop: an idle hub sleeps."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.server_state: _ServerState = _ServerState()
        self._porches: list[Porch] = []
        self.up = asyncio.Event()
        self._over = asyncio.Event()

    async def main_loop(self) -> None:
        await self._over.wait()

    def end(self) -> None:
        self.should_exit = True
        self._over.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As uvicorn's, except that admission.py accepts connections: uvicorn would accept all before other work."""
        await super().startup([])
        strangers = self.server_state.strangers
        self._porches = [Porch(one, self._protocol, self.config.ssl, strangers) for one in sockets or ()]
        self.up.set()

    def _protocol(self) -> asyncio.Protocol:
        config: Any = self.config
        protocol: asyncio.Protocol = config.http_protocol_class(
            config=config, server_state=self.server_state, app_state=self.lifespan.state
        )
        return protocol

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for porch in self._porches:
            await porch.close()
        self.server_state.strangers.close()
        await super().shutdown(sockets)


@asynccontextmanager
async def serving(
    hub: Hub,
    *,
    home: Path,
    owner_token: str,
    facts: dict[str, Any],
    openly: bool = False,
    beside: Mapping[str, Inner] | None = None,
    open_at_once: OpenAtOnce | None = None,
) -> AsyncIterator[Listening]:
    """Answer HTTP for a hub until the block is left. `beside` has what other doors serve, by path; a caller's
    open streams there count together with those here."""
    settings = hub.settings.hub
    secured = bool(settings.certificate)
    check_place(settings, openly=openly)
    raise_descriptor_limit()
    listener = listening_socket(settings.host, settings.port)
    port: int = listener.getsockname()[1]
    scheme = "https" if secured else "http"
    names = [*settings.names, *([settings.host] if settings.host not in EVERYWHERE else [])]
    door = Door(
        hub,
        owner_token=owner_token,
        facts={"version": __version__, **facts},
        open_at_once=open_at_once or OpenAtOnce(hub.settings.limits.open_at_once),
        hosts=hosts(names, port, scheme),
        scheme=scheme,
        beside=beside,
    )
    server = _Server(_config(door, *_certificate_files(settings, home)))
    running = asyncio.get_running_loop().create_task(server.serve(sockets=[listener]))
    try:
        await _up(server, running)
        yield Listening(settings.host, port, f"{scheme}://{_reachable(settings.host)}:{port}")
    finally:
        await door.drain()
        server.end()
        await asyncio.wait([running])
        await door.close()
        listener.close()


async def _up(server: _Server, running: asyncio.Task[None]) -> None:
    """Wait until it listens; raise what kept it from that."""
    waiting = asyncio.ensure_future(server.up.wait())
    await asyncio.wait([waiting, running], return_when=asyncio.FIRST_COMPLETED)
    waiting.cancel()
    if running.done():
        running.result()


def _config(door: Door, certificate: Path | None, key: Path | None) -> uvicorn.Config:
    return uvicorn.Config(
        door.asgi,
        http=StreamProtocol,
        log_config=None,
        access_log=False,
        lifespan="off",
        ws=SocketWire,
        ws_max_size=door.longest_frame,
        ws_ping_interval=PING_SECONDS,
        ws_ping_timeout=PING_SECONDS,
        ws_per_message_deflate=False,  # would compress for each reader separately
        proxy_headers=False,
        server_header=False,
        timeout_graceful_shutdown=DRAIN_SECONDS,
        ssl_certfile=certificate,
        ssl_keyfile=key,
    )


def _certificate_files(settings: HubSettings, home: Path) -> tuple[Path | None, Path | None]:
    """Certificate and key; a relative path begins in the home."""
    if not settings.certificate:
        return None, None
    paths = [home / settings.certificate, home / (settings.key or settings.certificate)]
    for path in paths:
        if not path.is_file():
            raise BadValue(f"{path} does not exist", detail="it is set by hub.certificate or hub.key")
    return paths[0], paths[1]


def is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def check_place(settings: HubSettings, *, openly: bool) -> None:
    if is_loopback(settings.host) or settings.certificate or openly:
        return
    raise BadValue(
        f"the hub will not listen on {settings.host} without TLS: tokens could be intercepted",
        detail="on 127.0.0.1 only programs on this machine can reach it",
        fix=(
            'set hub.host = "127.0.0.1"',
            "set hub.certificate and hub.key",
            "moot up --without-tls, if nobody else can listen on the network",
        ),
    )


def listening_socket(host: str, port: int) -> socket.socket:
    """A listening socket. Its protocol is set to TCP explicitly: only then asyncio sets TCP_NODELAY, without which
    every answer would come 40 ms late."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):  # Linux: connections inherit it
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, UNREAD_MS)
        listener.bind((host.strip("[]"), port))
        listener.listen(BACKLOG)
        return listener
    except OSError as error:
        listener.close()
        holder = holder_of(port)
        used = f'port {port} is used by "{holder.name}" (pid {holder.pid})' if holder else ""
        raise PortTaken(
            used or f"the hub cannot listen on {host} port {port}: {error.strerror or error}",
            fix=(f"moot up --port {port + 1 if port < LAST_PORT else 0}", "moot config set hub.port 0"),
            host=host,
            port=port,
        ) from error


def _reachable(host: str) -> str:
    """An address that a client on this machine can use."""
    if host in EVERYWHERE:
        return EVERYWHERE[host]
    return f"[{host.strip('[]')}]" if ":" in host else host
