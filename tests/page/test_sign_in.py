"""Signing in once: a code that works once, a token nobody can find, tabs that share it, a revocation that ends it."""

import pytest
from playwright.sync_api import Page, expect

from tests.page.conftest import Profile, signed_in
from tests.page.running_hub import RunningHub


def token_of(page: Page) -> str:
    return str(page.evaluate("sessionStorage.getItem('moot.token')"))


@pytest.mark.req("S-16")
def test_a_code_works_once_and_leaves_no_trace(profile: Profile, hub: RunningHub) -> None:
    context = profile()
    code = hub.code()
    page = context.new_page()
    asked: list[str] = []
    context.on("request", lambda request: asked.append(f"{request.url} {request.headers.get('referer', '')}"))
    page.goto(f"{hub.url}/topology#code={code}")
    page.wait_for_selector("[data-ready=true]")
    assert page.url == f"{hub.url}/topology"
    token = token_of(page)
    assert token not in page.evaluate("JSON.stringify(localStorage)")
    assert not any(token in line or code in line for line in asked)
    assert page.evaluate("document.cookie") == ""
    assert token not in (hub.home / "up.log").read_text()
    assert token != (hub.home / "run" / "token").read_text().strip()

    other = profile().new_page()
    other.goto(f"{hub.url}/now#code={code}")
    expect(other.get_by_role("heading", name="Sign in")).to_be_visible()
    expect(other.get_by_text("moot open", exact=True)).to_be_visible()


def test_a_new_tab_is_signed_in_by_its_siblings(profile: Profile, hub: RunningHub) -> None:
    context = profile()
    signed_in(context, hub)
    second = context.new_page()
    second.goto(f"{hub.url}/agents")
    second.wait_for_selector("[data-ready=true]")
    expect(second.get_by_role("heading", name="Agents")).to_be_visible()


HOLD_BACK = """() => {
  const post = BroadcastChannel.prototype.postMessage;
  window.answers = [];
  BroadcastChannel.prototype.postMessage = function (word) {
    if (this.name === 'moot-session') window.answers.push(() => post.call(this, word));
    else post.call(this, word);
  };
}"""
ANSWER = "() => { for (const answer of window.answers) answer(); }"


def test_a_sibling_that_answers_late_signs_a_new_tab_in_all_the_same(
    profile: Profile, hub: RunningHub
) -> None:
    context = profile()
    first = signed_in(context, hub)
    second = context.new_page()
    first.evaluate(HOLD_BACK)
    second.goto(f"{hub.url}/agents")
    expect(second.get_by_role("heading", name="Sign in")).to_be_visible()
    first.wait_for_function("() => window.answers.length > 0")
    first.evaluate(ANSWER)
    second.wait_for_selector("[data-ready=true]")
    assert token_of(second) == token_of(first)


def ended(page: Page) -> None:
    expect(page.get_by_role("heading", name="Sign in")).to_be_visible()


def revoke_newest(hub: RunningHub) -> None:
    """The token of the page that was signed in last."""
    rows = [row for row in hub.api("GET", "/api/agents/karl/tokens")["tokens"] if not row["revoked_at"]]
    newest = max(rows, key=lambda row: row["created_at"])
    hub.api("DELETE", f"/api/agents/karl/tokens/{newest['id']}")


def test_signing_out_ends_all_tabs_and_the_token(profile: Profile, hub: RunningHub) -> None:
    context = profile()
    page = signed_in(context, hub, "/settings")
    second = context.new_page()
    second.goto(f"{hub.url}/now")
    second.wait_for_selector("[data-ready=true]")
    token = token_of(page)
    page.get_by_role("button", name="Sign out").click()
    ended(page)
    ended(second)
    status = page.evaluate(
        "t => fetch('/api/status', {headers: {Authorization: 'Bearer ' + t}}).then(r => r.status)", token
    )
    assert status == 401
