"""A running hub, reached over its socket, with the methods of `Hub`.

async with RemoteHub.open(home) as hub:
    await hub.post("build", "hello")
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from moot import shapes
from moot.client.line import Connection
from moot.errors import HubAbsent
from moot.model.answer import Preview, Receipt
from moot.settings.home import Home

if TYPE_CHECKING:
    from moot.settings import Settings

Messages = list[shapes.Message]
Turns = list[shapes.Turn]
Tokens = list[shapes.Token]
Arrivals = list[shapes.Arrival]


class RemoteHub:
    def __init__(
        self, line: Connection, name: str, position: int, home: Home, speaker: str | None = None
    ) -> None:
        self._line = line
        self._home = home
        self._speaker = speaker
        self.name = name
        self.position = position
        self.conversations = RemoteConversations(line, speaker)
        self.agents = RemoteAgents(line, speaker)

    @classmethod
    async def find(cls, home: Home) -> RemoteHub | None:
        """The hub that runs on a home; None where nobody answers."""
        line = Connection()
        try:
            told = await line.open(home.hub_sock)
        except HubAbsent:
            await line.close()
            return None
        return cls(line, told["name"], told["position"], home)

    @classmethod
    @asynccontextmanager
    async def open(cls, socket: Path) -> AsyncIterator[RemoteHub]:
        """The hub behind a socket; `HubAbsent` where there is none."""
        line = Connection()
        told = await line.open(socket)
        try:
            yield cls(line, told["name"], told["position"], Home(socket.parent.parent))
        finally:
            await line.close()

    async def close(self) -> None:
        await self._line.close()

    @cached_property
    def settings(self) -> Settings:
        """moot.toml and the environment, as they are read here."""
        from moot.settings import load  # noqa: PLC0415

        return load(self._home)

    def acting_as(self, name: str) -> RemoteHub:
        return RemoteHub(self._line, name, self.position, self._home, name)

    async def _call(self, method: str, answer: Any, *args: Any, **named: Any) -> Any:
        return await self._line.call(method, answer, *args, speaker=self._speaker, **named)

    # --- speaking ----------------------------------------------------------------------------------------

    async def post(
        self, conversation: str, text: str, *, idempotency_key: str | None = None, **options: Any
    ) -> Receipt:
        """The key is made here: a call that is repeated stores nothing twice."""
        key = idempotency_key or uuid4().hex
        found: Receipt = await self._call("post", Receipt, conversation, text, idempotency_key=key, **options)
        return found

    async def send(self, target: str, text: str, **options: Any) -> Receipt:
        options["idempotency_key"] = options.get("idempotency_key") or uuid4().hex
        found: Receipt = await self._call("send", Receipt, target, text, **options)
        return found

    async def preview(self, conversation: str, text: str, *, force: Sequence[str] = ()) -> Preview:
        found: Preview = await self._call("preview", Preview, conversation, text, force=tuple(force))
        return found

    async def broadcast(self, text: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("broadcast", dict[str, Any], text)
        return found

    async def ask(self, target: str, text: str, *, timeout: float = 60.0) -> shapes.Message:  # noqa: ASYNC109
        found: shapes.Message = await self._call("ask", shapes.Message, target, text, timeout=timeout)
        return found

    async def ask_again(self, message_id: str, agents: Sequence[str]) -> Receipt:
        found: Receipt = await self._call("ask_again", Receipt, message_id, list(agents))
        return found

    async def edit(self, id: str, text: str, *, version: int) -> shapes.Message:
        found: shapes.Message = await self._call("edit", shapes.Message, id, text, version=version)
        return found

    async def delete(self, id: str, *, version: int) -> shapes.Message:
        found: shapes.Message = await self._call("delete", shapes.Message, id, version=version)
        return found

    # --- reading -----------------------------------------------------------------------------------------

    async def messages(self, conversation: str, **page: Any) -> Messages:
        found: Messages = await self._call("messages", Messages, conversation, **page)
        return found

    async def newest(self, conversation: str, limit: int = 50) -> Messages:
        found: Messages = await self._call("newest", Messages, conversation, limit)
        return found

    async def turns(self, **filters: Any) -> Turns:
        found: Turns = await self._call("turns", Turns, **filters)
        return found

    async def turn(self, id: str, *, given: bool = True) -> shapes.Turn:
        found: shapes.Turn = await self._call("turn", shapes.Turn, id, given=given)
        return found

    async def context(self, agent: str, conversation: str) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("context", dict[str, Any], agent, conversation)
        return found

    async def usage(self, **filters: Any) -> dict[str, Any]:
        found: dict[str, Any] = await self._call("usage", dict[str, Any], **filters)
        return found

    async def why(self, message_id: str) -> shapes.Why:
        found: shapes.Why = await self._call("why", shapes.Why, message_id)
        return found

    async def deliveries(self, message_id: str) -> list[shapes.Delivered]:
        found: list[shapes.Delivered] = await self._call("deliveries", list[shapes.Delivered], message_id)
        return found

    async def dead_letters(self, *, agent: str | None = None) -> Turns:
        found: Turns = await self._call("dead_letters", Turns, agent=agent)
        return found

    async def redeliver(self, turn_id: str) -> Receipt:
        found: Receipt = await self._call("redeliver", Receipt, turn_id)
        return found

    async def search(self, query: str, *, limit: int = 20) -> list[shapes.Hit]:
        found: list[shapes.Hit] = await self._call("search", list[shapes.Hit], query, limit=limit)
        return found

    async def narrowest(self, query: str) -> shapes.Removed | None:
        found: shapes.Removed | None = await self._call("narrowest", shapes.Removed | None, query)
        return found

    async def inbox(self, **filters: Any) -> list[shapes.Received]:
        found: list[shapes.Received] = await self._call("inbox", list[shapes.Received], **filters)
        return found

    # --- being handed messages ---------------------------------------------------------------------------

    async def check(self, *, limit: int = 50, handed: Sequence[str] | None = None) -> shapes.Handed:
        told = None if handed is None else list(handed)
        found: shapes.Handed = await self._call("check", shapes.Handed, limit=limit, handed=told)
        return found

    async def wait(self, *, handed: Sequence[str] | None = None, **options: Any) -> shapes.Handed:
        told = None if handed is None else list(handed)
        found: shapes.Handed = await self._call("wait", shapes.Handed, handed=told, **options)
        return found

    async def reply(self, message_id: str, text: str) -> Receipt | None:
        found: Receipt | None = await self._call("reply", cast(Any, Receipt | None), message_id, text)
        return found

    async def unsettled(self, conversation: str | None = None) -> Turns:
        found: Turns = await self._call("unsettled", Turns, conversation)
        return found

    async def replay(self, agent: str) -> shapes.Replayed:
        found: shapes.Replayed = await self._call("replay", shapes.Replayed, agent)
        return found

    async def settled(self, conversation: str | None = None, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        await self._call("settled", None, conversation, timeout=timeout)

    async def events(self, **filters: Any) -> AsyncIterator[shapes.Event]:
        async for told in self._line.follow(self._speaker, **filters):
            yield shapes.Event(**told)


class RemoteConversations:
    """`hub.conversations` over the line."""

    def __init__(self, line: Connection, speaker: str | None) -> None:
        self._line = line
        self._speaker = speaker

    async def _one(self, method: str, *args: Any, **named: Any) -> shapes.Conversation:
        name = f"conversations.{method}"
        return await self._line.call(name, shapes.Conversation, *args, speaker=self._speaker, **named)

    async def _done(self, method: str, *args: Any) -> None:
        await self._line.call(f"conversations.{method}", object, *args, speaker=self._speaker)

    async def create(self, name: str, **options: Any) -> shapes.Conversation:
        options["participants"] = list(options.get("participants", ()))
        return await self._one("create", name, **options)

    async def implicit(self, participants: Sequence[str]) -> shapes.Conversation:
        return await self._one("implicit", list(participants))

    async def ephemeral(self, target: str, key: str = "") -> shapes.Conversation:
        return await self._one("ephemeral", target, key)

    async def get(self, ref: str) -> shapes.Conversation:
        return await self._one("get", ref)

    async def list(self, **filters: Any) -> list[shapes.Conversation]:
        kind = list[shapes.Conversation]
        return await self._line.call("conversations.list", kind, speaker=self._speaker, **filters)

    async def join(self, ref: str, name: str) -> shapes.Conversation:
        return await self._one("join", ref, name)

    async def leave(self, ref: str, name: str) -> None:
        await self._done("leave", ref, name)

    async def rename(self, ref: str, name: str) -> shapes.Conversation:
        return await self._one("rename", ref, name)

    async def configure(self, ref: str, **settings: Any) -> shapes.Conversation:
        return await self._one("configure", ref, **settings)

    async def archive(self, ref: str) -> None:
        await self._done("archive", ref)

    async def dissolve(self, ref: str) -> None:
        await self._done("dissolve", ref)

    async def unarchive(self, ref: str) -> None:
        await self._done("unarchive", ref)

    async def delete(self, ref: str) -> None:
        await self._done("delete", ref)

    async def resume(self, ref: str) -> bool:
        return await self._line.call("conversations.resume", bool, ref, speaker=self._speaker)

    async def stop(self, ref: str, agent: str | None = None) -> tuple[str, ...]:
        kind = tuple[str, ...]
        return await self._line.call("conversations.stop", kind, ref, agent, speaker=self._speaker)

    async def read(self, ref: str, seq: int) -> None:
        await self._done("read", ref, seq)


class RemoteAgents:
    """`hub.agents` over the line."""

    def __init__(self, line: Connection, speaker: str | None) -> None:
        self._line = line
        self._speaker = speaker

    async def _one(self, method: str, *args: Any, **named: Any) -> shapes.Agent:
        return await self._line.call(f"agents.{method}", shapes.Agent, *args, speaker=self._speaker, **named)

    async def list(self) -> list[shapes.Agent]:
        return await self._line.call("agents.list", list[shapes.Agent], speaker=self._speaker)

    async def get(self, name: str) -> shapes.Agent:
        return await self._one("get", name)

    async def where(self, name: str) -> dict[str, Any]:
        return await self._line.call("agents.where", dict[str, Any], name, speaker=self._speaker)

    async def create(self, name: str, **options: Any) -> shapes.Agent:
        return await self._one("create", name, **options)

    async def rename(self, name: str, new_name: str) -> shapes.Agent:
        return await self._one("rename", name, new_name)

    async def arrive(self, door: str, **whence: Any) -> shapes.Agent:
        return await self._one("arrive", door, **whence)

    async def arrivals(self, client: str | None = None, folder: str | None = None) -> Arrivals:
        kind = Arrivals
        return await self._line.call("agents.arrivals", kind, client, folder, speaker=self._speaker)

    async def seen(self, name: str, *, door: str, reach: str = "on-demand") -> None:
        kind = type(None)
        await self._line.call("agents.seen", kind, name, speaker=self._speaker, door=door, reach=reach)

    async def hooked(self, name: str, event: str, **options: Any) -> shapes.Hooked:
        kind = shapes.Hooked
        return await self._line.call("agents.hooked", kind, name, event, speaker=self._speaker, **options)

    async def interrupt(self, name: str) -> None:
        await self._line.call("agents.interrupt", object, name, speaker=self._speaker)

    async def pause(self, name: str) -> shapes.Agent:
        return await self._one("pause", name)

    async def resume(self, name: str) -> shapes.Agent:
        return await self._one("resume", name)

    async def change(self, name: str, **fields: Any) -> shapes.Agent:
        return await self._one("change", name, **fields)

    async def tokens(self, name: str) -> Tokens:
        return await self._line.call("agents.tokens", Tokens, name, speaker=self._speaker)

    async def issue_token(self, name: str, **options: Any) -> shapes.IssuedToken:
        kind = shapes.IssuedToken
        return await self._line.call("agents.issue_token", kind, name, speaker=self._speaker, **options)

    async def revoke_token(self, name: str, id: str) -> shapes.Token:
        return await self._line.call("agents.revoke_token", shapes.Token, name, id, speaker=self._speaker)
