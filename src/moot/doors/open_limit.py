"""How much one principal may have open at once: streams, sockets and requests that wait, at all doors together.

Each costs a task and a place in the log's watch for as long as its caller likes. Requests are counted by the gate as
they come; this counts what does not end by itself.
"""

from collections.abc import Iterator
from contextlib import contextmanager

from moot.errors import RateLimited
from moot.rules.access import Principal, Standing

RETRY_MS = 1000


class OpenAtOnce:
    def __init__(self, most: int) -> None:
        self._most = most
        self._open: dict[str, int] = {}

    def enter(self, who: Principal) -> None:
        """One more of somebody; refused, and nothing has happened, when that is too many. The owner is exempt."""
        count = self._open.get(who.id, 0)
        if who.standing is not Standing.OWNER and count >= self._most:
            raise RateLimited(
                f"{who.name} has too many connections open",
                detail=f"at most {self._most} streams, sockets and waiting requests are allowed",
                fix=("close one, or wait for one to end",),
                retry_after_ms=RETRY_MS,
                limit="open_at_once",
            )
        self._open[who.id] = count + 1

    def leave(self, who: Principal) -> None:
        left = self._open[who.id] - 1
        if left:
            self._open[who.id] = left
        else:
            del self._open[who.id]

    @contextmanager
    def one(self, who: Principal) -> Iterator[None]:
        """One more of somebody while the block lasts."""
        self.enter(who)
        try:
            yield
        finally:
            self.leave(who)
