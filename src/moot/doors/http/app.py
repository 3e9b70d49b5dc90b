"""The HTTP door assembled: routes from the table, the guard in front of them."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from time import monotonic
from typing import Any

from msgspec import json
from starlette.applications import Starlette
from starlette.routing import BaseRoute, WebSocketRoute
from starlette.routing import Route as Mounted

from moot.doors.http.api.endpoint import PathEndpoint, max_bytes
from moot.doors.http.api.problems import problem
from moot.doors.http.api.route import HttpDoor, Route
from moot.doors.http.api.routes import ROUTES, SOCKETS
from moot.doors.http.description.openapi import document
from moot.doors.http.gate.auth import Gate
from moot.doors.http.gate.origin import Guard, deny_handshake, send_answer
from moot.doors.http.gate.rate import Buckets
from moot.doors.http.metrics import Meters
from moot.doors.http.mount import Beside, Inner
from moot.doors.http.page.serve import WebPage
from moot.doors.http.streams.acks import Marks
from moot.doors.http.streams.fanout import Fan
from moot.doors.http.streams.websocket import SocketEndpoint
from moot.doors.open_limit import OpenAtOnce
from moot.errors import BadValue, NotFound, NotPermitted
from moot.hub import Hub
from moot.hub.telemetry.vitals import vitals_of

UPGRADE, NO_METHOD = 426, 405
GOODBYE_SECONDS = 1.0
"""How long sockets may take, when the hub stops, to answer that they have received everything."""
SIGN_INS_PER_SECOND = 5.0
"""Attempts from one address; five seconds' worth may come at once. Codes cannot be guessed, but guesses cost time."""
OFTEN = ("/api/conversations/{id}/messages", "/api/agents/{name}/messages")
"""Tried first, with the paths of other doors, since most requests are for these; no other path looks like them."""


class Door:
    """An ASGI application over one hub, and the fan that its streams hang on."""

    def __init__(
        self,
        hub: Hub,
        *,
        owner_token: str,
        facts: Mapping[str, Any],
        open_at_once: OpenAtOnce,
        hosts: frozenset[str],
        scheme: str = "http",
        beside: Mapping[str, Inner] | None = None,
    ) -> None:
        meters = Meters()
        meters.watch(vitals_of(hub))
        self.fan = Fan(hub, meters, open_at_once)
        self._leaving = asyncio.Event()
        self.marks = Marks(hub)

        @cache
        def openapi() -> bytes:
            return json.encode(document(ROUTES, facts["version"], SOCKETS))

        door = HttpDoor(
            hub=hub,
            owner_token=owner_token,
            facts=facts,
            fan=self.fan,
            open_at_once=open_at_once,
            marks=self.marks,
            meters=meters,
            openapi=openapi,
            sign_ins=Buckets(SIGN_INS_PER_SECOND, monotonic),
            leaving=self._leaving,
        )
        gate = Gate(hub, owner_token)
        entries: list[BaseRoute] = [
            Mounted(path, PathEndpoint(rows, door, gate)) for path, rows in by_path(ROUTES).items()
        ]
        entries += [Mounted(path, Beside(app, gate)) for path, app in (beside or {}).items()]
        entries.sort(key=lambda one: getattr(one, "path", "") not in {*OFTEN, *(beside or ())})
        unknown: set[object] = set()
        page = WebPage()
        entries.append(Mounted("/assets/{file:path}", page))
        entries += [WebSocketRoute(row.path, SocketEndpoint(row, door, gate, unknown)) for row in SOCKETS]
        entries += [Mounted(row.path, _only_sockets) for row in SOCKETS]
        app = Starlette(routes=entries)
        app.router.default = _Elsewhere(page)
        app.router.redirect_slashes = False
        self.asgi = Guard(app.router, hosts, scheme)
        self.longest_frame = max_bytes(hub.settings.limits.message_bytes)
        """Of a WebSocket. A message that is merely too long is refused in words, so this is longer."""

    async def drain(self) -> None:
        """Tell all streams that the hub is stopping, end pending waits, and close; a socket that says goodbye has
        received everything."""
        self._leaving.set()
        self.fan.drain()
        await self.marks.wait_until_idle(GOODBYE_SECONDS)

    async def close(self) -> None:
        await self.fan.close()
        await self.marks.close()


def by_path(routes: Iterable[Route]) -> dict[str, dict[str, Route]]:
    grouped: dict[str, dict[str, Route]] = {}
    for route in routes:
        grouped.setdefault(route.path, {})[route.method] = route
    return grouped


class _Elsewhere:
    """Answers at every path that has no route: with the page, where it is one of the page's own."""

    def __init__(self, page: WebPage) -> None:
        self._page = page

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if self._page.wants(scope):
            await self._page(scope, receive, send)
            return
        missing = NotFound("there is nothing at this path", fix=("GET /openapi.json lists all paths",))
        await (send_answer if scope["type"] == "http" else deny_handshake)(problem(missing), send)


class _OnlySockets:
    """Answers a plain request at a path that is a WebSocket."""

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] not in ("GET", "HEAD"):
            wrong = NotPermitted(f"{scope['method'][:20]} is not supported here", detail="allowed: GET")
            await send_answer(problem(wrong, NO_METHOD, {"allow": "GET"}), send)
            return
        plain = BadValue("this path is a WebSocket", fix=("send an Upgrade to websocket",))
        answer = problem(plain, UPGRADE, {"upgrade": "websocket", "connection": "Upgrade"})
        await send_answer(answer, send, head=scope["method"] == "HEAD")


_only_sockets = _OnlySockets()
