"""Commands that only look: they make no home, write nothing, and say where things stand."""

import asyncio
import os
import re
import signal
from collections.abc import Callable
from pathlib import Path

import pytest

from moot import Hub
from moot.host.liveness import is_alive
from tests.doors.cli.shell import Shell, Told, until
from tests.doors.cli.test_hub import wait_for_turn

Moot = Callable[..., Told]

LOOKING = [
    ("conv", "list"),
    ("tail",),
    ("search", "anything"),
    ("agents", "list"),
    ("turns",),
    ("inbox",),
    ("status",),
]
NOT_THERE = [
    ("conv", "show", "build"),
    ("why", "build:1"),
    ("turn", "show", "1"),
    ("agents", "show", "arya"),
    ("group", "list", "--conv", "build"),
]


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_looking_makes_no_home(moot: Moot, tmp_path: Path, words: tuple[str, ...]) -> None:
    nowhere = tmp_path / "nowhere"
    assert moot("--home", str(nowhere), *words).code == 0
    told = moot("--home", str(nowhere), *words, "--json")
    assert told.code == 0
    assert told.json == [] or words == ("status",)
    assert not nowhere.exists()


@pytest.mark.parametrize("words", NOT_THERE, ids=" ".join)
def test_what_is_not_there_is_not_found_and_nothing_is_made(
    moot: Moot, tmp_path: Path, words: tuple[str, ...]
) -> None:
    nowhere = tmp_path / "nowhere"
    told = moot("--home", str(nowhere), *words)
    assert (told.code, told.err[:11]) == (3, "error[E201]")
    assert not nowhere.exists()


def test_looking_changes_no_byte_of_the_database(shell: Shell, moot: Moot) -> None:
    moot("conv", "new", "build", "--with", "arya")
    moot("send", "--conv", "build", "@arya harvest")
    assert len(moot("search", "harvest", "--json").json) == 2
    before = (shell.home / "moot.db").read_bytes()
    for words in (*LOOKING, *NOT_THERE):
        assert moot(*words).code == 0, words
    assert (shell.home / "moot.db").read_bytes() == before


def test_tail_shows_what_was_said_in_conversations_that_are_put_away(moot: Moot) -> None:
    for number in range(3):
        moot("send", "arya", f"question {number}")
    texts = [message["text"] for message in moot("tail", "--json").json]
    assert texts == [text for n in range(3) for text in (f"question {n}", f"arya heard: question {n}")]


# --- status --------------------------------------------------------------------------------------------------


def test_status_tells_what_needs_you_who_works_and_what_is_done(shell: Shell, moot: Moot) -> None:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + '\n[[agents]]\nname = "hermit"\nbrain = "external"\n')
    moot("conv", "new", "build", "--with", "arya,broken,hermit", "--strategy", "mention_only")
    moot("send", "--conv", "build", "@arya fine")
    moot("send", "--conv", "build", "@broken and @hermit")
    moot("send", "--as", "arya", "--conv", "build", "look here", "--no-wait")
    told = moot("status", "--json").json
    assert told["hub"] is None
    assert [row["what"] for row in told["needs_you"]] == ["failed", "away", "unread"]
    failed, away, unread = told["needs_you"]
    assert (unread["conversation"], unread["message"]["text"]) == ("build", "look here")
    assert (failed["agent"], failed["fix"]) == ("broken", "moot conv retry build")
    assert (away["agent"], away["conversation"]) == ("hermit", "build")
    assert [row["agent"] for row in told["done"]] == ["arya"]
    text = moot("status").out
    assert "hub      not running; start it with moot up" in text
    assert re.search(
        r"needs you\n(?:  .*\n)+  build: 1 new, arya: look here        moot chat --conv build\n", text
    )
    assert re.search(r"\ndone\n  \d\d:\d\d  arya in build\n", text)


