"""What all voices of one open hub share: the parts, the host, the sweeper, and who is called what."""

import asyncio
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence, Set
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar
from uuid import uuid4

from moot import shapes
from moot.brains.code import AgentSpec, CodeBrain, refuse_undecorated
from moot.context.prompt import Context
from moot.context.templates import Templates
from moot.context.view import View
from moot.context.window import Size
from moot.errors import MootError, NotFound
from moot.flow.enrol import Enrol, Newcomer, enrolling
from moot.flow.presence import Detach, detaching
from moot.flow.steps import look
from moot.host.agent_turn import Speaking, Surroundings
from moot.host.host import Host, Hosted
from moot.host.liveness import is_alive
from moot.host.pace import Pace
from moot.host.summariser import Plan, Summariser
from moot.host.sweeper import Sweeper
from moot.hub.commands.questions import Questions
from moot.hub.external.sessions import Attendance
from moot.hub.process import housekeeping
from moot.hub.process.peers import Neighbours
from moot.hub.queries.suggestions import completed
from moot.model.conversation import Member
from moot.model.event import Event
from moot.model.ids import HostId, ParticipantId, TurnId
from moot.model.participant import Kind, Participant
from moot.model.prompt import Offered
from moot.model.turn import OPEN
from moot.ports import Clock
from moot.rules.words.mentions import nearest
from moot.rules.words.names import is_name
from moot.settings import AgentSettings, Home
from moot.wiring import Parts, assemble, summing_model

T = TypeVar("T")
REGISTRY_EVENTS = frozenset({"agent.joined", "agent.renamed"})


