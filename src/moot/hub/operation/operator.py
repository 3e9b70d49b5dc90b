"""`hub.operator`: what is going on, and what an operator can do about it."""

import asyncio
import os
from io import BytesIO

from msgspec import convert, to_builtins

from moot import shapes
from moot.errors import NotPermitted
from moot.hub.agents import Agents
from moot.hub.archive import backups
from moot.hub.archive.import_ import Import
from moot.hub.archive.validate import check
from moot.hub.core import Core
from moot.hub.operation import new_agent, processes, providers, role_files
from moot.hub.operation.last_hour import last_hour
from moot.hub.operation.log_tail import last_lines
from moot.hub.operation.now import now as where_things_stand
from moot.hub.queries import turns
from moot.model.ids import ParticipantId
from moot.sdk.operator import Backups, Files, OperatorCalls, Providers, Settings
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

    async def last_hour(self) -> shapes.LastHour:
        return await last_hour(self._core, self._me)

    # --- agents as processes, and who they are ------------------------------------------------------------

    async def add_agent(self, name: str, *, role: str = "", brain: str = "demo") -> shapes.Agent:
        self._only_the_owner("add agents")
        await new_agent.add(self._core, name, role=role, brain=brain)
        return await Agents(self._core, self._me).get(name)

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

    async def providers(self) -> Providers:
        self._only_the_owner("see which keys are set")
        return providers.listed(self._core)

    async def test_provider(self, name: str) -> shapes.TriedProvider:
        self._only_the_owner("use keys")
        return await providers.tried(self._core, name)

    # --- what is kept -------------------------------------------------------------------------------------

    async def backups(self) -> Backups:
        self._only_the_owner("see backups")
        listed = await asyncio.to_thread(backups.list_backups, self._core.parts.home)
        return [
            shapes.ListedBackup(backup.path.name, backup.bytes, shapes.when(backup.at), backup.kind)
            for backup in listed
        ]

    async def back_up(self) -> shapes.MadeBackup:
        self._only_the_owner("make backups")
        made = await asyncio.to_thread(backups.create, self._core.parts.home)
        return shapes.MadeBackup(made.path.name, made.bytes, made.messages)

    async def import_text(self, text: str, *, dry_run: bool = False) -> shapes.Imported:
        self._only_the_owner("import conversations")
        file, limit = BytesIO(text.encode()), self._core.parts.settings.limits.message_bytes
        checked = await asyncio.to_thread(check, file, "the text", limit_bytes=limit)
        importing = Import(self._core, self._me, checked)
        done = await (importing.preview() if dry_run else importing.run(file))
        return convert(to_builtins(done), shapes.Imported)

    def _only_the_owner(self, what: str) -> None:
        if self._me != self._core.user:
            raise NotPermitted(f"only the owner may {what}")
