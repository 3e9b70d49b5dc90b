"""`hub.history`: the record of what has happened."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject


class HistoryCalls(Subject, subject="history"):
    @http.get("/api/audit", part="events")
    async def audit(self, *, after: int = 0, limit: int = 100) -> list[shapes.Event]:
        """List changes to access, settings and messages, oldest first."""
