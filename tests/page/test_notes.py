"""Notes that two people write at once: nobody's text is lost, and both are shown."""

from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import go
from tests.page.running_hub import RunningHub

WARNS = """() => {
  const leaving = new Event('beforeunload', { cancelable: true });
  window.dispatchEvent(leaving);
  return leaving.defaultPrevented;
}"""


def opened(page: Page, hub: RunningHub, text: str) -> str:
    name = f"note-{uuid4().hex[:6]}"
    hub.api("POST", "/api/notes", {"name": name, "text": text})
    page.goto(f"{hub.url}/notes/{name}")
    expect(page.get_by_label("Text of the note")).to_have_value(text)
    return name


@pytest.mark.req("S-15")
def test_a_note_that_somebody_else_saved_is_shown_beside_yours(page: Page, hub: RunningHub) -> None:
    name = opened(page, hub, "canary: green")
    box = page.get_by_label("Text of the note")
    box.fill("canary: mine")
    hub.api("PUT", f"/api/notes/{name}", {"text": "canary: theirs", "version": 1})
    conflict = page.get_by_test_id("conflict")
    expect(conflict).to_contain_text("karl saved version 2 while you were editing version 1")
    expect(box).to_have_value("canary: mine")
    expect(page.locator("main")).to_contain_text("canary: theirs")
    page.get_by_role("button", name="Keep mine").click()
    expect(conflict).to_have_count(0)
    assert hub.api("GET", f"/api/notes/{name}")["text"] == "canary: mine"
    assert hub.api("GET", f"/api/notes/{name}?version=2")["text"] == "canary: theirs"


def test_theirs_can_be_taken_and_erasing_a_note_asks_first(page: Page, hub: RunningHub) -> None:
    name = opened(page, hub, "one")
    box = page.get_by_label("Text of the note")
    box.fill("mine")
    hub.api("PUT", f"/api/notes/{name}", {"text": "theirs", "version": 1})
    page.get_by_role("button", name="Take theirs").click()
    expect(box).to_have_value("theirs")
    page.get_by_role("button", name="Delete note").click()
    assert hub.api("GET", f"/api/notes/{name}")["version"] == 2
    page.get_by_role("button", name="Erase it").click()
    page.wait_for_url("**/notes")
    assert name not in [note["name"] for note in hub.api("GET", "/api/notes")["notes"]]


def test_changes_in_different_places_are_merged_and_unsaved_text_is_never_lost(
    page: Page, hub: RunningHub
) -> None:
    name = opened(page, hub, "canary: green\nblocked: no\nowner: arya")
    box = page.get_by_label("Text of the note")
    box.fill("canary: red\nblocked: no\nowner: arya")
    page.wait_for_function(WARNS)  # closing the tab asks first
    go(page, "/now")
    go(page, f"/notes/{name}")
    expect(box).to_have_value("canary: red\nblocked: no\nowner: arya")
    hub.api("PUT", f"/api/notes/{name}", {"text": "canary: green\nblocked: no\nowner: gendry", "version": 1})
    expect(page.get_by_test_id("conflict")).to_be_visible()
    page.get_by_role("button", name="Merge").click()
    expect(box).to_have_value("canary: red\nblocked: no\nowner: gendry")
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved as version 3.")).to_be_visible()
    assert hub.api("GET", f"/api/notes/{name}")["text"] == "canary: red\nblocked: no\nowner: gendry"
    page.wait_for_function(f"() => !({WARNS})()")
