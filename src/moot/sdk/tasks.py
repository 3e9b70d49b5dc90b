"""`hub.tasks`: what was delegated, and what became of it."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject

TASK = "/api/tasks/{id}"


class TaskCalls(Subject, subject="tasks"):
    @http.get("/api/tasks", part="tasks")
    async def list(
        self, *, state: str | None = None, by: str | None = None, to: str | None = None
    ) -> list[shapes.Task]:
        """Those you may see, oldest first: in one state (`unfinished` for open or worked on), by or to one agent."""

    @http.get(TASK)
    async def get(self, id: str) -> shapes.Task:
        """One task, by its id or the beginning of it."""

    @http.patch(TASK)
    async def update(
        self, id: str, state: str, *, result: str | None = None, note: str | None = None
    ) -> shapes.Task:
        """Its worker says how far it is (`working` with a note) or how it ended (`done`, `failed`); whoever delegated
        it, or a person, calls it off (`cancelled`)."""
