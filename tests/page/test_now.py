"""Now: what needs a person shows within a second, in every tab, and is acted on in place."""

import re
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Profile, go, signed_in
from tests.page.running_hub import RunningHub


@pytest.mark.req("M-08", "S-16")
def test_a_question_shows_is_answered_in_place_and_is_gone_in_the_other_tab(
    profile: Profile, hub: RunningHub
) -> None:
    context = profile()
    page = signed_in(context, hub)
    second = context.new_page()
    second.goto(f"{hub.url}/now")
    second.wait_for_selector("[data-ready=true]")
    question = f"Merge {uuid4().hex[:4]} to main?"
    here, there = (tab.locator('[data-what="question"]', has_text=question) for tab in (page, second))
    with hub.question("arya", question, "yes", "no") as decision:
        expect(here).to_be_visible()
        expect(there).to_be_visible()
        expect(page).to_have_title(re.compile(r"^\("))
        here.get_by_role("button", name="yes").click()
        expect(here).to_have_count(0)
        expect(there).to_have_count(0)
    assert hub.api("GET", f"/api/decisions/{decision}")["answer"] == "yes"


@pytest.mark.req("M-08")
def test_who_works_can_be_stopped_from_here(profile: Profile, hub: RunningHub) -> None:
    where = hub.conversation(f"stop-{uuid4().hex[:6]}", "scribe")
    page = signed_in(profile(), hub)
    hub.say(where, "@scribe a story without an end, please")
    row = page.locator(".now-row", has_text="scribe").filter(has=page.get_by_role("button", name="Stop"))
    expect(row).to_be_visible()
    row.get_by_role("button", name="Stop").click()
    expect(row).to_have_count(0)
    hub.settled(where)


@pytest.mark.req("M-08")
def test_a_brake_is_told_of_and_let_go_in_place_and_a_failed_turn_is_tried_again(
    profile: Profile, hub: RunningHub
) -> None:
    context = profile()
    page = signed_in(context, hub)
    loop = f"loop-{uuid4().hex[:6]}"
    patient = {"max_agent_turns_per_message": 12, "max_depth": 12, "cooldown_seconds": 0.0}
    where = hub.conversation(loop, "thanks-one", "thanks-two", **patient)
    hub.say(where, "@thanks-one, please thank your colleague.")
    stopped = page.locator('[data-what="paused"]', has_text=loop)
    hub.settled(where)
    expect(stopped).to_be_visible()
    stopped.get_by_role("button", name="Continue").click()
    expect(stopped).to_have_count(0)
    hub.api("DELETE", f"/api/conversations/{where}")

    fails = f"fails-{uuid4().hex[:6]}"
    where = hub.conversation(fails, "flaky")
    hub.say(where, "@flaky try")
    row = page.locator('[data-what="failed"]', has_text=fails)
    expect(row).to_contain_text("flaky could not answer")
    turns = len(hub.api("GET", f"/api/turns?conversation={where}")["turns"])
    row.get_by_role("button", name="Retry").click()
    hub.settled(where)
    assert len(hub.api("GET", f"/api/turns?conversation={where}")["turns"]) >= turns


@pytest.mark.req("M-08")
def test_who_is_away_and_awaited_is_started_in_place(profile: Profile, hub: RunningHub) -> None:
    page = signed_in(profile(), hub)
    name = f"away-{uuid4().hex[:6]}"
    where = hub.conversation(name, "critic")
    hub.api("POST", "/api/agents/critic/stop", {})
    hub.say(where, "@critic are you there?")
    row = page.locator('[data-what="away"]', has_text=name)  # others may wait in channels that critic is in
    expect(row).to_contain_text("waits for it")
    row.get_by_role("button", name="Start").click()
    expect(row).to_have_count(0)
    hub.settled(where)


@pytest.mark.req("M-08")
def test_the_last_hour_is_counted_and_what_was_denied_stays_listed(page: Page, hub: RunningHub) -> None:
    question = f"May arya delete {uuid4().hex[:4]}?"
    with hub.question("arya", question, "allow once", "deny") as decision:
        hub.api("POST", f"/api/decisions/{decision}", {"answer": "deny"})
    hub.say(hub.conversation(f"hour-{uuid4().hex[:6]}"), "one more")
    go(page, "/agents")
    go(page, "/now")
    hour = hub.api("GET", "/api/now/hour")
    assert sum(hour["parts"]) == hour["messages"] >= 1
    expect(page.get_by_test_id("last-hour")).to_contain_text("refused")
    page.get_by_role("link", name="Decisions").click()
    page.get_by_text("Denied", exact=True).click()
    row = page.locator("article.decision", has_text=question)
    expect(row).to_contain_text("answered: deny")
    expect(row).to_have_attribute("data-denied", "true")


NOTIFICATIONS = """
window.shown = [];
window.Notification = class {
  static permission = 'default';
  static asked = 0;
  static async requestPermission() { this.asked += 1; return (this.permission = 'granted'); }
  constructor(title, more) { window.shown.push(`${title}: ${more.body}`); }
};
"""
HIDDEN = "Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => 'hidden' })"


def test_the_browser_notifies_of_what_was_chosen_and_only_while_nobody_looks(
    profile: Profile, hub: RunningHub
) -> None:
    context = profile()
    context.add_init_script(NOTIFICATIONS)
    page = signed_in(context, hub, "/settings/you")
    assert page.evaluate("Notification.asked") == 0
    page.get_by_text("When something needs you").click()
    page.wait_for_function("Notification.asked === 1")
    page.get_by_role("link", name="Now").first.click()
    seen, unseen = (f"{word} {uuid4().hex[:6]}?" for word in ("Seen", "Unseen"))
    with hub.question("arya", seen, "yes") as first:
        expect(page.locator('[data-what="question"]', has_text=seen)).to_be_visible()
        page.evaluate(HIDDEN)
        with hub.question("gendry", unseen, "yes") as second:
            page.wait_for_function("text => window.shown.includes(text)", arg=f"Moot: gendry asks: {unseen}")
            hub.api("POST", f"/api/decisions/{second}", {"answer": "yes"})
        hub.api("POST", f"/api/decisions/{first}", {"answer": "yes"})
    assert not page.evaluate("text => window.shown.some((one) => one.includes(text))", seen)
