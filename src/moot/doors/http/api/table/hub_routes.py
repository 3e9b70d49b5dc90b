"""The hub itself: health, limits, audit, search and events."""

from typing import Any, Final

from moot import shapes
from moot.doors.http.api import conversations, hub, schema
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import LOOK, RULE
from moot.errors import BadSettings, HubAbsent, NotFound

HUB: Final = (
    Route("GET", "/healthz", "Check that the process answers", hub.healthz, None, schema.Healthy),
    Route("GET", "/readyz", "Check that the store answers too", hub.readyz, LOOK, schema.Healthy),
    Route("GET", "/metrics", "Get metrics for Prometheus", hub.metrics, LOOK, str, media="text/plain"),
    Route("GET", "/openapi.json", "Get this description of the API", hub.openapi, LOOK, dict[str, Any]),
    Route("GET", "/api/status", "Get the state of the hub", hub.status, LOOK, schema.Status),
    Route(
        "GET", "/api/limits", "Get the limits, and how close agents are to them", hub.limits, LOOK,
        shapes.BrakeReport, query=schema.LimitsQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/limits/reset", "Reset the limiter between two agents", hub.reset_limit, RULE,
        shapes.PairLimit, body=schema.LimitedPair, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/settled", "Wait until no conversation has an open turn", hub.settled, RULE,
        schema.Settled, query=schema.WaitQuery, waits="timeout", errors=(HubAbsent,),
    ),
    Route(
        "GET", "/api/usage", "Get what the newest 1,000 turns cost", hub.usage, RULE, dict[str, Any],
        query=schema.UsageQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit", "List who did what, through which door, and what was refused; newest first", hub.audit,
        RULE, schema.AuditLog, query=schema.AuditFilter, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit/verify", "Verify that nothing was altered or removed", hub.verify, RULE, shapes.AuditReport,
    ),
    Route(
        "GET", "/api/search", "Search messages by words, phrases and operators, newest first", conversations.search,
        LOOK, schema.Hits, query=schema.SearchQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/reload", "Read moot.toml again and apply it", hub.reload, RULE, shapes.Reloaded,
        errors=(BadSettings, HubAbsent),
    ),
    Route(
        "GET", "/api/events", "Stream events as they happen", hub.events, LOOK, str,
        query=schema.EventsQuery, media="text/event-stream", headers=("Last-Event-ID",), errors=(NotFound,),
    ),
)  # fmt: skip
