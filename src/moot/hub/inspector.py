"""`hub.inspector`: what agents are given, what turns cost, and checks of the store."""

from typing import Any

from moot import shapes
from moot.hub.core import Core
from moot.hub.queries import given_prompt, replay, search, settled, turns
from moot.model.ids import ParticipantId
from moot.sdk.inspector import InspectorCalls


class Inspector(InspectorCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def context(self, agent: str, conversation: str) -> dict[str, Any]:
        return await given_prompt.now(self._core, agent, conversation)

    async def replay(self, agent: str) -> shapes.Replayed:
        return await replay.replay(self._core, agent)

    async def usage(self, *, agent: str | None = None, conversation: str | None = None) -> dict[str, Any]:
        return await turns.usage(self._core, agent, conversation)

    async def unsettled(self, conversation: str | None = None) -> list[shapes.Turn]:
        return await settled.unsettled(self._core, conversation)

    async def narrowest(self, query: str) -> shapes.Removed | None:
        return await search.narrowest(self._core, self._me, query)