def test_a_question_that_failed_needs_you_though_it_is_put_away(shell: Shell, moot: Moot) -> None:
    moot("send", "broken", "hello")
    [failed] = moot("status", "--json").json["needs_you"]
    assert (failed["what"], failed["agent"], failed["error"]) == (
        "failed", "broken", "RuntimeError: it broke on purpose",
    )  # fmt: skip
    assert failed["fix"] == f"moot turn show {failed['turn']}"
    assert moot(*failed["fix"].split()[1:]).code == 0
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text().replace("code:cli_team:broken", "code:cli_team:echo"))
    moot("send", "broken", "and now?")
    assert moot("status", "--json").json["needs_you"] == []


def test_agents_that_cannot_answer_need_you(
    shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ANTHROPIC_API_KEY", raising=False)
    toml = shell.home / "moot.toml"
    rows = '\n[[agents]]\nname = "{}"\nbrain = "{}"\n'
    toml.write_text(
        toml.read_text() + rows.format("opus", "anthropic:x") + rows.format("lost", "code:nowhere:f")
    )
    told = moot("status", "--json").json["needs_you"]
    assert [(row["what"], row["agent"]) for row in told] == [("broken", "opus"), ("broken", "lost")]
    assert "  opus uses anthropic, but no key is set        moot keys set anthropic" in moot("status").out


def test_who_comes_from_outside_is_not_to_be_started_here(shell: Shell, moot: Moot) -> None:
    async def came() -> None:
        async with Hub.open(shell.home) as hub:
            for name in ("claude", "odd"):
                await hub.agents.arrive("mcp", name=f"{name}-web", client=name, folder="/src")
                await hub.send(f"{name}-web", "hello")

    asyncio.run(came())
    told = {row["agent"]: row["fix"] for row in moot("status", "--json").json["needs_you"]}
    assert told == {"claude-web": "moot mcp install --wake claude", "odd-web": ""}
    assert "agent start" not in moot("status").out


def test_commands_that_are_printed_name_the_home_that_was_given(
    shell: Shell, moot: Moot, tmp_path: Path
) -> None:
    other = tmp_path / "another home"
    here, named = ("--home", str(other)), f"moot --home '{other}'"
    assert f"{named} chat arya" in moot(*here, "init", "--yes", "--agent", "arya: engineer").out
    assert f"  {named} agents list     list the agents\n" in moot(*here).out
    assert f"{named} up" in moot(*here, "status").out
    moot(*here, "conv", "new", "room", "--with", "arya")
    told = moot(*here, "send", "--conv", "room", "@arya?", "--no-wait")
    moot(*here, "send", "--conv", "room", "thoughts?", "--no-wait")
    waits = moot(*here, "why", "room:1").out
    assert f"fix   {named} agent start arya" in waits + told.err
    assert f"fix   {named} " in moot(*here, "conv", "show", "nowhere").err
    assert "fix   moot " in moot("conv", "show", "nowhere").err


def test_status_of_nothing(moot: Moot, tmp_path: Path) -> None:
    told = moot("--home", str(tmp_path / "none"), "status")
    assert told.code == 0
    assert told.out.count("  nothing\n") == 3


# --- help and version ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("topic", ["start", "slash", "exit-codes", "json", "errors"])
def test_help_on_a_topic(moot: Moot, topic: str) -> None:
    told = moot("help", topic)
    assert (told.code, told.err) == (0, "")
    assert len(told.out.splitlines()) > 5
    assert moot("help", topic, "--json").json["topic"] == topic


def test_help_on_a_command_is_its_own(moot: Moot) -> None:
    assert moot("help", "conv", "new").out == moot("conv", "new", "-h").out
    assert moot("help", "send").out == moot("send", "-h").out
    assert "moot help slash" in moot("help").out
    told = moot("help", "snd")
    assert (told.code, told.err.splitlines()[:2]) == (
        3,
        [
            'error[E201] there is no help on "snd"',
            "  did you mean send?          expected a command, or one of start, slash, exit-codes, json, errors",
        ],
    )


def test_version(moot: Moot) -> None:
    assert moot("version").out == moot("--version").out
    assert set(moot("version", "--json").json) == {"version", "python"}


def test_where_an_agents_code_failed_is_shown_with_its_turn(moot: Moot) -> None:
    moot("send", "broken", "hello")
    [turn] = moot("turn", "dead", "--json").json
    told = moot("turn", "show", turn["id"])
    assert "RuntimeError: it broke on purpose\n" in told.out
    assert 'cli_team.py", line ' in told.out
    assert ', in broken\n  raise RuntimeError("it broke on purpose")' in told.out
    assert "in broken" in moot("turn", "show", turn["id"], "--json").json["trace"]
    assert "in broken" in moot("--debug", "send", "broken", "again").err


def test_links_of_the_file_are_shown_where_no_hub_has_read_it(shell: Shell, moot: Moot) -> None:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + '\n[[links]]\nfrom = "arya"\nto = "gendry"\n')
    assert "arya and gendry are peers" in moot("links", "list").out
    assert "arya" in moot("topology", "show").out


