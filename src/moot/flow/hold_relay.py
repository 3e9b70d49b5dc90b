"""Hold the lease of the one who publishes: keep it, or take it where nobody holds it any more.

A hand-over raises the fence, so that what a former holder still wants to mark is refused (mark_published.py).
"""

from msgspec import Struct, structs

from moot.model.change import Decision, PutRecord
from moot.model.ids import HostId
from moot.model.moment import Moment
from moot.model.records.relay import RELAY, RELAYS, RelayLease
from moot.ports import Scope
from moot.rules.draft import Seen


class HoldRelay(Struct, frozen=True, gc=False):
    host: HostId
    seconds: float
    """0 gives it back."""


def scope(command: HoldRelay) -> Scope:
    return Scope(records=(RELAYS.one(RELAY),))


def decide(command: HoldRelay, seen: Seen, at: Moment) -> Decision[RelayLease]:
    """Answers with who holds it now."""
    held = seen.record(RELAYS, RELAY)
    until = at.now + command.seconds
    if held is None:
        held = RelayLease(RELAY, command.host, 1, until)
    elif held.host == command.host:
        held = structs.replace(held, until=until)
    elif held.until <= at.now:
        held = RelayLease(RELAY, command.host, held.fence + 1, until)
    else:
        return Decision([], held)
    return Decision([PutRecord(RELAYS, held)], held)
