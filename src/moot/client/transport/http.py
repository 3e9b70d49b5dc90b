"""The transport to a hub over HTTP. It retries after a lost connection if nothing can be done twice by that.

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
FIRST_PAUSE, MAX_PAUSE = 0.05, 1.0
ANSWER_SECONDS = 30.0
"""How long an answer may take, beyond what the request itself asks to wait."""
STREAM_SECONDS = 45.0
"""A stream sends something every 15 s; one that is silent for this long is dead."""
PATIENCE_SECONDS = 60.0
"""How long a stream looks for a hub that has gone."""
MAX_EVENT_BYTES = 64 * 1024 * 1024
IDLE_SECONDS = 4.0
"""The server closes a connection that is unused for five."""
NOT_OURS = ("type", "status")
STREAM_ENDINGS = frozenset({"lagged", "server_restarting"})
"""Events that end a stream; it continues after the last event."""
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
        # Reading certificates takes longer than many requests, and here nobody could show one.
        is_plain = nearby and url.startswith("http://")
        self._client = httpx2.AsyncClient(
            base_url=url,
            headers={"Authorization": f"Bearer {token}", "User-Agent": f"moot/{__version__}"},
            timeout=httpx2.Timeout(ANSWER_SECONDS, pool=None),
            limits=httpx2.Limits(max_connections=256, keepalive_expiry=IDLE_SECONDS),
            trust_env=not nearby,  # no proxy for connections within this machine
            verify=not is_plain,
        )

    def with_token(self, token: str, name: str) -> "HttpTransport":
        """Another transport to the same place, for somebody else."""
        other = HttpTransport(self.url, token, nearby=self._nearby)
        other.name = name
        return other

    async def close(self) -> None:
        await self._client.aclose()

    # --- calls -------------------------------------------------------------------------------------------

    async def call(self, call: DeclaredCall, voice: Voice, /, **arguments: Any) -> Any:
        async def ask(http: HttpCall, answer: Any, /, **arguments: Any) -> Any:
            return await self.ask(http, answer, voice, **arguments)

        several = SEVERAL.get(call.name)
        if several is not None:
            return await several(ask, call.answer, **arguments)
        return await self.ask(call.over_http(), call.answer, voice, **arguments)

    async def ask(self, http: HttpCall, answer: Any, voice: Voice, /, **arguments: Any) -> Any:
        """One request; its answer is read as this type."""
        request = http.request(arguments, voice.speaker or self.name)
        seconds = ANSWER_SECONDS + float(arguments.get("timeout") or 0.0)
        response = await self._request_with_retries(request, voice, http.repeatable(arguments), seconds)
        if not response.content or answer is object:
            return None
        try:
            content = PARTS.decode(response.content)[http.part] if http.part else response.content
            return decoder(cast(Hashable, answer)).decode(content)
        except (DecodeError, KeyError) as wrong:
            raise self._not_a_hub(f"{type(wrong).__name__}: {wrong}") from wrong

    async def _request_with_retries(
        self, request: HttpRequest, voice: Voice, repeatable: bool, seconds: float
    ) -> httpx2.Response:
        clock = asyncio.get_running_loop().time
        until, pause = clock() + RETRY_SECONDS, FIRST_PAUSE
        while True:
            try:
                response = await self._send_once(request, voice, seconds)
            except httpx2.TransportError as error:
                unsent = isinstance(error, httpx2.ConnectError | httpx2.ConnectTimeout)
                trouble: MootError = self._unreachable(error)
                is_retried = unsent or repeatable
            else:
                if response.status_code < BAD:
                    return response
                trouble = self._refusal(response)
                is_retried = _momentary(response, trouble, repeatable)
                pause = max(pause, (trouble.retry_after_ms or 0) / 1000)
            if not is_retried or clock() + pause > until:
                raise trouble
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)

    async def _send_once(self, request: HttpRequest, voice: Voice, seconds: float) -> httpx2.Response:
        headers = {**request.headers, **_voice_headers(voice)}
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
            except httpx2.TransportError as error:
                lost_at = lost_at if lost_at is not None else clock()
                if clock() + pause > lost_at + PATIENCE_SECONDS:
                    raise self._unreachable(error) from error
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)

    async def _stream(
        self, voice: Voice, filters: dict[str, Any], position: "StreamPosition"
    ) -> AsyncIterator[shapes.Event | None]:
        """One connection's worth of events; None where there is only a sign of life."""
        query = filters if position.cursor is None else {**filters, "after": str(position.cursor)}
        async with self._client.sse(
            "/api/events",
            params=query,
            headers=_voice_headers(voice),
            timeout=httpx2.Timeout(ANSWER_SECONDS, read=STREAM_SECONDS, pool=None),
            max_event_size=MAX_EVENT_BYTES,
        ) as source:
            if source.response.status_code >= BAD:
                await source.response.aread()
                raise self._refusal(source.response)
            async for event in source:
                position.advance(event.id)
                if event.event in STREAM_ENDINGS:
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
        return self._not_a_hub(f"it answers {response.status_code}, {media or 'with nothing'}")

    def _not_a_hub(self, detail: str) -> HubAbsent:
        return HubAbsent(
            f"the server at {self.url} is not a Moot hub",
            detail=detail,
            fix=("check the address; the hub prints it when it starts",),
        )

    def _unreachable(self, error: Exception) -> HubAbsent:
        return HubAbsent(
            f"no hub at {self.url}",
            detail=str(error) or type(error).__name__,
            fix=(Hint(Act.START_HUB), "check the address; it is in run/hub.json of the home"),
        )


class StreamPosition:
    """How far a stream has been read."""

    def __init__(self, cursor: int | None) -> None:
        self.cursor = cursor

    def advance(self, id: str) -> None:
        if id:
            self.cursor = int(id)

    def read(self, kind: str, data: str) -> shapes.Event | None:
        if not data or kind == "cursor":  # the cursor is in the id of the same frame
            return None
        if kind != "reset":
            event: shapes.Event = decoder(shapes.Event).decode(data)
            return event
        body = FACT.decode(data)
        self.cursor = int(body["after"])
        return shapes.Event(None, kind, None, None, None, body)


def _voice_headers(voice: Voice) -> dict[str, str]:
    headers = {"Moot-Act-As": voice.speaker, "Moot-Turn": voice.turn}
    return {name: value for name, value in headers.items() if value}


def _momentary(response: httpx2.Response, trouble: MootError, repeatable: bool) -> bool:
    """Whether only the door refused it, for now. Refusals by the hub's own limits are the caller's to handle."""
    if response.status_code == TOO_OFTEN:
        return trouble.facts.get("limit") == "requests_per_second"
    return repeatable and response.status_code == BAD_MOMENT and "retry-after" in response.headers
