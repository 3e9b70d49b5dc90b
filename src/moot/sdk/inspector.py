"""`hub.inspector`: looking behind what agents say and what one is told."""

from __future__ import annotations

from typing import Any

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject, not_over_http
from moot.sdk.request import renamed


class InspectorCalls(Subject, subject="inspector"):
    @http.get("/api/agents/{agent}/context")
    async def context(self, agent: str, conversation: str) -> dict[str, Any]:
        """What an agent would be given if its turn in a conversation began now."""

    @http.get("/api/agents/{agent}/replay")
    async def replay(self, agent: str) -> shapes.Replayed:
        """An agent's views rebuilt from the first record of the log, and held against the store's."""

    @http.get("/api/usage")
    async def usage(self, *, agent: str | None = None, conversation: str | None = None) -> dict[str, Any]:
        """What the newest thousand turns cost, of one agent or all, in one conversation or all."""

    @not_over_http("told with `settled`")
    async def unsettled(self, conversation: str | None = None) -> list[shapes.Turn]:
        """The turns that `settled` would wait for."""

    @http.get("/api/search", part="removed_by", shaped=renamed(query="q"))
    async def narrowest(self, query: str) -> shapes.Removed | None:
        """Of a search that finds nothing, the filter that removed the most."""
