"""The sweeper: does what has become due, and finds what a lost wake-up would have missed.

It sleeps until something is due, at most `sweep_seconds`; idle, it does nothing else. Each look also calls
`look_around`: events whose pings were lost, and processes that are gone. If a look comes much too late, the machine
slept or this process was suspended: then hosts get time for a heartbeat before they are judged by their leases.
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
"""If the clock was set back by more than this, due moments have moved far away: see flow/sweep.py."""
AGAIN_SECONDS = 1.0
"""Pause after a failed look."""


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
        """The latest time seen."""
        self._sooner = asyncio.Event()
        self._sweeping = asyncio.Lock()

    async def run(self) -> None:
        """For as long as the hub lives."""
        while True:
            started = self._clock.now()
            try:
                if self._look_around is not None:
                    await self._look_around()
                await self.run_due()
                next_due = await self._turns.next_due()
            except MootError as trouble:
                log.warning("sweep failed", action="sweep_failed", error=str(trouble))
                next_due = self._clock.now() + AGAIN_SECONDS
            latest = started + self._every  # what comes due during the look is not delayed
            self._planned = latest if next_due is None else min(next_due, latest)
            if self._stopped_since(started):
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
        """Something is due at this moment, which may be sooner than planned."""
        if due < self._planned:
            self._sooner.set()

    async def run_due(self) -> None:
        """Do everything that is due by now, including what another look is still working on."""
        async with self._sweeping:
            await self._run_due()

    async def _run_due(self) -> None:
        before, self._newest = self._newest, self._clock.now()
        if self._newest < before - SET_BACK_SECONDS:
            every = await self._turns.turns(states=tuple(OPEN), limit=EVERY_TURN)
            for where in sorted({turn.conversation for turn in every}):
                await self.look_at(where)
        for _ in range(100):
            started = self._clock.now()
            due = await self._turns.due(started)
            if not due:
                return
            failpoint("sweep.begun")
            await asyncio.gather(*(self.look_at(conversation) for conversation in due))
            if self._stopped_since(started):
                return

    async def look_at(self, conversation: ConversationId) -> None:
        """Sweep one conversation. Our own host sends its heartbeat first, so that its lease is not judged stale."""
        started = self._clock.now()
        if self._keep_up is not None:
            await self._keep_up()
        with suppress(MootError):
            await self._store.transact(sweep, sweep.Sweep(conversation, started))


def _due(event: Event) -> float:
    """When the turn or task of an event is due; 0 for never."""
    if event.turn is not None:
        return event.turn.due
    if event.type is EventType.TASK_CREATED and event.body is not None:
        return convert(event.body["deadline"], float)
    return 0.0
