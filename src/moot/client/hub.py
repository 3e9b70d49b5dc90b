"""A hub somewhere else, with the methods of `Hub`, over any transport.

    async with RemoteHub.open(socket) as hub:                 on this machine, over its socket
    async with Hub.connect(url, token=…) as hub:              anywhere, over HTTP

The methods are declared in sdk/; here is what is more than one call: connecting, questions, streams.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from moot import shapes
from moot.client.calls import (
    RemoteAgents,
    RemoteAudit,
    RemoteBridges,
    RemoteCalls,
    RemoteConversations,
    RemoteDecisions,
    RemoteDeliveries,
    RemoteInspector,
    RemoteLinks,
    RemoteMailbox,
    RemoteNotes,
    RemoteOperator,
    RemoteTasks,
)
from moot.client.transport.socket_transport import SocketTransport, Transport, Voice
from moot.errors import HubAbsent, NotPermitted, TimedOut
from moot.model.json import JsonObject
from moot.sdk.hub import HubCalls
from moot.settings.home import Home

if TYPE_CHECKING:
    from moot.settings import Settings


class RemoteHub(RemoteCalls, HubCalls):
    def __init__(
        self,
        transport: Transport,
        name: str,
        position: int,
        *,
        home: Home | None = None,
        voice: Voice | None = None,
    ) -> None:
        super().__init__(transport, voice or Voice())
        self._home = home
        self.name = name
        self.position = position

    @cached_property
    def conversations(self) -> RemoteConversations:
        return RemoteConversations(self._transport, self._voice)

    @cached_property
    def agents(self) -> RemoteAgents:
        return RemoteAgents(self._transport, self._voice)

    @cached_property
    def links(self) -> RemoteLinks:
        return RemoteLinks(self._transport, self._voice)

    @cached_property
    def decisions(self) -> RemoteDecisions:
        return RemoteDecisions(self._transport, self._voice)

    @cached_property
    def bridges(self) -> RemoteBridges:
        return RemoteBridges(self._transport, self._voice)

    @cached_property
    def tasks(self) -> RemoteTasks:
        return RemoteTasks(self._transport, self._voice)

    @cached_property
    def notes(self) -> RemoteNotes:
        return RemoteNotes(self._transport, self._voice)

    @cached_property
    def mailbox(self) -> RemoteMailbox:
        return RemoteMailbox(self._transport, self._voice)

    @cached_property
    def deliveries(self) -> RemoteDeliveries:
        return RemoteDeliveries(self._transport, self._voice)

    @cached_property
    def operator(self) -> RemoteOperator:
        return RemoteOperator(self._transport, self._voice)

    @cached_property
    def inspector(self) -> RemoteInspector:
        return RemoteInspector(self._transport, self._voice)

    @cached_property
    def audit(self) -> RemoteAudit:
        return RemoteAudit(self._transport, self._voice)

    @classmethod
    async def find(cls, home: Home, door: str = "sdk") -> RemoteHub | None:
        """The hub that runs on a home, entered by this door; None if none answers."""
        transport = SocketTransport()
        try:
            greeting = await transport.open(home.hub_sock, door)
        except HubAbsent:
            await transport.close()
            return None
        return cls(transport, greeting["name"], greeting["position"], home=home)

    @classmethod
    @asynccontextmanager
    async def open(cls, socket: Path) -> AsyncIterator[RemoteHub]:
        """The hub behind a socket; raises `HubAbsent` if there is none."""
        transport = SocketTransport()
        greeting = await transport.open(socket)
        try:
            yield cls(transport, greeting["name"], greeting["position"], home=Home(socket.parent.parent))
        finally:
            await transport.close()

    async def close(self) -> None:
        await self._transport.close()

    @cached_property
    def settings(self) -> Settings:
        """moot.toml and the environment, as they are read here."""
        if self._home is None:
            raise NotPermitted("the settings of a hub elsewhere cannot be read from here")
        from moot.settings import load  # noqa: PLC0415

        return load(self._home)

    def acting_as(self, name: str) -> RemoteHub:
        """Speak as somebody else; the hub refuses it to everybody but the owner."""
        return self._speaking(name, Voice(name))

    def within(self, turn_id: str) -> RemoteHub:
        """Speak as before, in a turn that one has open: what is posted belongs to it."""
        return self._speaking(self.name, Voice(self._voice.speaker, turn_id))

    def _speaking(self, name: str, voice: Voice) -> RemoteHub:
        return RemoteHub(self._transport, name, self.position, home=self._home, voice=voice)

    # --- what is more than a call ------------------------------------------------------------------------

    async def ask(
        self,
        target: str,
        text: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109
        choices: Sequence[str] = (),
        shape: JsonObject | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        left = await self._turn_to_ask(target, timeout)
        key = idempotency_key
        try:
            return await super().ask(
                target, text, timeout=left, choices=choices, shape=shape, idempotency_key=key
            )
        finally:
            self._transport.asking.release()

    async def _turn_to_ask(self, target: str, seconds: float) -> float:
        """Wait until one more question may be under way; returns what is left of its time."""
        loop, gate = asyncio.get_running_loop(), self._transport.asking
        began = loop.time() if gate.locked() else None
        try:
            async with asyncio.timeout(seconds):
                await gate.acquire()
        except TimeoutError:
            raise TimedOut(
                f"{target} was not asked within {seconds:g} s",
                detail="earlier questions of this program were still waiting for answers; nothing was sent",
            ) from None
        return seconds if began is None else max(seconds - (loop.time() - began), 0.0)

    async def events(
        self,
        *,
        conversation: str | None = None,
        agent: str | None = None,
        types: Sequence[str] = (),
        after: str | int | None = None,
    ) -> AsyncIterator[shapes.Event]:
        filters = {"conversation": conversation, "agent": agent, "types": tuple(types), "after": after}
        async for event in self._transport.follow(self._voice, **filters):
            yield event
