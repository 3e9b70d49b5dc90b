"""What is true of the project as a whole: it starts light and builds the same everywhere."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.source import PACKAGE, ROOT
from tests.doors.cli.shell import make_home

HEAVY = {
    "a2a",
    "aiosqlite",
    "anthropic",
    "asyncpg",
    "confluent_kafka",
    "hikari",
    "httpx2",
    "hypothesis",
    "jinja2",
    "mcp",
    "openai",
    "opentelemetry",
    "prometheus_client",
    "pydantic",
    "pytest",
    "starlette",
    "telegram",
    "textual",
    "uvicorn",
    "watchfiles",
    "websockets",
}
ENTRANCES = [
    "moot",
    "moot.cli",
    "moot.client",
    "moot.brains.llm.brain_string",
    "moot.brains.llm.retry",
    "moot.testing.fake_llm",
]
COMMANDS = [["--version"], ["send", "--help"], ["up", "--help"], ["keys", "list"]]


TO_WAIT = {"asyncio", "click", "concurrent", "logging", "msgspec", "rich", "ssl", "structlog"}
SENT = """
from moot.cli import main
sys.argv = ["moot", "send", "arya", "hello", "--no-wait", "--json"]
try:
    main()
except SystemExit as left:
    assert left.code == 0
"""


def loaded_by(module: str) -> set[str]:
    return loaded_after(f"import {module}")


def loaded_after(work: str, stdin: int | None = None) -> set[str]:
    script = f"import sys, json\n{work}\nsys.stderr.write(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30, stdin=stdin
    )
    return {name.split(".")[0] for name in json.loads(done.stderr)}


@pytest.mark.parametrize("module", ENTRANCES)
def test_importing_moot_brings_no_heavy_library_along(module: str) -> None:
    assert loaded_by(module) & HEAVY == set()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_a_command_that_asks_no_model_loads_no_heavy_library(words: list[str], tmp_path: Path) -> None:
    home = f"import os; os.environ['MOOT_HOME'] = {str(tmp_path / 'home')!r}"
    loaded = loaded_after(f"{home}\nfrom moot.cli.app import run\nassert run({words!r}) == 0")
    assert loaded & HEAVY == set()


def test_a_send_that_waits_for_nothing_loads_nothing_that_waits(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home", {"arya": "echo"})
    home = f"import os; os.environ['MOOT_HOME'] = {str(shell.home)!r}"
    hub = shell.start("up", "--json")
    try:
        assert hub.stdout is not None
        assert json.loads(hub.stdout.readline())["pid"] == hub.pid
        loaded = loaded_after(f"{home}\n{SENT}", subprocess.DEVNULL)
    finally:
        hub.kill()
        hub.communicate()
    assert loaded & (HEAVY | TO_WAIT) == set()
    assert "socket" in loaded


def test_a_loaded_library_would_be_seen() -> None:
    assert "hypothesis" in loaded_by("hypothesis")


def test_the_pinned_versions_name_no_address_and_no_path() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        pins = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        assert pins
        assert [pin for pin in pins if "://" in pin or "@" in pin or "==" not in pin] == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
