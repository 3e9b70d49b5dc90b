"""Settings and what is made there: agents, backups, imports, keys that are never shown, how the page looks."""

import os
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import go
from tests.page.running_hub import RunningHub
from tests.page.waiting import PATIENCE, until


def exported(hub: RunningHub, name: str, file: Path) -> None:
    command = [sys.executable, "-m", "moot", "export", name, "--format", "jsonl", "-o", str(file)]
    environ = {**os.environ, "MOOT_HOME": str(hub.home)}
    subprocess.run(command, env=environ, check=True, capture_output=True, timeout=PATIENCE)


@pytest.mark.req("S-16")
def test_an_agent_that_the_hub_runs_is_made_in_the_page_and_answers(page: Page, hub: RunningHub) -> None:
    name = f"made-{uuid4().hex[:6]}"
    go(page, "/agents")
    page.get_by_role("button", name="New agent").click()
    page.get_by_label("Name").fill(name)
    page.get_by_label("Role").fill("reads filings")
    page.get_by_role("button", name="Create").click()
    page.wait_for_url(f"**/agents/{name}")
    made = hub.api("GET", f"/api/agents/{name}")
    assert (made["kind"], made["brain"], made["role"]) == ("agent", "demo", "reads filings")
    assert f'name = "{name}"' in (hub.home / "moot.toml").read_text()
    where = hub.conversation(f"with-{name}", name)
    hub.say(where, f"@{name} hello")
    until(lambda: [row["from"] for row in hub.messages(where)], lambda seen: len(seen) > 1)
    hub.settled(where)
    assert [row["from"] for row in hub.messages(where)] == ["karl", name]


def test_a_backup_is_made_and_an_export_is_looked_at_before_it_is_imported(
    page: Page, hub: RunningHub, tmp_path: Path
) -> None:
    go(page, "/settings/data")
    page.get_by_role("button", name="Back up now").click()
    expect(page.get_by_text("Backed up and verified")).to_be_visible()
    [newest, *_] = hub.api("GET", "/api/backups")["backups"]
    expect(page.get_by_test_id("backups")).to_contain_text(newest["name"])
    assert (hub.home / "backups" / newest["name"]).is_file()

    name = f"taken-{uuid4().hex[:6]}"
    hub.say(hub.conversation(name), "to be taken along")
    exported(hub, name, tmp_path / "one.jsonl")
    page.get_by_label("File", exact=True).set_input_files(tmp_path / "one.jsonl")
    plan = page.get_by_test_id("import")
    expect(plan).to_contain_text(f"{name}-2: 1 message would be imported")
    assert name + "-2" not in [row["name"] for row in hub.api("GET", "/api/conversations")["conversations"]]
    page.get_by_role("button", name="Import", exact=True).click()
    expect(plan).to_contain_text(f"{name}-2: 1 message imported")
    assert [row["text"] for row in hub.messages(f"{name}-2")] == ["to be taken along"]
    (tmp_path / "broken.jsonl").write_text("no export\n")
    page.get_by_label("File", exact=True).set_input_files(tmp_path / "broken.jsonl")
    expect(page.locator(".notice--bad")).to_contain_text("not a Moot export")


def test_providers_say_which_key_they_have_and_density_and_size_stay(page: Page, hub: RunningHub) -> None:
    go(page, "/settings/brains")
    row = page.locator("tr", has_text="anthropic")
    expect(row).to_contain_text("no key")
    row.get_by_role("button", name="Test").click()
    expect(row).to_contain_text("✕")
    go(page, "/settings/appearance")
    before = page.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    page.get_by_text("Compact").click()
    page.get_by_text("Large").click()
    page.wait_for_function(
        "(before) => parseFloat(getComputedStyle(document.body).fontSize) > before", arg=before
    )
    page.reload()
    page.wait_for_selector("[data-ready=true]")
    kept = page.evaluate("({ ...document.documentElement.dataset })")
    assert (kept["density"], kept["size"]) == ("compact", "large")
