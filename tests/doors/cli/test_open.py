"""`moot open` and `moot people`: links that sign in, once, to the hub that runs."""

import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import msgspec
import pytest

from moot.hub.process.hub_lock import running_hub
from moot.settings import Home
from tests.doors.cli.shell import Shell, make_home
from tests.support.waiting import PATIENCE

ANY_PORT = "[hub]\nport = 0\n"


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Shell]:
    shell = make_home(tmp_path / "home", more=ANY_PORT)
    assert shell.moot("up", "--detach").code == 0
    yield shell
    shell.moot("stop", "--all")


def exchanged(link: str) -> Any:
    """What the page does with a link: the code, which is behind the #, for a token."""
    parts = urlsplit(link)
    body = msgspec.json.encode({"code": parts.fragment.removeprefix("code=")})
    request = urllib.request.Request(
        f"{parts.scheme}://{parts.netloc}/api/sign-in", body, {"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        return msgspec.json.decode(answer.read())


def test_open_prints_a_link_that_signs_in_the_owner_once(running: Shell) -> None:
    told = running.moot("open", "topology")
    hub = running_hub(Home(running.home))
    assert hub is not None
    assert told.code == 0
    link = told.out.strip()
    assert link.startswith(f"{hub['url']}/topology#code=")
    assert "it signs in user, once, within a minute" in told.err
    found = exchanged(link)
    assert (found["participant"], found["owner"]) == ("user", True)
    with pytest.raises(urllib.error.HTTPError, match="401"):
        exchanged(link)
    listed = running.moot("tokens", "list", "user")
    assert "a browser" in listed.out
    revoked = running.moot("tokens", "revoke", "user", found["id"], "--yes")
    assert revoked.out == f"✓ revoked {found['id']} of user\n"


def test_neither_link_nor_token_is_written_to_a_log(running: Shell) -> None:
    link = running.moot("open", "--json").json["url"]
    token = exchanged(link)["token"]
    for path in running.home.rglob("*.log"):
        text = path.read_text()
        assert urlsplit(link).fragment not in text
        assert token not in text


def test_an_invited_person_gets_a_token_of_their_own(running: Shell) -> None:
    told = running.moot("people", "invite", "sansa")
    assert told.code == 0
    assert "send it to sansa: it signs in one browser, within 7 days" in told.err
    assert running.moot("people", "list").out.splitlines()[-1].split()[:3] == ["sansa", "0", "1"]
    found = exchanged(told.out.strip())
    assert (found["participant"], found["owner"], found["scopes"]) == ("sansa", False, ["read", "post"])
    assert running.moot("people", "list").out.splitlines()[-1].split()[:3] == ["sansa", "1", "0"]
    again = running.moot("people", "invite", "sansa", "--url", "https://moot.example", "--json").json
    assert again["url"].startswith("https://moot.example/#code=")
    refused = running.moot("people", "invite", "arya")
    assert (refused.code, "arya is no person: only people sign in" in refused.err) == (5, True)


def test_an_invitation_needs_a_hub_to_lead_to(shell: Shell) -> None:
    told = shell.moot("people", "invite", "sansa")
    assert told.code == 9
    assert "a link needs a running hub to lead to" in told.err
    assert "moot up" in told.err


def test_open_starts_a_hub_where_none_runs(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home", more=ANY_PORT)
    try:
        told = shell.moot("open")
        hub = running_hub(Home(shell.home))
        assert hub is not None
        assert f"hub started on {hub['url']} (pid {hub['pid']}; stop it with moot stop)" in told.err
        assert exchanged(told.out.strip())["owner"] is True
    finally:
        shell.moot("stop", "--all")


def asked(url: str, token: str, method: str, path: str) -> tuple[int, Any]:
    headers = {"Authorization": f"Bearer {token}"}
    request = urllib.request.Request(f"{url}{path}", method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, msgspec.json.decode(answer.read())
    except urllib.error.HTTPError as refused:
        return refused.code, msgspec.json.decode(refused.read())


def test_the_page_stops_and_starts_agents_inside_the_hub_and_as_daemons(running: Shell) -> None:
    hub = running_hub(Home(running.home))
    assert hub is not None
    url, token = hub["url"], exchanged(running.moot("open", "--json").json["url"])["token"]

    def said(method: str, path: str) -> tuple[int, str]:
        status, answer = asked(url, token, method, path)
        return status, answer.get("reachability") or answer.get("title")

    assert said("GET", "/api/agents/arya") == (200, "live")
    assert said("POST", "/api/agents/arya/start") == (409, "arya is already running")
    assert said("POST", "/api/agents/arya/stop") == (200, "away")
    assert said("POST", "/api/agents/arya/stop") == (404, "arya is not running")
    running.moot("reload")
    assert said("GET", "/api/agents/arya") == (200, "away")
    assert said("POST", "/api/agents/arya/start") == (200, "live")
    assert running.moot("send", "arya", "hello").code == 0
    asked(url, token, "POST", "/api/agents/gendry/stop")
    assert running.moot("agent", "start", "gendry").code == 0
    assert said("POST", "/api/agents/gendry/stop") == (200, "away")
