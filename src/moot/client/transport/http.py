"""The way to a hub over HTTP. It goes on where a connection is lost, if nothing can happen twice by that.

A request is repeated when nobody answered at all, when the door says that it came too often or at a bad moment, and,
where it reads or has a key, when the connection broke before an answer; for a few seconds, then the caller is told.
A stream comes back with its cursor for as long as a hub may take to start again.
"""

import asyncio
from collections.abc import AsyncIterator, Hashable
from contextlib import suppress
from typing import Any, cast

import httpx2
from msgspec import DecodeError, Raw
from msgspec.json import Decoder, encode

from moot import __version__, shapes
from moot.client.transport.paging import SEVERAL
from moot.client.transport.refusal import error_from
from moot.client.transport.socket_transport import MAX_ASKED, Voice, decoder
from moot.errors import HubAbsent, MootError
from moot.model.hint import Act, Hint
from moot.sdk.call import DeclaredCall
from moot.sdk.request import HttpCall, HttpRequest

RETRY_SECONDS = 5.0
FIRST_PAUSE, LONGEST_PAUSE = 0.05, 1.0
ANSWER_SECONDS = 30.0
"""How long an answer may take, beyond what the request itself asks to wait."""
STREAM_SECONDS = 45.0
"""A stream sends something every 15 s; one that is silent for this long is dead."""
PATIENCE_SECONDS = 60.0
"""How long a stream looks for a hub that has gone."""
LARGEST_EVENT = 64 * 1024 * 1024
IDLE_SECONDS = 4.0
"""The server closes a connection that is unused for five."""
NOT_OURS = ("type", "status")
OVER = frozenset({"lagged", "server_restarting"})
"""With these a stream ends; it is taken up again behind the last event."""
PROBLEM = "application/problem+json"
BAD, TOO_OFTEN, BAD_MOMENT = 400, 429, 503

PARTS: Decoder[dict[str, Raw]] = Decoder(dict[str, Raw])
FACT: Decoder[dict[str, Any]] = Decoder(dict[str, Any])


