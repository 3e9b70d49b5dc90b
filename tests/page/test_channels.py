"""What passed between two agents, and what everybody did: read, narrowed, taken along."""

import json
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Profile, signed_in
from tests.page.running_hub import RunningHub


def the_link(hub: RunningHub) -> dict[str, Any]:
    rows = hub.api("GET", "/api/links")["links"]
    return next(row for row in rows if {row["from"], row["to"]} == {"arya", "gendry"})


def saved(page: Page) -> list[Any]:
    with page.expect_download() as kept:
        page.get_by_role("button", name="Export").click()
    return [json.loads(line) for line in Path(kept.value.path()).read_text().splitlines()]


@pytest.mark.req("S-16")
def test_a_channel_is_narrowed_exported_and_spoken_into_by_a_person(
    profile: Profile, hub: RunningHub
) -> None:
    link = the_link(hub)
    word = uuid4().hex[:6]
    hub.api("POST", "/api/agents/gendry/send", {"text": f"from above {word}"}, Moot_Act_As="arya")
    hub.settled(link["channel"])
    page = signed_in(profile(), hub, f"/links/{link['id']}")
    said = page.locator("article", has_text=word).first
    expect(said).to_be_visible()
    page.get_by_label("Sender", exact=True).select_option("gendry")
    expect(page.locator("article", has_text=f"from above {word}")).to_have_count(0)
    page.get_by_label("Sender", exact=True).select_option("arya")
    expect(said).to_be_visible()
    kept = saved(page)
    assert [row["seq"] for row in kept] == [row["seq"] for row in hub.messages(link["channel"])]
    page.get_by_label("Sender", exact=True).select_option("")
    page.get_by_label("Post as karl, a person").fill(f"a person speaks {word}")
    page.keyboard.press("Enter")
    expect(page.locator(".message-bubble--user", has_text=f"a person speaks {word}")).to_be_visible()
    hub.settled(link["channel"])


def test_the_log_is_narrowed_and_exported_as_it_is_shown(profile: Profile, hub: RunningHub) -> None:
    name = f"logged-{uuid4().hex[:6]}"
    hub.api("POST", "/api/agents", {"name": name, "role": "", "kind": "external"})
    page = signed_in(profile(), hub, f"/timeline?view=log&agent={name}")
    expect(page.locator("tbody tr")).not_to_have_count(0)
    expect(page.locator("tbody")).to_contain_text(name)
    kept = saved(page)
    assert len(kept) == page.locator("tbody tr").count()
    assert all(name in json.dumps(row) for row in kept)
    page.get_by_role("button", name="Verify").click()
    expect(page.get_by_text("chain ok")).to_be_visible()
