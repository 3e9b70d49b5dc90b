"""The host: claims turns of its agents, runs their brains, finishes the turns, hands over to the next.

Above: hub.py starts and stops it. Below: the verbs claim, finish, renew, release and presence over the store.
It acts on wake-ups only as hints: what it does, it does because a claim or a read of the store said so.
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
from moot.host.hosted import Hosted, Running, ended_or_hurried
from moot.host.reservation import TurnReservation, charged_to
from moot.host.turn_end import STORE_AWAY_SECONDS, failed, finished, left_partial, patient
from moot.model.event import Event
from moot.model.ids import HostId, ParticipantId, TurnId
from moot.model.prompt import Offered
from moot.model.records.share import group_of, supervision_of
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Clock, LiveLane, Store, TurnReads

log = structlog.get_logger("moot.host")

DRAIN_SECONDS = 20.0


class AgentHost:
    def __init__(  # noqa: PLR0913  what a host is made of, put together in one place
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
        shares.when_gained(self._gained)
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
        self._beats = False
        self._beating = asyncio.Lock()
        self._beaten = clock.now()
        self._hosted: dict[ParticipantId, Hosted] = {}
        self._running: dict[TurnId, Running] = {}
        self._running_of: Counter[ParticipantId] = Counter()
        """How many of them are each agent's."""
        self._claimable: dict[ParticipantId, dict[TurnId, None]] = {}
        self._claiming: dict[ParticipantId, int] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._claims: set[asyncio.Task[Any]] = set()
        self._draining = False
        self._hurried = asyncio.Event()
        self._freed = asyncio.Event()
        """Set when a turn has ended: others may wait for what it had set aside."""

    # --- presence --------------------------------------------------------------------------------------

    async def start(self, agents: Sequence[Hosted], dead: tuple[HostId, ...] = ()) -> None:
        """Say that the agents are here, and take up what waits for them. One that was here already thinks with its new
        brain from its next turn on; what it is saying now it ends with the old one."""
        replaced = [self._hosted[agent.who.id] for agent in agents if agent.who.id in self._hosted]
        self._hosted |= {agent.who.id: agent for agent in agents}
        await self._attach(dead)
        failpoint("host.attached")
        self._beat()
        for agent in agents:
            self._shares.want_agent(agent.who.id, agent.partitions)
        await self._shares.renew()
        for agent in agents:
            await self._offer_waiting(agent.who.id)
        await asyncio.gather(*self._claims, return_exceptions=True)
        if replaced:
            self._spawn(self._retire(replaced))

    async def _offer_waiting(self, agent: ParticipantId) -> None:
        for turn in await self._turns.turns(agent=agent, states=(TurnState.READY, TurnState.OWED)):
            self._offer(turn)

    async def _gained(self, groups: frozenset[str]) -> None:
        """Conversations of these agents are this host's now: take up what waits there."""
        for agent in [agent for agent in self._hosted if group_of(agent) in groups]:
            await self._offer_waiting(agent)

    async def watch(self) -> None:
        """From now on this process gets all events, also where none of its agents is concerned."""
        if not self._watches:
            self._watches = True
            await self._attach()
            self._beat()

    def _beat(self) -> None:
        if not self._beats:
            self._beats = True
            self._beaten = self._clock.now()
            self._spawn(self._keep_lease())

    async def let_go(self, agents: Sequence[ParticipantId]) -> None:
        """Run these no more. What they are saying now they may end; whoever comes under their name later is somebody
        else's to run, or is given to `start`."""
        left = [self._hosted.pop(agent) for agent in agents if agent in self._hosted]
        for agent in agents:
            self._claimable.pop(agent, None)
        if not left:
            return
        try:
            gone = [hosted.who.id for hosted in left]
            await self._shares.let_go([group(id) for id in gone for group in (group_of, supervision_of)])
            await self._attach(left=tuple(hosted.who.id for hosted in left))
        finally:
            await self._retire(left)

    async def _retire(self, left: Sequence[Hosted]) -> None:
        """Close brains once the turns that run with them have ended."""
        try:
            ending = [run.task for run in self._running.values() if any(run.hosted is one for one in left)]
            await asyncio.gather(*ending, return_exceptions=True)
        finally:
            await asyncio.gather(*(hosted.brain.close() for hosted in left), return_exceptions=True)

    async def _attach(self, dead: tuple[HostId, ...] = (), left: tuple[ParticipantId, ...] = ()) -> None:
        here = attach.Attach(
            host=self.id,
            pid=self._pid,
            agents=tuple(self._hosted),
            socket=self._socket,
            watches=self._watches,
            machine=self._machine,
            dead=dead,
            left=left,
        )
        await self._store.transact(attach, here)

    async def _keep_lease(self) -> None:
        while True:
            await self._clock.sleep_until(min(self._beaten, self._clock.now()) + self._lease / 3)
            await self.keep_up()

    async def keep_up(self) -> None:
        """Send the one heartbeat of this process, for all its agents and running turns, if it is due."""
        async with self._beating:
            now = self._clock.now()
            if not self._beats or self._beaten <= now < self._beaten + self._lease / 3:
                return
            stopped, self._beaten = now - self._beaten > self._lease, now
            for run in self._running.values():  # the process stood still: that was no silence of its agents
                run.sign_of_life = now if stopped else min(run.sign_of_life, now)
            try:
                await self._attach()
                await self._renew(list(self._running.values()))
            except MootError as trouble:
                log.warning("heartbeat failed", action="heartbeat_failed", error=str(trouble))

    @property
    def next_beat(self) -> float | None:
        """When the turns that run here must be renewed."""
        return self._beaten + self._lease / 3 if self._beats and self._running else None

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
        """Take no more turns; let running ones end, then give them back; then be gone."""
        self._draining = True
        with suppress(MootError):  # then they end by themselves
            await self._shares.let_all_go()
        tasks = [run.task for run in self._running.values()]
        if tasks and seconds > 0:
            await ended_or_hurried(tasks, self._hurried, seconds)
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
            if turn.state in (TurnState.READY, TurnState.OWED):
                self._taken_away(turn)
                self._offer(turn)
            elif turn.state not in OPEN:
                self._ended(turn)

    def _offer(self, turn: Turn) -> None:
        if not self._shares.owns(turn.agent, turn.conversation):
            return  # another instance has that conversation
        self._claimable.setdefault(turn.agent, {})[turn.id] = None
        self._take_up(turn.agent)

    def _taken_away(self, turn: Turn) -> Running | None:
        """Cancel what runs here under an older fence of this turn."""
        run = self._running.get(turn.id)
        if run is None or run.turn.fence >= turn.fence:
            return None
        self._cancel(run)
        return run

    def _ended(self, turn: Turn) -> None:
        """A turn ended: if it is one we still run, somebody else ended it (interrupt, deadline, leave)."""
        waiting = self._claimable.get(turn.agent)
        if waiting is not None:
            waiting.pop(turn.id, None)
        run = self._taken_away(turn)
        if run is not None and turn.interrupted and not turn.message:
            self._spawn(left_partial(self._store.transact, run))
        run = self._running.get(turn.id)
        if run is not None and run.turn.fence == turn.fence and turn.state is TurnState.EXPIRED:
            self._cancel(run)

    def _cancel(self, run: Running) -> None:
        if self._forget(run):
            run.task.cancel()
            self._take_up(run.turn.agent)

    def _forget(self, run: Running) -> bool:
        """Forget a run; answers whether it was still ours. Another claim of the same turn is not touched."""
        if self._running.get(run.turn.id) is not run:
            return False
        del self._running[run.turn.id]
        self._running_of[run.turn.agent] -= 1
        self._freed.set()
        self._show(run)
        return True

    def _show(self, run: Running) -> None:
        """Whoever watches sees what its agent is doing now."""
        agent = run.turn.agent
        if not self._running_of[agent]:
            self._signal.rested(agent)
            return
        if self._running_of[agent] > 1 or self._running.get(run.turn.id) is not run:
            mine = [one for one in self._running.values() if one.turn.agent == agent]
            run = max(mine, key=lambda one: one.turn.started_at)
        self._signal.moved(run)

    def runs(self, agent: ParticipantId) -> bool:
        return agent in self._hosted

    @property
    def agents(self) -> tuple[str, ...]:
        """Names of those it runs."""
        return tuple(hosted.who.name for hosted in self._hosted.values())

    def partials(self) -> dict[TurnId, str]:
        """What running agents have said so far."""
        return {turn: run.said for turn, run in self._running.items() if run.said}

    # --- turns -----------------------------------------------------------------------------------------

    def does_one_thing(self, agent: ParticipantId) -> bool:
        return agent in self._hosted and self._hosted[agent].concurrency == 1

    def _busy(self, agent: ParticipantId) -> int:
        return self._running_of[agent] + self._claiming.get(agent, 0)

    def _take_up(self, agent: ParticipantId) -> None:
        """Claim what waits for the agent, as far as it can do several things at once."""
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
        except StoreUnwritable:  # it may be back before the sweep comes to this turn
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
        self._taken_away(turn)
        hosted = self._hosted.get(turn.agent)
        if hosted is None:  # let go of while it was claimed
            self._spawn(self._store.transact(release, release.Release(turn=turn.id, fence=turn.fence)))
            return
        run = Running(turn, hosted)
        self._running[turn.id] = run
        self._running_of[turn.agent] += 1
        self._show(run)
        run.task = self._spawn(self._run(run))

    async def taken_up(self) -> None:
        """Wait until what is offered is claimed, as far as there is room for it."""
        while self._claims:
            await asyncio.wait(self._claims)

    async def _run(self, run: Running) -> None:
        """One turn from claim to finish; the floor's next turn follows at once where it is ours."""
        done = None
        try:
            outcome = await self._think(run)
            if outcome is not None:
                failpoint("host.thought")
                done = await finished(self._patiently, self._ending(run, outcome))
                failpoint("host.finished")
        except Stale:
            log.info("turn ended elsewhere", action="turn_stale", turn=run.turn.id, agent=run.turn.agent)
        finally:  # however it ends, it holds no place of its agent's
            self._forget(run)
        if done is not None and done.next is not None:
            self._begin(done.next)
        self._take_up(run.turn.agent)

    def _ending(self, run: Running, outcome: finish.Outcome) -> finish.Finish:
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
        """Agents that could take a turn handed over by this one."""
        if self._draining:
            return frozenset()
        return frozenset(
            agent
            for agent, hosted in self._hosted.items()
            if self._busy(agent) - (agent == ending.agent) < hosted.concurrency
            and self._shares.owns(agent, ending.conversation)
        )

    async def _think(self, run: Running) -> finish.Outcome | None:
        """None where the turn may not begin, and is over."""
        turn, hosted = run.turn, run.hosted
        try:
            view = await self._context.view(turn, hosted.who, hosted.size)
            failpoint("host.prethink")
            speaking = await self._handle(view, hosted.offered, lambda chunk: self._on_chunk(turn, chunk))
            run.begin(speaking)
            budgets = TurnReservation(self._patiently, run, speaking, self._clock, self._freed)
            if not await budgets.may_begin():
                return None
            reply = await hosted.brain.think(speaking)
        except asyncio.CancelledError:
            raise
        except Exception as error:  # the border to foreign code: a brain may fail in any way it likes
            return failed(run, error)
        if reply is None:
            reply = speaking.said or None
        mark = {"brain": hosted.brain.name} if hosted.brain.name else {}
        mark |= {key: value for key, value in view.trigger.metadata.items() if key == "correlation_id"}
        return finish.Said(text=reply, metadata=mark, usage=run.spent)

    async def _on_chunk(self, turn: Turn, chunk: str) -> None:
        """A chunk is shown to whoever watches, and is a sign of life.

        It looks the run up instead of holding it: the run holds who speaks, and a turn that held itself would stay
        in memory, with all it had read, until a garbage collection.
        """
        run, now = self._running.get(turn.id), self._clock.now()
        if run is None or run.turn.fence != turn.fence:
            return
        run.sign_of_life = now
        self._show(run)
        if chunk:
            self._signal.spoke(run, chunk)
        patience = turn.deadline - turn.started_at if turn.deadline else self._lease
        if now - run.renewed > patience / 3:
            await self._renew([run])

    def _spawn(self, work: Any) -> "asyncio.Task[Any]":
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            log.error("a host task failed", action="host_task_failed", error=repr(error))
