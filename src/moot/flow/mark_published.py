"""Mark what was published: its rows leave the outbox.

Only for who holds the lease under the fence it published with.
"""

from msgspec import Struct

from moot.errors import Stale
from moot.model.change import Decision, DropRecord
from moot.model.ids import HostId
from moot.model.moment import Moment
from moot.model.records.outbox import OUTBOX
from moot.model.records.record import Key
from moot.model.records.relay import RELAY, RELAYS
from moot.ports import Scope
from moot.rules.draft import Seen


class MarkPublished(Struct, frozen=True, gc=False):
    host: HostId
    fence: int
    keys: tuple[Key, ...]


def scope(command: MarkPublished) -> Scope:
    return Scope(records=(RELAYS.one(RELAY),))


def decide(command: MarkPublished, seen: Seen, at: Moment) -> Decision[None]:
    held = seen.record(RELAYS, RELAY)
    if held is None or (held.host, held.fence) != (command.host, command.fence):
        raise Stale(
            "another process publishes now", detail="what was published twice is passed over by readers"
        )
    return Decision([DropRecord(OUTBOX, key) for key in command.keys], None)
