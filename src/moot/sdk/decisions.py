"""`hub.decisions`: what agents ask people to decide."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject

DECISION = "/api/decisions/{id}"


class DecisionCalls(Subject, subject="decisions"):
    @http.get("/api/decisions", part="decisions")
    async def list(self, *, state: str | None = None) -> list[shapes.PersonsDecision]:
        """Those you are asked for, and those you ask for, oldest first: all, or in one state."""

    @http.get(DECISION)
    async def get(self, id: str) -> shapes.PersonsDecision:
        """One decision, by its id or the beginning of it."""

    @http.post(DECISION)
    async def answer(self, id: str, answer: str) -> shapes.PersonsDecision:
        """Decide. It counts once, and only from whom was asked; of several choices one, by its words or its number."""
