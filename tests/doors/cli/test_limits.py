"""`moot limits` and `moot guard`: how close agents are to being slowed or stopped, and the way out."""

from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Told

Moot = Callable[..., Told]
pytestmark = pytest.mark.req("M-03")


def test_pairs_are_shown_while_they_are_hot_and_reset(moot: Moot) -> None:
    empty = moot("limits", "show")
    assert (empty.code, empty.out) == (0, "")
    assert "no agent has written to another in the last minute" in empty.err
    for _ in range(3):
        assert moot("send", "gendry", "hello", "--as", "arya", "--no-wait").code == 0
    rows = moot("limits", "show", "arya", "gendry", "--json").json["pairs"]
    assert [(row["from"], row["to"], row["sent"]) for row in rows] == [("arya", "gendry", 3)]
    shown = moot("limits", "show", "arya").out.splitlines()
    assert shown[0].split() == ["from", "to", "last", "minute", "a", "message", "sent", "now"]
    assert "3 of 10" in shown[1]
    assert moot("limits", "show", "gendry", "arya", "--json").json["pairs"] == []
    assert "without delay again" in moot("limits", "reset", "arya", "gendry").out
    assert moot("limits", "show", "arya", "gendry", "--json").json["pairs"] == []
    assert moot("limits", "reset", "arya", "nobody").code == 3


def test_limits_are_set_where_they_stand(moot: Moot, shell: Shell) -> None:
    assert "limits.pair_per_minute = 20" in moot("limits", "set", "pair_per_minute", "20").out
    assert "pair_per_minute = 20" in (shell.home / "moot.toml").read_text()
    refused = moot("limits", "set", "pair_per_minute", "many")
    assert refused.code == 2
    assert moot("limits", "set", "nonsense", "1").code == 3


def test_a_loop_is_shown_with_its_way_out(shell: Shell) -> None:
    home = str(shell.home / "demo")
    assert shell.moot("demo", "--tour", "loop", "--fast").code == 0
    status = shell.moot("--home", home, "guard", "status", "--conv", "thanks")
    assert "stopped: no_progress" in status.out
    assert f"moot --home {home} conv continue thanks" in status.err
    assert shell.moot("--home", home, "guard", "set", "5", "--conv", "thanks").out == (
        "thanks: 5 agent turns per message\n"
    )
    assert "limits.chain_turns = 24" in shell.moot("--home", home, "guard", "set", "24").out
    document = shell.moot("--home", home, "guard", "status", "--json").json
    assert (document["settings"]["chain_turns"], document["chains"][0]["alike"]) == (24, 6)
    assert shell.moot("--home", home, "guard", "set", "0").code == 2
