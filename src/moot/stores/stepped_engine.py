"""A memory engine for tests: its ids have gaps, as those of several writers have. Ships in `moot.testing`."""

from moot.model.ids import TurnId
from moot.stores.desk import Desk
from moot.stores.memory_engine import MemoryEngine

STEP = 7


class SteppedDesk(Desk):
    """Gives ids with gaps between them, as a sequence does that several writers draw from."""

    def turn_id(self) -> TurnId:
        self.next_turn += STEP
        return super().turn_id()

    def event_id(self) -> int:
        self.next_event += STEP
        return super().event_id()


class SteppedEngine(MemoryEngine):
    """Never gives out two consecutive ids."""

    desk = SteppedDesk
