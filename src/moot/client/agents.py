"""`hub.agents` over a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot import shapes
from moot.client.transport.line import Line, Voice

Agent = shapes.Agent
Tokens = list[shapes.Token]
Arrivals = list[shapes.Arrival]
USUAL = ("read", "post")


class RemoteAgents:
    def __init__(self, line: Line, voice: Voice) -> None:
        self._line = line
        self._voice = voice

    async def _call(self, method: str, answer: Any, **named: Any) -> Any:
        return await self._line.call(f"agents.{method}", answer, self._voice, **named)

    async def _one(self, method: str, **named: Any) -> Agent:
        found: Agent = await self._call(method, Agent, **named)
        return found

    async def list(self) -> list[Agent]:
        found: list[Agent] = await self._call("list", list[Agent])
        return found

    async def get(self, name: str) -> Agent:
        return await self._one("get", name=name)

    async def where(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("where", dict[str, Any], name=name)
        return found

    async def create(
        self, name: str, *, role: str = "", display: str = "", external: bool = False, human: bool = False
    ) -> Agent:
        options = {"role": role, "display": display, "external": external, "human": human}
        return await self._one("create", name=name, **options)

    async def rename(self, name: str, new_name: str) -> Agent:
        return await self._one("rename", name=name, new_name=new_name)

    async def change(
        self, name: str, *, role: str | None = None, display: str | None = None, project: str | None = None
    ) -> Agent:
        return await self._one("change", name=name, role=role, display=display, project=project)

    async def interrupt(self, name: str) -> None:
        await self._call("interrupt", object, name=name)

    async def pause(self, name: str) -> Agent:
        return await self._one("pause", name=name)

    async def resume(self, name: str) -> Agent:
        return await self._one("resume", name=name)

    async def remove(self, name: str) -> Agent:
        return await self._one("remove", name=name)

    async def arrive(self, door: str, **whence: Any) -> Agent:
        return await self._one("arrive", door=door, **whence)

    async def arrivals(self, client: str | None = None, folder: str | None = None) -> Arrivals:
        found: Arrivals = await self._call("arrivals", Arrivals, client=client, folder=folder)
        return found

    async def seen(self, name: str, *, door: str, reach: str = "on-demand") -> None:
        await self._call("seen", object, name=name, door=door, reach=reach)

    async def hooked(self, name: str, event: str, *, again: bool = False, limit: int = 20) -> shapes.Hooked:
        options = {"event": event, "again": again, "limit": limit}
        found: shapes.Hooked = await self._call("hooked", shapes.Hooked, name=name, **options)
        return found

    async def hook_said(self, name: str, *, handed: Sequence[str] = ()) -> None:
        await self._call("hook_said", object, name=name, handed=list(handed))

    async def tokens(self, name: str) -> Tokens:
        found: Tokens = await self._call("tokens", Tokens, name=name)
        return found

    async def issue_token(self, name: str, *, scopes: Sequence[str] = USUAL) -> shapes.IssuedToken:
        options = {"name": name, "scopes": list(scopes)}
        found: shapes.IssuedToken = await self._call("issue_token", shapes.IssuedToken, **options)
        return found

    async def revoke_token(self, name: str, id: str) -> shapes.Token:
        found: shapes.Token = await self._call("revoke_token", shapes.Token, name=name, id=id)
        return found
