"""How quick and how quiet the page is. Nothing may run beside these."""

from uuid import uuid4

import pytest
from playwright.sync_api import Page, Route

from tests.page.conftest import Profile, signed_in
from tests.page.running_hub import RunningHub

pytestmark = pytest.mark.alone
AGENTS = 50
LINKS = 200
POST_AND_SEE = """async ([where, number]) => {
  const token = sessionStorage.getItem('moot.token');
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const body = JSON.stringify({ text: `number ${number}` });
  const answer = await fetch(`/api/conversations/${where}/messages`, { method: 'POST', headers, body });
  const { seq } = await answer.json();
  const began = performance.now();
  while (!document.querySelector(`article[data-seq="${seq}"]`)) await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
FRAMES = """() => {
  window.frames_seen = [];
  let last = performance.now();
  const step = (now) => { window.frames_seen.push(now - last); last = now; requestAnimationFrame(step); };
  requestAnimationFrame(step);
}"""


def crowd(hub: RunningHub) -> dict[str, object]:
    """The answer of the hub, with many more agents and links in it than there are."""
    graph = hub.api("GET", "/api/topology")
    [model] = [agent for agent in graph["agents"] if agent["name"] == "arya"]
    link = graph["links"][0]
    names = [f"agent-{number}" for number in range(AGENTS)]
    agents = [
        {**model, "id": name, "name": name, "x": (number % 10) * 230, "y": (number // 10) * 160}
        for number, name in enumerate(names)
    ]
    pairs = [(a, (a + step) % AGENTS) for step in (1, 7, 10, 13) for a in range(AGENTS)][:LINKS]
    links = [
        {
            **link,
            "id": f"l{number}",
            "channel": f"link:l{number}",
            "from": names[a],
            "to": names[b],
            "relationship": "peer",
        }
        for number, (a, b) in enumerate(pairs)
    ]
    return {"agents": agents, "links": links}


def frames(page: Page) -> list[float]:
    return sorted(page.evaluate("window.frames_seen.slice(2)"))


def test_a_message_is_painted_as_soon_as_it_is_stored(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"paint-{uuid4().hex[:6]}")
    page.goto(f"{hub.url}/c/{where}")
    page.wait_for_selector("[data-ready=true]")
    took = sorted(page.evaluate(POST_AND_SEE, [where, number]) for number in range(20))
    assert took[18] <= 150


def test_a_crowded_map_pans_smoothly_and_rests_when_nobody_moves_it(
    profile: Profile, hub: RunningHub
) -> None:
    context = profile()
    graph = crowd(hub)

    def answered(route: Route) -> None:
        route.fulfill(json=graph)

    context.route("**/api/topology", answered)
    page = signed_in(context, hub, "/topology")
    page.wait_for_selector('.react-flow__node[data-id="agent-49"]')
    assert page.locator(".react-flow__node").count() == AGENTS
    page.wait_for_timeout(1000)
    page.evaluate(FRAMES)
    page.mouse.move(500, 300)
    page.mouse.down()
    for number in range(30):
        page.mouse.move(500 + number * 8, 300 + (number % 5) * 6)
    page.mouse.up()
    seen = frames(page)
    assert seen[int(len(seen) * 0.95)] <= 50

    page.goto(f"{hub.url}/topology")
    page.wait_for_selector('.react-flow__node[data-id="agent-49"]')
    page.wait_for_timeout(1500)
    session = context.new_cdp_session(page)
    session.send("Performance.enable")

    def busy() -> float:
        rows = session.send("Performance.getMetrics")["metrics"]
        return float(next(row["value"] for row in rows if row["name"] == "TaskDuration"))

    before = busy()
    page.wait_for_timeout(2000)
    assert (busy() - before) / 2 < 0.05
