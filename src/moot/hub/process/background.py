"""Background tasks of one open hub: started with `spawn`, cancelled when the hub closes."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine

import structlog

log = structlog.get_logger("moot.hub")


class BackgroundTasks:
    def __init__(self) -> None:
        self._running: set[asyncio.Task[object]] = set()

    def spawn(self, work: Coroutine[object, object, object]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[object]") -> None:
        self._running.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a task of the hub failed", action="hub_task_failed", error=repr(error))

    async def close(self) -> None:
        """Cancel what runs, and wait until it has ended."""
        tasks = list(self._running)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Once:
    """Runs one function at a time: requests that come while it runs are served by one more run after it."""

    def __init__(self, tasks: BackgroundTasks) -> None:
        self._tasks = tasks
        self._running = False
        self._again = False

    def ask(self, look: Callable[[], Awaitable[None]]) -> None:
        self._again = True
        if not self._running:
            self._running = True
            self._tasks.spawn(self._look(look))

    async def _look(self, look: Callable[[], Awaitable[None]]) -> None:
        try:
            while self._again:
                self._again = False
                await look()
        finally:
            self._running = False
