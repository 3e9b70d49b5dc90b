"""One conversation, begun in the terminal, continued in Telegram and finished in the browser."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from moot import Hub
from moot.cli.run.doors import open_doors
from moot.model.entrance import DoorName
from moot.settings import Home
from moot.testing.fake_telegram import FakeTelegram
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, TelegramWorld
from tests.doors.tui.room import chat_with
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("G-12", "G-13")

TOML = "[hub]\nport = 0\n[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n"
HISTORY = [
    ("user", "begun in the terminal", "tui"),
    ("writer", "writer answers begun in the terminal", None),
    ("user", "continued in Telegram", "telegram"),
    ("writer", "writer answers continued in Telegram", None),
    ("user", "finished in the browser", "web"),
    ("writer", "writer answers finished in the browser", None),
]


async def browser_of(hub: Hub, client: httpx2.AsyncClient) -> httpx2.AsyncClient:
    """Signed in as the page signs in: with a code, for a token of its own."""
    code = await hub.agents.sign_in_code("user")
    signed_in = await client.post("/api/sign-in", json={"code": code.code})
    client.headers["Authorization"] = f"Bearer {signed_in.json()['token']}"
    return client


async def test_a_conversation_goes_from_the_terminal_to_telegram_to_the_browser(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text(TOML)
    facts: dict[str, Any] = {"instance": "i1", "started_at": None}
    async with (
        FakeTelegram() as server,
        Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub,
        open_doors(hub, Home(tmp_path), facts) as at,
        httpx2.AsyncClient(base_url=at.url, timeout=PATIENCE) as client,
    ):
        stage = Stage(hub, TelegramWorld(server))
        await stage.connect()
        where = (await hub.conversations.implicit(["writer"])).id
        async with chat_with(hub.through(DoorName.TUI), where) as terminal:
            await terminal.send("begun in the terminal")
            await terminal.until_seen("writer answers begun in the terminal")

            chat = stage.world.add_private(KARL, "writer")
            await stage.pair(chat, KARL)
            await hub.bridges.link("telegram", KARL, "user")
            before = len(stage.world.posts(chat))
            stage.world.say(chat, KARL, "continued in Telegram")
            await terminal.until_seen("continued in Telegram", "writer answers continued in Telegram")
            await stage.quiet()

            browser = await browser_of(hub, client)
            posted = await browser.post(
                f"/api/conversations/{where}/messages", json={"text": "finished in the browser"}
            )
            assert posted.status_code in (200, 201, 202), posted.text
            await terminal.until_seen("finished in the browser", "writer answers finished in the browser")
            rows = [terminal.row_of(text.split()[-1]) for _, text, _ in HISTORY[::2]]
            assert rows == sorted(rows), "the terminal shows one order"
        shown = [post.text for post in await stage.shown(chat, before)]
        assert shown == [
            "writer answers continued in Telegram",
            "● user: finished in the browser",
            "writer answers finished in the browser",
        ]
        read = (await browser.get(f"/api/conversations/{where}/messages")).json()["messages"]
        assert [(one["from"], one["text"], one["metadata"].get("door")) for one in read] == HISTORY
        assert [one["seq"] for one in read] == list(range(1, 7)), "one history, without a gap"
        await stage.disconnect()
