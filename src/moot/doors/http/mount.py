"""What other doors serve on the same port: their requests pass the same gate, and then are theirs alone."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from starlette.requests import Request

from moot.doors.http.api.problems import problem
from moot.doors.http.gate.auth import Gate
from moot.doors.http.gate.origin import sent
from moot.errors import MootError, NotPermitted
from moot.hub import Hub
from moot.rules.access import Principal

NO_METHOD = 405
Inner: TypeAlias = Callable[[Principal, Hub, Any, Any, Any], Awaitable[None]]
"""An ASGI application that is told who asks, and given the hub with that one's voice."""


class Beside:
    def __init__(self, inner: Inner, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":  # without sessions there is nothing to follow and nothing to end
            told = NotPermitted(f"{scope['method'][:20]} means nothing here", detail="allowed: POST")
            await sent(problem(told, NO_METHOD, {"Allow": "POST"}), send)
            return
        try:
            who = await self._gate.principal(Request(scope, receive), door="mcp")
            hub = self._gate.voice(who)
            if who.by_owner:
                await self._gate.hub.history.acted_as(who.name, f"POST {scope['path']}")
        except MootError as refusal:
            await sent(problem(refusal), send)
            return
        await self._inner(who, hub, scope, receive, send)
