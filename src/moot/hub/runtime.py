"""A hub's life in this process: opened, kept up, closed. It makes the core that all voices share.

Above: Hub.open and Hub.reading. Below: wiring assembles the parts; the host runs agents, the sweeper does what is due,
peers are the other processes on this home. Not here: anything a caller asks for.
"""

import os
import platform
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from moot.brains.code import AgentSpec, refuse_undecorated
from moot.context.live_views import LiveViews
from moot.context.prompt import Context
from moot.context.templates import Templates
from moot.context.view import TurnView
from moot.errors import MootError
from moot.flow import detach, enrol
from moot.flow.hold_shares import SharedGroup
from moot.host.agent_turn import Speaking, Surroundings
from moot.host.held_shares import HeldShares
from moot.host.host import AgentHost
from moot.host.interjections import Interjections
from moot.host.pace import Pace
from moot.host.summariser import Summariser, SummaryPlan
from moot.host.supervision import begin_watching
from moot.host.sweeper import Sweeper
from moot.hub.commands.ask import end_orphaned_waits
from moot.hub.core import Core
from moot.hub.directory import Directory
from moot.hub.enrolment import hosted, newcomers
from moot.hub.external.sessions import Attendance
from moot.hub.process import audit_log, housekeeping
from moot.hub.process.background import BackgroundTasks, Once
from moot.hub.process.heads_export import HeadsExport
from moot.hub.process.hosted_rows import HostedRows
from moot.hub.process.live_lane import FarReachingLane, SocketLane
from moot.hub.process.peers import Peers
from moot.hub.process.settings_in_force import SettingsInForce
from moot.hub.process.spawned_agents import SpawnedAgents
from moot.model.event import Commit, Event
from moot.model.ids import HostId, ParticipantId
from moot.model.participant import Participant
from moot.model.prompt import Offered
from moot.model.records.share import CONFIG
from moot.model.turn import OPEN
from moot.ports import Clock, LiveLane
from moot.settings import Home, Settings
from moot.wiring import Parts, assemble, assemble_to_read, summing_model

if TYPE_CHECKING:
    from moot.hub.telemetry.otlp import SpanSender

Handle = Callable[[TurnView, Offered, Callable[[str], object]], Awaitable[Speaking]]


