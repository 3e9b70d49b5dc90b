"""What other doors serve on the same port: their requests pass the same gate and are then handled by that door alone.

The gate identifies the caller and leaves the question whether its token is still valid to the request's decision.
Nothing is answered before that is settled: if no decision did, the token is checked when the answer begins.
"""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any, TypeAlias

from starlette.requests import Request

from moot.doors.credentials import Credential
from moot.doors.http.api.problems import problem
from moot.doors.http.gate.auth import Gate
from moot.doors.http.gate.origin import send_answer
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
            await send_answer(problem(wrong_method, NO_METHOD, {"Allow": "POST"}), send)
            return
        try:
            caller = await self._gate.principal(Request(scope, receive), door="mcp", settled_later=True)
            hub = self._gate.voice(caller, DoorName.MCP)
            if caller.by_owner:
                await self._gate.hub.history.acted_as(caller.name, f"POST {scope['path']}")
        except MootError as refusal:
            await send_answer(problem(refusal), send)
            return
        credential = Credential(caller, partial(self._gate.is_good, caller))
        await self._inner(credential, hub, scope, receive, SettledAnswer(credential, send))


class SettledAnswer:
    """ASGI's `send` for one answer: nothing is sent before its credential is known to be valid."""

    def __init__(self, credential: Credential, send: Any) -> None:
        self._credential = credential
        self._send = send
        self._start: Any = None
        """The head of the answer, while it waits."""
        self._is_refused = False

    async def __call__(self, message: Any) -> None:
        if self._is_refused:
            return
        if message["type"] == "http.response.start" and not self._credential.is_settled:
            self._start = message
            return
        if self._start is not None:
            start, self._start = self._start, None
            if not await self._credential.is_good():
                self._is_refused = True
                await send_answer(problem(unauthenticated()), self._send)
                return
            await self._send(start)
        await self._send(message)
