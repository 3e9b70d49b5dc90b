"""A sender and a receiver, each an official MCP client of its own: at Moot, at mcp_agent_mail, at the SDK's no-op.

A pair sends by one tool and reads by another. All clients live in this process, all servers in theirs; everybody asks
for no more than the one message that is new.
"""

import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol, TypeAlias
from urllib.error import URLError
from urllib.request import urlopen

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from bench.processes import PATIENCE, Served, end, with_bytecode
from moot.client import RemoteHub
from moot.doors.http.listener import listening_socket

SETTINGS = """
[limits]
requests_per_second = 100000.0
pair_window_seconds = 0.0
pair_per_minute = 1000000
agent_turns_per_hour = 1000000
agent_roots_per_hour = 1000000
"""
"""Agents write to agents here, as often as they can: these are the brakes that would make them wait."""
MAIL = "mcp-agent-mail==0.1.0"
QUIET = {
    "TOOLS_LOG_ENABLED": "false",
    "LOG_RICH_ENABLED": "false",
    "LLM_ENABLED": "false",
    "FASTMCP_LOG_LEVEL": "WARNING",
}
MAX_CALL_SECONDS = 10.0
Call: TypeAlias = Callable[..., Awaitable[Any]]
numbers = count(1)


class Failed(Exception):
    """A call that its server answered with an error."""


class Pair(Protocol):
    async def send(self, text: str) -> str:
        """The message's address, where the server tells one."""

    async def read(self) -> str:
        """The newest text."""


Opened: TypeAlias = Callable[[AsyncExitStack], Awaitable[Pair]]
"""Makes a new pair, for as long as the stack lasts."""


@asynccontextmanager
async def client(url: str, token: str = "") -> AsyncIterator[Call]:
    """A client, as the one function that this is about: call a tool."""
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=None) as http,
        Client(streamable_http_client(url, http_client=http)) as connected,
    ):

        async def call(tool: str, **arguments: Any) -> Any:
            found = await connected.call_tool(tool, arguments, read_timeout_seconds=MAX_CALL_SECONDS)
            if found.is_error:
                raise Failed(f"{tool}: {str(found.content)[:200]}")
            return found.structured_content

        yield call


class AtMoot:
    """Two outside agents, each with its token."""

    def __init__(self, sender: Call, receiver: Call, name: str) -> None:
        self._sender = sender
        self.receiver = receiver
        self._name = name

    @classmethod
    def opener(cls, hub: Served, owner: RemoteHub) -> Opened:
        async def opened(stack: AsyncExitStack) -> Pair:
            number = next(numbers)
            calls: list[Call] = []
            for name in (f"s{number}", f"r{number}"):
                await owner.agents.create(name, external=True)
                token = (await owner.agents.issue_token(name)).token
                calls.append(await stack.enter_async_context(client(f"{hub.url}/mcp/", token)))
            return cls(calls[0], calls[1], f"r{number}")

        return opened

    async def send(self, text: str) -> str:
        told = await self._sender("send_to_agent", target=self._name, message=text)
        if not told["delivered"] or "delayed_ms" in told:
            raise Failed(f"send_to_agent: {told}")
        return str(told["id"])

    async def read(self) -> str:
        """As an agent reads: what is new is handed over, and what was handed before is dealt with. A write."""
        [message] = (await self.receiver("check_messages"))["messages"]
        return str(message["text"])


class AtMootReading(AtMoot):
    """The same, but the receiver reads on in the conversation. It changes nothing."""

    _read_so_far = ("", 0)

    async def send(self, text: str) -> str:
        told = await super().send(text)
        where, _, seq = told.rpartition(":")
        self._read_so_far = (where, int(seq) - 1)
        return told

    async def read(self) -> str:
        where, after = self._read_so_far
        found = await self.receiver("read_conversation", conversation=where, after=after)
        return str(found["messages"][-1]["text"])


class ByMcp:
    """The way of W4: the owner writes by `send_to_agent` to an agent that waits in `wait_for_messages`."""

    def __init__(self, sender: Call, receiver: Call, name: str) -> None:
        self._sender = sender
        self._receiver = receiver
        self._name = name

    @classmethod
    @asynccontextmanager
    async def open(cls, hub: Served) -> AsyncIterator["ByMcp"]:
        name, url = f"r{next(numbers)}", f"{hub.url}/mcp/"
        async with RemoteHub.open(hub.socket) as owner:
            await owner.agents.create(name, external=True)
            token = (await owner.agents.issue_token(name)).token
        mine = (hub.home / "run" / "token").read_text().strip()
        async with client(url, mine) as sender, client(url, token) as receiver:
            yield cls(sender, receiver, name)

    async def send(self, pair: int, text: str) -> None:
        await self._sender("send_to_agent", target=self._name, message=text)

    async def woken(self, pair: int) -> str:
        [message] = (await self._receiver("wait_for_messages", timeout_seconds=MAX_CALL_SECONDS / 2))[
            "messages"
        ]
        return str(message["text"])

    async def newest(self, pair: int) -> list[str]:
        return [await self.woken(pair)]