class Core:
    def __init__(self, home: Home, clock: Clock | None, *, socket: Path | None = None) -> None:
        self._home = home
        self._clock = clock
        self._identity = HostId(f"h{uuid4().hex[:12]}")
        self._listens = socket is not None
        self._is_hub = socket == home.hub_sock
        self._socket = socket or home.run_peers / f"{self._identity}.sock"
        self._catching_up: asyncio.Task[None] | None = None
        self._missing: asyncio.Task[None] | None = None
        self._look_again = False
        self._watches = False
        self._tasks: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._known: dict[ParticipantId, Participant] = {}
        self._roles: dict[ParticipantId, str] = {}
        """As the owner wrote them."""
        self._summariser: Summariser | None = None
        self.questions = Questions()
        self.openers: dict[str, Any] = {}
        """Doors that peers on the hub's socket may come in by; see process/rpc.py."""
        self.parts: Parts
        self.neighbours: Neighbours
        self.host: Host
        self.sweeper: Sweeper
        self._pace: Pace
        self.context: Context
        self.attendance: Attendance
        self.user: ParticipantId

    # --- opening and closing -----------------------------------------------------------------------------

    async def open(self, agents: Sequence[AgentSpec], handle: Callable[..., Any]) -> None:
        self.parts = parts = await assemble(self._home, self._clock, self._committed)
        self.neighbours = Neighbours(
            self._socket,
            parts.store,
            parts.clock,
            hinted=self.hinted,
            live=parts.log.live,
            lost=self._lost,
        )
        try:
            await self._open(agents, handle)
        except BaseException:  # half open is not open: nothing may stay behind, whatever went wrong
            await self._let_go()
            raise

    async def _stop_tasks(self) -> None:
        self._closing = True
        if self._summariser is not None:
            await self._summariser.close()
        tasks = [*self._tasks, *([self._catching_up] if self._catching_up else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _let_go(self) -> None:
        await self._stop_tasks()
        await self.neighbours.close()
        await self.parts.log.close()
        await self.parts.store.close()

    async def _open(self, agents: Sequence[AgentSpec], handle: Callable[..., Any]) -> None:
        parts, settings = self.parts, self.parts.settings
        enrolled = await self._enrol(agents)
        self.user = enrolled[settings.hub.user].id
        templates = Templates(self._home.path / "templates")
        self.context = Context(
            parts.store,
            templates,
            workspaces=self._home.path / "agents",
            known=self.known,
            secret=await parts.store.secret(),
            roles=self._roles,
        )
        self.host = Host(
            self._identity,
            os.getpid(),
            store=parts.store,
            reads=parts.store,
            clock=parts.clock,
            context=self.context,
            handle=handle,
            told_live=self._speaking,
            lease_seconds=settings.host.lease_seconds,
            socket=self.neighbours.address,
        )
        self.neighbours.belong_to(self.host)
        self.sweeper = Sweeper(
            parts.store,
            parts.store,
            parts.clock,
            settings.host.sweep_seconds,
            self._look_around,
            keep_up=self.host.keep_up,
            lease=settings.host.lease_seconds,
        )
        self._pace = Pace(self.host, self.sweeper, parts.store)
        self.attendance = Attendance(parts, self.spawn, is_alive)
        watchers = (self._registry_told, self.host.told, self.sweeper.told, self.attendance.told)
        for watcher in (*watchers, self.questions.on_events):
            parts.log.watch(watcher)
        self._sum_up(templates)
        await self._miss_the_gone()
        await self._start(agents, enrolled)
        if self._listens:
            await self.watch()
        await self._look_at_everything_open()
        self.spawn(self.sweeper.run())
        if self._is_hub:
            self.spawn(housekeeping.keep(parts))
        if hasattr(parts.clock, "watch"):
            parts.clock.watch(self._pace)

    def _sum_up(self, templates: Templates) -> None:
        """Where a brain is set for it, long conversations are summed up beside all turns."""
        settings = self.parts.settings.context
        model = summing_model(self.parts.settings, self._home)
        if model is not None:
            self._summariser = Summariser(
                model,
                Plan(settings.summary_messages, settings.summary_words),
                store=self.parts.store,
                reads=self.parts.store,
                context=self.context,
                templates=templates,
                names=self.names,
            )
            self.parts.log.watch(self._summariser.told)

    async def take_in(self, agents: Sequence[AgentSpec]) -> None:
        """Host more agents, from now until the hub is closed."""
        await self._start(agents, await self._enrol(agents))

    async def _start(self, agents: Sequence[AgentSpec], enrolled: Mapping[str, Participant]) -> None:
        hosted = self._hosted(agents, enrolled)
        if hosted:
            await self.neighbours.listen()
            await self.host.start(hosted, dead=await self._dead_hosts())

    async def watch(self) -> None:
        """From now on other processes tell what happens; what was told before is read once."""
        if self._watches:
            return
        self._watches = True
        await self.neighbours.listen()
        await self.host.watch()
        await self.parts.log.catch_up()

    async def _look_around(self) -> None:
        """Read what was told while a ping was lost; and see who is gone."""
        await self.parts.log.catch_up()
        if await self._miss_the_gone():
            await self._look_at_everything_open()
        await self.attendance.lapse()

    async def _miss_the_gone(self) -> bool:
        """Whoever has not beaten in time, or has no process any more, is away, for all to see."""
        now = self.parts.clock.now()
        gone = [
            host
            for host in await self.parts.store.hosts()
            if host.id != self._identity and (host.lease_until <= now or not is_alive(host.pid))
        ]
        for host in gone:
            await self.parts.store.transact(detaching, Detach(host.id, lapsed=is_alive(host.pid)))
        return bool(gone)

    def _lost(self) -> None:
        """Another process let go of its line: if it died, what waits for its agents need not wait for its lease."""
        if not self._closing and (self._missing is None or self._missing.done()):
            self._missing = asyncio.get_running_loop().create_task(self._look_for_the_gone())
            self._tasks.add(self._missing)
            self._missing.add_done_callback(self._tasks.discard)

    async def _look_for_the_gone(self) -> None:
        with suppress(MootError):  # the sweep comes to it
            await self._look_around()

    def _committed(self, events: list[Event]) -> None:
        self.neighbours.committed(events)

    def _speaking(self, event: Event) -> None:
        self.parts.log.live(event)
        self.neighbours.speaking(event)

    async def _enrol(self, agents: Sequence[AgentSpec]) -> dict[str, Participant]:
        """Everybody by the name they are given under here; who was renamed since has another by now."""
        refuse_undecorated(agents)
        settings = self.parts.settings
        given = {spec.name: spec for spec in agents}
        people = [Newcomer(name=settings.hub.user, kind=Kind.HUMAN)]
        for row in settings.agents:
            kind = Kind.EXTERNAL if row.brain == "external" else Kind.AGENT
            config = {"on_busy": row.on_busy.value}
            config |= {key: value for key in ("avatar", "color") if (value := getattr(row, key))}
            named = row.name not in given or given[row.name].brain or row.brain.startswith("code:")
            brain = row.brain if named else "code"
            people.append(Newcomer(row.name, kind, row.display, row.role, brain, row.project, config))
        rows = {row.name for row in settings.agents}
        people += [
            Newcomer(
                spec.name,
                Kind.AGENT,
                spec.display,
                spec.role,
                spec.brain or "code",
                spec.project or "",
                {"on_busy": spec.on_busy},
            )
            for spec in agents
            if spec.name not in rows
        ]
        enrolled: tuple[Participant, ...] = await self.parts.store.transact(enrolling, Enrol(tuple(people)))
        await self.refresh()
        self._roles.update((who.id, who.role) for who in enrolled)
        return {new.name: who for new, who in zip(people, enrolled, strict=True)}

    def _hosted(self, agents: Sequence[AgentSpec], enrolled: Mapping[str, Participant]) -> list[Hosted]:
        rows = {row.name: row for row in self.parts.settings.agents}
        return [
            Hosted(
                who=enrolled[spec.name],
                brain=CodeBrain(spec.think, spec.brain, spec.close),
                size=size_of(spec, row := rows.get(spec.name)),
                concurrency=spec.concurrency if row is None else row.concurrency,
                offered=spec.offered,
            )
            for spec in agents
        ]

    async def _dead_hosts(self) -> tuple[HostId, ...]:
        """Hosts whose process is gone: their leases need not run out first."""
        return tuple(host.id for host in await self.parts.store.hosts() if not is_alive(host.pid))

    async def _look_at_everything_open(self) -> None:
        """At start: what a crash left half done is taken up again."""
        turns = await self.parts.store.turns(states=tuple(OPEN))
        for conversation in sorted({turn.conversation for turn in turns}):
            await self.sweeper.look_at(conversation)

    async def close(self, drain: float = 0.0) -> None:
        if hasattr(self.parts.clock, "unwatch"):
            self.parts.clock.unwatch(self._pace)
        await self._stop_tasks()
        try:
            await self.host.drain(drain)
            await self._look_at_everything_open()
        finally:
            await self._let_go()

    def spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def hinted(self) -> None:
        """Another process says that something concerns us. Hints that come together are one look."""
        if self._closing:
            return
        if self._catching_up is None or self._catching_up.done():
            self._catching_up = asyncio.get_running_loop().create_task(self._look())
        else:
            self._look_again = True

    async def _look(self) -> None:
        self._look_again = True
        while self._look_again:
            self._look_again = False
            await self.parts.log.catch_up()

    # --- doing and naming --------------------------------------------------------------------------------

    async def do(self, verb: Any, command: Any) -> Any:
        """Carry out a verb; a name nobody has is refused with those that come near."""
        return await self._answered(self.parts.store.transact(verb, command))

    async def foresee(self, verb: Any, command: Any) -> Any:
        """What a verb would answer, refused as it would be; nothing is stored."""
        return await self._answered(self.parts.store.preview(verb, command))

    async def _answered(self, answer: Awaitable[T]) -> T:
        try:
            return await answer
        except NotFound as refusal:
            raise await self.with_suggestions(refusal) from None

    async def with_suggestions(self, refusal: NotFound) -> NotFound:
        ref = refusal.facts.get("ref")
        if not ref or ":" in str(ref) or refusal.suggestions:  # no name has a colon
            return refusal
        store, is_agent = self.parts.store, refusal.what == "agent"
        # who asks for an agent need not learn of conversations
        places = [] if is_agent else await store.conversations(archived=False, kind=None)
        return completed(refusal, self._known.values(), [place.name for place in places])

    def names(self, who: ParticipantId) -> str:
        known = self._known.get(who)
        return known.name if known is not None else who

    def known(self, who: ParticipantId) -> Participant | None:
        return self._known.get(who)

    def called(self, name: str) -> Participant:
        """Who goes by this, as far as is known here; an id is its owner's alone."""
        found = self._known.get(ParticipantId(name))
        for who in self._known.values() if found is None else ():
            if name in (who.name, *who.aliases):
                return who
        if found is None:
            names = [who.name for who in self._known.values()]
            title = f'nobody is called "{name}"'
            raise NotFound(title, what="agent", suggestions=nearest(name, names), ref=name)
        return found

    def people(self) -> list[Participant]:
        return list(self._known.values())

    async def refresh(self) -> None:
        self._known = {who.id: who for who in await self.parts.store.participants()}

    def _registry_told(self, events: list[Event]) -> None:
        if any(event.type in REGISTRY_EVENTS or "removed" in (event.body or ()) for event in events):
            self.spawn(self.refresh())

    def speaking_now(self) -> Set[TurnId]:
        """Turns run here of which words have been heard."""
        return self.host.partials().keys()

    async def participant(self, name: str) -> Participant:
        found: Participant | None = await _sought(self.parts.store.participant, name)
        if found is None:
            fix = (f'moot agents new {name} --role "…"',) if is_name(name) else ()
            title = f'no agent is called "{name}"'
            missing = NotFound(title, what="agent", fix=(*fix, "moot agents list"), ref=name)
            raise await self.with_suggestions(missing)
        return found

    async def addressee(self, name: str) -> Participant:
        """Somebody who can be written to; whoever was removed is refused."""
        who = await self.participant(name)
        if who.removed:
            raise await self.with_suggestions(look.gone(who))
        return who

    async def conversation(self, ref: str) -> Any:
        found = await _sought(self.parts.store.conversation, ref)
        if found is None:
            missing = NotFound(
                f'no conversation is called "{ref}"',
                what="conversation",
                fix=("moot conv list", f"moot conv new {ref} --with AGENT,AGENT"),
                ref=ref,
            )
            raise await self.with_suggestions(missing)
        return found

    async def shape(self, conversation: Any) -> shapes.Conversation:
        return self.shape_with(conversation, await self.parts.store.members(conversation.id))

    def shape_with(self, conversation: Any, members: Sequence[Member]) -> shapes.Conversation:
        known = self._known
        seats = tuple(
            shapes.Seat(
                name=self.names(m.participant),
                kind=known[m.participant].kind.value if m.participant in known else "agent",
                joined_at=shapes.when(m.joined_at),
                mark=m.mark,
            )
            for m in members
        )
        settings = conversation.settings.over(self.parts.settings.groups)
        return shapes.Conversation.of(conversation, seats, settings, self.names)


def speaking(core: Core, view: View, offered: Offered, stream: Any, hub: Any) -> Speaking:
    """A turn as its agent is handed it, in the surroundings of this hub."""
    around = Surroundings(
        store=core.parts.store,
        context=core.context,
        names=core.names,
        conversation=core.shape_with(view.conversation, view.members),
        hub=hub,
        offered=offered,
        clock=core.parts.clock,
        stream=stream,
    )
    return Speaking(view, around)


def size_of(spec: AgentSpec, row: AgentSettings | None) -> Size:
    """How much an agent is shown; a row of moot.toml wins over its function."""
    has = spec if row is None else row
    return Size(has.context_messages, has.context_tokens, grows=spec.prompted)


async def _sought(look: Callable[[str], Awaitable[T | None]], ref: str) -> T | None:
    """Nothing goes by what is no text."""
    try:
        return await look(ref)
    except UnicodeEncodeError:
        return None
