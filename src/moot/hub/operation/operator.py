"""`hub.operator`: what is going on, and what whoever looks after the hub does about it."""

import os

from moot import shapes
from moot.errors import NotPermitted
from moot.hub.agents import Agents
from moot.hub.core import Core
from moot.hub.operation import processes, role_files
from moot.hub.operation.log_tail import last_lines
from moot.hub.operation.now import now as where_things_stand
from moot.hub.queries import turns
from moot.model.ids import ParticipantId
from moot.sdk.operator import Files, OperatorCalls, Settings
from moot.settings.catalogue import change, survey
from moot.settings.changes import needs_restart


class HubOperator(OperatorCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def live(self, *, conversation: str | None = None) -> list[shapes.LiveTurn]:
        return await turns.live(self._core, conversation)

    async def now(self, *, limit: int = 10) -> shapes.Now:
        return await where_things_stand(self._core, self._me, limit)

    # --- agents as processes, and who they are ------------------------------------------------------------

    async def start(self, agent: str) -> shapes.Agent:
        self._only_the_owner("start agents")
        await processes.start(self._core, agent)
        return await Agents(self._core, self._me).get(agent)

    async def stop(self, agent: str) -> shapes.Agent:
        self._only_the_owner("stop agents")
        await processes.stop(self._core, agent)
        return await Agents(self._core, self._me).get(agent)

    async def ping(self, agent: str) -> shapes.PingedAgent:
        return await processes.ping(self._core, agent)

    async def role_files(self, agent: str) -> Files:
        self._only_the_owner("read role files")
        return await role_files.listed(self._core, agent)

    async def write_role_file(
        self, agent: str, file: str, text: str, *, seen: str | None = None
    ) -> shapes.RoleFile:
        self._only_the_owner("write role files")
        return await role_files.written(self._core, self._me, agent, file, text=text, version=seen)

    # --- the hub itself -----------------------------------------------------------------------------------

    async def logs(self, *, agent: str | None = None, lines: int = 200) -> shapes.LogTail:
        self._only_the_owner("read logs")
        return await last_lines(self._core, agent, lines)

    async def settings(self) -> Settings:
        self._only_the_owner("read settings")
        return [
            shapes.ListedSetting(
                one.key,
                one.value,
                one.source,
                one.fact.meaning,
                one.fact.takes.phrase,
                needs_restart(one.key),
            )
            for one in survey(self._core.parts.home, os.environ)
        ]

    async def change_setting(self, key: str, value: str) -> shapes.ChangedValue:
        self._only_the_owner("change settings")
        before, now = change(self._core.parts.home, os.environ, key, value)
        await self._core.reload()
        return shapes.ChangedValue(key, now, before, needs_restart(key))

    def _only_the_owner(self, what: str) -> None:
        if self._me != self._core.user:
            raise NotPermitted(f"only the owner may {what}")
