"""What was sent in confidence stays there: twenty canaries in headers, queries, paths, bodies and the environment, and
none of them in a log, in an error, or in anything the hub wrote."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.doors.http.up import Up
from tests.support.waiting import PATIENCE

PLAIN = [f"canary-{n}-Zq7Xw9" for n in range(6)]
"""Where nothing may be repeated at all, whatever it looks like."""
KEY, MOOT, PERSONAL, JWT, AWS, SLACK, BOT, NAMED, URL, LONG = (
    "sk-canary-Zq7Xw9AbCdEf0123",
    "moot_ag_arya_canaryZq7Xw9AbCdEf0123456",
    "ghp_canaryZq7Xw9AbCdEf01234567",
    "eyJjYW5hcnkiOiJacTdYdzkifQ.canaryZq7Xw9.c2lnbmF0dXJl",
    "AKIACANARYZQ7XW9ABCD",
    "xoxb-canary-Zq7Xw9-AbCdEf",
    "123456789:canaryZq7Xw9AbCdEf0123456789abcdef",
    "password=canaryZq7Xw9",
    "postgresql://user:canaryZq7Xw9@host/db",
    "sk-ant-canary-" + "Zq7Xw9" * 50,
)
ENVIRONMENT = {
    "ANTHROPIC_API_KEY": "sk-ant-canary-environment-Zq7Xw9",
    "OPENAI_API_KEY": "sk-canary-environment-too-Zq7Xw9",
    "TELEGRAM_BOT_TOKEN_ARYA": "987654321:canaryEnvironmentZq7Xw9AbCdEf012345",
    "SOME_PASSWORD": "canary-environment-Zq7Xw9",
}
SECRETS = [*PLAIN, KEY, MOOT, PERSONAL, JWT, AWS, SLACK, BOT, NAMED, URL, LONG, *ENVIRONMENT.values()]

REQUESTS: list[tuple[str, str, dict[str, str], Any]] = [
    ("GET", "/api/agents", {"Authorization": f"Bearer {PLAIN[0]}"}, None),
    ("GET", "/api/agents", {"Authorization": f"Basic {PLAIN[1]}"}, None),
    ("GET", f"/api/agents?token={PLAIN[2]}", {"Authorization": ""}, None),
    ("GET", "/api/agents", {"Cookie": f"session={PLAIN[3]}", "Authorization": ""}, None),
    ("GET", "/healthz", {"Host": PLAIN[4]}, None),
    ("GET", "/healthz", {"Origin": f"http://{PLAIN[5]}"}, None),
    ("GET", "/api/agents", {"Moot-Act-As": KEY}, None),
    ("GET", f"/api/agents/{MOOT}", {}, None),
    ("GET", f"/api/conversations/{PERSONAL}/messages", {}, None),
    ("GET", f"/api/search?q=from:{JWT}", {}, None),
    ("GET", f"/api/turns?state={AWS}", {}, None),
    ("POST", "/api/conversations", {}, {"name": f"a/{SLACK}"}),
    ("POST", "/api/conversations", {}, {"name": "x", "participants": [BOT]}),
    ("POST", "/api/agents", {}, {"name": NAMED}),
    ("POST", "/api/agents", {}, {"name": "x", "role": f"{URL}\n"}),
    ("POST", "/api/agents/arya/tokens", {}, {"scopes": [LONG]}),
    ("POST", f"/api/agents/{KEY}/messages", {}, {"message": "hello"}),
    ("PATCH", "/api/messages/room:1", {"If-Match": KEY}, {"text": "x"}),
    ("POST", "/api/conversations/room/messages", {}, {"text": "x", "reply_to": MOOT}),
    ("POST", "/api/conversations/room/messages", {}, {"text": "x", PERSONAL: "unknown field"}),
    ("POST", "/api/conversations", {}, {"name": "x", "settings": {KEY: 1}}),
    ("DELETE", f"/api/agents/arya/tokens/{MOOT}", {}, None),
]  # fmt: skip


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Up]:
    found = Up(tmp_path / "home")
    found.home.mkdir(mode=0o700)
    (found.home / "moot.toml").write_text('[[agents]]\nname = "arya"\nbrain = "demo"\n')
    found.start("--debug", **ENVIRONMENT)
    yield found
    if found.process is not None and found.process.poll() is None:
        found.end(signal.SIGKILL)


@pytest.mark.req("P-06")
def test_no_canary_is_found_anywhere(hub: Up) -> None:
    assert len(SECRETS) == 20
    answers = []
    with httpx2.Client(base_url=hub.url, timeout=PATIENCE) as client:
        made = client.post("/api/conversations", json={"name": "room"}, headers=hub.token)
        assert made.status_code == 201
        for method, path, headers, body in REQUESTS:
            sent = {key: value for key, value in {**hub.token, **headers}.items() if value}
            answer = client.request(method, path, headers=sent, json=body)
            assert 200 <= answer.status_code < 500, (method, path, answer.text)
            assert answer.status_code >= 400 or path.startswith("/healthz"), (method, path, answer.text)
            answers.append((f"{method} {path[:40]}", f"{answer.headers} {answer.text}"))
    assert hub.end(signal.SIGTERM) == 0
    places = [*answers, ("its logs", hub.said)]
    files = [file for file in hub.home.rglob("*") if file.is_file() and file.name != "token"]
    places += [(str(file.relative_to(hub.home)), file.read_bytes().decode("latin-1")) for file in files]
    assert {"moot.db", "its logs"} <= {name for name, _ in places}
    assert [(name, secret) for name, text in places for secret in SECRETS if core(secret) in text] == []


def core(secret: str) -> str:
    """The part of it that is secret."""
    return secret.removeprefix("password=").removeprefix("postgresql://user:").removesuffix("@host/db")
