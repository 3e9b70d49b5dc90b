"""`hub.inspector`: what agents are given, what turns cost, and checks of the store."""

from __future__ import annotations

from typing import Any

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject, not_over_http
from moot.sdk.request import renamed


class InspectorCalls(Subject, subject="inspector"):
    @http.get("/api/agents/{agent}/context")
    async def context(self, agent: str, conversation: str) -> dict[str, Any]:
        """Get the context an agent's turn in a conversation would start with now."""

    @http.get("/api/agents/{agent}/replay")
    async def replay(self, agent: str) -> shapes.Replayed:
        """Rebuild an agent's views from the whole log and compare them with the store's."""

    @http.get("/api/usage")
    async def usage(self, *, agent: str | None = None, conversation: str | None = None) -> dict[str, Any]:
        """Get what the newest 1,000 turns cost, optionally of one agent or in one conversation."""

    @not_over_http("`settled` reports them when it times out")
    async def unsettled(self, conversation: str | None = None) -> list[shapes.Turn]:
        """List the turns that `settled` would wait for."""

    @http.get("/api/search", part="removed_by", shaped=renamed(query="q"))
    async def narrowest(self, query: str) -> shapes.Removed | None:
        """For a search without results, get the filter that removed the most."""
