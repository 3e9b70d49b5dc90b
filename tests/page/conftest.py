"""One page, one hub and one browser for the whole suite; a fresh, signed-in browser profile for each test.

Whatever a test does, its page must not ask anybody but the hub, break the hub's policy or throw: that fails it.
"""

from __future__ import annotations

import asyncio
import fcntl
import os
import random
import shutil
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from moot import Hub
from tests.page import node
from tests.page.running_hub import RunningHub
from tests.page.waiting import LIMIT, PATIENCE_MS

CHROMIUM = "/usr/bin/chromium"
LONG = 10_000
expect.set_options(timeout=PATIENCE_MS)
VIOLATIONS = """
window.violations = [];
document.addEventListener('securitypolicyviolation', (event) =>
  window.violations.push(event.violatedDirective + ' ' + event.blockedURI));
"""


@pytest.hookimpl(tryfirst=True)
def pytest_itemcollected(item: pytest.Item) -> None:
    """Whichever test comes first waits for what is made for all of them."""
    if item.get_closest_marker("timeout") is None:
        item.add_marker(pytest.mark.timeout(LIMIT))


@pytest.fixture(scope="session")
def dashboard() -> Path:
    """dashboard/ with its packages."""
    node.install()
    return node.DASHBOARD


@pytest.fixture(scope="session")
def built(dashboard: Path) -> Path:
    """The page as dashboard/ describes it now."""
    node.build()
    return node.BUILT


def free_port() -> int:
    """Below those that the system gives to connections: nobody gets the port of a hub that is away for a moment."""
    while True:
        port = random.randrange(20_000, 32_000)
        with socket.socket() as one, suppress(OSError):
            one.bind(("127.0.0.1", port))
            return port


async def _fill(home: Path) -> None:
    """A conversation of ten thousand messages, before anybody looks."""
    async with Hub.open(home) as hub:
        await hub.conversations.create("long", participants=[])
        for start in range(0, LONG, 1000):
            said = (f"message {start + number} of a long day, with `code`" for number in range(1, 1001))
            await asyncio.gather(*(hub.post("long", text) for text in said))


def _filled(folder: Path) -> Path:
    """A home with a long conversation: whichever process of the run comes first makes it, the others copy it."""
    home = folder / "filled"
    with (folder / "filled.lock").open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        if not home.is_dir():
            # Playwright keeps a loop of its own in this thread.
            with ThreadPoolExecutor(1) as aside:
                aside.submit(asyncio.run, _fill(RunningHub(folder / "filling", free_port()).home)).result()
            (folder / "filling").rename(home)
    return home


@pytest.fixture(scope="session")
def hub(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningHub]:
    base = tmp_path_factory.getbasetemp()
    home = base / "page" / "home"
    shutil.copytree(_filled(base.parent if "PYTEST_XDIST_WORKER" in os.environ else base), home)
    running = RunningHub(home, free_port())
    running.start()
    running.conversation("build", "arya", "gendry", "critic")
    yield running
    running.stop()


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield launched
        launched.close()


class Watch:
    """What pages did that they must not."""

    def __init__(self, origin: str) -> None:
        self.origin = origin
        self.strays: list[str] = []
        self.errors: list[str] = []

    def over(self, context: BrowserContext) -> None:
        context.add_init_script(VIOLATIONS)
        context.on("request", lambda request: self._asked(request.url))
        context.on("page", lambda page: page.on("pageerror", lambda error: self.errors.append(str(error))))

    def _asked(self, url: str) -> None:
        if not url.startswith((self.origin, "data:", "blob:", "about:")):
            self.strays.append(url)

    def verify(self, context: BrowserContext) -> None:
        for page in context.pages:
            assert page.evaluate("window.violations ?? []") == []
        assert self.strays == []
        assert self.errors == []


Profile = Callable[..., BrowserContext]


@pytest.fixture
def profile(browser: Browser, hub: RunningHub) -> Iterator[Profile]:
    """Browser profiles, watched until the test ends."""
    made: list[tuple[BrowserContext, Watch]] = []

    def make(
        width: int = 1280, height: int = 800, scheme: str = "dark", motion: str = "no-preference"
    ) -> BrowserContext:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if scheme == "dark" else "light",
            reduced_motion="reduce" if motion == "reduce" else "no-preference",
            permissions=["clipboard-read", "clipboard-write"],
        )
        context.set_default_timeout(PATIENCE_MS)
        watch = Watch(hub.url)
        watch.over(context)
        made.append((context, watch))
        return context

    yield make
    for context, watch in made:
        watch.verify(context)
        context.close()


def signed_in(context: BrowserContext, hub: RunningHub, path: str = "/now") -> Page:
    page = context.new_page()
    page.goto(f"{hub.url}{path}#code={hub.code()}")
    page.wait_for_selector("[data-ready=true]")
    return page


def go(page: Page, path: str) -> None:
    """To another address of the page, as a click would: without loading it again."""
    page.evaluate(
        "path => { history.pushState(null, '', path); dispatchEvent(new PopStateEvent('popstate')); }", path
    )


@pytest.fixture
def page(profile: Profile, hub: RunningHub) -> Page:
    return signed_in(profile(), hub)
