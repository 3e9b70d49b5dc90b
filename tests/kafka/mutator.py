"""An outlet that does to records what a bad day would: some are written twice, some late, some never.

It acknowledges all of them. What was acknowledged and is not there is what a broker loses that did not sync.
"""

import random
from collections.abc import Sequence

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.outlet import NotTaken, Outlet

Written = tuple[str, str, bytes]


class Mutator(Outlet):
    def __init__(self, brokers: Brokers, seed: int) -> None:
        super().__init__(brokers)
        self._chance = random.Random(seed)
        self._late: list[Written] = []
        self.doubled = self.dropped = self.moved = 0

    async def publish(self, records: Sequence[Written]) -> list[NotTaken | None]:
        going: list[Written] = []
        for record in records:
            match self._chance.choice(("as it is", "as it is", "twice", "late", "never")):
                case "twice":
                    going += [record, record]
                    self.doubled += 1
                case "late":
                    self._late.append(record)
                    self.moved += 1
                case "never":
                    self.dropped += 1
                case _:
                    going.append(record)
        if self._chance.random() < 0.5:
            going, self._late = [*going, *reversed(self._late)], []
        if self._chance.random() < 0.5:
            self._chance.shuffle(going)
        if going:
            assert set(await super().publish(going)) == {None}
        return [None] * len(records)
