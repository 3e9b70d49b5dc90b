"""What holds on every page: readable by everybody, nothing leaves, nothing gets in, no width too small."""

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page import node
from tests.page.conftest import Profile, go, signed_in
from tests.page.running_hub import RunningHub
from tests.page.waiting import LIMIT, at_rest

PATHS = (
    "/now", "/c", "/c/build", "/topology", "/agents", "/agents/arya", "/tasks", "/notes", "/search?q=day",
    "/timeline?view=log", "/timeline?view=sequence&conversation=build", "/limits",
    "/settings/you", "/settings/brains", "/settings/appearance", "/settings/access", "/settings/defaults",
    "/settings/bridges", "/settings/clis", "/settings/data", "/settings/about",
    "/decisions", "/topology?node=arya", "/topology?at=2026-01-01T00:00:00Z", "/timeline?view=flow&conversation=build",
)  # fmt: skip
HOSTILE = (
    "<script>window.hurt = 1</script>",
    "<img src=x onerror='window.hurt=1'>",
    "[a](javascript:window.hurt=1)",
    "![b](https://evil.example/pixel.png)",
    "<svg onload='window.hurt=1'>",
    "<iframe src='https://evil.example'></iframe>",
    "[c](data:text/html,<script>window.hurt=1</script>)",
    "<a href='vbscript:x'>d</a>",
    "<style>*{display:none}</style>",
    "<details open ontoggle='window.hurt=1'>",
    "<base href='https://evil.example/'>",
    "<form action='https://evil.example'><button>go</button></form>",
    "`</code><script>window.hurt=1</script>`",
    "<math><mtext><script>window.hurt=1</script></mtext></math>",
    "<https://evil.example/auto>",
    "<link rel=stylesheet href=https://evil.example/x.css>",
    "<object data='https://evil.example'></object>",
    "\u202egnp.exe",
    "<meta http-equiv=refresh content='0;url=https://evil.example'>",
    "<input autofocus onfocus='window.hurt=1'>",
)


COLOURS = ("color-contrast", "link-in-text-block")
"""Rules that a theme can break. All others are the same in both, and tried in one."""


def serious(page: Page, *rules: str) -> list[str]:
    """What axe finds, by all its rules or by these."""
    if not page.evaluate("'axe' in window"):
        page.evaluate((node.DASHBOARD / "node_modules" / "axe-core" / "axe.min.js").read_text())
    found = page.evaluate(
        "(runOnly) => axe.run({ resultTypes: ['violations'], preload: false, ...runOnly })",
        {"runOnly": list(rules)} if rules else {},
    )
    return [
        f"{one['id']}: {place['target']} {place['failureSummary'][:160]}"
        for one in found["violations"]
        if one["impact"] in ("serious", "critical")
        for place in one["nodes"][:3]
    ]


@pytest.mark.timeout(2 * LIMIT)
@pytest.mark.req("S-16")
@pytest.mark.parametrize("scheme", ["dark", "light"])
@pytest.mark.parametrize("width", [1280, 320])
def test_no_page_has_a_serious_obstacle_or_scrolls_sideways(
    profile: Profile, hub: RunningHub, scheme: str, width: int
) -> None:
    where = hub.conversation("build")
    hub.say(where, "@arya a **word** with `code`\n\n| way | good |\n|---|---|\n| one | two |\n\n> quoted")
    hub.settled(where)
    page = signed_in(profile(width=width, height=800 if width > 500 else 640, scheme=scheme), hub)
    obstacles: dict[str, list[str]] = {}
    [link] = hub.api("GET", "/api/links")["links"][:1]
    for path in (*PATHS, f"/links/{link['id']}"):
        go(page, path)
        page.wait_for_timeout(100)
        expect(page.locator(".shell__loading")).to_have_count(0)
        at_rest(page, "main")  # what fades in has less contrast on its way
        if found := serious(page, *(COLOURS if scheme == "light" else ())):
            obstacles[path] = found
        wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
        if wide > 0:
            obstacles[f"{path} width"] = [f"{wide} px too wide"]
    assert obstacles == {}


def test_long_names_stay_inside_a_narrow_page(profile: Profile, hub: RunningHub) -> None:
    above, below = (f"keeper-of-the-{part}-{uuid4().hex}" for part in ("integration", "warehouse"))
    for name in (above, below):
        hub.api("POST", "/api/agents", {"name": name, "role": "as long as its name " * 4, "kind": "external"})
    link = hub.api("POST", "/api/links", {"from": above, "to": below, "relationship": "superior"})
    task = hub.api("POST", "/api/tasks", {"to": below, "task": "compare"}, Moot_Act_As=above)
    page = signed_in(profile(width=320, height=640), hub)
    for path in ("/topology", "/agents", f"/agents/{above}", "/tasks", f"/links/{link['id']}", "/limits"):
        go(page, path)
        expect(page.locator("main").get_by_text(above).first).to_be_attached()
        expect(page.locator(".shell__loading")).to_have_count(0)
        at_rest(page, "main")
        beside = page.evaluate(
            """() => [document.documentElement, ...document.querySelectorAll('main, main *')]
                .filter((one) => one.scrollWidth > one.clientWidth + 1)
                .filter((one) => one.matches('html') || /auto|scroll/.test(getComputedStyle(one).overflowX))
                .map((one) => one.className || one.tagName)"""
        )
        assert beside == [], path
    hub.api("PATCH", f"/api/tasks/{task['id']}", {"state": "cancelled"})


