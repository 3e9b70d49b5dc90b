"""The live lane between the processes on a home: over the sockets on which those of one machine ping each other, and
to hubs on other machines by way of the store, where it has one.

Above: the runtime gives it to the host, which publishes, and to the log, whose followers see it. Below: peers.py
carries lines to those who watch; a line that finds no room is dropped.
"""

from typing import Any

from msgspec import DecodeError, Struct, ValidationError, convert, json, to_builtins

from moot.hub.process.peers import Peers
from moot.logs.live import LocalLane
from moot.model.event import Event
from moot.storage import FarLane


class SocketLane(LocalLane):
    """`LiveLane` from each process on a home to all that watch it."""

    def __init__(self, peers: Peers) -> None:
        super().__init__()
        self._peers = peers
        peers.hear_live_with(self._arrived)

    def publish(self, event: Event) -> None:
        self.arrive(event)
        if self._peers.are_watched:
            self._peers.send_to_watching({"live": to_builtins(event)})

    def _arrived(self, sent: Any) -> None:
        try:
            event = convert(sent, Event)
        except ValidationError:
            return  # another version, or not one of us; the lane may lose what it likes
        self.arrive(event)


class FarLine(Struct, frozen=True):
    """What goes to other machines."""

    machine: str
    live: Event


class FarReachingLane(SocketLane):
    """`LiveLane` to hubs on other machines as well; those of this one have it from the socket."""

    def __init__(self, peers: Peers, far: FarLane, machine: str) -> None:
        super().__init__(peers)
        self._far = far
        self._machine = machine
        self._read = json.Decoder(FarLine)

    def listen(self) -> None:
        self._far.hear(self._came_from_afar)

    def publish(self, event: Event) -> None:
        super().publish(event)
        if self._peers.are_watched_elsewhere:
            self._far.send(json.encode(FarLine(self._machine, event)).decode())

    def _came_from_afar(self, line: str) -> None:
        try:
            sent = self._read.decode(line)
        except DecodeError:
            return  # another version, or not one of us
        if sent.machine != self._machine:
            self.arrive(sent.live)
