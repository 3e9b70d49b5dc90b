"""Pictures of the page for the documentation: `make picture` draws them anew with a demo team and Chromium.

Needs what `make test` installs. A picture is of a real hub: nothing in it is drawn by hand.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path

from playwright.sync_api import Page, sync_playwright

from tests.page import node
from tests.page.conftest import CHROMIUM, free_port, signed_in
from tests.page.running_hub import TEAM, RunningHub
from tools import page_tour

PICTURES = Path(__file__).resolve().parents[1] / "docs" / "pictures"
SIZE = (1280, 760)


def _team(hub: RunningHub) -> str:
    where = hub.conversation("project-x", "arya", "gendry", "critic")
    hub.say(where, "hey @arya @gendry, should the page **stream** its answers? `SSE` or WebSockets?")
    hub.settled(where)
    hub.api("POST", "/api/links", {"from": "arya", "to": "critic"})
    said = hub.api("POST", "/api/agents/critic/send", {"text": "What would break first?"}, Moot_Act_As="arya")
    hub.settled(said["conversation"])
    places = {"arya": (240, 0), "gendry": (60, 190), "critic": (420, 190), "karl": (240, 360)}
    positions = {name: {"x": x, "y": y} for name, (x, y) in places.items()}
    hub.api("PUT", "/api/topology/positions", {"positions": positions})
    hub.api("POST", "/api/notes", {"name": "deploy-status", "text": "# Deploy\n\ncanary: green\n"})
    return where


def _shoot(page: Page, hub: RunningHub, path: str, name: str) -> None:
    page.goto(hub.url + path)
    page.wait_for_selector("[data-ready=true]")
    time.sleep(1)
    page.screenshot(path=PICTURES / f"{name}.png")


def main() -> None:
    node.install()
    node.build()
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        hub = RunningHub(Path(folder) / "home", free_port(), TEAM)
        hub.start()
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        try:
            where = _team(hub)
            context = browser.new_context(viewport={"width": SIZE[0], "height": SIZE[1]}, color_scheme="dark")
            page = signed_in(context, hub)
            page.goto(f"{hub.url}/c/{where}")
            page.wait_for_selector("article")
            page.locator('article[data-seq="2"]').focus()
            page.keyboard.press("w")
            page.get_by_test_id("why").wait_for()
            page.get_by_label("Message", exact=True).fill("@gendry what would you name the events?")
            page.get_by_test_id("wake").wait_for()
            time.sleep(0.5)
            page.screenshot(path=PICTURES / "page-conversation.png")
            page.get_by_label("Message", exact=True).fill("")
            link = next(row for row in hub.api("GET", "/api/links")["links"] if row["to"] == "critic")
            _shoot(page, hub, f"/topology?edge={link['id']}", "page-topology")
            with hub.question(
                "arya", "Merge the streaming branch to main?", "yes", "no", "show diff"
            ) as decision:
                _shoot(page, hub, "/now", "page-now")
                hub.api("POST", f"/api/decisions/{decision}", {"answer": "yes"})
            page_tour.record(browser, Path(folder), PICTURES / "page-tour.webp")
        finally:
            browser.close()
            hub.stop()


if __name__ == "__main__":
    main()
