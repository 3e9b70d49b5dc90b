"""conv and group: the life of a group from a shell, and the same by lines typed into a chat."""

import re
from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Told

Moot = Callable[..., Told]


def members(moot: Moot, name: str) -> list[str]:
    return [seat["name"] for seat in moot("conv", "show", name, "--json").json["participants"]]


def test_a_value_that_a_setting_does_not_take_is_refused_with_those_it_takes(moot: Moot) -> None:
    moot("group", "create", "arya", "--name", "work")
    told = moot("group", "config", "reply_strategy", "mentioned", "--conv", "work")
    assert told.code == 2
    first = told.err.splitlines()[0]
    assert first.startswith('error[E204] reply_strategy = "mentioned" is not ')
    assert all(value in first for value in ("hybrid", "mention_only", "round_robin"))


@pytest.mark.req("A-02")
def test_the_verbs_of_conv(moot: Moot) -> None:
    assert moot("conv", "new", "work", "--with", "arya").code == 0
    assert moot("conv", "add", "work", "gendry", "@quiet").code == 0
    assert members(moot, "work") == ["user", "arya", "gendry", "quiet"]
    assert moot("conv", "remove", "#work", "arya", "quiet").code == 0
    assert members(moot, "work") == ["user", "gendry"]
    assert moot("conv", "leave", "work").code == 0
    assert members(moot, "work") == ["gendry"]
    assert moot("send", "--conv", "work", "hello").code == 5
    assert moot("conv", "join", "work").code == 0
    assert moot("conv", "join", "work", "arya").code == 0
    assert members(moot, "work") == ["gendry", "user", "arya"]
    assert moot("conv", "rename", "work", "toil").code == 0
    assert moot("conv", "archive", "toil").code == 0
    assert moot("conv", "restore", "toil").out.startswith("unarchived #toil; members: ")
    assert moot("conv", "stop", "toil").out == "nobody is speaking there\n"
    assert moot("conv", "remove", "toil", "slow").code == 3
    assert moot("conv", "add", "toil", "nobody").code == 3
    assert moot("conv", "add", "toil").code == 2
    assert moot("conv", "delete", "toil").code == 2
    assert moot("conv", "delete", "toil", "--yes").out == "deleted #toil and its history\n"
    assert moot("conv", "list", "--json").json == []


@pytest.mark.req("G-11")
def test_a_dissolved_group_asks_first_and_stays_readable(moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "arya")
    moot("send", "--conv", "work", "@arya hello")
    refused = moot("conv", "dissolve", "work")
    assert (refused.code, "add --yes" in refused.err) == (2, True)
    found = moot("conv", "show", "work", "--json").json["id"]
    assert moot("conv", "dissolve", "work", "--yes").out.startswith("dissolved #work; members: ")
    assert moot("conv", "list", "--json").json == []
    assert "arya heard: arya hello" in moot("conv", "show", found).out
    assert "arya heard: arya hello" in moot("conv", "show", "work").out
    assert moot("send", "--conv", found, "more").code == 5


@pytest.mark.req("G-11", "G-12")
def test_the_verbs_of_group(moot: Moot) -> None:
    made = moot("group", "create", "arya", "@gendry", "--json").json
    assert (made["name"], made["kind"]) == ("arya-gendry", "group")
    assert moot("group", "create", "arya,gendry", "--json").json["name"] == "arya-gendry-2"
    assert moot("group", "create", "arya", "--name", "solo", "--json").json["name"] == "solo"
    assert moot("group", "create", "nobody").code == 3
    assert moot("group", "add", "quiet", "--conv", "solo").code == 0
    assert moot("group", "remove", "arya", "--conv", "#solo").code == 0
    assert members(moot, "solo") == ["user", "quiet"]
    assert moot("group", "config", "max_depth", "4", "--conv", "solo").out == "max_depth = 4\n"
    assert moot("group", "config", "colour", "--conv", "solo").code == 2
    listed = moot("group", "list", "--conv", "solo").out
    assert re.search(r"quiet \(agent\)\n", listed)
    assert "max_depth = 4" in listed
    for words in (("add", "quiet"), ("list",), ("dissolve", "--yes"), ("config",)):
        missing = moot("group", *words)
        assert (missing.code, "--conv" in missing.err) == (2, True)
    assert moot("group", "dissolve", "--conv", "solo").code == 2
    assert moot("group", "dissolve", "--conv", "solo", "--yes").code == 0
    assert [c["name"] for c in moot("conv", "list", "--archived", "--json").json] == ["solo"]


def test_a_failed_turn_is_tried_again(moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "broken,arya", "--strategy", "mention_only")
    moot("send", "--conv", "work", "@arya fine")
    nothing = moot("conv", "retry", "work")
    assert (nothing.code, nothing.out) == (0, "")
    assert "nothing to retry" in nothing.err
    moot("send", "--conv", "work", "@broken and @arya")
    told = moot("conv", "retry", "work", "--json")
    assert (told.code, told.json["outcome"]) == (1, "failed")
    assert [row["agent"] for row in told.json["receipt"]["deliveries"] if row["duty"] == "must"] == ["broken"]


# --- the same in a chat --------------------------------------------------------------------------------------


@pytest.mark.req("G-12")
def test_a_chat_takes_the_same_verbs_and_moves_along(shell: Shell) -> None:
    lines = [
        "/group create arya gendry",
        "@gendry hello",
        "/group add quiet",
        "/group list",
        "/group config max_depth 3",
        "/ask arya -- and you?",
        "/stop",
        "/agents",
        "/inbox",
        "/search hello",
        "/group dissolve",
        "/nonsense",
        "//literal @gendry",
    ]
    told = shell.moot("chat", "arya", stdin="\n".join(lines).encode())
    assert told.code == 0
    assert "created arya-gendry with user, arya, gendry" in told.out
    assert "gendry heard: gendry hello" in told.out
    assert "arya-gendry: user, arya, gendry, quiet" in told.out
    assert "max_depth = 3" in told.out
    assert "arya heard: and you?" in told.out
    assert "nobody is speaking here" in told.out
    assert "this needs confirmation, and there is no terminal to ask on" in told.err
    assert "unknown command /nonsense; nothing was sent" in told.err
    shown = shell.moot("conv", "show", "arya-gendry", "--json").json
    said = [m["text"] for m in shown["messages"] if m["from"] == "user"]
    assert said == ["@gendry hello", "and you?", "/literal @gendry"]
    assert shown["settings"]["max_depth"] == 3


@pytest.mark.parametrize(
    ("words", "flags"),
    [
        (("links", "set", "l0", "--superior", "--peer"), "--superior and --peer"),
        (("links", "new", "a", "b", "--one-way", "--two-way"), "--one-way and --two-way"),
        (("notes", "share", "n", "arya", "--write", "--none"), "--write and --none"),
        (("agents", "set", "arya", "--autostart", "--no-autostart"), "--autostart and --no-autostart"),
    ],
)
def test_flags_that_contradict_each_other_are_refused(moot: Moot, words: tuple[str, ...], flags: str) -> None:
    told = moot(*words)
    assert told.code == 2
    assert told.err.startswith(f"error[E204] {flags} contradict each other; use one of them\n")
    assert moot("links", "set", "l0", "--peer", "--peer").code == 3


def test_who_wants_another_in_a_direct_chat_is_offered_a_group(shell: Shell) -> None:
    told = shell.moot("chat", "arya", stdin=b"/group add gendry\n")
    assert "  fix   /group create arya gendry" in told.err
