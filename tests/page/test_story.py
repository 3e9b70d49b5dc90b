"""One conversation, begun in a terminal, continued in Telegram and finished in a browser, each a real one."""

from __future__ import annotations

import asyncio
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from moot.testing.fake_telegram import FakeTelegram
from tests.doors.cli.shell import MOOT, Shell, Terminal
from tests.page.conftest import free_port, signed_in
from tests.page.running_hub import RunningHub
from tests.page.test_conversation import compose
from tests.page.waiting import PATIENCE, PATIENCE_MS, until

TOKEN = "111:token-of-arya"
BRIDGE = """
[bridges.telegram]
api_url = "{url}"
bots.arya = "${{TELEGRAM_ARYA}}"
"""
PHONE = 1001
HISTORY = [
    ("karl", "@arya begun in the terminal", "tui"),
    ("arya", None, None),
    ("karl-telegram", "is this thing on?", "telegram"),
    ("karl", "@arya continued in Telegram", "telegram"),
    ("arya", None, None),
    ("karl", "@arya finished in the browser", "web"),
    ("arya", None, None),
]
"""Who, what, by which door. The account in Telegram is a guest's until the owner says whose it is."""


class TelegramBeside:
    """A fake Telegram in a thread of its own, since a browser test has no loop to run it in."""

    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = Thread(target=self.loop.run_forever, daemon=True)
        self.server = FakeTelegram()

    def __enter__(self) -> TelegramBeside:
        self._thread.start()
        asyncio.run_coroutine_threadsafe(self.server.__aenter__(), self.loop).result(PATIENCE)
        return self

    def __exit__(self, *_: object) -> None:
        asyncio.run_coroutine_threadsafe(self.server.__aexit__(None, None, None), self.loop).result(PATIENCE)
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join(PATIENCE)
        self.loop.close()

    def do(self, work: Callable[[FakeTelegram], Any]) -> Any:
        """In that thread: what a test does there, or looks at."""

        async def done() -> Any:
            return work(self.server)

        return asyncio.run_coroutine_threadsafe(done(), self.loop).result(PATIENCE)

    def posts(self, chat: int) -> list[str]:
        return [post.text for post in self.do(lambda server: server.posts_in(chat))]


@pytest.fixture
def telegram(monkeypatch: pytest.MonkeyPatch) -> Iterator[TelegramBeside]:
    monkeypatch.setenv("TELEGRAM_ARYA", TOKEN)
    with TelegramBeside() as beside:
        beside.do(lambda server: server.add_bot(TOKEN, "arya_bot"))
        yield beside


@pytest.fixture
def hub(built: Path, tmp_path: Path, telegram: TelegramBeside) -> Iterator[RunningHub]:
    running = RunningHub(tmp_path / "home", free_port(), {"arya": "backend engineer"})
    toml = running.home / "moot.toml"
    text = toml.read_text().partition("[[links]]")[0]
    toml.write_text(text + BRIDGE.format(url=telegram.server.url))
    running.home.chmod(0o700)
    running.start()
    yield running
    running.stop()


def moot(shell: Shell, *words: str) -> None:
    done = subprocess.run(
        [MOOT, *words], env=shell.environ(), check=False, capture_output=True, text=True, timeout=PATIENCE
    )
    assert done.returncode == 0, done.stdout + done.stderr


def said(hub: RunningHub, where: str) -> list[Any]:
    """Without the hub's own notices, that somebody joined."""
    return [one for one in hub.messages(where) if one["kind"] != "system"]


@pytest.mark.req("G-12", "G-13")
def test_a_conversation_goes_from_a_terminal_to_telegram_to_a_browser(
    hub: RunningHub, telegram: TelegramBeside, browser: Browser
) -> None:
    shell, settings = Shell(hub.home), {"reply_strategy": "mention_only"}
    story = {"name": "story", "participants": ["arya"], "settings": settings}
    where = str(hub.api("POST", "/api/conversations", story)["id"])
    chat = telegram.do(lambda server: server.add_supergroup("Team", TOKEN))
    terminal = Terminal(shell, "chat", "--conv", "story", size=(50, 100))
    try:
        terminal.read_until("will answer:")
        terminal.press("@arya begun in the terminal\r")
        until(lambda: said(hub, where), lambda seen: len(seen) == 2)

        def listed() -> bool:
            found = subprocess.run(
                [MOOT, "bridge", "list", "telegram"], env=shell.environ(), check=False, capture_output=True
            )
            return str(chat.id) in found.stdout.decode()

        until(listed)  # the bot sees its group
        moot(shell, "bridge", "bind", "telegram", "--", str(chat.id), "story")
        telegram.do(lambda server: server.say(chat, PHONE, "Karl", "is this thing on?"))
        until(lambda: said(hub, where), lambda seen: len(seen) == 3)
        moot(shell, "people", "link", "telegram", str(PHONE), "karl")
        telegram.do(lambda server: server.say(chat, PHONE, "Karl", "@arya_bot continued in Telegram"))
        until(lambda: said(hub, where), lambda seen: len(seen) == 5)
        terminal.read_until("continued in Telegram")

        context = browser.new_context()
        context.set_default_timeout(PATIENCE_MS)
        page = signed_in(context, hub, f"/c/{where}")
        newest = page.locator("article", has_text="continued in Telegram").first
        expect(newest).to_be_visible(timeout=PATIENCE_MS)
        compose(page, "@arya finished in the browser")
        page.keyboard.press("Enter")
        until(lambda: said(hub, where), lambda seen: len(seen) == len(HISTORY))
        last = said(hub, where)[-1]["seq"]
        expect(page.locator(f'article[data-seq="{last}"]')).to_be_visible(timeout=PATIENCE_MS)
        in_page = [page.locator(f'article[data-seq="{one["seq"]}"]').inner_text() for one in said(hub, where)]
        context.close()
        terminal.read_until("finished in the browser")
    finally:
        terminal.close()
    read = said(hub, where)
    history = [
        (one["from"], one["text"] if one["from"] != "arya" else None, one["metadata"].get("door"))
        for one in read
    ]
    assert history == HISTORY
    everything = [one["seq"] for one in hub.messages(where)]
    assert everything == list(range(1, len(everything) + 1)), "one order, without a gap"
    for (_, text, _), shown in zip(HISTORY, in_page, strict=True):
        assert text is None or text.removeprefix("@arya ") in shown
    until(lambda: telegram.posts(chat.id), lambda seen: len(seen) == 4)
    answers = [one["text"] for one in read if one["from"] == "arya"]
    posts = telegram.posts(chat.id)
    assert posts[0].startswith("This chat now continues story")
    assert posts[2] == "● karl: @arya finished in the browser", "said elsewhere, shown with its author"
    assert [len(posts[1]) > 0, len(posts[3]) > 0] == [bool(answers[1]), bool(answers[2])]
