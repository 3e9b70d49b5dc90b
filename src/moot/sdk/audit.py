"""`hub.audit`: what was done, by whom, through which door; and proof that nothing of it was altered."""

from __future__ import annotations

from collections.abc import Sequence

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject
from moot.sdk.request import with_commas


class AuditCalls(Subject, subject="audit"):
    @http.get("/api/audit", part="entries", shaped=with_commas("acts"))
    async def log(
        self,
        *,
        agent: str | None = None,
        link: str | None = None,
        conversation: str | None = None,
        acts: Sequence[str] = (),
        since: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[shapes.AuditEntry]:
        """What was done and what was refused, newest first. Filters: `agent` for what it did or what was done to it,
        `link` for one link, `conversation` for who posted there and through which door, `acts` such as `link.created`
        or `refused`, `since` and `before` as RFC 3339 or a time ago such as `2h`. For the owner only."""

    @http.get("/api/audit/verify")
    async def verify(self) -> shapes.AuditReport:
        """Walk every chain of the home and compare it with the hashes written down outside the database. For the owner
        only."""
