"""The live lane between the processes of one machine: over the sockets on which they ping each other.

Above: the runtime gives it to the host, which publishes, and to the log, whose followers see it. Below: peers.py
carries lines to those who watch; a line that finds no room is dropped.
"""

from typing import Any

from msgspec import ValidationError, convert, to_builtins

from moot.hub.process.peers import Peers
from moot.logs.live import LocalLane
from moot.model.event import Event


class SocketLane(LocalLane):
    """`LiveLane` from each process on a home to all that watch it."""

    def __init__(self, peers: Peers) -> None:
        super().__init__()
        self._peers = peers
        peers.hear_live_with(self._arrived)

    def publish(self, event: Event) -> None:
        self.arrive(event)
        if self._peers.are_watched:
            self._peers.tell_watching({"live": to_builtins(event)})

    def _arrived(self, sent: Any) -> None:
        try:
            event = convert(sent, Event)
        except ValidationError:
            return  # another version, or not one of us; the lane may lose what it likes
        self.arrive(event)
