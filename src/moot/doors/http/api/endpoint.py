"""The stages of a request: who is it (gate/auth.py), may it, is it well-formed; then its function; then the answer."""

import asyncio
import time
from collections.abc import Awaitable, Mapping
from contextlib import nullcontext
from typing import Any
from uuid import uuid4

import msgspec
import structlog
from msgspec import structs
from starlette.requests import ClientDisconnect, Request

from moot.doors.credentials import still_good_for
from moot.doors.http.api import subject
from moot.doors.http.api.problems import Refusal, Response, problem
from moot.doors.http.api.query import query
from moot.doors.http.api.route import POSITION, ApiCall, HttpDoor, Route, SubjectKind
from moot.doors.http.gate.auth import Gate
from moot.doors.http.gate.origin import send_answer
from moot.doors.http.streams.sse import Stream, until_gone
from moot.doors.lookup import without_hints
from moot.errors import BadValue, HubAbsent, MootError, NotPermitted
from moot.rules.access import NOBODY, Principal, Standing, unauthenticated
from moot.rules.words.redact import redacted
from moot.shapes import Handed

log = structlog.get_logger("moot.http")

NOTHING = subject.PathSubject()
MIN_BODY_LIMIT = 1024 * 1024
TOO_LARGE, WRONG_MEDIA, NO_METHOD, MALFORMED = 413, 415, 405, 400
FIRST_ERROR = 400


