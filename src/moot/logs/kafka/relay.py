"""The relay: publishes what the outbox holds. One process per home does, by a lease; the others stand by.

Independent loops: the lease is renewed, topics are compared with their records in the store, rows are published, and
topics that refused their records are offered one again, by a producer of their own. A topic that is wrong, refuses or
does not answer delays only its own rows. Rows leave the outbox when their records are acknowledged, under the fence and
in the epoch they were published with. If a relay dies in between, the next one publishes them again: readers skip what
they know. No write ever waits for it. Above: log.py. Below: outlet.py produces, places.py knows the topics.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import structlog
from msgspec import Struct

from moot.errors import MootError, Stale
from moot.failpoints import failpoint
from moot.flow import hold_relay, mark_published
from moot.logs.kafka.cluster import KafkaOutOfReach
from moot.logs.kafka.outlet import Outlet
from moot.logs.kafka.places import Places, StoreOfTopics
from moot.logs.kafka.record import Record, encode_record, envelope_of
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.records.outbox import OutboxRow
from moot.model.records.relay import RelayLease
from moot.model.records.topic import AgentTopic
from moot.ports import Clock

log = structlog.get_logger("moot.kafka")

LEASE_SECONDS = 5.0
RENEW_SECONDS = 1.5
LOOK_SECONDS = 1.0
"""How often it looks without a hint: other processes write too."""
AT_ONCE = 500
MAX_PAUSE_SECONDS = 5.0
ASIDE_SECONDS = 5.0
"""Pause for a topic that did not accept its records."""
CHECK_SECONDS = 3600.0
"""How often all topics are compared with their records in the store."""
STOPPED_CHECK_SECONDS = 15.0
"""How often stopped topics are checked."""
TRIAL_SECONDS = 5.0
"""How often topics that refused their records are offered one again."""
TRIALS_AT_ONCE = 50
GIVE_UP_SECONDS = 15.0
"""A relay that has reached no broker for so long gives its lease up: another process may reach one."""
STAND_BY_SECONDS = 2 * RENEW_SECONDS
"""So long it then leaves the lease to the others, each of which looks for it every RENEW_SECONDS."""


class PublishedRows(Struct, frozen=True):
    """What became of rows that were offered to the brokers."""

    finished: list[OutboxRow]
    refused: dict[ParticipantId, str]
    """Agents whose records a broker did not take, each with its reason."""
    unanswered: set[ParticipantId]
    """Agents for whose records there was no answer."""


class Relay:
    def __init__(
        self,
        store: StoreOfTopics,
        clock: Clock,
        outlet: Outlet,
        places: Places,
        *,
        trial: Outlet,
        host: HostId,
        instance: str,
    ) -> None:
        self._store = store
        self._clock = clock
        self._outlet = outlet
        self._trial = trial
        self._tried_at: dict[ParticipantId, float] = {}
        self._places = places
        self._host = host
        self._instance = instance
        self._work = asyncio.Event()
        self._doubt = asyncio.Event()
        self._aside: dict[ParticipantId, float] = {}
        """Agents whose topics did not accept their records, and until when they are left alone."""
        self._all_at = self._stopped_at = 0.0
        """When all topics are checked next, and when the stopped ones are."""
        self._unreached_since: float | None = None
        self._stands_by_until = 0.0
        self.lease: RelayLease | None = None

    def hinted(self) -> None:
        """There may be something to publish."""
        self._work.set()

    async def run(self) -> None:
        async with asyncio.TaskGroup() as loops:
            loops.create_task(self._repeat(self.hold, RENEW_SECONDS, asyncio.Event()))
            loops.create_task(self._repeat(self.check, LOOK_SECONDS, self._doubt))
            loops.create_task(self._repeat(self.publish, LOOK_SECONDS, self._work))
            loops.create_task(self._repeat(self.try_again, TRIAL_SECONDS, asyncio.Event()))

    async def _repeat(self, step: Callable[[], Awaitable[bool]], seconds: float, hint: asyncio.Event) -> None:
        """Repeat a step: at once if there may be more to do, else on a hint or after `seconds`."""
        pause = 0.0
        while True:
            try:
                again = await step()
                pause = 0.0
            except Exception as trouble:  # nobody else publishes, so it goes on whatever happened
                again, pause = False, min(max(pause * 2, 0.5), MAX_PAUSE_SECONDS)
                log.warning("publishing failed", action="relay_failed", error=str(trouble))
            if pause:
                await asyncio.sleep(pause)
            elif not again:
                with suppress(TimeoutError):
                    async with asyncio.timeout(seconds):
                        await hint.wait()
                hint.clear()

    # --- the lease ---------------------------------------------------------------------------------------

    async def hold(self) -> bool:
        """Renew the lease, or take it if nobody holds it. Give it up if no broker can be reached."""
        now = self._clock.now()
        if now < self._stands_by_until:
            return False
        was_held = self.is_held
        gives_up = self._unreached_since is not None and now >= self._unreached_since + GIVE_UP_SECONDS
        if gives_up:
            self._unreached_since = None
            self._stands_by_until = now + STAND_BY_SECONDS
            log.warning("no broker is reached from here", action="relay_given_up", host=self._host)
        command = hold_relay.HoldRelay(self._host, 0.0 if gives_up else LEASE_SECONDS)
        self.lease = await self._store.transact(hold_relay, command)
        if self.is_held:
            await self._places.refresh()  # an epoch may have begun
            if not was_held:
                self._doubt.set()
        return False

    @property
    def is_held(self) -> bool:
        """Whether this process publishes."""
        return (
            self.lease is not None and self.lease.host == self._host and self._clock.now() < self.lease.until
        )

    def _note_reach(self, *, reached: bool) -> None:
        """Whether a broker has just taken or answered anything."""
        if reached:
            self._unreached_since = None
        elif self._unreached_since is None:
            self._unreached_since = self._clock.now()

    # --- topics ------------------------------------------------------------------------------------------

    async def check(self) -> bool:
        """Check topics that are in doubt; now and then also the stopped ones, and all."""
        if not self.is_held:
            return False
        now, stopped = self._clock.now(), self._places.stopped.keys()
        agents = self._places.doubtful() - stopped
        if now >= self._stopped_at:
            agents |= stopped
            self._stopped_at = now + STOPPED_CHECK_SECONDS
        if now >= self._all_at:
            agents |= self._places.topics.keys()
            self._all_at = now + CHECK_SECONDS
        if agents:
            try:
                silent = await self._places.check(agents)
            except KafkaOutOfReach:
                self._note_reach(reached=False)
                raise
            finally:
                self._work.set()
            # A topic that nobody leads is silent everywhere; one that is led may be reached from another machine.
            self._note_reach(reached=len(silent) < len(agents) or not any(topic.is_led for topic in silent))
            if silent:
                names = ", ".join(topic.name for topic in silent)
                raise KafkaOutOfReach(f"topics do not answer: {names}")
        return False

    # --- rows --------------------------------------------------------------------------------------------

    async def publish(self) -> bool:
        """Publish waiting rows, if this process holds the lease; whether there may be more."""
        lease = self.lease
        if lease is None or not self.is_held:
            return False
        rows = await self._store.unpublished(AT_ONCE, without=sorted(self.held_back))
        if not rows:
            return False
        failpoint("relay.claimed")
        topics = await self._topics_of({row.topic for row in rows})
        publishable = [row for row in rows if self._may_go(row, topics)]
        await self._send(lease, publishable, topics, self._outlet)
        return len(rows) == AT_ONCE

    async def try_again(self) -> bool:
        """Offer each topic that refused its records the first of them once more. Nobody else waits for the answers."""
        lease = self.lease
        if lease is None or not self.is_held:
            return False
        refusing = [agent for agent in self._places.stopped if self._places.is_unwritable(agent)]
        refusing.sort(key=lambda agent: self._tried_at.get(agent, 0.0))
        topics = self._places.known_of(refusing[:TRIALS_AT_ONCE])
        rows: list[OutboxRow] = []
        for agent in topics:
            self._tried_at[agent] = self._clock.now()
            others = sorted(self.held_back - {agent})
            waiting = await self._store.unpublished(AT_ONCE, without=others)
            first = next((row for row in waiting if row.topic == agent), None)
            if first is not None:
                rows.append(first)
            elif len(waiting) < AT_ONCE:  # nothing waits for it any more
                await self._places.go_on(agent)
        if rows:
            await self._send(lease, rows, topics, self._trial)
        else:
            await self._trial.close()
        return False

    async def _send(
        self,
        lease: RelayLease,
        rows: Sequence[OutboxRow],
        topics: Mapping[ParticipantId, AgentTopic],
        outlet: Outlet,
    ) -> None:
        published = await self._publish(rows, topics, outlet)
        failpoint("relay.produced")
        if published.finished:
            await self._mark(lease, published.finished, topics)
            failpoint("relay.marked")
        for agent, reason in published.refused.items():
            await self._places.refuse(agent, reason)
        troubled = published.refused.keys() | published.unanswered
        for agent in {row.topic for row in published.finished} - troubled:
            await self._places.go_on(agent)
        if published.unanswered:
            self._set_aside(published.unanswered)
            raise KafkaOutOfReach(
                f"{len(rows) - len(published.finished)} of {len(rows)} records were not taken"
            )

    @property
    def held_back(self) -> set[ParticipantId]:
        """Agents whose rows wait until their topics are checked or tried again."""
        now = self._clock.now()
        aside = {agent for agent, until in self._aside.items() if until > now}
        return aside | self._places.doubtful() | self._places.stopped.keys()

    async def _topics_of(self, agents: set[ParticipantId]) -> Mapping[ParticipantId, AgentTopic]:
        """Their topics, as far as they are known or can be created."""
        try:
            return await self._places.of(agents)
        except KafkaOutOfReach as trouble:
            log.warning("topics cannot be made", action="topics_missing", error=str(trouble))
            self._note_reach(reached=False)
            self._set_aside(agents - self._places.topics.keys())
            return self._places.known_of(agents)

    def _may_go(self, row: OutboxRow, topics: Mapping[ParticipantId, AgentTopic]) -> bool:
        """Whether it can be published now: its topic is checked, or there will never be one."""
        if row.topic in topics:
            return self._places.is_sound(topics[row.topic])
        return row.topic not in self.held_back

    def _set_aside(self, agents: set[ParticipantId]) -> None:
        """Pause these agents and check their topics, which may be gone."""
        until = self._clock.now() + ASIDE_SECONDS
        self._aside |= dict.fromkeys(agents, until)
        self._places.doubt(agents)
        self._doubt.set()

    async def _publish(
        self, rows: Sequence[OutboxRow], topics: Mapping[ParticipantId, AgentTopic], outlet: Outlet
    ) -> PublishedRows:
        """Publish rows. Finished are, for each topic and conversation, those before the first that was not
        acknowledged. A row whose agent is gone has no topic, and is finished too."""
        sent = [row for row in rows if row.topic in topics]
        records = [
            (
                topics[row.topic].name,
                row.conversation,
                encode_record(
                    Record(envelope_of(row, epoch=topics[row.topic].epoch, instance=self._instance))
                ),
            )
            for row in sent
        ]
        answers = await outlet.publish(records) if records else []
        is_reached = any(answer is None or answer.is_refused for answer in answers)
        if is_reached or (records and outlet is self._outlet):  # a trial that nobody answers says little
            self._note_reach(reached=is_reached)
        published = PublishedRows([row for row in rows if row.topic not in topics], {}, set())
        stopped: set[tuple[ParticipantId, ConversationId]] = set()
        for row, answer in zip(sent, answers, strict=True):
            if answer is None:
                if (row.topic, row.conversation) not in stopped:
                    published.finished.append(row)
                continue
            stopped.add((row.topic, row.conversation))
            if answer.is_refused:
                published.refused.setdefault(row.topic, answer.reason)
            else:
                published.unanswered.add(row.topic)
        return published

    async def _mark(
        self, lease: RelayLease, rows: Sequence[OutboxRow], topics: Mapping[ParticipantId, AgentTopic]
    ) -> None:
        epochs = {row.topic: topics[row.topic].epoch if row.topic in topics else 0 for row in rows}
        command = mark_published.MarkPublished(self._host, lease.fence, tuple(rows), epochs)
        try:
            renewed = await self._store.transact(mark_published, command)
        except Stale:
            log.warning("another process publishes now", action="relay_fenced", fence=lease.fence)
            self.lease = None
            return
        if renewed:
            log.info("an epoch has begun", action="epoch_begun", agents=sorted(renewed))
            await self._places.refresh()
            self._doubt.set()

    async def close(self) -> None:
        """Release the lease, so that no other process has to wait for its end."""
        if self.lease is not None and self.lease.host == self._host:
            with suppress(MootError):
                await self._store.transact(hold_relay, hold_relay.HoldRelay(self._host, 0.0))
        await self._outlet.close()
        await self._trial.close()
