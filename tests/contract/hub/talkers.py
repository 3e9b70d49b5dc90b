"""An outside agent's few words, the same whichever door it came in by: the SDK in process, over the socket and over
HTTP, and the MCP tools. What the doors call things differs; what an agent may do and is told must not."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Protocol

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from moot import Hub
from moot.client import RemoteHub
from moot.errors import MootError, Unanswered
from moot.settings import Home
from tests.support.waiting import PATIENCE

WAYS = ("in process", "socket", "http", "mcp")
OUTCOMES = {"TimedOut": "timed_out", "Passed": "passed", "TurnFailed": "failed"}


class Talker(Protocol):
    async def agents(self) -> set[str]: ...
    async def send(self, target: str, text: str) -> str:
        """Id of the message; empty where it was refused."""

    async def ask(self, target: str, text: str, seconds: float) -> str:
        """The answer, or in a word why there is none."""

    async def handed(self, seconds: float = 0.0) -> list[dict[str, Any]]: ...
    async def must_answer(self) -> tuple[str, ...]: ...
    async def reply(self, message: str, text: str) -> bool:
        """Whether something was said."""

    async def post(self, where: str, text: str) -> str: ...
    async def read(self, where: str) -> list[tuple[str, str]]: ...
    async def found(self, query: str) -> list[str]: ...
    async def why(self, message: str) -> dict[str, str]: ...
    async def refusal(self, where: str) -> str:
        """The code by which reading a conversation is refused."""


class BySdk:
    def __init__(self, hub: Any) -> None:
        self._hub = hub
        self._handed: tuple[str, ...] = ()
        self._must: tuple[str, ...] = ()

    async def agents(self) -> set[str]:
        return {agent.name for agent in await self._hub.agents.list()}

    async def send(self, target: str, text: str) -> str:
        try:
            return str((await self._hub.send(target, text)).id)
        except MootError:
            return ""

    async def ask(self, target: str, text: str, seconds: float) -> str:
        try:
            return str((await self._hub.ask(target, text, timeout=seconds)).text)
        except Unanswered as none:
            return OUTCOMES[type(none).__name__]

    async def handed(self, seconds: float = 0.0) -> list[dict[str, Any]]:
        ask = self._hub.mailbox.wait(timeout=seconds, handed=self._handed) if seconds else None
        found = await (ask or self._hub.mailbox.check(handed=self._handed))
        self._handed, self._must = found.handed, found.must_answer
        return [message.to_dict() for message in found.messages]

    async def must_answer(self) -> tuple[str, ...]:
        return self._must

    async def reply(self, message: str, text: str) -> bool:
        return await self._hub.mailbox.reply(message, text) is not None

    async def post(self, where: str, text: str) -> str:
        return str((await self._hub.post(where, text)).id)

    async def read(self, where: str) -> list[tuple[str, str]]:
        return [(message.sender, message.text) for message in await self._hub.newest(where)]

    async def found(self, query: str) -> list[str]:
        return [hit.message.id for hit in await self._hub.search(query)]

    async def why(self, message: str) -> dict[str, str]:
        return {part.agent: part.state for part in (await self._hub.why(message)).agents}

    async def refusal(self, where: str) -> str:
        try:
            await self._hub.newest(where)
        except MootError as refused:
            return refused.code
        return ""


class ByTools:
    def __init__(self, client: Client) -> None:
        self._client = client
        self._must: tuple[str, ...] = ()

    async def _call(self, tool: str, **arguments: Any) -> Any:
        return (await self._client.call_tool(tool, arguments)).structured_content

    async def agents(self) -> set[str]:
        return {agent["name"] for agent in (await self._call("list_agents"))["agents"]}

    async def send(self, target: str, text: str) -> str:
        return str((await self._call("send_to_agent", target=target, message=text)).get("id", ""))

    async def ask(self, target: str, text: str, seconds: float) -> str:
        told = await self._call("ask", target=target, question=text, deadline_seconds=seconds)
        return str(told["message"]["text"] if told["answered"] else told["outcome"])

    async def handed(self, seconds: float = 0.0) -> list[dict[str, Any]]:
        if seconds:
            told = await self._call("wait_for_messages", timeout_seconds=seconds)
        else:
            told = await self._call("check_messages")
        self._must = tuple(told.get("must_answer", ()))
        found: list[dict[str, Any]] = told["messages"]
        return found

    async def must_answer(self) -> tuple[str, ...]:
        return self._must

    async def reply(self, message: str, text: str) -> bool:
        return bool((await self._call("reply", message_id=message, text=text))["delivered"])

    async def post(self, where: str, text: str) -> str:
        return str((await self._call("post", conversation=where, text=text))["id"])

    async def read(self, where: str) -> list[tuple[str, str]]:
        told = await self._call("read_conversation", conversation=where)
        return [(message["from"], message["text"]) for message in told["messages"]]

    async def found(self, query: str) -> list[str]:
        return [hit["message"]["id"] for hit in (await self._call("search", query=query))["hits"]]

    async def why(self, message: str) -> dict[str, str]:
        return {one["agent"]: one["state"] for one in (await self._call("why", message_id=message))["agents"]}

    async def refusal(self, where: str) -> str:
        return str(
            (await self._call("read_conversation", conversation=where)).get("error", {}).get("code", "")
        )


@asynccontextmanager
async def talker(way: str, here: Hub, url: str, home: Home, name: str) -> AsyncIterator[Talker]:
    """An outside agent that came in this way."""
    if way == "in process":
        yield BySdk(here.acting_as(name))
        return
    if way == "socket":
        async with RemoteHub.open(home.hub_sock) as hub:
            yield BySdk(hub.acting_as(name))
        return
    token = (await here.agents.issue_token(name)).token
    if way == "http":
        async with Hub.connect(url, token=token) as there:
            yield BySdk(there)
        return
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=2 * PATIENCE) as http,
        Client(streamable_http_client(f"{url}/mcp/", http_client=http), mode="auto") as client,
    ):
        yield ByTools(client)
