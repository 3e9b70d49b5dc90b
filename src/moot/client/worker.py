"""A function of this process as an outside agent of a hub elsewhere: it fetches its turns, thinks, and ends them.

One long poll per agent, and as many turns at once as its `concurrency`. It reports the turns it holds; a turn that was
lost on the way is handed out again. Leaving gives open turns back. Above: connect.py. Below: the client's own methods.
Not here: leases and streamed pieces, which only a host beside the store has.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import structlog

from moot import shapes
from moot.brains.code import AgentSpec, CodeBrain
from moot.client.hub import RemoteHub
from moot.errors import HubAbsent, MootError, NotPermitted, Stale, Trouble, TurnFailed, Unauthenticated

log = structlog.get_logger("moot.outside")

WAIT_SECONDS = 30.0
FIRST_PAUSE, MAX_PAUSE = 0.2, 5.0
LEAVE_SECONDS = 5.0


class OutsideTurn:
    """What the function gets: the turn as INTERFACES describes it."""

    def __init__(self, view: shapes.View, hub: RemoteHub) -> None:
        self.id = view.turn.id
        self.agent = view.turn.agent
        self.conversation = view.conversation
        self.must_answer = view.turn.duty == "must"
        self.reason = view.turn.reason
        self.deadline = view.deadline
        self.trigger = view.trigger
        self.text = view.trigger.text
        self.new = view.new
        self.messages = view.messages
        self.hub = hub
        """Speaks as this agent; what it posts belongs to this turn."""
        self.said = ""

    async def say(self, chunk: str) -> None:
        """Add a piece of the reply, which is posted as a whole when the turn ends."""
        self.said += chunk


class Outside:
    def __init__(self, hub: RemoteHub, spec: AgentSpec) -> None:
        self._hub = hub
        self._spec = spec
        self._brain = CodeBrain(spec.think, spec.brain, spec.close)
        self._open: dict[str, asyncio.Task[None]] = {}
        self._places: dict[str, str] = {}
        """Conversation → the turn that is worked on there."""
        self._room = asyncio.Semaphore(max(1, spec.concurrency))

    @asynccontextmanager
    async def serve(self) -> AsyncIterator[None]:
        """Serve the agent until the block is left."""
        asking = asyncio.get_running_loop().create_task(self._serve())
        try:
            yield
        finally:
            await self._leave(asking)

    async def _leave(self, asking: asyncio.Task[None]) -> None:
        """Stop functions and give their turns back, for the next program that serves this agent."""
        turns = list(self._open)
        tasks = [asking, *self._open.values()]
        for task in tasks:
            task.cancel()
        with suppress(TimeoutError):
            async with asyncio.timeout(LEAVE_SECONDS):
                await asyncio.wait(tasks)
                for turn in turns:
                    with suppress(MootError):
                        await self._hub.mailbox.give_back(turn)
                await self._brain.close()

    # --- asking for turns --------------------------------------------------------------------------------

    async def _serve(self) -> None:
        pause, clock = FIRST_PAUSE, asyncio.get_running_loop().time
        while True:
            await self._room.acquire()
            asked_at = clock()
            try:
                waiting = await self._hub.mailbox.wait(
                    timeout=WAIT_SECONDS, limit=1, handed=(), held=tuple(self._open)
                )
                pause = FIRST_PAUSE
            except (Unauthenticated, NotPermitted) as refusal:
                self._log("error", "an agent is no longer served", "serving_ended", refusal)
                return
            except MootError as trouble:  # the hub is away, or in trouble: it may come back
                self._log("warning", "an agent is waiting for its hub", "hub_awaited", trouble)
                self._room.release()
                await asyncio.sleep(pause)
                pause = min(2 * pause, MAX_PAUSE)
                continue
            self._room.release()
            for turn in waiting.handed:
                await self._begin(turn)
            if not waiting.handed and asked_at + FIRST_PAUSE > clock():
                await asyncio.sleep(FIRST_PAUSE)  # a hub that is being stopped answers at once, with nothing

    async def _begin(self, turn: str) -> None:
        if turn in self._open:
            return
        await self._room.acquire()
        self._open[turn] = task = asyncio.get_running_loop().create_task(self._take(turn))
        task.add_done_callback(lambda _: self._on_turn_over(turn))

    def _on_turn_over(self, turn: str) -> None:
        self._open.pop(turn, None)
        self._places = {place: open_ for place, open_ in self._places.items() if open_ != turn}
        self._room.release()

    # --- a turn ------------------------------------------------------------------------------------------

    async def _take(self, turn: str) -> None:
        try:
            size = {"messages": self._spec.context_messages, "tokens": self._spec.context_tokens}
            view = await self._hub.mailbox.view(turn, **size)
            self._instead_of(view.conversation.id, turn)
            await self._end(turn, **await self._think(OutsideTurn(view, self._hub.within(turn))))
        except Stale as late:
            self._log("info", "a turn ended before its answer", "answer_dropped", late, turn=turn)
        except TurnFailed as unheard:
            self._log("warning", "an answer was refused", "answer_refused", unheard, turn=turn)
        except MootError as trouble:
            self._log("warning", "a turn was released", "turn_let_go", trouble, turn=turn)

    def _instead_of(self, place: str, turn: str) -> None:
        """Stop an earlier turn in the same conversation: an agent has only one there, so that one was interrupted."""
        before = self._places.get(place)
        self._places[place] = turn
        if before is not None and (task := self._open.get(before)) is not None:
            task.cancel()

    async def _think(self, turn: OutsideTurn) -> dict[str, Any]:
        try:
            reply = await self._brain.think(turn)
        except Exception as error:  # the border to foreign code: a function may fail in any way it likes
            self._log("warning", "an agent failed", "brain_failed", error, turn=turn.id)
            return {"error": f"{type(error).__name__}: {error}"}
        return {"text": turn.said or None if reply is None else reply}

    async def _end(self, turn: str, **outcome: Any) -> None:
        """End a turn, retrying while the hub is away; ending it twice does no harm."""
        pause = FIRST_PAUSE
        while True:
            try:
                await self._hub.mailbox.end(turn, **outcome)
                return
            except Trouble as trouble:
                kind = "hub_awaited" if isinstance(trouble, HubAbsent) else "hub_in_trouble"
                self._log("warning", "an answer is waiting for the hub", kind, trouble, turn=turn)
            await asyncio.sleep(pause)
            pause = min(2 * pause, MAX_PAUSE)

    def _log(self, level: str, event: str, action: str, error: Exception, **more: Any) -> None:
        getattr(log, level)(event, action=action, agent=self._spec.name, error=repr(error), **more)
