"""The live lane within one process: what is published goes to those who watch, and nowhere else.

Beside the log: pieces of replies and what agents are doing are shown and forgotten, never stored. Lanes that reach
further (hub/process/live_lane.py) take what arrives from elsewhere in through `arrive`.
"""

from collections.abc import Callable

from moot.model.event import Event


class LocalLane:
    """`LiveLane` of a process alone."""

    def __init__(self) -> None:
        self._watchers: list[Callable[[Event], None]] = []

    def watch(self, watcher: Callable[[Event], None]) -> None:
        self._watchers.append(watcher)

    def publish(self, event: Event) -> None:
        self.arrive(event)

    def arrive(self, event: Event) -> None:
        """Hand an event to those who watch here, wherever it was published."""
        for watcher in self._watchers:
            watcher(event)
