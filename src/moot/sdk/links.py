"""`hub.links`: who may write to whom, and who stands above whom."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject
from moot.sdk.request import renamed

LINK = "/api/links/{id}"


class LinkCalls(Subject, subject="links"):
    @http.get("/api/links", part="links")
    async def list(self, *, between: str | None = None) -> list[shapes.Link]:
        """All links; with `between="a,b"` the one of these two, with one name those of this one."""

    @http.get(LINK)
    async def get(self, id: str) -> shapes.Link:
        """One link, by its id or the beginning of it."""

    @http.get(LINK + "/prompts")
    async def prompts(self, id: str) -> shapes.LinkPrompts:
        """What the prompts of agents with a model say of a link to each end, to the letter."""

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
        """Link two agents. The answer says whom that cuts off: an agent with a link writes only along its links."""

    @http.put(LINK, repeats=True)
    async def update(
        self,
        id: str,
        *,
        relationship: str | None = None,
        direction: str | None = None,
        enabled: bool | None = None,
    ) -> shapes.Link:
        """Change what is given. A link that is turned off here stays off, whatever moot.toml says."""

    @http.delete(LINK)
    async def delete(self, id: str, *, purge: bool = False) -> shapes.Link:
        """Delete a link; its channel is archived and stays readable. With `purge` what was said there is erased."""
