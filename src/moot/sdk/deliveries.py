"""`hub.deliveries`: how far messages got with agents, what got lost, and asking once more."""

from __future__ import annotations

from collections.abc import Sequence

from moot import shapes
from moot.model.answer import Receipt
from moot.sdk import http
from moot.sdk.call import Subject


class DeliveryCalls(Subject, subject="deliveries"):
    @http.get("/api/messages/{message_id}/deliveries", part="deliveries")
    async def of(self, message_id: str) -> list[shapes.DeliveryProgress]:
        """How far a message got with each agent, with the moments."""

    @http.get("/api/dead-letters", part="turns")
    async def dead_letters(self, *, agent: str | None = None) -> list[shapes.Turn]:
        """Turns that failed or expired and were not made up for since."""

    @http.post("/api/turns/{turn_id}/redeliver")
    async def redeliver(self, turn_id: str, *, idempotency_key: str | None = None) -> Receipt:
        """Ask an agent once more for what it failed to answer."""

    @http.post("/api/messages/{message_id}/again")
    async def ask_again(
        self, message_id: str, agents: Sequence[str], *, idempotency_key: str | None = None
    ) -> Receipt:
        """Say a message once more, for these agents only: whoever else it named is not called again."""