class HttpTransport:
    def __init__(self, url: str, token: str, *, nearby: bool) -> None:
        self.url = url
        self.asking = asyncio.Semaphore(MAX_ASKED)
        self.name = ""
        """Who the token says the caller is."""
        self._nearby = nearby
        self._client = httpx2.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {token}", "User-Agent": f"moot/{__version__}"},
            timeout=httpx2.Timeout(ANSWER_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=256, keepalive_expiry=IDLE_SECONDS),
            trust_env=not nearby,  # what stays on this machine goes through no proxy
        )

    def with_token(self, token: str, name: str) -> "HttpTransport":
        """Another transport to the same place, for somebody else."""
        other = HttpTransport(self.url, token, nearby=self._nearby)
        other.name = name
        return other

    async def close(self) -> None:
        await self._client.aclose()

    # --- calls -------------------------------------------------------------------------------------------

    async def call(self, call: DeclaredCall, voice: Voice, /, **named: Any) -> Any:
        async def ask(http: HttpCall, answer: Any, /, **named: Any) -> Any:
            return await self.ask(http, answer, voice, **named)

        several = SEVERAL.get(call.name)
        if several is not None:
            return await several(ask, call.answer, **named)
        return await self.ask(call.over_http(), call.answer, voice, **named)

    async def ask(self, http: HttpCall, answer: Any, voice: Voice, /, **named: Any) -> Any:
        """One request; its answer is read as this type."""
        request = http.request(named, voice.speaker or self.name)
        seconds = ANSWER_SECONDS + float(named.get("timeout") or 0.0)
        response = await self._answered(request, voice, http.repeatable(named), seconds)
        if not response.content or answer is object:
            return None
        try:
            content = PARTS.decode(response.content)[http.part] if http.part else response.content
            return decoder(cast(Hashable, answer)).decode(content)
        except (DecodeError, KeyError) as wrong:
            raise self._no_hub(f"{type(wrong).__name__}: {wrong}") from wrong

    async def _answered(
        self, request: HttpRequest, voice: Voice, repeatable: bool, seconds: float
    ) -> httpx2.Response:
        clock = asyncio.get_running_loop().time
        until, pause = clock() + RETRY_SECONDS, FIRST_PAUSE
        while True:
            try:
                response = await self._sent(request, voice, seconds)
            except httpx2.TransportError as lost:
                unsent = isinstance(lost, httpx2.ConnectError | httpx2.ConnectTimeout)
                trouble: MootError = self._gone(lost)
                again = unsent or repeatable
            else:
                if response.status_code < BAD:
                    return response
                trouble = self._refusal(response)
                again = _momentary(response, trouble, repeatable)
                pause = max(pause, (trouble.retry_after_ms or 0) / 1000)
            if not again or clock() + pause > until:
                raise trouble
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _sent(self, request: HttpRequest, voice: Voice, seconds: float) -> httpx2.Response:
        headers = {**request.headers, **_spoken(voice)}
        if request.body is not None:
            headers["Content-Type"] = "application/json"
        return await self._client.request(
            request.verb,
            request.path,
            params=request.query,
            content=None if request.body is None else encode(request.body),
            headers=headers,
            timeout=httpx2.Timeout(ANSWER_SECONDS, read=seconds, pool=None),
        )

    # --- streams -----------------------------------------------------------------------------------------

    async def follow(self, voice: Voice, /, **filters: Any) -> AsyncIterator[shapes.Event]:
        after = filters.pop("after", None)
        filters["types"] = ",".join(filters.get("types", ()))
        query = {key: value for key, value in filters.items() if value}
        position = StreamPosition(None if after is None else int(after))
        lost_at: float | None = None
        pause, clock = FIRST_PAUSE, asyncio.get_running_loop().time
        while True:
            try:
                async for event in self._stream(voice, query, position):
                    lost_at, pause = None, FIRST_PAUSE
                    if event is not None:
                        yield event
            except httpx2.TransportError as lost:
                lost_at = lost_at if lost_at is not None else clock()
                if clock() + pause > lost_at + PATIENCE_SECONDS:
                    raise self._gone(lost) from lost
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _stream(
        self, voice: Voice, wanted: dict[str, Any], position: "StreamPosition"
    ) -> AsyncIterator[shapes.Event | None]:
        """One connection's worth of events; None where there is only a sign of life."""
        query = wanted if position.cursor is None else {**wanted, "after": str(position.cursor)}
        async with self._client.sse(
            "/api/events",
            params=query,
            headers=_spoken(voice),
            timeout=httpx2.Timeout(ANSWER_SECONDS, read=STREAM_SECONDS, pool=None),
            max_event_size=LARGEST_EVENT,
        ) as source:
            if source.response.status_code >= BAD:
                await source.response.aread()
                raise self._refusal(source.response)
            async for event in source:
                position.reached(event.id)
                if event.event in OVER:
                    return
                yield position.read(event.event, event.data)

    # --- what went wrong ---------------------------------------------------------------------------------

    def _refusal(self, response: httpx2.Response) -> MootError:
        """The error that the hub raised, as the same class."""
        media = response.headers.get("content-type", "").partition(";")[0]
        with suppress(DecodeError):
            if media == PROBLEM:
                fields = FACT.decode(response.content)
                return error_from({key: value for key, value in fields.items() if key not in NOT_OURS})
        return self._no_hub(f"it answers {response.status_code}, {media or 'with nothing'}")

    def _no_hub(self, detail: str) -> HubAbsent:
        return HubAbsent(
            f"the server at {self.url} is not a Moot hub",
            detail=detail,
            fix=("check the address; the hub prints it when it starts",),
        )

    def _gone(self, lost: Exception) -> HubAbsent:
        return HubAbsent(
            f"no hub at {self.url}",
            detail=str(lost) or type(lost).__name__,
            fix=(Hint(Act.START_HUB), "check the address; it is in run/hub.json of the home"),
        )


class StreamPosition:
    """How far a stream has been read."""

    def __init__(self, cursor: int | None) -> None:
        self.cursor = cursor

    def reached(self, id: str) -> None:
        if id:
            self.cursor = int(id)

    def read(self, kind: str, data: str) -> shapes.Event | None:
        if not data or kind == "cursor":  # which stands in the id of the same frame
            return None
        if kind != "reset":
            event: shapes.Event = decoder(shapes.Event).decode(data)
            return event
        body = FACT.decode(data)
        self.cursor = int(body["after"])
        return shapes.Event(None, kind, None, None, None, body)


def _spoken(voice: Voice) -> dict[str, str]:
    found = {"Moot-Act-As": voice.speaker, "Moot-Turn": voice.turn}
    return {name: value for name, value in found.items() if value}


def _momentary(response: httpx2.Response, trouble: MootError, repeatable: bool) -> bool:
    """Refused for now, by the door alone. What the hub's own limits refuse is the caller's to know."""
    if response.status_code == TOO_OFTEN:
        return trouble.facts.get("limit") == "requests_per_second"
    return repeatable and response.status_code == BAD_MOMENT and "retry-after" in response.headers
