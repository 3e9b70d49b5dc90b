"""Accepts connections: one by one, as long as strangers have time left (unauthenticated.py), and never more than there
are descriptors for.

A server's own accept loop takes everybody who waits before it does anything else, so clients that connect again and
again would have the hub to themselves.
"""

import asyncio
import resource
import socket
import ssl
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final

import structlog

from moot.doors.http.wire.unauthenticated import MAX_PAUSE, Strangers

log = structlog.get_logger("moot.http")

MAX_AT_ONCE: Final = 8
"""Accepted at once before other work is done."""
PLAIN_SECONDS: Final = 0.00015
SECURED_SECONDS: Final = 0.003
"""Cost of a new connection before it has sent anything."""
FULL_SECONDS: Final = 0.2
"""Seconds between attempts while no descriptors are left."""
HANDSHAKE_SECONDS: Final = 10.0
THRESHOLD_SECONDS: Final = 0.5
ENOUGH_DESCRIPTORS: Final = 65_536


class Porch:
    def __init__(
        self,
        listener: socket.socket,
        protocol: Callable[[], asyncio.Protocol],
        secured: ssl.SSLContext | None,
        strangers: Strangers,
    ) -> None:
        self._listener = listener
        self._protocol = protocol
        self._secured = secured
        self._strangers = strangers
        strangers.entrance = SECURED_SECONDS if secured else PLAIN_SECONDS
        self._loop = asyncio.get_running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._coming: set[asyncio.Task[Any]] = set()
        listener.setblocking(False)
        self._open()

    async def close(self) -> None:
        """Accept nobody any more. A connection that is being accepted is completed first, and then closed with the
        others."""
        if self._timer is not None:
            self._timer.cancel()
        self._loop.remove_reader(self._listener)
        if self._coming:
            await asyncio.wait(self._coming, timeout=THRESHOLD_SECONDS)
        for task in self._coming:
            task.cancel()

    def _open(self) -> None:
        self._timer = None
        self._loop.add_reader(self._listener, self._accept)

    def _shut_for(self, seconds: float) -> None:
        self._loop.remove_reader(self._listener)
        self._timer = self._loop.call_later(seconds, self._open)

    def _accept(self) -> None:
        for _ in range(MAX_AT_ONCE):
            if self._strangers.debt() > 0 or not self._strangers.has_room():
                self._shut_for(MAX_PAUSE)
                return
            try:
                connection, _ = self._listener.accept()
            except BlockingIOError:
                return
            except OSError as error:  # no descriptor is left, or the peer has gone already
                log.warning("nobody can be let in", action="accept_failed", error=str(error))
                self._shut_for(FULL_SECONDS)
                return
            self._strangers.expect()
            task = self._loop.create_task(self._connect(connection))
            self._coming.add(task)
            task.add_done_callback(self._coming.discard)

    async def _connect(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        more: dict[str, Any] = {}
        if self._secured is not None:
            more = {"ssl": self._secured, "ssl_handshake_timeout": HANDSHAKE_SECONDS}
        try:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            await self._loop.connect_accepted_socket(self._protocol, connection, **more)
        except OSError:  # it has gone, or does not speak TLS
            self._strangers.on_failed()
            with suppress(OSError):
                connection.close()


def raise_descriptor_limit() -> None:
    """As far as the system allows without privileges."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = ENOUGH_DESCRIPTORS if hard == resource.RLIM_INFINITY else min(hard, ENOUGH_DESCRIPTORS)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
