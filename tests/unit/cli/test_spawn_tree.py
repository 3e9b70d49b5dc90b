"""Who started whom, as lines."""

from typing import Any

from moot.cli.terminal.spawn_tree import tree_lines


def started(agent: str, by: str, ended: str | None = None) -> dict[str, Any]:
    times = {
        "created_at": "2026-01-01T00:00:00Z",
        "ended_at": ended,
        "ending": "it was idle" if ended else None,
    }
    return {"agent": agent, "by": by, "template": "coder", **times}


def test_everybody_stands_below_whoever_started_it() -> None:
    rows = [started("ann", "user"), started("carl", "ann"), started("bert", "user"), started("dora", "lead")]
    names = [line.partition("  (")[0] for line in tree_lines(rows)]
    assert names == ["user", "  ann", "    carl", "  bert", "lead", "  dora"]


def test_one_that_retired_says_why() -> None:
    [_, line] = tree_lines([started("ann", "user", "2026-01-01T01:00:00Z")])
    assert line.endswith("it was idle)")