class AtMail:
    """Two registered agents. Each pair has a project of its own, because pairs of one project lock each other out."""

    def __init__(self, sender: Call, receiver: Call, project: str, names: tuple[str, str]) -> None:
        self._sender = sender
        self._receiver = receiver
        self._project = project
        self._names = names

    @classmethod
    def opener(cls, url: str, folder: str) -> Opened:
        async def opened(stack: AsyncExitStack) -> Pair:
            project = f"{folder}/project{next(numbers)}"
            names: list[str] = []
            calls: list[Call] = []
            for _ in range(2):
                call = await stack.enter_async_context(client(url))
                await call("ensure_project", human_key=project)
                told = await call("register_agent", project_key=project, program="bench", model="none")
                names.append(told["name"])
                calls.append(call)
            return cls(calls[0], calls[1], project, (names[0], names[1]))

        return opened

    async def send(self, text: str) -> str:
        sender, receiver = self._names
        await self._sender(
            "send_message",
            project_key=self._project,
            sender_name=sender,
            to=[receiver],
            subject="bench",
            body_md=text,
        )
        return ""

    async def read(self) -> str:
        found = await self._receiver(
            "fetch_inbox", project_key=self._project, agent_name=self._names[1], limit=1, include_bodies=True
        )
        return str(found["result"][0]["body_md"])


class AtNoop:
    """bench/noop.py from the other side. What it reads is not what was sent."""

    def __init__(self, sender: Call, receiver: Call) -> None:
        self._sender = sender
        self._receiver = receiver
        self._sent = ""

    @classmethod
    def opener(cls, url: str) -> Opened:
        async def opened(stack: AsyncExitStack) -> Pair:
            enter = stack.enter_async_context
            return cls(await enter(client(url)), await enter(client(url)))

        return opened

    async def send(self, text: str) -> str:
        self._sent = text
        return str((await self._sender("send", target="r1", message=text))["id"])

    async def read(self) -> str:
        [message] = (await self._receiver("read"))["messages"]
        assert len(message["text"]) == len(self._sent)
        return self._sent


@contextmanager
def noop() -> Iterator[tuple[int, str]]:
    """The no-op server as a process; gives its pid and address."""
    process = subprocess.Popen(
        [sys.executable, "-m", "bench.noop"], stdout=subprocess.PIPE, env=with_bytecode()
    )
    try:
        assert process.stdout is not None
        yield process.pid, f"http://127.0.0.1:{int(process.stdout.readline())}/mcp/"
    finally:
        end(process)


@contextmanager
def mail(python: Path | None) -> Iterator[tuple[int, str, str] | None]:
    """mcp_agent_mail as a process, as it is installed but silent; gives its pid, its address, a folder for projects."""
    if python is None:
        yield None
        return
    with TemporaryDirectory() as folder:
        free = listening_socket("127.0.0.1", 0)
        port = free.getsockname()[1]
        free.close()
        places = {"DATABASE_URL": f"sqlite+aiosqlite:///{folder}/mail.db", "STORAGE_ROOT": f"{folder}/git"}
        process = subprocess.Popen(
            [python, "-m", "mcp_agent_mail.http", "--port", str(port), "--log-level", "warning"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            cwd=folder,
            env={**os.environ, **QUIET, **places},
        )
        try:
            _wait_for(f"http://127.0.0.1:{port}/", process)
            yield process.pid, f"http://127.0.0.1:{port}/mcp/", folder
        finally:
            end(process)


def _wait_for(url: str, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + 2 * PATIENCE
    while True:
        try:
            urlopen(url, timeout=PATIENCE).close()
        except URLError as not_yet:
            if not isinstance(not_yet.reason, ConnectionRefusedError):
                return  # whatever it says, it answers
            assert process.poll() is None, "mcp_agent_mail ended at once"
            assert time.monotonic() < until, "mcp_agent_mail did not start"
            time.sleep(0.1)
        else:
            return
