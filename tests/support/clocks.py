"""Clocks of tests in which real time passes."""

from moot.host.clock import SystemClock


class LaterClock(SystemClock):
    """The system's, some time later: whatever whoever was killed had been given for a time has run out."""

    SECONDS = 120.0

    def now(self) -> float:
        return super().now() + self.SECONDS

    async def sleep_until(self, moment: float) -> None:
        await super().sleep_until(moment - self.SECONDS)
