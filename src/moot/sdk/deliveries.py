"""`hub.deliveries`: how far messages got with agents, what failed, and retrying it."""

from __future__ import annotations

from collections.abc import Sequence

from moot import shapes
from moot.model.answer import Receipt
from moot.sdk import http
from moot.sdk.call import Subject


class DeliveryCalls(Subject, subject="deliveries"):
    @http.get("/api/messages/{message_id}/deliveries", part="deliveries")
    async def of(self, message_id: str) -> list[shapes.DeliveryProgress]:
        """Get how far a message got with each agent, and when."""

    @http.get("/api/dead-letters", part="turns")
    async def dead_letters(self, *, agent: str | None = None) -> list[shapes.Turn]:
        """List turns that failed or expired and were not retried since."""

    @http.post("/api/turns/{turn_id}/redeliver")
    async def redeliver(self, turn_id: str, *, idempotency_key: str | None = None) -> Receipt:
        """Retry a turn that failed or expired."""

    @http.post("/api/messages/{message_id}/again")
    async def ask_again(
        self, message_id: str, agents: Sequence[str], *, idempotency_key: str | None = None
    ) -> Receipt:
        """Repeat a message for these agents only; others it mentions are not asked again."""
