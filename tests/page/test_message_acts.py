"""What is done with one message: followed to its answer, forwarded, kept in a note, asked again."""

from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import go
from tests.page.running_hub import RunningHub

NOTE_REACH = """() => {
  window.reached = [];
  const look = () => {
    const now = document.querySelector('[data-testid="msg-1-receipt"]')?.dataset.reach;
    if (now && window.reached.at(-1) !== now) window.reached.push(now);
  };
  new MutationObserver(look).observe(document.body, { subtree: true, childList: true, attributes: true });
}"""
STATES = ["stored", "delivered", "answered"]


def choose(page: Page, seq: int, action: str) -> None:
    article = page.locator(f'article[data-seq="{seq}"]')
    article.hover()
    article.get_by_role("button", name="More actions").click()
    page.get_by_role("menuitem", name=action).click()


@pytest.mark.req("S-16")
def test_ticks_follow_a_message_until_it_is_answered(page: Page, hub: RunningHub) -> None:
    where = hub.conversation(f"ticks-{uuid4().hex[:6]}", "arya", "critic")
    go(page, f"/c/{where}")
    page.evaluate(NOTE_REACH)
    page.get_by_label("Message", exact=True).fill("@arya how far is it?")
    page.keyboard.press("Enter")
    receipt = page.get_by_test_id("msg-1-receipt")
    expect(receipt).to_have_attribute("data-reach", "answered")
    reached = page.evaluate("window.reached")
    assert reached == [state for state in STATES if state in reached], "never back, and in this order"
    receipt.get_by_role("button").click()
    row = page.locator('.receipts__row[data-agent="arya"]')
    for step in ("queued", "delivered", "answered"):
        expect(row).to_contain_text(step)
    expect(page.locator('.receipts__row[data-agent="critic"]')).to_be_visible()


def texts(hub: RunningHub, where: str) -> list[str]:
    return [row["text"] for row in hub.messages(where)]


def asked_about(hub: RunningHub, where: str) -> list[Any]:
    return list(hub.api("GET", f"/api/turns?conversation={where}")["turns"])


def test_a_message_is_forwarded_pinned_and_asked_again(page: Page, hub: RunningHub) -> None:
    tag = uuid4().hex[:6]
    where, other = hub.conversation(f"source-{tag}", "gendry"), hub.conversation(f"target-{tag}")
    hub.say(where, f"@gendry keep this line {tag}")
    hub.settled(where)
    go(page, f"/c/{where}")
    choose(page, 1, "Forward")
    page.get_by_label("To", exact=True).select_option(other)
    page.get_by_label("With a note (optional)").fill("worth a look")
    page.get_by_role("dialog").get_by_role("button", name="Forward").click()
    expect(page.get_by_text(f"Forwarded to target-{tag}")).to_be_visible()
    expect(page.locator(f'.chat-row[href="/c/{other}"]')).to_contain_text("worth a look")
    [forwarded] = texts(hub, other)  # and nobody was called into it by a name in the quotation
    assert forwarded.startswith("worth a look\n\nForwarded: karl in ")
    assert forwarded.endswith(f"source-{tag}, #1\n\n> \\@gendry keep this line {tag}")

    choose(page, 1, "Pin to a note")
    page.get_by_label("Name").fill(f"kept-{tag}")
    page.get_by_role("dialog").get_by_role("button", name="Pin to a note").click()
    expect(page.get_by_text(f"Kept in the note kept-{tag}.")).to_be_visible()
    assert f"> \\@gendry keep this line {tag}" in hub.api("GET", f"/api/notes/kept-{tag}")["text"]

    before = len(asked_about(hub, where))
    choose(page, 1, "Retry")
    expect(page.get_by_text("Asked again: gendry.")).to_be_visible()
    hub.settled(where)
    assert len(asked_about(hub, where)) == before + 1
