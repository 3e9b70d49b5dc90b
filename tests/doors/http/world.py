"""The hub that the HTTP tests talk to: who is there, which tokens they have, and how they ask."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2

from moot import PASS, Hub, agent
from moot.cli.run.doors import open_doors
from moot.doors.http.listener import Listening
from moot.hub.process.owner_token import owner_token
from moot.settings import Home
from moot.testing import ManualClock
from tests.support.waiting import PATIENCE

TOML = """
[hub]
port = 0
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
requests_per_second = 100000.0
"""


@agent("arya", role="engineer")
async def arya(turn: Any) -> str:
    return f"arya heard {turn.text}".replace("@", "")


@agent("quiet")
async def quiet(turn: Any) -> str:
    return PASS


@agent("stubborn")
async def stubborn(turn: Any) -> str:
    await asyncio.sleep(30)
    return "late"


class World:
    """`ask(who, method, path)` sends one request; `who` is a key of `tokens`, or None for no token."""

    def __init__(self, hub: Hub, at: Listening, client: httpx2.AsyncClient, tokens: dict[str, str]) -> None:
        self.hub = hub
        self.at = at
        self.client = client
        self.tokens = tokens

    async def ask(
        self, who: str | None, method: str, path: str, body: Any = None, **headers: str
    ) -> httpx2.Response:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if who is not None:
            sent["Authorization"] = f"Bearer {self.tokens[who]}"
        return await self.client.request(method, path, json=body, headers=sent)

    async def get(self, path: str, **headers: str) -> httpx2.Response:
        return await self.ask("owner", "GET", path, **headers)

    async def post(self, path: str, body: Any = None, **headers: str) -> httpx2.Response:
        return await self.ask("owner", "POST", path, body, **headers)


@asynccontextmanager
async def opened(folder: Path, toml: str = TOML, *, clock: ManualClock | None = None) -> AsyncIterator[World]:
    """Members of "room": the owner, karl (a person), arya and quiet. bob is in no conversation."""
    (folder / "moot.toml").write_text(toml, encoding="utf-8")
    home = Home(folder)
    async with Hub.open(folder, agents=[arya, quiet, stubborn], clock=clock) as hub:
        await hub.agents.create("karl", human=True)
        await hub.agents.create("bob", external=True)
        await hub.conversations.create("room", participants=["karl", "arya", "quiet"])
        tokens = {"owner": owner_token(home)}
        for name in ("karl", "arya", "bob"):
            tokens[name] = (await hub.agents.issue_token(name)).token
        revoked = await hub.agents.issue_token("arya")
        await hub.agents.revoke_token("arya", revoked.id)
        tokens["revoked"] = revoked.token
        facts = {"instance": "i1", "started_at": None}
        async with (
            open_doors(hub, home, facts) as at,
            httpx2.AsyncClient(base_url=at.url, timeout=PATIENCE, verify=False) as client,
        ):
            yield World(hub, at, client, tokens)
