"""The host: claims turns of its agents, runs their brains, finishes the turns, goes on with the next.

Above: hub.py starts and stops it. Below: the verbs claim, finish, renew, release and presence over the store.
Wake-ups are only hints: it acts on a claim or a read of the store.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

import structlog

from moot.context.prompt import Context
from moot.context.view import TurnView
from moot.errors import MootError, Stale, StoreUnwritable
from moot.failpoints import failpoint
from moot.flow import attach, claim, detach, finish, release, renew
from moot.host.activity_signal import ActivitySignal
from moot.host.held_shares import HeldShares
from moot.host.hosted import HeardTurns, Hosted, Running, overtakes, wait_for_end
from moot.host.reservation import TurnReservation, charged_to
from moot.host.turn_end import STORE_AWAY_SECONDS, failure_of, finish_turn, keep_partial, patient
from moot.model.event import Event
from moot.model.ids import HostId, ParticipantId, TurnId
from moot.model.prompt import Offered
from moot.model.records.share import group_of, supervision_of
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Clock, LiveLane, Store, TurnReads

log = structlog.get_logger("moot.host")

DRAIN_SECONDS = 20.0


class AgentHost:
    def __init__(  # noqa: PLR0913  the parts of a host, assembled in one place
        self,
        identity: HostId,
        pid: int,
        *,
        store: Store,
        reads: Any,
        clock: Clock,
        context: Context,
        handle: Callable[[TurnView, Offered, Callable[[str], Any]], Any],
        live: LiveLane,
        lease_seconds: float,
        shares: HeldShares,
        socket: str = "",
        machine: str = "",
    ) -> None:
        self.id = identity
        self._shares = shares
        shares.when_gained(self._on_gained)
        self._pid = pid
        self._store = store
        self._patiently = patient(store.transact, clock)
        self._context = context
        self._turns: TurnReads = reads
        self._clock = clock
        self._handle = handle
        self._signal = ActivitySignal(live, clock)
        self._lease = lease_seconds
        self._socket = socket
        self._machine = machine
        self._watches = False
        self._is_beating = False
        self._beat_lock = asyncio.Lock()
        self._last_beat = clock.now()
        self._hosted: dict[ParticipantId, Hosted] = {}
        self._running: dict[TurnId, Running] = {}
        self._heard = HeardTurns()
        self._running_of: Counter[ParticipantId] = Counter()
        """Running turns per agent."""
        self._claimable: dict[ParticipantId, dict[TurnId, None]] = {}
        self._claiming: dict[ParticipantId, int] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._claims: set[asyncio.Task[Any]] = set()
        self._draining = False
        self._hurried = asyncio.Event()
        self._freed = asyncio.Event()
        """Set when a turn has ended: others may wait for its reservation."""

    # --- presence --------------------------------------------------------------------------------------

    async def start(self, agents: Sequence[Hosted], dead: tuple[HostId, ...] = ()) -> None:
        """Announce the agents as present, and take up the turns that wait for them. An agent that already runs here
        gets its new brain with its next turn; a running turn ends with the old one."""
        started = {agent.participant.id: agent for agent in agents}
        replaced = [self._hosted[id] for id in started if id in self._hosted]
        self._hosted |= started
        await self._attach(dead)
        failpoint("host.attached")
        self._start_beating()
        for id, agent in started.items():
            self._shares.want_agent(id, agent.partitions)
        await self._shares.renew()
        for id in started:
            await self._offer_waiting(id)
        await asyncio.gather(*self._claims, return_exceptions=True)
        if replaced:
            self._spawn(self._retire(replaced))

    async def _offer_waiting(self, agent: ParticipantId) -> None:
        for turn in await self._turns.turns(agent=agent, states=(TurnState.READY, TurnState.OWED)):
            self._offer(turn)

    async def _on_gained(self, groups: frozenset[str]) -> None:
        """This host has gained conversations of these agents: take up the turns that wait there."""
        for agent in [agent for agent in self._hosted if group_of(agent) in groups]:
            await self._offer_waiting(agent)

    async def watch(self) -> None:
        """Receive all events from now on, not only those of its own agents."""
        if not self._watches:
            self._watches = True
            await self._attach()
            self._start_beating()

    def _start_beating(self) -> None:
        if not self._is_beating:
            self._is_beating = True
            self._last_beat = self._clock.now()
            self._spawn(self._keep_lease())

    async def let_go(self, agents: Sequence[ParticipantId]) -> None:
        """Stop running these agents; their running turns may end. Another host, or `start`, may run them later."""
        removed = [self._hosted.pop(agent) for agent in agents if agent in self._hosted]
        for agent in agents:
            self._claimable.pop(agent, None)
        if not removed:
            return
        try:
            ids = [hosted.participant.id for hosted in removed]
            await self._shares.let_go([group(id) for id in ids for group in (group_of, supervision_of)])
            await self._attach(left=tuple(ids))
        finally:
            await self._retire(removed)

    async def _retire(self, removed: Sequence[Hosted]) -> None:
        """Close brains once the turns that run with them have ended."""
        try:
            ending = [run.task for run in self._running.values() if any(run.hosted is one for one in removed)]
            await asyncio.gather(*ending, return_exceptions=True)
        finally:
            await asyncio.gather(*(hosted.brain.close() for hosted in removed), return_exceptions=True)

    async def _attach(self, dead: tuple[HostId, ...] = (), left: tuple[ParticipantId, ...] = ()) -> None:
        command = attach.Attach(
            host=self.id,
            pid=self._pid,
            agents=tuple(self._hosted),
            socket=self._socket,
            watches=self._watches,
            machine=self._machine,
            dead=dead,
            left=left,
        )
        await self._store.transact(attach, command)

    async def _keep_lease(self) -> None:
        while True:
            await self._clock.sleep_until(min(self._last_beat, self._clock.now()) + self._lease / 3)
            await self.keep_up()

    async def keep_up(self) -> None:
        """Send the one heartbeat of this process, for all its agents and running turns, if it is due."""
        async with self._beat_lock:
            now = self._clock.now()
            if not self._is_beating or self._last_beat <= now < self._last_beat + self._lease / 3:
                return
            was_suspended, self._last_beat = now - self._last_beat > self._lease, now
            for run in self._running.values():  # the process was suspended: its agents were not silent
                run.sign_of_life = now if was_suspended else min(run.sign_of_life, now)
            try:
                await self._attach()
                await self._renew(list(self._running.values()))
            except MootError as trouble:
                log.warning("heartbeat failed", action="heartbeat_failed", error=str(trouble))

    @property
    def next_beat(self) -> float | None:
        """When the turns that run here must be renewed."""
        return self._last_beat + self._lease / 3 if self._is_beating and self._running else None

    async def _renew(self, runs: list[Running]) -> None:
        if not runs:
            return
        alive = tuple(renew.Alive(r.turn.id, r.turn.fence, r.sign_of_life) for r in runs)
        for run in runs:
            run.renewed = self._clock.now()
        lost = await self._store.transact(renew, renew.Renew(turns=alive))
        for run in runs:
            if (run.turn.id, run.turn.fence) in lost:
                self._cancel(run)

    async def drain(self, seconds: float = DRAIN_SECONDS) -> None:
        """Take no more turns; wait for running ones to end, give back the rest, then detach."""
        self._draining = True
        with suppress(MootError):  # then the shares expire by themselves
            await self._shares.let_all_go()
        tasks = [run.task for run in self._running.values()]
        if tasks and seconds > 0:
            await wait_for_end(tasks, self._hurried, seconds)
        for run in list(self._running.values()):
            await self._give_back(run)
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        brains = [hosted.brain.close() for hosted in self._hosted.values()]
        await asyncio.gather(*brains, return_exceptions=True)
        await self._store.transact(detach, detach.Detach(host=self.id, agents=tuple(self._hosted)))

    def hurry(self) -> None:
        """End a drain that is under way without waiting longer."""
        self._hurried.set()

    async def _give_back(self, run: Running) -> None:
        run.task.cancel()
        await asyncio.gather(run.task, return_exceptions=True)
        with suppress(MootError):
            await self._store.transact(release, release.Release(turn=run.turn.id, fence=run.turn.fence))

    # --- wake-ups --------------------------------------------------------------------------------------

    def on_events(self, events: list[Event]) -> None:
        """A hint: something was committed, here or in another process."""
        newest: dict[TurnId, Turn] = {}
        for event in events:
            if event.turn is not None and event.turn.agent in self._hosted:
                newest[event.turn.id] = event.turn
            elif event.by in self._hosted and event.body and event.body.get("removed"):
                self._spawn(self.let_go([event.by]))
        for turn in newest.values():
            self._heard.note(turn)
            if turn.state in (TurnState.READY, TurnState.OWED):
                self._cancel_outdated(turn)
                self._offer(turn)
            elif turn.state not in OPEN:
                self._on_ended(turn)

    def _offer(self, turn: Turn) -> None:
        if not self._shares.owns(turn.agent, turn.conversation):
            return  # another instance has that conversation
        self._claimable.setdefault(turn.agent, {})[turn.id] = None
        self._take_up(turn.agent)

    def _cancel_outdated(self, turn: Turn) -> Running | None:
        """Cancel the run of this turn, if there is one here that this ends."""
        run = self._running.get(turn.id)
        if run is None or not overtakes(turn, run.turn):
            return None
        self._cancel(run)
        return run

    def _on_ended(self, turn: Turn) -> None:
        """A turn has ended. If it still runs here, it was ended from outside (interrupt, deadline, leave)."""
        self._claimable.get(turn.agent, {}).pop(turn.id, None)
        run = self._cancel_outdated(turn)
        if run is not None and turn.interrupted and not turn.message:
            self._spawn(keep_partial(self._store.transact, run))

    def _cancel(self, run: Running) -> None:
        if self._forget(run):
            run.task.cancel()
            self._take_up(run.turn.agent)

    def _forget(self, run: Running) -> bool:
        """Forget a run; whether it was still ours. Another claim of the same turn is not touched."""
        if self._running.get(run.turn.id) is not run:
            return False
        del self._running[run.turn.id]
        self._running_of[run.turn.agent] -= 1
        self._freed.set()
        self._show(run)
        return True

    def _show(self, run: Running) -> None:
        """Publish what its agent is doing now."""
        agent = run.turn.agent
        if not self._running_of[agent]:
            self._signal.show_rest(agent)
            return
        if self._running_of[agent] > 1 or self._running.get(run.turn.id) is not run:
            mine = [one for one in self._running.values() if one.turn.agent == agent]
            run = max(mine, key=lambda one: one.turn.started_at)
        self._signal.show(run)

    def runs(self, agent: ParticipantId) -> bool:
        return agent in self._hosted

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of the agents that run here."""
        return tuple(hosted.participant.name for hosted in self._hosted.values())

    def partials(self) -> dict[TurnId, str]:
        """The text of running turns so far."""
        return {turn: run.said for turn, run in self._running.items() if run.said}

    # --- turns -----------------------------------------------------------------------------------------

    def does_one_thing(self, agent: ParticipantId) -> bool:
        return agent in self._hosted and self._hosted[agent].concurrency == 1

    def _busy(self, agent: ParticipantId) -> int:
        return self._running_of[agent] + self._claiming.get(agent, 0)

    def _take_up(self, agent: ParticipantId) -> None:
        """Claim turns that wait for the agent, up to its concurrency."""
        waiting = self._claimable.get(agent) if agent in self._hosted else None
        while waiting and not self._draining and self._busy(agent) < self._hosted[agent].concurrency:
            turn = next(iter(waiting))
            del waiting[turn]
            self._claiming[agent] = self._claiming.get(agent, 0) + 1
            claim_task = self._spawn(self._claim(agent, turn))
            self._claims.add(claim_task)
            claim_task.add_done_callback(self._claims.discard)

    async def _claim(self, agent: ParticipantId, turn: TurnId) -> None:
        try:
            answer = await self._store.transact(claim, claim.Claim(turn=turn, host=self.id))
        except StoreUnwritable:  # the store may be back before the sweep finds this turn
            self._spawn(self._claim_later(agent, turn))
            return
        finally:
            self._claiming[agent] -= 1
        if answer.turn is not None:
            failpoint("host.claimed")
            self._begin(answer.turn)
        else:
            self._take_up(agent)

    async def _claim_later(self, agent: ParticipantId, turn: TurnId) -> None:
        await self._clock.sleep_until(self._clock.now() + STORE_AWAY_SECONDS)
        self._claimable.setdefault(agent, {})[turn] = None
        self._take_up(agent)

    def _begin(self, turn: Turn) -> None:
        if self._heard.is_over(turn):  # it was stopped before its claim was answered
            self._take_up(turn.agent)
            return
        self._cancel_outdated(turn)
        hosted = self._hosted.get(turn.agent)
        if hosted is None:  # the agent was removed while the turn was claimed
            self._spawn(self._store.transact(release, release.Release(turn=turn.id, fence=turn.fence)))
            return
        run = Running(turn, hosted)
        self._running[turn.id] = run
        self._running_of[turn.agent] += 1
        self._show(run)
        run.task = self._spawn(self._run(run))

    async def wait_for_claims(self) -> None:
        """Wait until the offered turns are claimed, as far as there is room."""
        while self._claims:
            await asyncio.wait(self._claims)

    async def _run(self, run: Running) -> None:
        """Run one turn from claim to finish; the floor's next turn follows at once if it is ours."""
        result = None
        try:
            outcome = await self._think(run)
            if outcome is not None:
                failpoint("host.thought")
                result = await finish_turn(self._patiently, self._finish_command(run, outcome))
                failpoint("host.finished")
        except Stale:
            log.info("turn ended elsewhere", action="turn_stale", turn=run.turn.id, agent=run.turn.agent)
        finally:  # however it ends, its agent can take another turn
            self._forget(run)
        if result is not None and result.next is not None:
            self._begin(result.next)
        self._take_up(run.turn.agent)

    def _finish_command(self, run: Running, outcome: finish.Outcome) -> finish.Finish:
        turn, speaking = run.turn, run.speaking
        return finish.Finish(
            turn=turn.id,
            fence=turn.fence,
            outcome=outcome,
            host=self.id,
            runs_here=self._with_room(turn),
            given=speaking.given if speaking is not None else None,
            text=speaking.given_text if speaking is not None else "",
            account=charged_to(run, self._clock.now()),
        )

    def _with_room(self, ending: Turn) -> frozenset[ParticipantId]:
        """Agents that could take the next turn after this one."""
        if self._draining:
            return frozenset()
        return frozenset(
            agent
            for agent, hosted in self._hosted.items()
            if self._busy(agent) - (agent == ending.agent) < hosted.concurrency
            and self._shares.owns(agent, ending.conversation)
        )

    async def _think(self, run: Running) -> finish.Outcome | None:
        """Let the brain think; None if the turn may not begin and has ended."""
        turn, hosted = run.turn, run.hosted
        try:
            view = await self._context.view(turn, hosted.participant, hosted.size)
            failpoint("host.prethink")
            speaking = await self._handle(view, hosted.offered, lambda chunk: self._on_chunk(turn, chunk))
            run.begin(speaking)
            budgets = TurnReservation(self._patiently, run, speaking, self._clock, self._freed)
            if not await budgets.may_begin():
                return None
            reply = await hosted.brain.think(speaking)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the border to foreign code: a brain may fail in any way
            return failure_of(run, error)
        if reply is None:
            reply = speaking.said or None
        mark = {"brain": hosted.brain.name} if hosted.brain.name else {}
        mark |= {key: value for key, value in view.trigger.metadata.items() if key == "correlation_id"}
        return finish.Said(text=reply, metadata=mark, usage=run.spent)

    async def _on_chunk(self, turn: Turn, chunk: str) -> None:
        """Publish a chunk, and note it as a sign of life.

        It looks the run up instead of holding it: the run holds its Speaking, and that cycle would stay in memory
        until a garbage collection.
        """
        run, now = self._running.get(turn.id), self._clock.now()
        if run is None or run.turn.fence != turn.fence:
            return
        run.sign_of_life = now
        self._show(run)
        if chunk:
            self._signal.show_chunk(run, chunk)
        patience = turn.deadline - turn.started_at if turn.deadline else self._lease
        if now - run.renewed > patience / 3:
            await self._renew([run])

    def _spawn(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._on_done)
        return task

    def _on_done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a host task failed", action="host_task_failed", error=repr(error))