def test_a_chain_that_was_stopped_needs_somebody(shell: Shell, moot: Moot) -> None:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + "\n[limits]\nchain_turns = 1\npair_backoff_seconds = 0\n")
    moot("send", "gendry", "a first message that is long enough to matter", "--as", "arya")
    [stopped] = [row for row in moot("status", "--json").json["needs_you"] if row["what"] == "paused"]
    assert stopped["fix"] == f"moot conv continue {stopped['conversation']}"
    assert f"        {stopped['fix']}" in moot("status").out


def test_nothing_is_told_of_agents_that_were_removed(moot: Moot) -> None:
    moot("send", "broken", "hello")
    moot("agents", "rm", "broken", "--yes")
    assert moot("status", "--json").json["needs_you"] == []


def test_a_turn_whose_hub_was_killed_is_not_shown_as_work(shell: Shell, moot: Moot) -> None:
    shell.moot("up", "--detach")
    shell.moot("send", "slow", "hello", "--no-wait")
    wait_for_turn(shell, "slow", "running")
    hub = moot("status", "--json").json["hub"]["pid"]
    os.kill(hub, signal.SIGKILL)
    until(lambda: not is_alive(hub))
    told = moot("status", "--json").json
    assert told["working"] == []
    assert [(row["what"], row["agent"], row["fix"]) for row in told["needs_you"]] == [
        ("left", "slow", "moot up")
    ]


def test_who_set_a_link_and_where_a_task_is_worked_on_are_told_in_words(moot: Moot) -> None:
    moot("links", "new", "arya", "gendry")
    assert moot("links", "list").out.splitlines()[1].endswith("  by hand")
    assert ", set by hand\n" in moot("links", "show", "arya,gendry").out
    prompts = moot("links", "show", "arya,gendry", "--prompts").out
    assert "gendry" in prompts
    assert moot("links", "show", "arya,gendry", "--told").out == prompts
    made = moot("tasks", "new", "quiet", "look into it", "--json").json
    told = moot("tasks", "show", made["id"])
    assert f"  conversation: task-{made['id']}\n" in told.out + told.err
    assert made["conversation"] not in told.out + told.err


def test_a_task_is_given_in_the_name_of_an_agent_along_its_links(moot: Moot) -> None:
    moot("links", "new", "arya", "gendry", "--superior")
    given = moot("tasks", "new", "gendry", "look into it", "--as", "arya", "--json").json
    assert (given["by"], given["to"]) == ("arya", "gendry")
    refused = moot("tasks", "new", "arya", "look into it", "--as", "gendry")
    assert (refused.code, "gendry cannot delegate to arya" in refused.err) == (5, True)


def test_an_agent_is_shown_in_words_and_nothing_twice(moot: Moot) -> None:
    told = moot("agents", "show", "arya").out
    labels = [line.split("  ")[1] for line in told.splitlines()[1:]]
    assert labels == ["kind", "brain", "project", "state", "reached", "came in by"]
