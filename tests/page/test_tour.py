"""The support tour as it is watched in a browser: pulses on the right links, the task's life, the answer."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, expect

from tests.page.conftest import Watch, signed_in
from tests.page.running_hub import RunningHub
from tests.page.waiting import PATIENCE_MS
from tools import page_tour

NOTE_PULSES = """() => {
  window.pulses = [];
  const note = (node) => node.classList?.contains('map-pulse') && window.pulses.push(node.dataset.from);
  new MutationObserver((all) => { for (const one of all) one.addedNodes.forEach(note); })
    .observe(document.querySelector('.map'), { subtree: true, childList: true });
}"""


@pytest.fixture
def desk(built: Path, tmp_path: Path) -> Iterator[RunningHub]:
    running = page_tour.desk(tmp_path)
    yield running
    running.stop()


@pytest.mark.req("S-16")
def test_a_question_is_seen_to_run_over_the_links_until_it_is_answered(
    browser: Browser, desk: RunningHub
) -> None:
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    context.set_default_timeout(PATIENCE_MS)
    watch = Watch(desk.url)
    watch.over(context)
    page = signed_in(context, desk, "/topology")
    page.wait_for_selector('.react-flow__node[data-id="manager"]')
    page.evaluate(NOTE_PULSES)
    where = page_tour.ask(desk)
    expect(page.locator('.sidebar__link[href="/c"] .badge')).to_be_visible()
    page_tour.wait_for_answer(desk, where)
    page.wait_for_function("() => window.pulses.includes('manager')")
    assert page.evaluate("window.pulses")[0] == "support"
    page.goto(f"{desk.url}/tasks")
    card = page.locator("article.task")
    expect(card).to_have_attribute("data-state", "done")
    expect(card.get_by_label("What happened to it")).to_contain_text("given")
    expect(card).to_contain_text("Invoices round each line up.")
    page.goto(f"{desk.url}/c/{where}")
    expect(page.locator("article").last).to_contain_text("good news")
    watch.verify(context)
    context.close()
