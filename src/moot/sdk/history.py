"""`hub.history`: what has happened, as it is kept."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject


class HistoryCalls(Subject, subject="history"):
    @http.get("/api/audit", part="events")
    async def audit(self, *, after: int = 0, limit: int = 100) -> list[shapes.Event]:
        """Acts that change who may do what, or what stands written, in order."""
