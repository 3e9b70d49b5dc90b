"""An agent that does one thing at a time and wants to be interrupted is called somewhere else while it speaks.

Where its own conversation goes on, flow/post.py stops the turn. A message in another conversation would only wait in
line; here what the agent is doing is stopped for it, by the same verb and with the same care for running tools: its
words are kept, and it goes on with whoever called.

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

    async def _wants_it(self, who: Participant, author: ParticipantId) -> bool:
        """Whether an agent lets itself be interrupted by whoever wrote to it."""
        policy = who.config.on_busy
        if policy != BY_SUPERIOR:
            return policy == INTERRUPT
        writer = await self._store.participant(author)
        return writer is not None and links.is_above(await self._store.graph(), writer, who)

    async def _interject(self, called: Turn) -> None:
        store = self._store
        who = await store.participant(called.agent)
        message = await store.message(called.conversation, called.cause)
        if who is None or message is None or not await self._wants_it(who, message.author):
            return
        elsewhere = [
            turn
            for turn in await store.turns(agent=called.agent, states=(RUNNING,))
            if turn.conversation != called.conversation
        ]
        for turn in elsewhere:
            command = interrupt.Interrupt(
                message.author, turn.conversation, called.agent, self._host.partials()
            )
            try:
                await store.transact(interrupt, command)
            except MootError:  # it has just ended, or its conversation has: then nothing is in the way
                continue
