"""`hub.conversations` over a line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot import shapes
from moot.client.transport.line import Line, Voice

Conversation = shapes.Conversation


class RemoteConversations:
    def __init__(self, line: Line, voice: Voice) -> None:
        self._line = line
        self._voice = voice

    async def _call(self, method: str, answer: Any, **named: Any) -> Any:
        return await self._line.call(f"conversations.{method}", answer, self._voice, **named)

    async def _one(self, method: str, **named: Any) -> Conversation:
        found: Conversation = await self._call(method, Conversation, **named)
        return found

    async def create(
        self,
        name: str,
        *,
        participants: Sequence[str] = (),
        kind: str = "group",
        settings: dict[str, Any] | None = None,
        channel: tuple[str, str] = ("", ""),
        exist_ok: bool = False,
    ) -> Conversation:
        options = {"kind": kind, "settings": settings, "channel": channel, "exist_ok": exist_ok}
        return await self._one("create", name=name, participants=list(participants), **options)

    async def implicit(self, participants: Sequence[str]) -> Conversation:
        return await self._one("implicit", participants=list(participants))

    async def ephemeral(self, target: str, key: str = "") -> Conversation:
        return await self._one("ephemeral", target=target, key=key)

    async def get(self, ref: str) -> Conversation:
        return await self._one("get", ref=ref)

    async def list(
        self,
        *,
        archived: bool = False,
        kind: str | None = None,
        channel_type: str | None = None,
        channel_group_id: str | None = None,
    ) -> list[Conversation]:
        filters = {"kind": kind, "channel_type": channel_type, "channel_group_id": channel_group_id}
        found: list[Conversation] = await self._call("list", list[Conversation], archived=archived, **filters)
        return found

    async def join(self, ref: str, name: str) -> Conversation:
        return await self._one("join", ref=ref, name=name)

    async def leave(self, ref: str, name: str) -> None:
        await self._call("leave", object, ref=ref, name=name)

    async def rename(self, ref: str, name: str) -> Conversation:
        return await self._one("rename", ref=ref, name=name)

    async def configure(self, ref: str, **settings: Any) -> Conversation:
        return await self._one("configure", ref=ref, **settings)

    async def archive(self, ref: str) -> None:
        await self._call("archive", object, ref=ref)

    async def dissolve(self, ref: str) -> None:
        await self._call("dissolve", object, ref=ref)

    async def unarchive(self, ref: str) -> None:
        await self._call("unarchive", object, ref=ref)

    async def delete(self, ref: str) -> None:
        await self._call("delete", object, ref=ref)

    async def resume(self, ref: str) -> bool:
        return bool(await self._call("resume", bool, ref=ref))

    async def stop(self, ref: str, agent: str | None = None) -> tuple[str, ...]:
        found: tuple[str, ...] = await self._call("stop", tuple[str, ...], ref=ref, agent=agent)
        return found

    async def read(self, ref: str, seq: int) -> None:
        await self._call("read", object, ref=ref, seq=seq)
