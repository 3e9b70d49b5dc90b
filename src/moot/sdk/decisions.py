"""`hub.decisions`: what agents ask people to decide."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject

DECISION = "/api/decisions/{id}"


class DecisionCalls(Subject, subject="decisions"):
    @http.get("/api/decisions", part="decisions")
    async def list(
        self, *, state: str | None = None, before: str | None = None, limit: int = 100
    ) -> list[shapes.PersonsDecision]:
        """List the newest decisions you are asked for and those you asked for, oldest first, optionally in one state.
        `before`, the id of a decision, lists those that are older than it."""

    @http.get(DECISION)
    async def get(self, id: str) -> shapes.PersonsDecision:
        """Get a decision by its id or the beginning of it."""

    @http.post(DECISION)
    async def answer(self, id: str, answer: str) -> shapes.PersonsDecision:
        """Answer a decision: only once, and only whoever was asked. If it has choices, by text or number."""
