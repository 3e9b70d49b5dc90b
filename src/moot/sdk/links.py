"""`hub.links`: who may write to whom, and who is whose superior."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject
from moot.sdk.request import renamed

LINK = "/api/links/{id}"


class LinkCalls(Subject, subject="links"):
    @http.get("/api/links", part="links")
    async def list(self, *, between: str | None = None) -> list[shapes.Link]:
        """List links; with `between="a,b"` only the link between these two, with one name those of this agent."""

    @http.get(LINK)
    async def get(self, id: str) -> shapes.Link:
        """Get a link by its id, the beginning of it, or its two ends: `arya,gendry`."""

    @http.get(LINK + "/prompts")
    async def prompts(self, id: str) -> shapes.LinkPrompts:
        """Get exactly what the prompts of both agents say about a link."""

    @http.post("/api/links", shaped=renamed(from_="from"))
    async def create(
        self,
        from_: str,
        to: str,
        *,
        relationship: str = "peer",
        direction: str = "two_way",
        enabled: bool = True,
    ) -> shapes.MadeLink:
        """Link two agents. The answer lists whom they can no longer reach: linked agents write only along links."""

    @http.put("/api/links", repeats=True)
    async def apply(
        self, links: Sequence[Mapping[str, Any]], *, dry_run: bool = False, expects: str | None = None
    ) -> shapes.AppliedLinks:
        """Make these all links there are, by one decision. Rows are as in moot.toml: `from`, `to`, `relationship`,
        `direction`, `enabled`. Refused as a whole where it says a link of moot.toml otherwise, or not at all. With
        `dry_run` nothing changes; the `version` of its answer, given as `expects`, has it refused where somebody has
        changed a link since."""

    @http.put(LINK, repeats=True)
    async def update(
        self,
        id: str,
        *,
        relationship: str | None = None,
        direction: str | None = None,
        enabled: bool | None = None,
        override: bool = False,
    ) -> shapes.Link:
        """Change the fields that are given. A link disabled here stays disabled even if moot.toml enables it. Direction
        and relationship of a link in moot.toml are changed only with `override`, until the file is read again."""

    @http.delete(LINK)
    async def delete(self, id: str, *, purge: bool = False) -> shapes.Link:
        """Delete a link; its channel is archived and stays readable, or is erased with `purge`."""
