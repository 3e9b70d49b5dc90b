"""Sending spans to a collector: OTLP over HTTP as JSON, in the background, bounded; what cannot be sent is dropped.

Above: runtime.py. Headers for the collector come from OTEL_EXPORTER_OTLP_HEADERS, as everywhere. It needs no library: a
collector takes JSON, and all there is to say is a list of spans (decision 31).
"""

import asyncio
import os
import urllib.request
from collections import deque
from collections.abc import Iterable, Mapping
from typing import Final
from urllib.parse import unquote

import structlog
from msgspec import json

from moot import __version__
from moot.hub.telemetry.spans import Span, Value
from moot.model.json import JsonObject

log = structlog.get_logger("moot.otel")

MAX_WAITING: Final = 4096
MAX_AT_ONCE: Final = 512
EVERY_SECONDS: Final = 1.0
TIMEOUT_SECONDS: Final = 5.0
INTERNAL, ERROR = 1, 2
"""A span's kind, and the status of one that failed, by OTLP's numbers."""


class SpanSender:
    """One per process, for as long as it runs."""

    def __init__(self, endpoint: str, service: str, environ: Mapping[str, str] = os.environ) -> None:
        self._url = endpoint.rstrip("/") + "/v1/traces"
        self._resource = _attributes({"service.name": service, "service.version": __version__})
        self._headers = {"Content-Type": "application/json", **_headers(environ)}
        self._waiting: deque[Span] = deque(maxlen=MAX_WAITING)
        self._opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        self.dropped = 0
        self._complained = False

    def add(self, spans: Iterable[Span]) -> None:
        for span in spans:
            self.dropped += len(self._waiting) == MAX_WAITING
            self._waiting.append(span)

    async def run(self) -> None:
        while True:
            await asyncio.sleep(EVERY_SECONDS)
            await self.flush()

    async def flush(self) -> None:
        """All that waits, some at a time."""
        while self._waiting:
            some = [self._waiting.popleft() for _ in range(min(MAX_AT_ONCE, len(self._waiting)))]
            try:
                await asyncio.to_thread(self._post, json.encode(self._request(some)))
                self._complained = False
            except (OSError, ValueError) as trouble:  # urllib's errors are an OSError
                self.dropped += len(some)
                if not self._complained:
                    log.warning("traces not sent", action="traces_not_sent", error=str(trouble))
                    self._complained = True
                return

    def _post(self, body: bytes) -> None:
        request = urllib.request.Request(self._url, body, self._headers, method="POST")
        with self._opener.open(request, timeout=TIMEOUT_SECONDS) as answer:
            answer.read()

    def _request(self, spans: list[Span]) -> JsonObject:
        scope = {"name": "moot", "version": __version__}
        scoped = {"scope": scope, "spans": [_span(span) for span in spans]}
        return {"resourceSpans": [{"resource": {"attributes": self._resource}, "scopeSpans": [scoped]}]}


def _span(span: Span) -> JsonObject:
    shape: JsonObject = {
        "traceId": span.trace,
        "spanId": span.id,
        "name": span.name,
        "kind": INTERNAL,
        "startTimeUnixNano": str(round(span.start * 1e6) * 1000),
        "endTimeUnixNano": str(round(max(span.end, span.start) * 1e6) * 1000),
        "attributes": _attributes(span.attributes),
        "status": {"code": ERROR} if span.failed else {},
    }
    return shape | {"parentSpanId": span.parent} if span.parent else shape


def _attributes(values: Mapping[str, Value]) -> list[JsonObject]:
    return [{"key": key, "value": _value(value)} for key, value in values.items()]


def _value(value: Value) -> JsonObject:
    if isinstance(value, bool):
        return {"boolValue": value}
    return {"intValue": str(value)} if isinstance(value, int) else {"stringValue": value}


def _headers(environ: Mapping[str, str]) -> dict[str, str]:
    """`name=value,name=value`, percent-encoded."""
    pairs = (pair.partition("=") for pair in environ.get("OTEL_EXPORTER_OTLP_HEADERS", "").split(","))
    return {
        unquote(name.strip()): unquote(value.strip()) for name, _, value in pairs if name.strip() and value
    }
