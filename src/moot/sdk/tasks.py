"""`hub.tasks`: delegated tasks and their outcomes."""

from __future__ import annotations

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject

TASK = "/api/tasks/{id}"


class TaskCalls(Subject, subject="tasks"):
    @http.get("/api/tasks", part="tasks")
    async def list(
        self,
        *,
        state: str | None = None,
        by: str | None = None,
        to: str | None = None,
        before: str | None = None,
        limit: int = 100,
    ) -> list[shapes.Task]:
        """List the newest tasks you may see, oldest first: in one state (`unfinished`: open or working), by or to an
        agent. `before`, the id of a task, lists those that are older than it."""

    @http.get(TASK)
    async def get(self, id: str) -> shapes.Task:
        """Get a task by its id or the beginning of it."""

    @http.patch(TASK)
    async def update(
        self, id: str, state: str, *, result: str | None = None, note: str | None = None
    ) -> shapes.Task:
        """Its worker reports progress (`working`, with a note) or the outcome (`done`, `failed`); whoever delegated
        it, or a person, can cancel it (`cancelled`)."""
