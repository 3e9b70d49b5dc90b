"""Connections that have not shown a token yet: how many there may be, and how much of the hub's time they get.

All strangers together have a small share of one core, however many they are; the one that has used least goes first.
What a connection has used is credited back once it shows a token, and from then on nothing is counted. The number of
strangers is limited, in all and per address; a newcomer displaces the oldest. So a flood slows down those who cause it,
and callers with a token hardly notice.

Above: admission.py accepts connections, intake.py feeds what they send. Not here: how often callers with a token may
ask (gate/rate.py).
"""

import asyncio
import heapq
import itertools
import time
from collections.abc import Callable
from ipaddress import ip_address
from typing import Any, Final

KNOWN: Final = "moot.known"
"""In a scope's extensions: what to call once its connection has shown a token."""
SHARE: Final = 0.05
"""Of one core."""
BURST: Final = 0.02
"""Seconds of it that can be saved up."""
MAX_STRANGERS: Final = 512
MAX_OF_ONE: Final = 256
"""From one address. On this machine all have the same, and there is only the number in all."""
CHANCE_SECONDS: Final = 1.0
"""How long a stranger may stay even if others are waiting: time to show a token."""
MIN_PAUSE, MAX_PAUSE = 0.001, 0.005
"""Shortest and longest pause before checking again for time left: some may have been credited back."""


class Stranger:
    __slots__ = ("cost", "peer", "since", "transport")

    def __init__(self, transport: asyncio.BaseTransport, peer: str) -> None:
        self.since = time.perf_counter()
        self.transport = transport
        self.peer = peer
        self.cost = 0.0


class Strangers:
    def __init__(self) -> None:
        self._here: dict[asyncio.BaseTransport, Stranger] = {}
        self._from: dict[str, dict[asyncio.BaseTransport, Stranger]] = {}
        self.entrance = 0.0
        """Cost of accepting a connection."""
        self._coming = 0
        self._seconds_left = BURST
        self._since = time.perf_counter()
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Callable[[], None]]] = []
        self._timer: asyncio.TimerHandle | None = None

    # --- who is here -------------------------------------------------------------------------------------

    def add(self, transport: asyncio.BaseTransport) -> Stranger:
        address = transport.get_extra_info("peername")
        peer = str(address[0]) if isinstance(address, tuple) and address else ""
        stranger = Stranger(transport, peer)
        self._coming = max(0, self._coming - 1)
        mine = self._from.setdefault(peer, {})
        if len(mine) >= MAX_OF_ONE and not _is_here(peer):
            self._evict(next(iter(mine.values())))
        if len(self._here) >= MAX_STRANGERS:
            self._evict(next(iter(self._here.values())))
        self._from.setdefault(peer, mine)[transport] = self._here[transport] = stranger
        return stranger

    def has_room(self) -> bool:
        """Whether there is room for one more, or the oldest can be displaced."""
        if len(self._here) + self._coming < MAX_STRANGERS:
            return True
        if len(self._here) < MAX_STRANGERS:
            return False
        return time.perf_counter() - next(iter(self._here.values())).since >= CHANCE_SECONDS

    def of(self, transport: asyncio.BaseTransport) -> Stranger | None:
        return self._here.get(transport)

    def recognise(self, stranger: Stranger) -> None:
        """A stranger has shown a token: credit back what it has used."""
        if self._forget(stranger):
            self._seconds_left = min(BURST, self._seconds_left + stranger.cost + self.entrance)
            if self._waiting and self._seconds_left > 0 and self._timer is not None:
                self._timer.cancel()
                self._timer = asyncio.get_running_loop().call_later(0, self._go_on)

    def remove(self, transport: asyncio.BaseTransport) -> None:
        stranger = self._here.get(transport)
        if stranger is not None:
            self._forget(stranger)

    def _evict(self, stranger: Stranger) -> None:
        self._forget(stranger)
        transport: Any = stranger.transport
        transport.abort()

    def _forget(self, stranger: Stranger) -> bool:
        mine = self._from.get(stranger.peer, {})
        mine.pop(stranger.transport, None)
        if not mine:
            self._from.pop(stranger.peer, None)
        return self._here.pop(stranger.transport, None) is not None

    # --- what they cost ----------------------------------------------------------------------------------

    def charge(self, stranger: Stranger, seconds: float) -> None:
        stranger.cost += seconds
        self._seconds_left -= seconds

    def debt(self) -> float:
        """Seconds that strangers have used beyond their share."""
        self._refill()
        return max(0.0, -self._seconds_left)

    def expect(self) -> None:
        """Charge for a connection being accepted, until `add` or `on_failed`; credited back once it is recognised."""
        self._seconds_left -= self.entrance
        self._coming += 1

    def on_failed(self) -> None:
        self._coming = max(0, self._coming - 1)

    def do(self, cost: float, work: Callable[[], None]) -> None:
        """Do the work now if strangers have time left and none is waiting; otherwise when its turn comes."""
        self._refill()
        if self._seconds_left > 0 and not self._waiting:
            work()
            return
        heapq.heappush(self._waiting, (cost, next(self._order), work))
        self._plan()

    def _refill(self) -> None:
        now = time.perf_counter()
        self._seconds_left = min(BURST, self._seconds_left + (now - self._since) * SHARE)
        self._since = now

    def _plan(self) -> None:
        if self._timer is None and self._waiting:
            wait = min(MAX_PAUSE, max(MIN_PAUSE, -self._seconds_left / SHARE))
            self._timer = asyncio.get_running_loop().call_later(wait, self._go_on)

    def _go_on(self) -> None:
        self._timer = None
        self._refill()
        while self._waiting and self._seconds_left > 0:
            heapq.heappop(self._waiting)[2]()
        self._plan()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._waiting.clear()


def _is_here(peer: str) -> bool:
    try:
        return ip_address(peer).is_loopback
    except ValueError:
        return False