def test_hostile_messages_do_nothing(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"hostile-{uuid4().hex[:6]}")
    for number in range(100):
        hub.say(where, f"{number} {HOSTILE[number % len(HOSTILE)]}")
    page.goto(f"{hub.url}/c/{where}")
    page.wait_for_selector('article[data-seq="100"]')
    for _ in range(12):
        page.eval_on_selector(".transcript__scroll", "box => { box.scrollTop -= 900; }")
        page.wait_for_timeout(60)
        assert page.evaluate("window.hurt") is None
        assert (
            page.locator(
                "article script, article iframe, article form, article style, article img[src^=http]"
            ).count()
            == 0
        )
        links = page.eval_on_selector_all("article a", "all => all.map((one) => [one.protocol, one.rel])")
        assert all(
            protocol in ("http:", "https:", "mailto:") and "noopener" in rel for protocol, rel in links
        )


def test_names_roles_notes_and_tasks_are_text_wherever_they_stand(profile: Profile, hub: RunningHub) -> None:
    hostile = "<img src=x onerror='window.hurt=1'>[a](javascript:window.hurt=1)"
    name = f"hostile-{uuid4().hex[:6]}"
    agent = {"name": name, "role": hostile, "display": hostile, "kind": "external"}
    hub.api("POST", "/api/agents", agent)
    hub.api("POST", "/api/links", {"from": "critic", "to": name, "relationship": "superior"})
    where = hub.conversation(f"<img src=x onerror='window.hurt=1'> {name}", name)
    hub.say(where, hostile)
    hub.api("POST", "/api/notes", {"name": name, "text": hostile})
    hub.api("POST", "/api/tasks", {"to": name, "task": hostile}, Moot_Act_As="critic")
    page = signed_in(profile(), hub)
    paths = (
        f"/c/{where}", "/c", "/now", "/topology", f"/topology?node={name}", "/agents", f"/agents/{name}", "/tasks",
        f"/notes/{name}", "/search?q=onerror", "/timeline?view=log", f"/timeline?view=flow&conversation={where}",
    )  # fmt: skip
    for path in paths:
        go(page, path)
        expect(page.locator(".shell__loading")).to_have_count(0)
        page.wait_for_timeout(80)
        assert page.evaluate("window.hurt") is None
        assert page.locator("main img[src], main [onerror], main a[href^='javascript']").count() == 0
    expect(page.locator("main")).not_to_contain_text("This part of the page failed")


FOCUSED = "Number(document.activeElement.dataset.seq)"


def test_one_stop_per_message_and_focus_that_is_never_lost(page: Page, hub: RunningHub) -> None:
    page.goto(f"{hub.url}/c/long")
    page.wait_for_selector("article")
    assert page.locator('article[tabindex="0"]').count() == 1
    at_rest(page, "article")
    page.locator('article[tabindex="0"]').focus()
    seq = int(page.evaluate(FOCUSED))
    for _ in range(5):
        page.keyboard.press("ArrowUp")
        seq -= 1
        page.wait_for_function(f"seq => {FOCUSED} === seq", arg=seq)
    page.eval_on_selector(".transcript__scroll", "box => { box.scrollTop -= 6000; }")
    at_rest(page, "article")
    assert page.evaluate(FOCUSED) == seq


def test_a_reply_is_announced_in_at_most_two_texts(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"voice-{uuid4().hex[:6]}", "arya")
    page.goto(f"{hub.url}/c/{where}")
    page.wait_for_selector("[data-ready=true]")
    page.evaluate(
        """() => {
          window.said = [];
          const live = document.querySelector('[data-testid=announcer]');
          new MutationObserver(() => window.said.push(live.textContent))
            .observe(live, { characterData: true, childList: true, subtree: true });
        }"""
    )
    hub.say(where, "@arya speak")
    hub.settled(where)
    page.wait_for_function("() => window.said.some((text) => text.includes('arya'))")
    expect(page.locator('article[data-seq="2"]')).to_be_visible()
    page.wait_for_timeout(2500)  # whatever else would be said of it
    said = [text for text in page.evaluate("window.said") if "arya" in text]
    assert 1 <= len(said) <= 2


LOWEST = "document.querySelector('[data-composer]').getBoundingClientRect().bottom"
KEYBOARD = """(height) => {
  Object.defineProperty(visualViewport, 'height', { value: height, configurable: true });
  visualViewport.dispatchEvent(new Event('resize'));
}"""


def lowest(page: Page) -> float:
    return float(page.evaluate(LOWEST))


@pytest.mark.req("S-16")
def test_targets_are_large_enough_for_fingers_and_a_keyboard_covers_nothing_that_is_written(
    profile: Profile, hub: RunningHub
) -> None:
    page = signed_in(profile(width=320, height=640), hub, "/c/build")
    page.wait_for_selector("[data-composer]")
    for name in ("Now", "Chats", "Map", "More"):
        box = page.locator(".bottom-bar__link", has_text=name).bounding_box()
        assert box is not None
        assert min(box["height"], box["width"]) >= 44
    page.wait_for_function(f"(most) => {LOWEST} <= most", arg=640)
    # A keyboard that makes the page smaller, as the page asks for, and one that is laid over it all the same.
    page.set_viewport_size({"width": 320, "height": 330})
    page.wait_for_function(f"(most) => {LOWEST} <= most", arg=330)
    page.set_viewport_size({"width": 320, "height": 640})
    page.wait_for_function(f"(least) => {LOWEST} > least", arg=330)
    page.evaluate(KEYBOARD, 310)
    page.wait_for_function(f"(most) => {LOWEST} <= most", arg=310)
    page.get_by_label("Message", exact=True).fill("seen while it is written\nin two lines")
    page.wait_for_function(f"(most) => {LOWEST} <= most", arg=310)
