"""Where people have put somebody on the map of agents and links. One map for everybody who looks at this hub.

Above: flow/arrange.py moves them, hub/queries/topology.py shows them. Not here: where somebody goes whom nobody has put
anywhere; whoever draws the map decides that.
"""

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.records.record import Table


class Position(Struct, frozen=True, gc=False):
    participant: ParticipantId
    x: float
    y: float
    by: ParticipantId
    """Who put it there."""
    at: float


POSITIONS = Table("positions", Position, key=("participant",), all_at_once=True, in_micros=("at",))
