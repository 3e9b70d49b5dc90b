"""How much one principal may have open at once: streams, sockets and waiting requests, at all doors together.

Each costs a task and a place in the log's watch for as long as its caller likes. The gate limits how often requests
come; this limits what does not end by itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from moot.errors import RateLimited
from moot.rules.access import Principal, Standing

RETRY_MS = 1000


class OpenAtOnce:
    def __init__(self, limit: int) -> None:
        self._limit = limit
        self._open: dict[str, int] = {}

    def enter(self, caller: Principal) -> None:
        """Count one more of somebody; refused, with nothing done, if that is too many. The owner is exempt."""
        count = self._open.get(caller.id, 0)
        if caller.standing is not Standing.OWNER and count >= self._limit:
            raise RateLimited(
                f"{caller.name} has too many connections open",
                detail=f"at most {self._limit} streams, sockets and waiting requests are allowed",
                fix=("close one, or wait for one to end",),
                retry_after_ms=RETRY_MS,
                limit="open_at_once",
            )
        self._open[caller.id] = count + 1

    def leave(self, caller: Principal) -> None:
        left = self._open[caller.id] - 1
        if left:
            self._open[caller.id] = left
        else:
            del self._open[caller.id]

    @contextmanager
    def one(self, caller: Principal) -> Iterator[None]:
        """Count one more of somebody for the duration of the block."""
        self.enter(caller)
        try:
            yield
        finally:
            self.leave(caller)
