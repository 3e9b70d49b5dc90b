"""`hub.agents`: the registry."""

from typing import Any

from moot import shapes
from moot.flow import interrupt
from moot.flow.enrol import Enrol, Newcomer, Pause, Rename, enrolling, pausing, renaming
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import Kind, Participant
from moot.model.turn import OPEN, TurnState


class Agents:
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def list(self) -> list[shapes.Agent]:
        found = await self._core.parts.store.participants()
        return [await self._shape(who) for who in found if who.speaks_in_turns]

    async def get(self, name: str) -> shapes.Agent:
        return await self._shape(await self._core.participant(name))

    async def where(self, name: str) -> dict[str, Any]:
        """The process that hosts an agent now: its pid and socket; empty where none does."""
        who = await self._core.participant(name)
        now = self._core.parts.clock.now()
        for host in await self._core.parts.store.hosts():
            if host.id == who.host and host.lease_until > now:
                return {"host": host.id, "pid": host.pid, "socket": host.socket}
        return {}

    async def create(
        self, name: str, *, role: str = "", display: str = "", external: bool = False
    ) -> shapes.Agent:
        new = Newcomer(
            name=name,
            kind=Kind.EXTERNAL if external else Kind.AGENT,
            role=role,
            display=display,
            brain="external" if external else "code",
        )
        await self._core.do(enrolling, Enrol(newcomers=(new,), fresh=True))
        await self._core.refresh()
        return await self.get(name)

    async def rename(self, name: str, new_name: str) -> shapes.Agent:
        await self._core.do(renaming, Rename(agent=name, name=new_name))
        await self._core.refresh()
        return await self.get(new_name)

    async def interrupt(self, name: str) -> None:
        """Stop whatever the agent is saying, everywhere."""
        who = await self._core.participant(name)
        running = await self._core.parts.store.turns(agent=who.id, states=(TurnState.RUNNING,))
        partials = self._core.host.partials()
        for turn in running:
            command = interrupt.Interrupt(self._me, turn.conversation, who.id, partials)
            await self._core.do(interrupt, command)

    async def pause(self, name: str) -> shapes.Agent:
        return await self._pause(name, paused=True)

    async def resume(self, name: str) -> shapes.Agent:
        return await self._pause(name, paused=False)

    async def _pause(self, name: str, *, paused: bool) -> shapes.Agent:
        who = await self._core.participant(name)
        open_turns = await self._core.parts.store.turns(agent=who.id, states=tuple(OPEN))
        places = tuple(sorted({turn.conversation for turn in open_turns}))
        await self._core.do(pausing, Pause(agent=who.id, paused=paused, conversations=places))
        return await self.get(name)

    async def _shape(self, who: Participant) -> shapes.Agent:
        turns = await self._core.parts.store.turns(agent=who.id, states=tuple(OPEN))
        running = any(turn.state is TurnState.RUNNING for turn in turns)
        queue = sum(turn.state is not TurnState.RUNNING for turn in turns)
        return shapes.Agent.of(who, self._core.parts.clock.now(), running=running, queue=queue)
