"""What other doors serve on the same port: their requests pass the same gate and are then handled by that door alone.

The gate knows whose a token is and does not check whether it is still valid: what is done with it is a decision, which
settles that. Nothing is answered before: if no decision has settled it, it is checked when the answer begins.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from starlette.requests import Request

from moot.doors.credentials import Credential
from moot.doors.http.api.problems import problem
from moot.doors.http.gate.auth import Gate
from moot.doors.http.gate.origin import sent
from moot.errors import MootError, NotPermitted
from moot.hub import Hub
from moot.model.entrance import DoorName
from moot.rules.access import unauthenticated

NO_METHOD = 405
Inner: TypeAlias = Callable[[Credential, Hub, Any, Any, Any], Awaitable[None]]
"""An ASGI application that gets the caller's credential, and the hub acting as that caller."""


class Beside:
    def __init__(self, inner: Inner, gate: Gate) -> None:
        self._inner = inner
        self._gate = gate

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        if scope["method"] != "POST":  # without sessions there is nothing to follow and nothing to end
            wrong_method = NotPermitted(
                f"{scope['method'][:20]} is not supported here", detail="allowed: POST"
            )
            await sent(problem(wrong_method, NO_METHOD, {"Allow": "POST"}), send)
            return
        try:
            who = await self._gate.principal(Request(scope, receive), door="mcp", settled_later=True)
            hub = self._gate.voice(who, DoorName.MCP)
            if who.by_owner:
                await self._gate.hub.history.acted_as(who.name, f"POST {scope['path']}")
        except MootError as refusal:
            await sent(problem(refusal), send)
            return
        shown = Credential(who, partial(self._gate.is_good, who))
        await self._inner(shown, hub, scope, receive, SettledAnswer(shown, send))


class SettledAnswer:
    """ASGI's `send` for one answer: nothing is sent before its credential is known to be valid."""

    def __init__(self, shown: Credential, send: Any) -> None:
        self._shown = shown
        self._send = send
        self._start: Any = None
        """The head of the answer, while it waits."""
        self._is_refused = False

    async def __call__(self, message: Any) -> None:
        if self._is_refused:
            return
        if message["type"] == "http.response.start" and not self._shown.is_settled:
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if not await self._shown.is_good():
                self._is_refused = True
                await sent(problem(unauthenticated()), self._send)
                return
            await self._send(start)
        await self._send(message)
