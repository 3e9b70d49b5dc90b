"""Agents that were started from templates, where a person looks at where things stand."""

from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Told

pytestmark = pytest.mark.req("J-09")

TEMPLATES = '\n[templates.coder]\nbrain = "demo"\nspawns = ["*"]\n'


def test_status_shows_who_started_whom_and_not_who_retired(shell: Shell, moot: Callable[..., Told]) -> None:
    assert moot("status", "--json").json["started"] == []
    assert "started  " not in moot("status").out
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + TEMPLATES)
    for name in ("ann", "bert"):
        assert moot("agents", "spawn", "coder", "--name", name).code == 0
    started = moot("status", "--json").json["started"]
    assert [(one["by"], one["agent"], one["template"]) for one in started] == [
        ("user", "ann", "coder"),
        ("user", "bert", "coder"),
    ]
    assert moot("agents", "rm", "ann", "--yes").code == 0
    assert [one["agent"] for one in moot("status", "--json").json["started"]] == ["bert"]
    lines = moot("status").out.splitlines()
    at = lines.index("started  user")
    assert lines[at + 1].startswith("           bert  (coder, since")
    assert "ann  (coder, retired" in moot("agents", "tree").out
