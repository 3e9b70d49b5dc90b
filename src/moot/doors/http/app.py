"""The door put together: routes from the table, the guard in front of them."""

import asyncio
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from msgspec import json
from starlette.applications import Starlette
from starlette.routing import BaseRoute
from starlette.routing import Route as Mounted

from moot.doors.http.beside import Beside, Inner
from moot.doors.http.entry import Entry
from moot.doors.http.fan import Fan
from moot.doors.http.gate import Gate
from moot.doors.http.guard import Guard, sent
from moot.doors.http.metrics import Meters
from moot.doors.http.openapi import document
from moot.doors.http.problems import problem
from moot.doors.http.routes import ROUTES
from moot.doors.http.table import House, Route
from moot.errors import NotFound
from moot.hub import Hub

OFTEN = ("/api/conversations/{id}/messages", "/api/agents/{name}/messages")
"""Tried first, since most requests are for these; no other path looks like them."""


class Door:
    """An ASGI application over one hub, and the fan that its streams hang on."""

    def __init__(
        self,
        hub: Hub,
        *,
        owner_token: str,
        facts: Mapping[str, Any],
        hosts: frozenset[str],
        scheme: str = "http",
        beside: Mapping[str, Inner] | None = None,
    ) -> None:
        meters = Meters()
        self.fan = Fan(hub, meters)
        self._leaving = asyncio.Event()

        @cache
        def openapi() -> bytes:
            return json.encode(document(ROUTES, facts["version"]))

        house = House(
            hub=hub,
            owner_token=owner_token,
            facts=facts,
            fan=self.fan,
            meters=meters,
            openapi=openapi,
            leaving=self._leaving,
        )
        gate = Gate(hub, owner_token)
        entries: list[BaseRoute] = [
            Mounted(path, Entry(rows, house, gate)) for path, rows in by_path(ROUTES).items()
        ]
        entries.sort(key=lambda one: getattr(one, "path", "") not in OFTEN)
        entries += [Mounted(path, Beside(app, gate)) for path, app in (beside or {}).items()]
        app = Starlette(routes=entries)
        app.router.default = _nowhere
        app.router.redirect_slashes = False
        self.asgi = Guard(app.router, hosts, scheme)

    def drain(self) -> None:
        """Streams are told that the hub goes, and whoever waits for something is sent away."""
        self._leaving.set()
        self.fan.drain()


def by_path(routes: Iterable[Route]) -> dict[str, dict[str, Route]]:
    found: dict[str, dict[str, Route]] = {}
    for route in routes:
        found.setdefault(route.path, {})[route.method] = route
    return found


async def _nowhere(scope: Any, receive: Any, send: Any) -> None:
    missing = NotFound("there is nothing at this address", fix=("GET /openapi.json lists what there is",))
    await sent(problem(missing), send)
