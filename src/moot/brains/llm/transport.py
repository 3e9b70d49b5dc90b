"""The HTTP client for all model endpoints: it checks every answer before a provider's library sees it.

No redirect is followed, no compressed body is accepted, no proxy is taken from the environment, and everything is
bounded: a body, a line of it, the silence between two bytes.

Above: the adapters, which give this client to the providers' libraries. Below: httpx2. Imported late, with them.
"""

from collections.abc import AsyncIterator
from typing import Final

import httpx2

from moot.brains.llm.trouble import ModelTrouble, TroubleKind

MAX_STREAM_BYTES: Final = 64 << 20
"""Enough for a long answer: every few letters come in an event of some hundred bytes."""
MAX_BODY_BYTES: Final = 1 << 20
"""A body that is not a stream of events is an error message."""
MAX_LINE_BYTES: Final = 2 << 20
"""The reader of events holds one line in memory."""
TOO_LARGE: Final = "the answer was too large and was cut off"
CONNECT_SECONDS: Final = 10.0
WRITE_SECONDS: Final = 30.0
_LIMITS: Final = httpx2.Limits(max_connections=64, max_keepalive_connections=16, keepalive_expiry=60)


def new_client(idle_seconds: float) -> httpx2.AsyncClient:
    """The client gives up after `idle_seconds` without a byte."""
    return httpx2.AsyncClient(
        transport=GuardedTransport(httpx2.AsyncHTTPTransport(trust_env=False, limits=_LIMITS)),
        timeout=httpx2.Timeout(
            connect=min(CONNECT_SECONDS, idle_seconds),
            read=idle_seconds,
            write=min(WRITE_SECONDS, idle_seconds),
            pool=idle_seconds,
        ),
        headers={"accept-encoding": "identity"},
        follow_redirects=False,
        trust_env=False,
    )


class GuardedTransport(httpx2.AsyncBaseTransport):
    def __init__(self, inner: httpx2.AsyncBaseTransport) -> None:
        self._inner = inner

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        request.headers["accept-encoding"] = "identity"  # the libraries set their own
        response = await self._inner.handle_async_request(request)
        refusal = _refusal(response)
        if refusal is not None:
            await response.aclose()
            raise refusal
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _BoundedStream(response.stream, is_stream=_kind(response) == "text/event-stream")
        return response

    async def aclose(self) -> None:
        await self._inner.aclose()


class _BoundedStream(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, *, is_stream: bool) -> None:
        self._inner = inner
        self._max_bytes = MAX_STREAM_BYTES if is_stream else MAX_BODY_BYTES

    async def __aiter__(self) -> AsyncIterator[bytes]:
        total = line = 0
        async for part in self._inner:
            total += len(part)
            newline = part.rfind(b"\n")
            line = len(part) - newline - 1 if newline >= 0 else line + len(part)
            if total > self._max_bytes or line > MAX_LINE_BYTES:
                raise ModelTrouble(TroubleKind.BAD_ANSWER, TOO_LARGE, retryable=False)
            yield part

    async def aclose(self) -> None:
        await self._inner.aclose()


def _refusal(response: httpx2.Response) -> ModelTrouble | None:
    encoding = response.headers.get("content-encoding", "identity").strip().lower()
    if response.has_redirect_location or response.is_redirect:
        words = "it answers with a redirect, which is never followed; check its URL"
    elif encoding not in ("", "identity"):
        words = "it compresses its answers although it was asked not to"
    elif response.is_success and _kind(response) == "text/html":
        words = "it answers with a web page instead of a model's answer; check its URL"
        return ModelTrouble(TroubleKind.BAD_ANSWER, words)
    else:
        return None
    return ModelTrouble(TroubleKind.BAD_ANSWER, words, retryable=False)


def _kind(response: httpx2.Response) -> str:
    kind: str = response.headers.get("content-type", "")
    return kind.partition(";")[0].strip().lower()