class Runtime:
    """`core` is there once it is open."""

    core: Core

    def __init__(self, home: Home, clock: Clock | None, *, socket: Path | None = None) -> None:
        self._home = home
        self._clock = clock
        self._identity = HostId(f"h{uuid4().hex[:12]}")
        self._listens = socket is not None
        self._is_hub = socket == home.hub_sock
        self._socket = socket or home.run_peers / f"{self._identity}.sock"
        self._watches = False
        self._closing = False
        self._tasks = BackgroundTasks()
        self._hints = Once(self._tasks)
        self._losses = Once(self._tasks)
        self._functions: dict[str, AgentSpec] = {}
        """Agents that were passed as functions, by name."""
        self._roles: dict[ParticipantId, str] = {}
        """As the owner wrote them."""
        self._summariser: Summariser | None = None
        self._views: LiveViews | None = None
        self._heads: HeadsExport | None = None
        self._sender: SpanSender | None = None
        self._traced: Callable[[Commit], None] | None = None
        self.peers: Peers
        self._live: LiveLane
        self._host: AgentHost
        self._shares: HeldShares
        self._sweeper: Sweeper
        self._pace: Pace
        self._settings: SettingsInForce

    # --- opening -------------------------------------------------------------------------------------------

    async def open(self, agents: Sequence[AgentSpec], handle: Handle) -> Core:
        parts = await assemble(self._home, self._clock, self._committed)
        self.core = Core(parts, Directory(parts.store, parts.settings), spawn=self._tasks.spawn)
        self.peers = Peers(
            self._socket,
            parts.store,
            parts.clock,
            hinted=self._hinted,
            lost=self._lost,
            presence=parts.presence,
        )
        self._live = self._make_lane(parts)
        self._live.watch(self.core.live_turns.on_live)
        self._live.watch(parts.log.live)
        try:
            await self._open(agents, handle)
        except BaseException:  # nothing may stay open, whatever went wrong
            await self._release()
            raise
        return self.core

    async def open_to_read(self) -> Core | None:
        """A core for reading only; None where a writer must come first, to bring the database up to date."""
        parts = await assemble_to_read(self._home)
        if parts is None:
            return None
        self.core = Core(parts, Directory(parts.store, parts.settings), spawn=self._tasks.spawn)
        await self._enrol(())
        self.core.context = await self._context()
        return self.core

    async def close_reading(self) -> None:
        await self.core.parts.log.close()
        await self.core.parts.store.close()

    async def _open(self, agents: Sequence[AgentSpec], handle: Handle) -> None:
        core, parts = self.core, self.core.parts
        await audit_log.keep_up(parts.store, parts.settings)
        enrolled = await self._enrol(agents)
        self._shares = HeldShares(
            self._identity, parts.store, parts.clock, f"{platform.node()}:{self._home.path}"
        )
        rules = await self._rules()
        self._settings = SettingsInForce(core, self._everybody, self._enrol_everybody, rules)
        await self._settings.begin(is_hub=self._is_hub)
        self._shares.when_gained(self._settings.lead)
        core.context = await self._context()
        self._views = core.vitals.views = core.context.keep_views(self._tasks.spawn)
        parts.log.watch_records(self._views.on_records)
        self._host = self._make_host(parts, handle)
        self.peers.belong_to(self._host)
        self._sweeper = Sweeper(
            parts.store,
            parts.store,
            parts.clock,
            parts.settings.host.sweep_seconds,
            self._look_around,
            keep_up=self._host.keep_up,
            lease=parts.settings.host.lease_seconds,
        )
        self._pace = Pace(self._host, self._sweeper, parts.store)
        core.serve(self._host, Attendance(parts, self._tasks.spawn))
        core.watch, core.add_agents, core.reload = self.watch, self.host, self._settings.reload
        core.expect = self._sweeper.expect
        spawned = SpawnedAgents(core, self._start, self._host.runs, rules)
        core.run_spawned = self._spawned_are_run(spawned)
        self._follow_the_log()
        self._start_summariser()
        await self._detach_gone_hosts()
        await end_orphaned_waits(parts, self._identity)
        await self._start(agents, enrolled)
        if self._listens:
            await self.watch()
        await self._sweep_everything_open()
        await self._keep_going()
        if self._is_hub:
            self._follow_rows(agents, enrolled)
            await self._take_charge(spawned)
        if hasattr(parts.clock, "watch"):
            parts.clock.watch(self._pace)

    def _follow_the_log(self) -> None:
        for listener in (
            self._on_events,
            self._settings.on_events,
            self._host.on_events,
            self._sweeper.on_events,
            self.core.sessions.on_events,
            self.core.questions.on_events,
            Interjections(self.core.parts.store, self._host, self._tasks.spawn).on_events,
        ):
            self.core.parts.log.watch(listener)

    async def _keep_going(self) -> None:
        """What every process does until it ends."""
        self._tasks.spawn(self._sweeper.run())
        self._tasks.spawn(self._shares.run())
        await self._trace()

    async def _take_charge(self, spawned: SpawnedAgents) -> None:
        """What a hub does for its home besides running agents."""
        parts = self.core.parts
        self._tasks.spawn(housekeeping.keep(parts))
        self._heads = HeadsExport(parts)
        self._tasks.spawn(self._heads.run())
        parts.log.watch(spawned.on_events)
        await spawned.run_all()
        self._tasks.spawn(spawned.keep())

    async def _rules(self) -> Callable[[], bool]:
        """Whether this home's moot.toml says what links there are: of several hubs on one store one has that share."""
        parts = self.core.parts
        if parts.far_lane is None or not self._is_hub:
            self.core.vitals.serve(self._shares, parts.store, parts.log, leads_alone=True)
            return lambda: True
        self.core.vitals.serve(self._shares, parts.store, parts.log, leads_alone=False)
        if not parts.settings.hub.leads:
            return lambda: False
        self._shares.want([SharedGroup(CONFIG, 1)])
        await self._shares.renew()
        return lambda: self._shares.holds(CONFIG)

    def _make_lane(self, parts: Parts) -> LiveLane:
        if parts.far_lane is None:
            return SocketLane(self.peers)
        lane = FarReachingLane(self.peers, parts.far_lane, parts.presence.machine)
        lane.listen()
        return lane

    def _make_host(self, parts: Parts, handle: Handle) -> AgentHost:
        return AgentHost(
            self._identity,
            os.getpid(),
            store=parts.store,
            reads=parts.store,
            clock=parts.clock,
            context=self.core.context,
            handle=handle,
            live=self._live,
            lease_seconds=parts.settings.host.lease_seconds,
            shares=self._shares,
            socket=self.peers.address,
            machine=parts.presence.machine,
        )

    async def _context(self) -> Context:
        store = self.core.parts.store
        return Context(
            store,
            Templates(self._home.path / "templates"),
            workspaces=self._home.path / "agents",
            by_id=self.core.directory.by_id,
            secret=await store.secret(),
            roles=self._roles,
            policy=lambda: self.core.parts.settings.hub.policy,
        )

    def _start_summariser(self) -> None:
        """Where a brain is set for it, long conversations are summed up beside all turns."""
        parts = self.core.parts
        settings = parts.settings.context
        model = summing_model(parts.settings, self._home)
        if model is not None:
            self._summariser = Summariser(
                model,
                SummaryPlan(settings.summary_messages, settings.summary_words),
                store=parts.store,
                reads=parts.store,
                context=self.core.context,
                templates=Templates(self._home.path / "templates"),
                names=self.core.directory.name,
            )
            parts.log.watch(self._summariser.on_events)

    def _follow_rows(self, agents: Sequence[AgentSpec], enrolled: Mapping[str, Participant]) -> None:
        """A hub runs what moot.toml describes, now and when that changes."""
        described = self.core.parts.settings.agents
        rows = HostedRows(self._home, self._host, self._start, self._tasks.spawn)
        rows.begin(described, enrolled, agents)
        self._settings.rows = self.core.hosted_rows = rows
        for row in described:
            self._functions.pop(row.name, None)  # moot.toml decides about these
        self._tasks.spawn(self._settings.watch())

    def _spawned_are_run(self, spawned: SpawnedAgents) -> Callable[[], Awaitable[None]]:
        async def run() -> None:
            """The hub runs started agents; without one, the process that starts them does."""
            if self._is_hub or not await self._settings.hub_runs():
                await spawned.run_all()

        return run

    async def _enrol(self, agents: Sequence[AgentSpec]) -> Mapping[str, Participant]:
        refuse_undecorated(agents)
        self._functions |= {spec.name: spec for spec in agents}
        return await self._enrol_everybody(self.core.parts.settings)

    async def _enrol_everybody(self, settings: Settings) -> Mapping[str, Participant]:
        """Everybody by the name under which they were passed here; somebody renamed has another name by now."""
        people = self._everybody(settings)
        enrolled = await self.core.parts.store.transact(enrol, enrol.Enrol(people))
        await self.core.directory.refresh()
        self._roles.update((participant.id, participant.role) for participant in enrolled)
        by_name = {new.name: participant for new, participant in zip(people, enrolled, strict=True)}
        self.core.user = by_name[settings.hub.user].id
        return by_name

    def _everybody(self, settings: Settings) -> tuple[enrol.Newcomer, ...]:
        """Everybody in these settings, and the functions that were passed here."""
        return newcomers(settings, list(self._functions.values()))

    async def host(self, agents: Sequence[AgentSpec]) -> None:
        """Host more agents, from now until the hub is closed."""
        await self._start(agents, await self._enrol(agents))

    async def _start(self, agents: Sequence[AgentSpec], enrolled: Mapping[str, Participant]) -> None:
        if agents:
            await self.peers.listen()
            mine = hosted(self.core, agents, enrolled, self._shares)
            await self._host.start(mine, dead=await self._dead_hosts())
            await self._serve_log([one.participant.id for one in mine])
            await begin_watching(mine)

    async def watch(self) -> None:
        """From now on other processes send events; earlier ones are read once."""
        if self._watches:
            return
        self._watches = True
        await self.peers.listen()
        await self._host.watch()
        await self._serve_log(())
        await self.core.parts.log.catch_up()

    async def _serve_log(self, agents: Sequence[ParticipantId]) -> None:
        await self.core.parts.log.serve(self._identity, agents, watches=self._watches)

    # --- keeping up ----------------------------------------------------------------------------------------

    def _committed(self, commit: Commit) -> None:
        self.core.tails.on_commit(commit)
        if self._views is not None:
            self._views.on_commit(commit)
        self.peers.committed(commit)
        if self._traced is not None:
            self._traced(commit)

    async def _trace(self) -> None:
        """Where a collector is set, everything this process stores is reported to it."""
        otel = self.core.parts.settings.otel
        if otel.endpoint:
            from moot.hub.telemetry.otlp import SpanSender  # noqa: PLC0415  only where a collector is set
            from moot.hub.telemetry.spans import Spans  # noqa: PLC0415  as above

            spans = Spans(sha256((await self.core.parts.store.secret()).encode()).hexdigest())
            self._sender = sender = SpanSender(otel.endpoint, otel.service)
            self._traced = lambda commit: sender.add(spans.of(commit))
            self.core.trace_post = lambda post, root: sender.add([spans.of_post(post, root)])
            self._tasks.spawn(sender.run())

    def _on_events(self, events: list[Event]) -> None:
        self.core.tails.on_events(events)
        self.core.live_turns.on_events(events)
        self.core.context.on_events(events)
        if self.core.directory.changes_with(events):
            self._tasks.spawn(self.core.directory.refresh())

    def _hinted(self) -> None:
        """Another process hints that something concerns us. Simultaneous hints are one look."""
        if not self._closing:
            self._hints.ask(self.core.parts.log.catch_up)

    def _lost(self) -> None:
        """Another process closed its connection: if it died, its agents' messages need not wait for its lease."""
        if not self._closing:
            self._losses.ask(self._look_for_gone_hosts)

    async def _look_for_gone_hosts(self) -> None:
        with suppress(MootError):  # the sweep tries again
            await self._look_around()

    async def _look_around(self) -> None:
        """Read what was missed if a ping was lost; and look for hosts that are gone."""
        await self.core.parts.log.catch_up()
        anybody_gone = await self._detach_gone_hosts()
        await end_orphaned_waits(self.core.parts, self._identity)
        if anybody_gone:
            await self._sweep_everything_open()
        await self.core.sessions.lower_reach()

    async def _detach_gone_hosts(self) -> bool:
        """Detach hosts that missed their heartbeat or are known to have died; whether there were any."""
        parts = self.core.parts
        store, presence, now = parts.store, parts.presence, parts.clock.now()
        others = [host for host in await store.hosts() if host.id != self._identity]
        lapsed_hosts = [host for host in others if not presence.is_here(host, now)]
        for host in lapsed_hosts:
            lapsed = not presence.has_died(host)
            await store.transact(detach, detach.Detach(host.id, lapsed, host.agents))
        return bool(lapsed_hosts)

    async def _dead_hosts(self) -> tuple[HostId, ...]:
        """Hosts whose process is gone: their leases need not run out first."""
        parts = self.core.parts
        return tuple(host.id for host in await parts.store.hosts() if parts.presence.has_died(host))

    async def _sweep_everything_open(self) -> None:
        """Take up again what a crash left unfinished."""
        turns = await self.core.parts.store.turns(states=tuple(OPEN))
        for conversation in sorted({turn.conversation for turn in turns}):
            await self._sweeper.look_at(conversation)

    # --- closing -------------------------------------------------------------------------------------------

    async def close(self, drain: float = 0.0) -> None:
        clock = self.core.parts.clock
        if hasattr(clock, "unwatch"):
            clock.unwatch(self._pace)
        await self._stop_tasks()
        try:
            await self._host.drain(drain)
            await self._sweep_everything_open()
            if self._heads is not None:
                await self._heads.export()
            if self._sender is not None:
                await self._sender.flush()
        finally:
            await self._release()

    async def _stop_tasks(self) -> None:
        self._closing = True
        if self._summariser is not None:
            await self._summariser.close()
        await self._tasks.close()

    async def _release(self) -> None:
        await self._stop_tasks()
        await self.peers.close()
        await self.core.parts.log.close()
        await self.core.parts.store.close()


def speaking(core: Core, view: TurnView, offered: Offered, stream: Any, hub: Any) -> Speaking:
    """A turn as its agent gets it, with this hub around it."""
    around = Surroundings(
        store=core.parts.store,
        context=core.context,
        names=core.directory.name,
        conversation=core.directory.shape_with(view.conversation, view.members),
        hub=hub,
        offered=offered,
        clock=core.parts.clock,
        stream=stream,
    )
    return Speaking(view, around)
