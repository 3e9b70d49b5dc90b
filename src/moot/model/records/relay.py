"""Who publishes: one process per home, by a lease with a fence, so that one that slept through its own does no harm."""

from msgspec import Struct

from moot.model.ids import HostId
from moot.model.records.record import Table

RELAY = "relay"
"""The name of the only one there is."""


class RelayLease(Struct, frozen=True, gc=False):
    name: str
    host: HostId
    fence: int
    """Rises with every hand-over."""
    until: float


RELAYS = Table("relays", RelayLease, key=("name",), all_at_once=True, in_micros=("until",))
