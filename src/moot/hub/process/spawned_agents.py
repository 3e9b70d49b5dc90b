"""Agents started by others: run here while they live, and retired when they are done.

The hub runs them all; of several hubs the one whose moot.toml rules. Without a hub, the process that starts one runs
it. An agent retires when its time is up, when it was idle for as long as its template says, or when its spawner is gone
and its work is done.

Above: runtime.py. Below: flow/retire.py, the host. Not here: who may start one (commands/spawn.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

import structlog
from msgspec import structs

from moot.brains.code import AgentSpec
from moot.errors import BadValue, MootError, NotFound
from moot.flow import retire, update_task
from moot.flow.steps.channel import BranchesMoved
from moot.hub.commands.spawn import HERE, can_write, row_behind, row_of
from moot.hub.commands.spawn_rights import beyond
from moot.hub.core import Core
from moot.hub.process import worktrees
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Participant
from moot.model.records.spawned import SPAWNED, SpawnRecord
from moot.model.records.task import TASKS, TaskState
from moot.model.turn import OPEN
from moot.ports import EVERY_TURN
from moot.rules.budgets import AgentBudget, BudgetsAbove
from moot.settings import TemplateSettings
from moot.settings.values import Worktree
from moot.wiring import loaded

log = structlog.get_logger("moot.spawn")

LOOK_SECONDS: Final = 30.0
LOOK_AGAIN_SECONDS: Final = 3600.0
"""How often a worktree that stays is checked: somebody may have taken the work out of it."""
TRIES: Final = 5
TIME_IS_UP, IDLE, ORPHANED = "its time was up", "it had nothing to do", "whoever started it is gone"
TOO_MUCH = "it may do more than whoever started it"

Start = Callable[[Sequence[AgentSpec], Mapping[str, Participant]], Awaitable[None]]


class SpawnedAgents:
    def __init__(
        self, core: Core, start: Start, runs: Callable[[ParticipantId], bool], rules: Callable[[], bool]
    ) -> None:
        self._core = core
        self._start = start
        self._runs = runs
        self._rules = rules
        """Whether this hub runs them: of several hubs on one store one does."""
        self._working = asyncio.Lock()
        self._some = asyncio.Event()
        """Set while there are any; most hubs have none, and need not look."""
        self._kept: dict[str, float] = {}
        """Retired agents that have left work behind, and when it was last checked."""

    # --- running them --------------------------------------------------------------------------------------

    async def run_all(self) -> None:
        """Run those that live and do not run anywhere."""
        if not self._rules():
            return
        async with self._working:
            settings, home = self._core.parts.settings, self._core.parts.home
            by_name: dict[str, Participant] = {}
            rows = []
            for record, agent in await self._living():
                template = settings.templates.get(record.template)
                if template is None:
                    log.warning("its template is gone", action="spawn_without_template", agent=agent.name)
                elif more := await self._beyond(record, agent):
                    log.warning(f"{agent.name}: {TOO_MUCH}", action="spawn_beyond_rights", detail=more)
                elif not self._runs(agent.id) and not agent.present(self._core.parts.clock.now()):
                    try:
                        place = await self._place(record, template)
                    except BadValue as trouble:
                        await self._give_up(record, trouble)
                        continue
                    by_name[agent.name] = agent
                    rows.append(row_of(template, agent.name, place))
            specs, broken = loaded(rows, home)
            for one in broken:
                log.warning(one.text, action="spawn_cannot_run")
            records = await self._core.parts.store.records(SPAWNED.all())
            people = {
                participant.id: participant for participant in await self._core.parts.store.participants()
            }
            specs = [
                structs.replace(one, budgets_above=self._budgets_above(by_name[one.name].id, records, people))
                for one in specs
            ]
            await self._start(specs, by_name)

    async def _beyond(self, record: SpawnRecord, participant: Participant) -> list[str]:
        """The rights it has by the current moot.toml that its spawner has not."""
        settings, store = self._core.parts.settings, self._core.parts.store
        above = await store.participant(record.by)
        records = await store.records(SPAWNED.all())
        own = row_behind(settings, participant, records)
        theirs = row_behind(settings, above, records) if above is not None and above.speaks_in_turns else None
        return beyond(own, theirs) if own is not None and theirs is not None else []

    def _budgets_above(
        self,
        agent: ParticipantId,
        records: Sequence[SpawnRecord],
        people: Mapping[ParticipantId, Participant],
    ) -> BudgetsAbove:
        """The budgets of its spawner and of all above, as moot.toml has them at the time of the call."""
        by = {record.agent: record.by for record in records}
        above: list[Participant] = []
        while (next_up := people.get(by.get(agent, ParticipantId("")))) is not None and next_up not in above:
            above += [next_up] if next_up.speaks_in_turns else []
            agent = next_up.id

        def budgets() -> Mapping[ParticipantId, AgentBudget]:
            settings = self._core.parts.settings
            rows = {participant.id: row_behind(settings, participant, records) for participant in above}
            return {
                id: AgentBudget() if row is None else AgentBudget(row.budget_usd, row.budget_tokens)
                for id, row in rows.items()
            }

        return budgets

    async def _place(self, record: SpawnRecord, template: TemplateSettings) -> str:
        """Where it works: in a checkout of its own, where it would be in another agent's way."""
        home, project = self._core.parts.home, Path(record.project)
        if not record.project or template.worktree is Worktree.NEVER:
            return record.project
        if not worktrees.folder_of(home, record.agent).exists() and not await self._needs_its_own(
            record, template
        ):
            return record.project
        try:
            return str(await worktrees.make(home, record.agent, project, template.worktree_setup))
        except BadValue as trouble:
            log.warning(trouble.title, action="worktree_not_made", agent=record.agent, error=trouble.detail)
            if template.worktree is Worktree.ALWAYS:
                raise
            return record.project

    async def _give_up(self, record: SpawnRecord, trouble: BadValue) -> None:
        """Retire an agent at once that cannot work in its folder, and tell its spawner why."""
        why = f"{trouble.title}: {trouble.detail}" if trouble.detail else trouble.title
        for task in await self._core.parts.store.records(TASKS.where(open_to=record.agent)):
            if task.is_open:
                order = update_task.UpdateTask(
                    record.agent, task.id, TaskState.FAILED, why, branch=task.conversation
                )
                await self._core.do(update_task, order)
        await retired(self._core, record, record.by, why)

    async def _needs_its_own(self, record: SpawnRecord, template: TemplateSettings) -> bool:
        top = await worktrees.repository_of(Path(record.project))
        if top is None:
            return False
        if template.worktree is Worktree.ALWAYS:
            return True
        home = self._core.parts.home
        others = [
            home.folder(participant.project)
            for participant in await self._core.parts.store.participants()
            if participant.listed and participant.id != record.agent and participant.project not in ("", HERE)
        ]
        return can_write(template) and any(place.is_relative_to(top) for place in others)

    def on_events(self, events: list[Event]) -> None:
        """Somebody was started, perhaps by another process."""
        started = [
            event
            for event in events
            if event.type is EventType.AGENT_STATUS and "spawned_by" in (event.body or {})
        ]
        if started:
            self._core.spawn(self.run_all())

    async def _living(self) -> list[tuple[SpawnRecord, Participant]]:
        store = self._core.parts.store
        records = await store.records(SPAWNED.all())
        if not records:
            return []
        self._some.set()
        people = {participant.id: participant for participant in await store.participants()}
        return [(one, people[one.agent]) for one in records if one.lives and one.agent in people]

    # --- their end -----------------------------------------------------------------------------------------

    async def keep(self) -> None:
        """For as long as the hub lives."""
        clock = self._core.parts.clock
        if hasattr(clock, "watch"):
            clock.watch(self)
        if await asyncio.to_thread(worktrees.leftovers, self._core.parts.home):
            self._some.set()
        try:
            while True:
                await self._some.wait()
                await clock.sleep_until(clock.now() + LOOK_SECONDS)
                await self.run_due()
        finally:
            if hasattr(clock, "unwatch"):
                clock.unwatch(self)

    async def keep_up(self) -> None:
        """Nobody waits for a sign of life of this."""

    async def next_due(self) -> float | None:
        """None: time need not stop for it on its way."""
        return None

    async def run_due(self) -> None:
        """Look after them once. A look that fails is not the last: the next tries again."""
        try:
            await self._look()
        except Exception as trouble:  # a store that is away, a disk that is full: they stay in our care
            log.warning("could not look after them", action="spawn_look_failed", error=repr(trouble))

    async def _look(self) -> None:
        if not self._rules():
            return
        await self.run_all()
        await self._clear_up()
        for record, agent in await self._living():
            if reason := await self._reason(record, agent):
                with suppress(MootError):  # the next look tries again
                    await retired(self._core, record, record.by, reason)
        if not await self._core.parts.store.records(SPAWNED.all()) and not self._kept:
            self._some.clear()

    async def _clear_up(self) -> None:
        """Remove the checkouts of retired agents; work in them stays, and is reported once."""
        home, now = self._core.parts.home, self._core.parts.clock.now()
        records = await self._core.parts.store.records(SPAWNED.all())
        living = {record.agent for record in records if record.lives}
        retired_agents = [record.agent for record in records if not record.lives]
        # who was started is forgotten after a day, what was left is not
        older = await asyncio.to_thread(worktrees.leftovers, home)
        for agent in dict.fromkeys((*retired_agents, *(ParticipantId(left.agent) for left in older))):
            if agent in living or self._runs(agent) or self._kept.get(agent, 0.0) > now - LOOK_AGAIN_SECONDS:
                continue
            left = await worktrees.clear(home, agent, now)
            if left is not None and agent not in self._kept:
                log.warning(
                    f"the worktree of {agent} stays: {left.why}",
                    action="worktree_kept",
                    path=left.path,
                    branch=left.branch,
                )
            if left is not None:
                self._kept[agent] = now

    async def _reason(self, record: SpawnRecord, participant: Participant) -> str:
        """Why it is to go; empty where it stays."""
        store, now = self._core.parts.store, self._core.parts.clock.now()
        if record.until and record.until <= now:
            return TIME_IS_UP
        if await self._beyond(record, participant):
            return TOO_MUCH
        people = {one.id: one for one in await store.participants()}
        above = people.get(record.by)
        orphan = above is None or above.removed
        quiet_since = max(record.created_at, participant.last_active, await self._last_turn(participant.id))
        idle = bool(record.idle_seconds) and quiet_since + record.idle_seconds <= now
        if not orphan and not idle:
            return ""
        if await self._is_busy(participant.id):
            return ""
        return ORPHANED if orphan else IDLE

    async def _last_turn(self, participant_id: ParticipantId) -> float:
        turns = await self._core.parts.store.turns(agent=participant_id, limit=20)
        return max((max(turn.ended_at, turn.created_at) for turn in turns), default=0.0)

    async def _is_busy(self, participant_id: ParticipantId) -> bool:
        """Whether it has something to do, or waits for what it gave others to do."""
        store = self._core.parts.store
        if await store.turns(agent=participant_id, states=tuple(OPEN), limit=1):
            return True
        tasks = [
            *await store.records(TASKS.where(open_to=participant_id)),
            *await store.records(TASKS.where(open_by=participant_id)),
        ]
        return any(task.is_open for task in tasks)


async def retired(core: Core, record: SpawnRecord, author: ParticipantId, reason: str) -> Participant:
    """Retire an agent, with the tasks that were delegated to it meanwhile."""
    store = core.parts.store
    link = (await store.graph()).between(record.by, record.agent)
    turns = await store.turns(agent=record.agent, states=tuple(OPEN), limit=EVERY_TURN)
    places: tuple[ConversationId, ...] = tuple(sorted({turn.conversation for turn in turns}))
    command = retire.Retire(record.agent, author, reason, link.id if link is not None else "", places)
    for _ in range(TRIES):
        try:
            retired_agent: Participant = await core.do(retire, command)
        except BranchesMoved as moved:
            command = structs.replace(command, branches=moved.branches)
        else:
            await core.directory.refresh()
            return retired_agent
    raise NotFound(f"{record.agent} is given work all the time", what="agent", ref=record.agent)
