"""More than one person: each under their own name, each seeing what is theirs to see."""

import json
import os
import subprocess
import sys
from uuid import uuid4

import pytest
from playwright.sync_api import expect

from tests.page.conftest import Profile, signed_in
from tests.page.running_hub import RunningHub
from tests.page.waiting import PATIENCE


def invited(hub: RunningHub, name: str) -> str:
    """The link that `moot people invite` prints."""
    command = [sys.executable, "-m", "moot", "people", "invite", name, "--json"]
    environ = {**os.environ, "MOOT_HOME": str(hub.home)}
    done = subprocess.run(command, env=environ, check=True, capture_output=True, text=True, timeout=PATIENCE)
    return str(json.loads(done.stdout)["url"])


@pytest.mark.req("S-16", "J-10")
def test_an_invited_person_comes_in_under_their_own_name_and_sees_what_is_theirs(
    profile: Profile, hub: RunningHub
) -> None:
    name = f"sansa-{uuid4().hex[:4]}"
    link = invited(hub, name)
    where = hub.conversation(f"both-{uuid4().hex[:6]}")
    hub.api("POST", f"/api/conversations/{where}/participants", {"name": name})
    hub.conversation("not-for-guests")
    owner = signed_in(profile(), hub, f"/c/{where}")
    guest = profile().new_page()
    guest.goto(link)
    guest.wait_for_selector("[data-ready=true]")
    assert guest.evaluate("sessionStorage.getItem('moot.token')") != owner.evaluate(
        "sessionStorage.getItem('moot.token')"
    )

    guest.goto(f"{hub.url}/c/{where}")
    guest.get_by_label("Message", exact=True).fill("good morning")
    guest.keyboard.press("Enter")
    theirs = owner.locator(".message-bubble--user", has_text="good morning")
    expect(theirs).to_contain_text(name)
    own = guest.locator(".message-bubble--own", has_text="good morning")
    expect(own).to_be_visible()
    left, right = (one.locator(".message-bubble__content").bounding_box() for one in (theirs, own))
    assert left is not None
    assert right is not None
    assert left["x"] < right["x"]
    expect(guest.locator(".chat-row", has_text="not-for-guests")).to_have_count(0)
    guest.goto(f"{hub.url}/c/not-for-guests")
    expect(guest.get_by_text("There is no such conversation")).to_be_visible()
    guest.goto(f"{hub.url}/settings/defaults")
    expect(guest.get_by_text("Only the owner of this hub sees these.")).to_be_visible()

    again = profile().new_page()
    again.goto(link)
    expect(again.get_by_role("heading", name="Sign in")).to_be_visible()