class PathEndpoint:
    """Everything at one path: its methods, and what they share."""

    def __init__(self, routes: Mapping[str, Route], door: HttpDoor, gate: Gate) -> None:
        self._routes = dict(routes)
        self._door = door
        self._gate = gate
        self._path = next(iter(routes.values())).path
        self._decoders = {r.body: msgspec.json.Decoder(r.body) for r in routes.values() if r.body is not None}
        self._max_bytes = max_bytes(door.hub.settings.limits.message_bytes)
        if "GET" in self._routes and not self._routes["GET"].streams:
            self._routes.setdefault("HEAD", self._routes["GET"])
        self.allow = ", ".join(sorted(self._routes))

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        request = Request(scope, receive)
        started = time.perf_counter()
        answer = await self._answer(request, receive)
        if isinstance(answer, Stream):
            await answer.run(scope, receive, send)
            return
        self._door.meters.count_answer(
            request.method if request.method in self._routes else "other",
            self._path,
            answer.status,
            time.perf_counter() - started,
        )
        await send_answer(answer, send, head=request.method == "HEAD")

    async def _answer(self, request: Request, receive: Any) -> Response | Stream:
        caller = NOBODY
        try:
            route = self._routes.get(request.method)
            if route is None:
                refusal = NotPermitted(
                    f"{request.method[:20]} is not supported here", detail=f"allowed: {self.allow}"
                )
                raise Refusal(NO_METHOD, refusal, allow=self.allow)
            if route.action is not None:
                caller = await self._gate.principal(request, settled_later=route.settles)
            return await self._run(request, route, caller, receive)
        except Refusal as refusal:
            good = await self._gate.is_good(caller)
            return (
                problem(refusal.error, refusal.status, refusal.headers)
                if good
                else problem(unauthenticated())
            )
        except MootError as error:
            good = await self._gate.is_good(caller)  # if not, the caller learns nothing else
            return problem(without_hints(error, caller) if good else unauthenticated())
        except ClientDisconnect:  # nobody reads this answer
            return problem(BadValue("the connection was closed before the request was complete"), MALFORMED)
        except Exception as error:  # the border of the process: a caller gets an answer whatever happened
            number = uuid4().hex[:12]
            log.error(
                "a request failed",
                action="request_failed",
                path=self._path,
                id=number,
                error=redacted(repr(error)),
            )
            return problem(MootError("internal error in the hub", detail=f"see its log, entry {number}"))

    # --- what --------------------------------------------------------------------------------------------

    async def _run(
        self, request: Request, route: Route, caller: Principal, receive: Any
    ) -> Response | Stream:
        position = self._door.hub.position  # before any read, so the answer contains everything up to it
        answer = await self._call(request, route, caller, receive)
        if not route.is_snapshot or isinstance(answer, Stream):
            return answer
        return structs.replace(answer, headers={**answer.headers, POSITION: str(position)})

    async def _call(
        self, request: Request, route: Route, caller: Principal, receive: Any
    ) -> Response | Stream:
        hub = await self._gate.voice_within(caller, request.headers.get("moot-turn"))
        path: dict[str, str] = dict(request.path_params)
        is_looked_up = not route.settles or route.about is SubjectKind.HUB  # which takes no reading
        named = await subject.named_by(route, hub, caller, path) if is_looked_up else NOTHING
        if caller.standing is Standing.PARTICIPANT and route.method not in ("GET", "HEAD"):
            hub = hub.admitted(subject.admission(route, caller, path))
        call = ApiCall(
            caller=caller,
            hub=hub,
            door=self._door,
            path=path,
            query=query(request.scope["query_string"], route.query),
            body=await self._body(request, route),
            headers=request.headers,
            conversation=named.conversation,
            agent=named.agent,
            version=named.version,
            peer=request.client.host if request.client is not None else "",
        )
        if route.waits:
            value = await self._wait_for_answer(route, call, receive)
        else:
            value = await route.handle(call)
        if caller.by_owner and route.method != "GET":
            await self._door.hub.history.acted_as(caller.name, f"{route.method} {request.url.path}")
        if isinstance(value, Response | Stream):
            if route.settles and isinstance(value, Response) and value.status >= FIRST_ERROR:
                await self._still_good(caller)
            return value
        return Response(value, route.status)

    async def _still_good(self, caller: Principal) -> None:
        """A caller whose token was revoked meanwhile learns only that."""
        if not await self._gate.is_good(caller):
            raise unauthenticated()

    async def _wait_for_answer(self, route: Route, call: ApiCall, receive: Any) -> Any:
        open_at_once = self._door.open_at_once
        with open_at_once.one(call.caller) if route.waits_now(call) else nullcontext():
            value = await self._while_connected(route.handle(call), receive)
        await still_good_for(call.hub, call.caller, value.handed if isinstance(value, Handed) else ())
        return value

    async def _while_connected(self, work: Awaitable[Any], receive: Any) -> Any:
        """Wait no longer than the caller does: what it would have been given is kept for its next request."""
        working = asyncio.ensure_future(work)
        others = [
            asyncio.ensure_future(until_gone(receive)),
            asyncio.ensure_future(self._door.leaving.wait()),
        ]
        try:
            await asyncio.wait([working, *others], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            raise HubAbsent("the hub is stopping", fix=("try again",), retry_after_ms=1000)
        finally:
            for task in (working, *others):
                task.cancel()
            await asyncio.wait([working, *others])

    async def _body(self, request: Request, route: Route) -> Any:
        if request.method in ("GET", "HEAD"):
            return None
        raw = await self._read(request)
        if route.body is None:
            if raw.strip() not in (b"", b"{}"):
                raise BadValue("this request takes no body")
            return None
        media = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media != "application/json":
            raise Refusal(
                WRONG_MEDIA,
                BadValue("the body must be sent as application/json", detail=f"it was sent as {media!r}"),
            )
        try:
            return self._decoders[route.body].decode(raw)
        except msgspec.ValidationError as wrong:
            fields = ", ".join(route.body.__struct_encode_fields__)
            raise BadValue(f"invalid body: {wrong}", detail=f"fields are {fields}") from wrong
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as wrong:
            raise Refusal(MALFORMED, BadValue(f"the body is not JSON: {wrong}")) from wrong

    async def _read(self, request: Request) -> bytes:
        """A body that arrives too slowly is cut off by wire/http1.py."""
        announced_bytes = request.headers.get("content-length", "")
        if announced_bytes.isdecimal() and int(announced_bytes[:20]) > self._max_bytes:
            raise self._too_large()
        read = b""
        async for piece in request.stream():
            read = read + piece if read else piece
            if len(read) > self._max_bytes:
                raise self._too_large()
        return read

    def _too_large(self) -> Refusal:
        return Refusal(TOO_LARGE, BadValue(f"the body is larger than {self._max_bytes} bytes"))


def max_bytes(max_message_bytes: int) -> int:
    """The largest body that is accepted."""
    return max(MIN_BODY_LIMIT, 2 * max_message_bytes)
