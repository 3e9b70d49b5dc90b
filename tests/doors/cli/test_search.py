"""`moot search`: operators, groups, context, what stands out on a terminal, and what to change if nothing is found."""

from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Terminal, Told

Moot = Callable[..., Told]


@pytest.fixture
def talked(shell: Shell, moot: Moot) -> Shell:
    moot("conv", "new", "build", "--with", "arya")
    for text in ("@arya the harvest plan", "the weather", "Harvést again, https://example.org"):
        moot("send", "--conv", "build", text)
    moot("send", "gendry", "a plan for the forge")
    return shell


@pytest.mark.req("J-12")
def test_hits_stand_under_their_conversation_newest_first(talked: Shell) -> None:
    lines = talked.moot("search", "plan").out.splitlines()
    heads = [line for line in lines if not line.startswith(" ") and line]
    assert [head.rpartition("  ")[2] for head in heads] == ["2 hits", "2 hits"]
    assert heads[1] == "#build  2 hits"
    assert lines[-1].startswith("  20")
    assert lines[-1].endswith(":1  user: @arya the harvest plan")


@pytest.mark.req("J-12")
@pytest.mark.parametrize(
    ("query", "texts"),
    [
        ("from:user in:build harvest", ["Harvést again, https://example.org", "@arya the harvest plan"]),
        ("to:gendry kind:human", ["a plan for the forge"]),
        ('"the harvest"', ["arya heard: arya the harvest plan", "@arya the harvest plan"]),
        ("has:link from:user", ["Harvést again, https://example.org"]),
        ("kind:ephemeral kind:agent", ["gendry heard: a plan for the forge"]),
        ("plan before:2020-01-01", []),
        ("weather after:1h from:user", ["the weather"]),
    ],
)
def test_what_operators_find(talked: Shell, query: str, texts: list[str]) -> None:
    assert [hit["message"]["text"] for hit in talked.moot("search", query, "--json").json] == texts


def test_context_is_what_was_said_around(talked: Shell) -> None:
    lines = talked.moot("search", "weather from:user", "--context", "1").out.splitlines()
    assert [line[:4] for line in lines[1:]] == ["    ", "  ▸ ", "    "]
    [hit] = talked.moot("search", "in:build from:user harvest plan", "--context", "1", "--json").json
    assert (hit["before"], [message["from"] for message in hit["after"]]) == ([], ["arya"])
    assert "before" not in talked.moot("search", "weather", "--json").json[0]


def test_where_nothing_is_found_the_filter_to_blame_is_named(talked: Shell) -> None:
    told = talked.moot("search", "plan from:user before:2020-01-01")
    assert (told.code, told.out) == (0, "")
    assert "nothing found; without before:2020-01-01 there would be 2" in told.err
    assert "nothing found" in talked.moot("search", "unicorn").err
    assert talked.moot("search", "unicorn from:arya", "--json").json == []


def test_what_cannot_be_searched_is_said_in_words(talked: Shell) -> None:
    told = talked.moot("search", "sender:arya")
    assert told.code == 2
    assert "from:arya" in told.err
    assert talked.moot("search", "from:aria").code == 3
    assert talked.moot("search", "in:nowhere x", "--json").error["code"] == "E201"


def test_words_stand_out_on_a_terminal_and_nowhere_else(talked: Shell) -> None:
    terminal = Terminal(talked, "search", "HARVEST from:user", env={"NO_COLOR": "", "MOOT_PAGER": "cat"})
    said = terminal.rest()
    terminal.close()
    assert "\x1b[1mHarvést\x1b[0m again" in said
    assert "\x1b[1mharvest\x1b[0m plan" in said
    assert "\x1b" not in talked.moot("search", "harvest").out


def test_it_needs_no_hub_and_goes_beside_one(talked: Shell) -> None:
    alone = talked.moot("search", "plan", "--json").json
    assert talked.moot("up", "--detach").code == 0
    try:
        assert talked.moot("search", "plan", "--json").json == alone
    finally:
        assert talked.moot("stop").code == 0
