"""A hub somewhere else, with the methods of `Hub`, over whichever line leads to it.

    async with RemoteHub.open(socket) as hub:                 on this machine, over its socket
    async with Hub.connect(url, token=…) as hub:              anywhere, over HTTP

Signatures are those of hub/hub.py; tests/contract/hub holds them equal.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from moot import shapes
from moot.client.agents import RemoteAgents
from moot.client.conversations import RemoteConversations
from moot.client.transport.line import Connection, Line, Voice
from moot.errors import HubAbsent, NotPermitted, TimedOut
from moot.model.answer import Preview, Receipt
from moot.settings.home import Home

if TYPE_CHECKING:
    from moot.settings import Settings

Messages = list[shapes.Message]
Turns = list[shapes.Turn]


class RemoteHub:
    def __init__(
        self, line: Line, name: str, position: int, *, home: Home | None = None, voice: Voice | None = None
    ) -> None:
        self._line = line
        self._home = home
        self._voice = voice or Voice()
        self.name = name
        self.position = position
        self.conversations = RemoteConversations(line, self._voice)
        self.agents = RemoteAgents(line, self._voice)

    @classmethod
    async def find(cls, home: Home) -> RemoteHub | None:
        """The hub that runs on a home; None where nobody answers."""
        line = Connection()
        try:
            told = await line.open(home.hub_sock)
        except HubAbsent:
            await line.close()
            return None
        return cls(line, told["name"], told["position"], home=home)

    @classmethod
    @asynccontextmanager
    async def open(cls, socket: Path) -> AsyncIterator[RemoteHub]:
        """The hub behind a socket; `HubAbsent` where there is none."""
        line = Connection()
        told = await line.open(socket)
        try:
            yield cls(line, told["name"], told["position"], home=Home(socket.parent.parent))
        finally:
            await line.close()

    async def close(self) -> None:
        await self._line.close()

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
        return RemoteHub(self._line, name, self.position, home=self._home, voice=voice)

    async def _call(self, method: str, answer: Any, **named: Any) -> Any:
        return await self._line.call(method, answer, self._voice, **named)

    async def _once(self, method: str, answer: Any, key: str | None, **named: Any) -> Any:
        """With a key that is made here: a call that is repeated stores nothing twice."""
        return await self._call(method, answer, idempotency_key=key or uuid4().hex, **named)

    # --- speaking ----------------------------------------------------------------------------------------

    async def post(  # noqa: PLR0913  the options of a message
        self,
        conversation: str,
        text: str,
        *,
        reply_to: str | None = None,
        force: Sequence[str] = (),
        intent: str | None = None,
        interrupt: bool = False,
        idempotency_key: str | None = None,
        max_turns: int | None = None,
        correlation_id: str | None = None,
    ) -> Receipt:
        found: Receipt = await self._once(
            "post",
            Receipt,
            idempotency_key,
            conversation=conversation,
            text=text,
            reply_to=reply_to,
            force=tuple(force),
            intent=intent,
            interrupt=interrupt,
            max_turns=max_turns,
            correlation_id=correlation_id,
        )
        return found

    async def preview(self, conversation: str, text: str, *, force: Sequence[str] = ()) -> Preview:
        options = {"conversation": conversation, "text": text, "force": tuple(force)}
        found: Preview = await self._call("preview", Preview, **options)
        return found

    async def send(
        self, target: str, text: str, *, intent: str | None = None, idempotency_key: str | None = None
    ) -> Receipt:
        found: Receipt = await self._once(
            "send", Receipt, idempotency_key, target=target, text=text, intent=intent
        )
        return found

    async def broadcast(self, text: str, *, idempotency_key: str | None = None) -> dict[str, Any]:
        found: dict[str, Any] = await self._once("broadcast", dict[str, Any], idempotency_key, text=text)
        return found

    async def ask(
        self,
        target: str,
        text: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        left = await self._turn_to_ask(target, timeout)
        try:
            found: shapes.Message = await self._once(
                "ask", shapes.Message, idempotency_key, target=target, text=text, timeout=left
            )
            return found
        finally:
            self._line.asking.release()

    async def _turn_to_ask(self, target: str, seconds: float) -> float:
        """Wait until one more question may be under way; what is left of its time."""
        loop, gate = asyncio.get_running_loop(), self._line.asking
        began = loop.time() if gate.locked() else None
        try:
            async with asyncio.timeout(seconds):
                await gate.acquire()
        except TimeoutError:
            raise TimedOut(
                f"{target} was not asked within {seconds:g} s",
                detail="other questions of this program were still waiting for their answers; nothing was sent",
            ) from None
        return seconds if began is None else max(seconds - (loop.time() - began), 0.0)

    async def ask_again(
        self, message_id: str, agents: Sequence[str], *, idempotency_key: str | None = None
    ) -> Receipt:
        found: Receipt = await self._once(
            "ask_again", Receipt, idempotency_key, message_id=message_id, agents=list(agents)
        )
        return found

    async def edit(self, id: str, text: str, *, version: int) -> shapes.Message:
        found: shapes.Message = await self._call("edit", shapes.Message, id=id, text=text, version=version)
        return found

    async def delete(self, id: str, *, version: int) -> shapes.Message:
        found: shapes.Message = await self._call("delete", shapes.Message, id=id, version=version)
        return found

    # --- reading -----------------------------------------------------------------------------------------

    async def messages(
        self, conversation: str, *, after: int = 0, before: int | None = None, limit: int = 100
    ) -> Messages:
        page = {"after": after, "before": before, "limit": limit}
        found: Messages = await self._call("messages", Messages, conversation=conversation, **page)
        return found

    async def message(self, id: str) -> shapes.Message:
        found: shapes.Message = await self._call("message", shapes.Message, id=id)
        return found

    async def newest(self, conversation: str, limit: int = 50) -> Messages:
        found: Messages = await self._call("newest", Messages, conversation=conversation, limit=limit)
        return found

    async def turns(
        self, *, conversation: str | None = None, agent: str | None = None, state: str | None = None
    ) -> Turns:
        found: Turns = await self._call("turns", Turns, conversation=conversation, agent=agent, state=state)
        return found

    async def turn(self, id: str, *, given: bool = True) -> shapes.Turn:
        found: shapes.Turn = await self._call("turn", shapes.Turn, id=id, given=given)
        return found

    async def context(self, agent: str, conversation: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._call(
            "context", dict[str, Any], agent=agent, conversation=conversation
        )
        return found

    async def replay(self, agent: str) -> shapes.Replayed:
        found: shapes.Replayed = await self._call("replay", shapes.Replayed, agent=agent)
        return found

    async def usage(self, *, agent: str | None = None, conversation: str | None = None) -> dict[str, Any]:
        found: dict[str, Any] = await self._call(
            "usage", dict[str, Any], agent=agent, conversation=conversation
        )
        return found

    async def why(self, message_id: str) -> shapes.Why:
        found: shapes.Why = await self._call("why", shapes.Why, message_id=message_id)
        return found

    async def deliveries(self, message_id: str) -> list[shapes.Delivered]:
        kind = list[shapes.Delivered]
        found: list[shapes.Delivered] = await self._call("deliveries", kind, message_id=message_id)
        return found

    async def dead_letters(self, *, agent: str | None = None) -> Turns:
        found: Turns = await self._call("dead_letters", Turns, agent=agent)
        return found

    async def redeliver(self, turn_id: str, *, idempotency_key: str | None = None) -> Receipt:
        found: Receipt = await self._once("redeliver", Receipt, idempotency_key, turn_id=turn_id)
        return found

    async def search(self, query: str, *, limit: int = 20) -> list[shapes.Hit]:
        found: list[shapes.Hit] = await self._call("search", list[shapes.Hit], query=query, limit=limit)
        return found

    async def narrowest(self, query: str) -> shapes.Removed | None:
        kind = cast(Any, shapes.Removed | None)
        found: shapes.Removed | None = await self._call("narrowest", kind, query=query)
        return found

    async def inbox(
        self, *, agent: str | None = None, unread: bool = False, limit: int = 20
    ) -> list[shapes.Received]:
        kind, options = list[shapes.Received], {"agent": agent, "unread": unread, "limit": limit}
        found: list[shapes.Received] = await self._call("inbox", kind, **options)
        return found

    async def audit(self, *, after: int = 0, limit: int = 100) -> list[shapes.Event]:
        found: list[shapes.Event] = await self._call("audit", list[shapes.Event], after=after, limit=limit)
        return found

    # --- being handed messages ---------------------------------------------------------------------------

    async def check(
        self, *, limit: int = 50, handed: Sequence[str] | None = None, held: Sequence[str] = ()
    ) -> shapes.Handed:
        found: shapes.Handed = await self._call("check", shapes.Handed, **_asking(limit, handed, held))
        return found

    async def wait(
        self,
        *,
        timeout: float = 30.0,  # noqa: ASYNC109
        limit: int = 50,
        handed: Sequence[str] | None = None,
        held: Sequence[str] = (),
    ) -> shapes.Handed:
        options = {"timeout": timeout, **_asking(limit, handed, held)}
        found: shapes.Handed = await self._call("wait", shapes.Handed, **options)
        return found

    async def reply(
        self, message_id: str, text: str, *, idempotency_key: str | None = None
    ) -> Receipt | None:
        kind = cast(Any, Receipt | None)
        found: Receipt | None = await self._once(
            "reply", kind, idempotency_key, message_id=message_id, text=text
        )
        return found

    async def view(self, turn_id: str, *, messages: int = 20, tokens: int = 8000) -> shapes.View:
        found: shapes.View = await self._call(
            "view", shapes.View, turn_id=turn_id, messages=messages, tokens=tokens
        )
        return found

    async def end(self, turn_id: str, *, text: str | None = None, error: str | None = None) -> shapes.Turn:
        found: shapes.Turn = await self._call("end", shapes.Turn, turn_id=turn_id, text=text, error=error)
        return found

    async def give_back(self, turn_id: str) -> None:
        await self._call("give_back", object, turn_id=turn_id)

    # --- waiting -----------------------------------------------------------------------------------------

    async def unsettled(self, conversation: str | None = None) -> Turns:
        found: Turns = await self._call("unsettled", Turns, conversation=conversation)
        return found

    async def settled(self, conversation: str | None = None, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        await self._call("settled", object, conversation=conversation, timeout=timeout)

    async def events(
        self,
        *,
        conversation: str | None = None,
        agent: str | None = None,
        types: Sequence[str] = (),
        after: str | int | None = None,
    ) -> AsyncIterator[shapes.Event]:
        filters = {"conversation": conversation, "agent": agent, "types": tuple(types), "after": after}
        async for event in self._line.follow(self._voice, **filters):
            yield event


def _asking(limit: int, handed: Sequence[str] | None, held: Sequence[str]) -> dict[str, Any]:
    return {"limit": limit, "handed": None if handed is None else list(handed), "held": list(held)}
