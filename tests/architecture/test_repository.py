"""What is true of the project as a whole: it starts light and builds the same everywhere."""

import json
import subprocess
import sys

import pytest

from tests.architecture.source import PACKAGE, ROOT

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
    "websockets",
}
ENTRANCES = ["moot", *(["moot.cli"] if (PACKAGE / "cli").exists() else [])]


def loaded_by(module: str) -> set[str]:
    script = f"import {module}, sys, json; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=30
    )
    return {name.split(".")[0] for name in json.loads(done.stdout)}


@pytest.mark.parametrize("module", ENTRANCES)
def test_importing_moot_brings_no_heavy_library_along(module: str) -> None:
    assert loaded_by(module) & HEAVY == set()


def test_a_loaded_library_would_be_seen() -> None:
    assert "hypothesis" in loaded_by("hypothesis")


def test_the_pinned_versions_name_no_address_and_no_path() -> None:
    for path in sorted((ROOT / "requirements").glob("*.txt")):
        pins = [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("#")]
        assert pins
        assert [pin for pin in pins if "://" in pin or "@" in pin or "==" not in pin] == []


def test_the_package_says_that_it_is_typed() -> None:
    assert (PACKAGE / "py.typed").exists()
