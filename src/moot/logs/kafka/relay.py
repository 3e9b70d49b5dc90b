"""The relay: publishes what the outbox holds. One process per home does, by a lease; the others stand by.

Rows leave the outbox when their records are acknowledged, under the fence they were published with. A relay that dies
in between leaves them for the next one, which publishes them again: readers pass over what they know. Nobody who
writes ever waits for it. Above: log.py. Below: outlet.py produces, places.py knows the topics.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress

import structlog

from moot.errors import MootError, Stale
from moot.failpoints import failpoint
from moot.flow import hold_relay, mark_published
from moot.logs.kafka.cluster import KafkaOutOfReach
from moot.logs.kafka.outlet import Outlet
from moot.logs.kafka.places import Places, StoreOfTopics
from moot.logs.kafka.record import Record, encoded, envelope_of
from moot.model.ids import ConversationId, HostId
from moot.model.records.outbox import OUTBOX, OutboxRow
from moot.model.records.relay import RelayLease
from moot.ports import Clock

log = structlog.get_logger("moot.kafka")

LEASE_SECONDS = 5.0
RENEW_SECONDS = 1.5
LOOK_SECONDS = 1.0
"""So often it looks without being told: others write too."""
AT_ONCE = 500
LONGEST_PAUSE = 5.0
CHECK_SECONDS = 3600.0
"""So often topics are held against what was written down of them."""
STOPPED_CHECK_SECONDS = 60.0
"""The same while one of them must not be written to: somebody may have mended it."""


class Relay:
    def __init__(
        self,
        store: StoreOfTopics,
        clock: Clock,
        outlet: Outlet,
        places: Places,
        *,
        host: HostId,
        instance: str,
    ) -> None:
        self._store = store
        self._clock = clock
        self._outlet = outlet
        self._places = places
        self._host = host
        self._instance = instance
        self._work = asyncio.Event()
        self._renew_at = 0.0
        self._checked_at = 0.0
        self.lease: RelayLease | None = None
        self.failing_since: float | None = None
        """Since when nothing has been taken by the brokers."""

    def hinted(self) -> None:
        """There may be something to publish."""
        self._work.set()

    async def run(self) -> None:
        pause = 0.0
        while True:
            try:
                busy = await self.turn()
                pause, self.failing_since = 0.0, None
            except Exception as trouble:  # whatever it was: nobody else publishes, so it goes on
                busy = False
                pause = min(max(pause * 2, 0.5), LONGEST_PAUSE)
                self.failing_since = self.failing_since or self._clock.now()
                log.warning("publishing failed", action="relay_failed", error=str(trouble))
            if not busy:
                await self._rest(pause or LOOK_SECONDS, until_hinted=not pause)

    async def _rest(self, seconds: float, *, until_hinted: bool) -> None:
        if not until_hinted:
            await asyncio.sleep(seconds)
            return
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._work.wait()
        self._work.clear()

    async def turn(self) -> bool:
        """Publish what there is, if it is ours to do; whether there may be more."""
        lease = await self._held()
        if lease is None:
            return False
        every = STOPPED_CHECK_SECONDS if self._places.stopped else CHECK_SECONDS
        if self._clock.now() >= self._checked_at + every:
            await self._places.check()
            self._checked_at = self._clock.now()
        rows = await self._store.unpublished(AT_ONCE, without=tuple(self._places.stopped))
        if not rows:
            return False
        failpoint("relay.claimed")
        published = await self._publish(rows)
        failpoint("relay.produced")
        if published:
            await self._mark(lease, published)
            failpoint("relay.marked")
        left = sum(row.topic not in self._places.stopped for row in rows) - len(published)
        if left > 0:
            self._checked_at = 0.0  # perhaps a topic is gone
            raise KafkaOutOfReach(f"{left} of {len(rows)} records were not taken")
        return len(rows) == AT_ONCE

    async def _held(self) -> RelayLease | None:
        """The lease, if it is ours."""
        if self.lease is None or self._clock.now() >= self._renew_at:
            order = hold_relay.HoldRelay(self._host, LEASE_SECONDS)
            self.lease = await self._store.transact(hold_relay, order)
            self._renew_at = self._clock.now() + RENEW_SECONDS
            if self.lease.host == self._host:
                await self._places.refresh()  # an epoch may have begun
        if self.lease.host != self._host:
            self._checked_at = 0.0
            return None
        return self.lease

    async def _publish(self, rows: Sequence[OutboxRow]) -> list[OutboxRow]:
        """Those that are done with: of each conversation up to the first that was not acknowledged. A row whose agent
        is gone has nowhere to go, and is done with; one whose agent is stopped waits."""
        topics = await self._places.of({row.topic for row in rows})
        stopped_agents = self._places.stopped
        going = [row for row in rows if row.topic in topics and row.topic not in stopped_agents]
        records = [
            (
                topics[row.topic].name,
                row.conversation,
                encoded(Record(envelope_of(row, epoch=topics[row.topic].epoch, instance=self._instance))),
            )
            for row in going
        ]
        acknowledged = await self._outlet.publish(records) if records else []
        stopped: set[ConversationId] = set()
        done = [row for row in rows if row.topic not in topics and row.topic not in stopped_agents]
        for row, was in zip(going, acknowledged, strict=True):
            if not was:
                stopped.add(row.conversation)
            elif row.conversation not in stopped:
                done.append(row)
        return done

    async def _mark(self, lease: RelayLease, rows: Sequence[OutboxRow]) -> None:
        keys = tuple(OUTBOX.key(row) for row in rows)
        try:
            await self._store.transact(
                mark_published, mark_published.MarkPublished(self._host, lease.fence, keys)
            )
        except Stale:
            log.warning("another process publishes now", action="relay_fenced", fence=lease.fence)
            self.lease = None

    async def close(self) -> None:
        """Give the lease back, so that nobody has to wait for its end."""
        if self.lease is not None and self.lease.host == self._host:
            with suppress(MootError):
                await self._store.transact(hold_relay, hold_relay.HoldRelay(self._host, 0.0))
        await self._outlet.close()
