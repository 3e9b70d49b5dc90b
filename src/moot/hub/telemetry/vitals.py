"""How a hub is doing, for /metrics: its batches as they are written, the shares it holds, whether its file rules,
what waits for a log outside.

Above: doors/http/metrics.py. Below: the store says each batch, host/held_shares.py what is held.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from moot.context.live_views import LiveViews
from moot.host.held_shares import HeldShares
from moot.model.records.outbox import LogFigures
from moot.model.records.share import CONFIG
from moot.ports import BatchWatcher, HomeStore, Log

if TYPE_CHECKING:
    from moot.hub import Hub


class Vitals:
    """Empty until the hub is open for writing."""

    def __init__(self) -> None:
        self._shares: HeldShares | None = None
        self._watch: Callable[[BatchWatcher], None] = lambda watcher: None
        self._leads = True
        self.log_figures: Callable[[], LogFigures | None] = lambda: None
        self.views: LiveViews | None = None
        """What agents of this process see of their conversations."""

    def serve(self, shares: HeldShares, store: HomeStore, log: Log, *, leads_alone: bool) -> None:
        self._shares, self._watch, self._leads = shares, store.watch_batches, leads_alone
        self.log_figures = log.figures

    def watch_batches(self, watcher: BatchWatcher) -> None:
        """Call it with each batch: how many commands, how many seconds, whether it failed."""
        self._watch(watcher)

    @property
    def shares_held(self) -> int:
        """Parts of agents that this process has."""
        return self._shares.count() if self._shares is not None else 0

    @property
    def leads(self) -> bool:
        """Whether this hub's moot.toml says which links there are."""
        return self._leads or (self._shares is not None and self._shares.holds(CONFIG))


def vitals_of(hub: Hub) -> Vitals:
    """Of the process that this hub runs in."""
    return hub._core.vitals
