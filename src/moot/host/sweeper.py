"""The sweeper: does what time makes due, and finds what a lost wake-up would have left lying.

It sleeps until the next moment anything is due, at most `sweep_seconds`; idle, it does nothing else. With each look
it also looks around (`look_around`): what other processes told while their pings were lost, and which of them are gone.
A look that comes much too late means that this machine slept, or this process was stopped: before anybody is judged by
its lease, whoever slept along has time for a heartbeat.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from math import inf

import structlog
from msgspec import convert

from moot.errors import MootError
from moot.failpoints import failpoint
from moot.flow import sweep
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId
from moot.model.turn import OPEN
from moot.ports import EVERY_TURN, Clock, Store, TurnReads

log = structlog.get_logger("moot.sweeper")

SET_BACK_SECONDS = 1.0
"""By more than this, and what was to come due soon is far away: see flow/sweep.py."""
AGAIN_SECONDS = 1.0
"""After a look that failed."""


class Sweeper:
    def __init__(
        self,
        store: Store,
        turns: TurnReads,
        clock: Clock,
        every: float,
        look_around: Callable[[], Awaitable[None]] | None = None,
        *,
        keep_up: Callable[[], Awaitable[None]] | None = None,
        lease: float = inf,
    ) -> None:
        self._store = store
        self._look_around = look_around
        self._turns = turns
        self._clock = clock
        self._every = every
        self._keep_up = keep_up
        self._patience = lease / 3
        self._planned = 0.0
        self._newest = 0.0
        """The latest it has been."""
        self._sooner = asyncio.Event()
        self._sweeping = asyncio.Lock()

    async def run(self) -> None:
        """For as long as the hub lives."""
        while True:
            begun = self._clock.now()
            try:
                if self._look_around is not None:
                    await self._look_around()
                await self.run_due()
                due = await self._turns.next_due()
            except MootError as trouble:
                log.warning("sweep failed", action="sweep_failed", error=str(trouble))
                due = self._clock.now() + AGAIN_SECONDS
            latest = begun + self._every  # what comes due while it looks is not put off
            self._planned = latest if due is None else min(due, latest)
            if self._stopped_since(begun):
                self._planned = self._clock.now() + self._patience
            await self._wait()
            if self._stopped_since(self._planned):
                self._planned = self._clock.now() + self._patience
                await self._wait()

    def _stopped_since(self, moment: float) -> bool:
        return self._clock.now() - moment > self._patience

    async def _wait(self) -> None:
        self._sooner.clear()
        sleep = asyncio.ensure_future(self._clock.sleep_until(self._planned))
        poke = asyncio.ensure_future(self._sooner.wait())
        try:
            await asyncio.wait((sleep, poke), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for waiter in (sleep, poke):
                waiter.cancel()

    def on_events(self, events: list[Event]) -> None:
        """A commit may have made something due earlier than planned."""
        dues = [due for event in events if (due := _due(event))]
        if dues:
            self.expect(min(dues))

    def expect(self, due: float) -> None:
        """Something has to be looked at by then, which may be sooner than planned."""
        if due < self._planned:
            self._sooner.set()

    async def run_due(self) -> None:
        """Everything that is due by now, until nothing is; what another look is still busy with included."""
        async with self._sweeping:
            await self._run_due()

    async def _run_due(self) -> None:
        before, self._newest = self._newest, self._clock.now()
        if self._newest < before - SET_BACK_SECONDS:
            every = await self._turns.turns(states=tuple(OPEN), limit=EVERY_TURN)
            for where in sorted({turn.conversation for turn in every}):
                await self.look_at(where)
        for _ in range(100):
            begun = self._clock.now()
            due = await self._turns.due(begun)
            if not due:
                return
            failpoint("sweep.begun")
            await asyncio.gather(*(self.look_at(conversation) for conversation in due))
            if self._stopped_since(begun):
                return

    async def look_at(self, conversation: ConversationId) -> None:
        """Our own host says that it lives before anybody's lease is judged, and no later than a moment ago."""
        begun = self._clock.now()
        if self._keep_up is not None:
            await self._keep_up()
        with suppress(MootError):
            await self._store.transact(sweep, sweep.Sweep(conversation, begun))


def _due(event: Event) -> float:
    """When somebody has to look at what an event tells of: a turn, or a task until it ends; 0 is never."""
    if event.turn is not None:
        return event.turn.due
    if event.type is EventType.TASK_CREATED and event.body is not None:
        return convert(event.body["deadline"], float)
    return 0.0
