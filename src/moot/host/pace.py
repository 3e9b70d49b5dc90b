"""What a process does as time passes, for a clock that tests move by hand (testing/clock.py).

On the system's clock the host's heartbeat and the sweeper wait for themselves.
"""

from moot.host.host import AgentHost
from moot.host.sweeper import Sweeper
from moot.ports import TurnReads


class Pace:
    def __init__(self, host: AgentHost, sweeper: Sweeper, turns: TurnReads) -> None:
        self._host = host
        self._sweeper = sweeper
        self._turns = turns

    async def keep_up(self) -> None:
        await self._host.keep_up()

    async def run_due(self) -> None:
        await self._sweeper.run_due()
        await self._host.wait_for_claims()

    async def next_due(self) -> float | None:
        moments = (await self._turns.next_due(), self._host.next_beat)
        return min((moment for moment in moments if moment is not None), default=None)
