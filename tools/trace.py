"""What a message runs through before its verb: `make trace` counts functions, files and reads of the store.

One hub, opened here with all its doors; each door is used until everything it keeps is warm, and the next message is
counted from the first byte that arrives to the verb's `scope`. Only Moot's own functions count; those of the client,
which sends from this process too, do not.
"""

import asyncio
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

import moot
from moot import Hub
from moot.cli.run.doors import open_doors
from moot.client import RemoteHub
from moot.settings import Home

SOURCE = str(Path(moot.__file__).parent)
CLIENT = ("client/", "sdk/")
TOML = "[hub]\nport = 0\n[limits]\nrequests_per_second = 100000.0\npair_per_minute = 1000\n"
WARM = 3


class Trace:
    """Every function of Moot that is called until a verb is asked for its scope."""

    def __init__(self) -> None:
        self.called: dict[tuple[str, str], None] = {}
        self.reads: list[str] = []
        self._over = False

    def __enter__(self) -> "Trace":
        sys.setprofile(self._on_call)
        return self

    def __exit__(self, *exception: object) -> None:
        sys.setprofile(None)

    def _on_call(self, frame: FrameType, event: str, _: Any) -> None:
        code = frame.f_code
        if event != "call" or self._over or not code.co_filename.startswith(SOURCE):
            return
        path, name = code.co_filename[len(SOURCE) + 1 :], code.co_qualname
        if path.startswith("flow/") and code.co_name == "scope":
            self._over = True
        elif not path.startswith(CLIENT) and not code.co_name.startswith("<"):
            self.called[path, name] = None
            if path.endswith("sqlite/reads.py") and not code.co_name.startswith("_"):
                self.reads.append(name)

    def line(self, door: str) -> str:
        files = {path for path, _ in self.called}
        return f"{door:<12} {len(self.called):>3} functions in {len(files):>2} files, {len(self.reads)} reads"


async def counted(door: str, say: Callable[[], Awaitable[Any]], *, listed: bool) -> None:
    for _ in range(WARM):
        await say()
    with Trace() as trace:
        await say()
    print(trace.line(door))
    for path, name in trace.called if listed else ():
        print(f"    {path} {name}")


@asynccontextmanager
async def served(folder: Path) -> AsyncIterator[tuple[Hub, str]]:
    (folder / "moot.toml").write_text(TOML)
    home = Home(folder)
    async with Hub.open(folder, socket=home.hub_sock) as hub:
        for name in ("x", "y"):
            await hub.agents.create(name, external=True)
        await hub.agents.create("karl", human=True)
        await hub.conversations.create("room", participants=["karl", "x"])
        async with open_doors(hub, home, {"instance": "trace", "started_at": None}) as at:
            yield hub, at.url


async def main(listed: bool) -> None:
    with TemporaryDirectory() as folder:
        async with served(Path(folder)) as (hub, url):
            karl, x = [(await hub.agents.issue_token(name)).token for name in ("karl", "x")]
            async with httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {karl}"}) as http:
                path, body = "/api/conversations/room/messages", {"text": "hello"}
                await counted("HTTP post", lambda: http.post(path, json=body), listed=listed)
            async with (
                httpx2.AsyncClient(headers={"Authorization": f"Bearer {x}"}, timeout=30) as http,
                Client(streamable_http_client(f"{url}/mcp/", http_client=http)) as mcp,
            ):
                sent = {"target": "y", "message": "hello"}
                await counted("MCP send", lambda: mcp.call_tool("send_to_agent", sent), listed=listed)
            async with RemoteHub.open(Home(Path(folder)).hub_sock) as there:
                await counted("chat line", lambda: there.post("room", "hello"), listed=listed)


if __name__ == "__main__":
    asyncio.run(main("-v" in sys.argv[1:]))
