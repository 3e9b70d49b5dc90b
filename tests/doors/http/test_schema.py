"""What /openapi.json says holds against a running hub: schemathesis tries every operation, alone and in sequences, with
data that fits and data that does not. Nothing ends in a 5xx, and every answer is one that the document names."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest

from tests.doors.http.up import Up
from tests.support.processes import NIGHTLY, path_of_imports
from tests.support.waiting import PATIENCE

HOME = """
[groups]
cooldown_seconds = 0.0
[limits]
requests_per_second = 100000.0
[[agents]]
name = "arya"
brain = "demo"
"""
CONFIG = """
hooks = "tests.doors.http.schema_forms"
seed = 1
continue-on-failure = true
request-timeout = 40
suppress-health-check = ["all"]
warnings = false

[generation]
max-examples = {examples}
deterministic = true
database = "none"
no-shrink = true

[phases.coverage]
enabled = {coverage}

[phases.stateful.generation]
max-examples = {sequences}

[checks.positive_data_acceptance]
# A version that is not the one that stands is well formed, and refused.
expected-statuses = ["2xx", 401, 403, 404, 409, 412, 429]

# The version one saw may stand in the body or in If-Match: a description cannot say "one of these two".
[[operations]]
include-name = "PUT /api/notes/{{name}}"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 412, 428, 429]

# Choices are for people, each once: that depends on who is asked.
[[operations]]
include-name = "POST /api/agents/{{name}}/ask"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429]

# What an export looks like is said in its own lines, not in the description.
[[operations]]
include-name = "POST /api/imports"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429]

# Who was removed can still be looked at, and is said to be removed.
[[operations]]
include-path = "/api/agents/{{name}}"
checks.use_after_free.enabled = false

# A stream does not end; test_events.py is about it.
[[operations]]
include-path = "/api/events"
enabled = false

# These answer to an upgrade only, and have tests of their own.
[[operations]]
include-path-regex = "^/ws/"
enabled = false

# A direct conversation has two members: that depends on who asks.
[[operations]]
include-name = "POST /api/conversations"
checks.positive_data_acceptance.expected-statuses = ["2xx", 401, 403, 404, 409, 422, 429]
"""
ST = Path(sys.executable).with_name("st")


@pytest.fixture
def hub(tmp_path: Path) -> Iterator[Up]:
    (tmp_path / "home").mkdir(mode=0o700)
    (tmp_path / "home" / "moot.toml").write_text(HOME)
    found = Up(tmp_path / "home")
    found.start()
    client = httpx2.Client(base_url=found.url, headers=found.token, timeout=PATIENCE)
    assert (
        client.post("/api/conversations", json={"name": "room", "participants": ["arya"]}).status_code == 201
    )
    yield found
    assert client.get("/healthz").json() == {"status": "ok"}
    client.close()
    assert found.end(signal.SIGTERM) == 0
    assert "Traceback" not in found.said


def tried(
    hub: Up, folder: Path, token: str, examples: int, *, coverage: bool = True
) -> subprocess.CompletedProcess[str]:
    """`coverage`: also every boundary of every field, which takes half of the time."""
    config = {
        "examples": examples,
        "sequences": 4 * examples if NIGHTLY else 60,
        "coverage": str(coverage).lower(),
    }
    (folder / "schemathesis.toml").write_text(CONFIG.format(**config))
    return subprocess.run(
        [ST, "--config-file", folder / "schemathesis.toml", "run", f"{hub.url}/openapi.json",
         "-H", f"Authorization: {token}"],
        capture_output=True, text=True, timeout=500, check=False, cwd=folder,
        env={**os.environ, "PYTHONPATH": path_of_imports(), "NO_COLOR": "1"},
    )  # fmt: skip


@pytest.mark.req("P-06")
@pytest.mark.timeout(600)
def test_the_owner_gets_nothing_that_the_document_does_not_say(hub: Up, tmp_path: Path) -> None:
    done = tried(hub, tmp_path, hub.token["Authorization"], 50 if NIGHTLY else 8)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
    assert "Stateful" in done.stdout


@pytest.mark.req("P-06")
@pytest.mark.timeout(600)
def test_an_agent_gets_nothing_that_the_document_does_not_say(hub: Up, tmp_path: Path) -> None:
    with httpx2.Client(base_url=hub.url, headers=hub.token, timeout=PATIENCE) as owner:
        token = owner.post("/api/agents/arya/tokens", json={}).json()["token"]
    # the boundaries are the same whoever asks; what an agent may is asked before them
    done = tried(hub, tmp_path, f"Bearer {token}", 20 if NIGHTLY else 5, coverage=NIGHTLY)
    assert done.returncode == 0, done.stdout[-20_000:] + done.stderr
