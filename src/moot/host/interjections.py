"""Interrupts an agent that does one thing at a time when it is called in another conversation, if it wants that.

In its own conversation flow/post.py stops the turn. A message in another conversation would only queue; here the
running turn is stopped for it, by the same verb and with the same care for running tools: the text so far is kept, and
the agent goes on with the new call.

Above: hub/runtime.py. Below: flow/interrupt.py.
"""

from collections.abc import Callable, Coroutine

from moot.errors import MootError
from moot.flow import interrupt
from moot.host.host import AgentHost
from moot.model.event import Event, EventType
from moot.model.ids import ParticipantId
from moot.model.participant import Participant
from moot.model.turn import RUNNING, Turn
from moot.ports import HomeStore
from moot.rules import links

INTERRUPT, BY_SUPERIOR = "interrupt", "interrupt-by-superior"


class Interjections:
    def __init__(
        self, store: HomeStore, host: AgentHost, spawn: Callable[[Coroutine[object, object, object]], object]
    ) -> None:
        self._store = store
        self._host = host
        self._spawn = spawn

    def on_events(self, events: list[Event]) -> None:
        for event in events:
            turn = event.turn if event.type is EventType.TURN_READY else None
            if turn is not None and self._host.does_one_thing(turn.agent):
                self._spawn(self._interject(turn))

    async def _may_interrupt(self, agent: Participant, author: ParticipantId) -> bool:
        """Whether an agent may be interrupted by the author of a message."""
        policy = agent.config.on_busy
        if policy != BY_SUPERIOR:
            return policy == INTERRUPT
        writer = await self._store.participant(author)
        return writer is not None and links.is_above(await self._store.graph(), writer, agent)

    async def _interject(self, call: Turn) -> None:
        store = self._store
        agent = await store.participant(call.agent)
        message = await store.message(call.conversation, call.cause)
        if agent is None or message is None or not await self._may_interrupt(agent, message.author):
            return
        elsewhere = [
            turn
            for turn in await store.turns(agent=call.agent, states=(RUNNING,))
            if turn.conversation != call.conversation
        ]
        for turn in elsewhere:
            command = interrupt.Interrupt(
                message.author, turn.conversation, call.agent, self._host.partials()
            )
            try:
                await store.transact(interrupt, command)
            except MootError:  # the turn or its conversation has just ended
                continue
