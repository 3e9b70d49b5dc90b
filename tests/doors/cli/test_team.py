"""`moot agents new|set|rename|rm`: moot.toml changes and keeps its comments, and nothing that was said is lost."""

import asyncio
import os
import re
import tomllib
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from moot import Hub, agent
from moot.cli.completion.answer import candidates
from moot.errors import Conflict
from moot.hub.agents import Agents
from tests.doors.cli.shell import Shell, Terminal, Told
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]

OWN = """\
# my own team
[hub]
user = "karl"      # me

[[agents]]
name = "arya"      # the first
role = "backend"
brain = "demo"
# tools = ["shell:git"]

# she reviews
[[agents]]
name = "brienne"
brain = "code:cli_team:echo"
"""


@pytest.fixture(autouse=True)
def no_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def own(shell: Shell) -> Shell:
    (shell.home / "moot.toml").write_text(OWN)
    return shell


def toml(shell: Shell) -> str:
    return (shell.home / "moot.toml").read_text()


def row(shell: Shell, name: str) -> dict[str, Any]:
    return next(agent for agent in tomllib.loads(toml(shell))["agents"] if agent["name"] == name)


# --- new -----------------------------------------------------------------------------------------------------


@pytest.mark.req("P-08")
def test_a_new_agent_is_described_has_a_workspace_and_answers(own: Shell, moot: Moot) -> None:
    told = moot("agents", "new", "fin", "--role", "reads ${X} filings", "--color", "teal")
    assert (told.code, told.err) == (0, "Next: moot chat fin\n")
    assert told.out.splitlines()[0] == f"✓ added ● fin (brain: demo) to {own.home}/moot.toml"
    assert toml(own) == OWN + (
        '\n[[agents]]\nname = "fin"\nrole = "reads $${X} filings"\nbrain = "demo"\ncolor = "teal"\n'
    )
    assert sorted(os.listdir(own.home / "agents" / "fin")) == ["IDENTITY.md", "ROLE.md", "SOUL.md", "USER.md"]
    shown = moot("agents", "show", "fin", "--json").json
    assert (shown["role"], shown["color"], shown["brain"]) == ("reads ${X} filings", 1, "demo")
    assert moot("send", "fin", "hello", "--json").json["outcome"] == "replied"


def test_a_new_agent_makes_the_first_home_too(moot: Moot, tmp_path_factory: pytest.TempPathFactory) -> None:
    home = tmp_path_factory.mktemp("new") / "home"
    told = moot("--home", str(home), "agents", "new", "fin", "--json")
    assert (told.code, told.json["name"], told.json["next"]) == (0, "fin", [])
    assert (home / "moot.toml").read_text() == '[[agents]]\nname = "fin"\nrole = ""\nbrain = "demo"\n'


@pytest.mark.parametrize(
    ("words", "code", "text"),
    [
        (("new", "arya"), 1, "error[E205] arya is already in moot.toml\n  fix   moot agents set arya -h"),
        (("new", "Not A Name"), 2, 'error[E202] "Not A Name" cannot be used as an agent name: it is not a valid'),
        (("new", "karl"), 2, 'error[E202] "karl" cannot be used as an agent name: it is reserved\n'),
        (("new", "fin", "--model", "gpt"), 2, 'error[E204] brain cannot be "gpt"\n  expected one of demo, '),
        (("new", "fin", "--model", "auto"), 4, "error[E101] no key is set, so there is no model to choose\n"),
        (("new", "fin", "--color", "red"), 2, 'error[E204] color cannot be "red"\n  expected empty, or one of '),
        (("new", "fin", "--tools", "rocket"), 2, "error[E103] moot.toml:"),
        (("set", "arya"), 2, "error[E204] nothing to set; give an option such as --role, --model or --color\n"),
        (("set", "--role", "x"), 2, "error[E204] no agent given; use moot agents set NAME..., or --all\n"),
        (("set", "ayra", "--role", "x"), 3, 'error[E201] moot.toml has no agent "ayra"\n  did you mean arya?'),
        (("set", "arya", "nobody", "--role", "x"), 3, 'error[E201] moot.toml has no agent "nobody"\n'),
        (("set", "--all", "--role", "x"), 2, "error[E204] changing all agents needs confirmation"),
        (("rm", "arya"), 2, "error[E204] removing an agent needs confirmation, and there is no"),
        (("rm", "nobody", "--yes"), 3, 'error[E201] moot.toml has no agent "nobody"\n'),
    ],
)  # fmt: skip
def test_what_is_refused_changes_nothing(
    own: Shell, moot: Moot, words: tuple[str, ...], code: int, text: str
) -> None:
    told = moot("agents", *words)
    assert told.err.startswith(text), told.err
    assert told.code == code
    assert toml(own) == OWN


def test_a_name_that_the_registry_refuses_does_not_get_into_the_file(own: Shell, moot: Moot) -> None:
    moot("agents", "rename", "arya", "sansa")
    told = moot("agents", "new", "arya")
    assert told.err.startswith(
        'error[E202] a new agent cannot be called "arya": that is a former name of sansa\n'
    )
    assert moot("agents", "new", "sanṡa").code == 2
    assert [agent["name"] for agent in tomllib.loads(toml(own))["agents"]] == ["sansa", "brienne"]
    assert moot("send", "sansa", "hello", "--json").json["outcome"] == "replied"


# --- set -----------------------------------------------------------------------------------------------------


def test_setting_changes_the_values_and_nothing_else(own: Shell, moot: Moot) -> None:
    told = moot("agents", "set", "arya", "--role", "payments", "--concurrency", "2")
    assert (told.code, told.err) == (0, "")
    assert told.out == '✓ ● arya  role = "payments" (was "backend")\n✓ ● arya  concurrency = 2\n'
    changed = OWN.replace(
        'role = "backend"\nbrain = "demo"', 'role = "payments"\nbrain = "demo"\nconcurrency = 2'
    )
    assert toml(own) == changed
    assert moot("agents", "show", "arya", "--json").json["role"] == "payments"


def test_auto_takes_the_first_provider_with_a_key_and_says_so(
    own: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdef")
    told = moot("agents", "set", "--all", "--model", "auto", "--yes")
    assert told.code == 0
    assert told.err == (
        "auto: chose openai:gpt-6.1-terra, with the openai key …cdef\n"
        "unchanged: brienne (they run their own code)\n"
    )
    assert row(own, "arya")["brain"] == "openai:gpt-6.1-terra"
    assert row(own, "brienne")["brain"] == "code:cli_team:echo"
    monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-0123456789abcdef")
    [changed] = moot("agents", "set", "arya", "--model", "auto", "--json").json
    assert changed["changes"]["brain"] == {
        "previous": "openai:gpt-6.1-terra",
        "value": "anthropic:claude-haiku-5-5",
    }
    moot("agents", "set", "arya", "--model", "openai")
    assert row(own, "arya")["brain"] == "openai:gpt-6.1-terra"


def test_a_model_without_a_key_is_set_and_told_of(own: Shell, moot: Moot) -> None:
    told = moot("agents", "set", "arya", "--model", "anthropic:claude-haiku-5-5")
    assert told.code == 0
    assert told.err == "! arya uses anthropic, but no key is set\n  fix   moot keys set anthropic\n"


def test_on_a_terminal_all_of_them_are_asked_about(own: Shell) -> None:
    terminal = Terminal(own, "agents", "set", "--all", "--role", "same")
    try:
        terminal.read_until("Set role = same for arya, brienne? [Y/n]")
        terminal.type("n")
        assert terminal.process.wait(timeout=PATIENCE) == 130
    finally:
        terminal.close()
    assert toml(own) == OWN


# --- while something runs --------------------------------------------------------------------------------------


@pytest.fixture
def hub(own: Shell) -> Iterator[int]:
    told = own.moot("up", "--detach", "--json")
    yield int(told.json["pid"])
    own.moot("stop", "--all")


def test_a_running_hub_takes_in_what_changes_and_is_told_of_daemons(own: Shell, moot: Moot, hub: int) -> None:
    made = moot("agents", "new", "fin", "--role", "counts", "--no-autostart")
    assert made.err == "Next: moot agent start fin\n      moot chat fin\n"
    assert moot("agents", "new", "soon", "--role", "comes by itself").err == "Next: moot chat soon\n"
    assert moot("send", "soon", "hello", "--json").json["outcome"] == "replied"
    assert moot("agents", "rm", "soon", "--yes").code == 0
    assert [agent["name"] for agent in moot("agents", "list", "--json").json] == ["arya", "brienne", "fin"]
    assert own.moot("agent", "start", "fin").code == 0
    assert moot("send", "fin", "hello", "--json").json["outcome"] == "replied"
    told = moot("agents", "set", "arya", "fin", "--role", "other")
    assert told.err == "fin still runs as a daemon with its old settings: moot agent restart fin\n"
    assert moot("agents", "show", "arya", "--json").json["role"] == "other"
    gone = moot("agents", "rm", "fin", "--yes", "--json").json
    assert gone["removed"] == "fin"
    assert gone["stopped"] is not None
    assert [agent["name"] for agent in moot("agents", "list", "--json").json] == ["arya", "brienne"]
    assert moot("agent", "status", "fin", "--json").json[0]["activity"]["state"] == "removed"


def test_a_running_hub_goes_on_with_the_agent_that_replaced_another_of_its_name(
    own: Shell, moot: Moot, hub: int
) -> None:
    """With the new one alone, whatever the hub's heartbeat says."""
    (own.home / "replaced.py").write_text("async def think(turn):\n    return 'I am the new one'\n")
    assert moot("send", "arya", "hello", "--json").json["replies"][0]["text"] != "I am the new one"
    gone = moot("agents", "rm", "arya", "--yes")
    assert (gone.code, gone.err) == (0, "")
    made = moot("agents", "new", "arya", "--brain", "code:replaced:think")
    assert made.err == "Next: moot chat arya\n"
    assert moot("agents", "show", "arya", "--json").json["brain"] == "code:replaced:think"
    told = moot("send", "arya", "who are you?", "--json").json
    assert [reply["text"] for reply in told["replies"]] == ["I am the new one"]
    again = moot("send", "brienne", "hello", "--json").json
    assert again["outcome"] == "replied"


# --- rm and rename -------------------------------------------------------------------------------------------


def test_who_is_taken_out_is_not_waited_for_and_comes_back_with_its_history(own: Shell, moot: Moot) -> None:
    said = moot("chat", "arya", "-m", "before", "--json").json["receipt"]
    assert moot("agents", "rm", "arya", "--yes").out == (
        f"✓ arya was removed from {own.home}/moot.toml; its messages stay\n"
    )
    assert toml(own) == OWN.replace(
        '[[agents]]\nname = "arya"      # the first\nrole = "backend"\nbrain = "demo"\n# tools = ["shell:git"]\n\n', ""
    )  # fmt: skip
    told = moot("chat", "arya", "-m", "are you there?", "--json")
    assert (told.code, told.json["outcome"]) == (1, "failed")
    [part] = told.json["receipt"]["deliveries"]
    assert (part["duty"], part["rule"], part["reason"]) == (
        "blocked", "paused", "was removed and no longer answers",
    )  # fmt: skip
    assert len(moot("conv", "show", said["conversation"], "--json").json["messages"]) == 3
    assert moot("agents", "new", "arya").code == 0
    assert moot("chat", "arya", "-m", "and now?", "--json").json["outcome"] == "replied"


def test_why_and_chat_say_of_who_was_removed_that_it_is_gone(own: Shell, moot: Moot) -> None:
    moot("chat", "arya", "brienne", "-m", "@brienne before")
    [where] = [c["name"] for c in moot("conv", "list", "--json").json if len(c["participants"]) == 3]
    moot("agents", "rm", "arya", "--yes")
    told = moot("chat", "arya", "brienne", "-m", "@brienne hello")
    assert "warning[E201] arya was removed and no longer answers\n  fix   moot agents new arya" in told.err
    [first, *_, newest] = moot("conv", "show", where, "--json").json["messages"]
    assert "was removed" not in moot("why", first["id"]).out
    gone = next(line for line in moot("why", newest["id"]).out.splitlines() if line[3:].startswith(" arya"))
    assert re.search(r" arya +is gone +- +- +was removed and no longer answers$", gone)
    moot("chat", "--conv", where, "@arya?")
    asked = moot("why", "--conv", where).out
    assert "is gone" in asked
    assert "paused" not in asked


def test_who_is_paused_is_silent_until_it_is_resumed_and_senders_are_told(own: Shell, moot: Moot) -> None:
    assert moot("pause", "arya", "nobody").code == 3  # all of them, or none
    assert moot("pause", "arya").out == "paused arya; it gets no turns until moot resume arya\n"
    alone = moot("chat", "arya", "-m", "hello")
    assert (alone.code, alone.err) == (1, "no answer: arya is paused\n  fix   moot resume arya\n")
    both = moot("chat", "arya", "brienne", "-m", "@arya @brienne hello")
    assert both.code == 0
    assert "arya is paused and will not answer\n  fix   moot resume arya\n" in both.err
    [back] = moot("resume", "arya", "--json").json
    assert back["name"] == "arya"
    assert moot("chat", "arya", "-m", "and now?", "--json").json["outcome"] == "replied"


def test_who_was_removed_is_in_no_list_and_whoever_writes_to_it_is_told(own: Shell, moot: Moot) -> None:
    moot("conv", "new", "build", "--with", "arya,brienne")
    moot("agents", "rm", "arya", "--yes")
    told = moot("send", "arya", "hello")
    assert (told.code, told.out) == (3, "")
    assert told.err.startswith("error[E201] arya was removed and no longer answers\n")
    assert 'fix   moot agents new arya --role "…"' in told.err
    for words in (("send", "arya", "hello", "--no-wait"), ("ask", "arya", "--", "hello"),
                  ("conv", "new", "other", "--with", "arya"), ("conv", "join", "build", "arya")):  # fmt: skip
        assert moot(*words).err.startswith("error[E201] arya was removed")
    assert [agent["name"] for agent in moot("agents", "list", "--json").json] == ["brienne"]
    assert [name for name, _ in candidates(["send"], "", {"MOOT_HOME": str(own.home)})] == ["brienne"]
    assert "arya" not in moot("status").out
    sent = moot("send", "--all", "hello", "--json").json
    assert (sent["delivered_to"], sent["failed"]) == (["brienne"], [])
    polled = moot("send", "--conv", "build", "thoughts?", "--no-wait")
    assert polled.err == (
        "no answer: arya was removed and no longer answers\n"
        "no answer: brienne is away\n  fix   moot agent start brienne\n"
    )
    named = moot("send", "--conv", "build", "@arya and @all?")
    assert "warning[E201] arya was removed and no longer answers\n" in named.err
    assert "brienne heard" in named.out
    invited = moot("conv", "new", "small", "--with", "brienne")
    assert invited.code == 0
    asked = moot("send", "--conv", "small", "@arya?", "--json").json["receipt"]
    assert [warning["message"] for warning in asked["warnings"]] == [
        "arya was removed; the name is treated as plain text"
    ]
    assert [part["agent"] for part in asked["deliveries"]] == ["brienne"]


def test_an_agent_of_a_program_can_be_removed_and_comes_back_with_it(own: Shell, moot: Moot) -> None:
    async def visit(*, says: str = "") -> list[str]:
        @agent("guest")
        async def guest(turn: Any) -> str:
            return "hello"

        async with Hub.open(own.home, agents=[guest]) as hub:
            if says:
                await hub.ask("guest", says)
            return [each.name for each in await hub.agents.list()]

    asyncio.run(visit(says="who are you?"))
    told = moot("agents", "rm", "guest", "--yes")
    assert (told.code, told.out) == (0, "✓ guest was removed; its messages stay\n")
    assert "guest" not in moot("agents", "list").out
    assert "guest" in asyncio.run(visit(says="back again?"))


@pytest.mark.req("J-01")
def test_a_renamed_agent_answers_by_both_names_and_is_hosted_by_every_process(own: Shell, moot: Moot) -> None:
    told = moot("agents", "rename", "arya", "sansa")
    assert (told.code, told.out, told.err) == (0, "arya is now called sansa\n", "")
    assert toml(own) == OWN.replace('name = "arya"', 'name = "sansa"')
    for name in ("sansa", "arya"):
        assert moot("send", name, "hello", "--json").json["replies"][0]["from"] == "sansa"


@pytest.mark.req("J-01")
def test_a_file_that_still_has_the_old_name_starts_the_same_agent(own: Shell, moot: Moot) -> None:
    moot("agents", "rename", "arya", "sansa")
    (own.home / "moot.toml").write_text(OWN)
    assert moot("send", "sansa", "hello", "--json").json["outcome"] == "replied"
    moot("agents", "set", "sansa", "--role", "changed")
    assert row(own, "arya")["role"] == "changed"
    own.moot("up", "--detach")
    try:
        state = {agent["name"]: agent["reachability"] for agent in moot("agents", "list", "--json").json}
        assert state == {"sansa": "live", "brienne": "live"}
    finally:
        own.moot("stop")


LINKED = (
    OWN
    + '\n[[links]]\nfrom = "brienne"   # she asks\nto = "arya"\n'
    + '\n[bridges.telegram]\ndefault_agent = "arya"\n[bridges.telegram.bots]\narya = "${file:telegram}"\n'
)


@pytest.mark.req("S-12")
def test_a_new_name_is_carried_along_to_whatever_the_file_says_of_the_agent(own: Shell, moot: Moot) -> None:
    (own.home / "telegram").write_text("1:secret")
    (own.home / "moot.toml").write_text(LINKED)
    assert moot("agents", "rename", "arya", "sansa").err == ""
    assert toml(own) == LINKED.replace('"arya"', '"sansa"').replace("arya = ", "sansa = ")
    assert [link["sentence"] for link in moot("links", "list", "--json").json] == [
        "brienne and sansa are peers. Both may start."
    ]


@pytest.mark.req("S-12")
def test_an_agent_whose_removal_is_refused_stays_in_the_file(own: Shell, moot: Moot) -> None:
    moot("agents", "rename", "arya", "sansa")
    linked_by_its_old_name = toml(own) + '\n[[links]]\nfrom = "brienne"\nto = "arya"\n'
    (own.home / "moot.toml").write_text(linked_by_its_old_name)
    told = moot("agents", "rm", "sansa", "--yes")
    assert told.err.startswith("error[E205] sansa is linked in moot.toml:16\n")
    assert toml(own) == linked_by_its_old_name
    assert "sansa" in moot("agents", "list").out


def test_a_removal_that_the_registry_refuses_puts_the_row_back(
    own: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def refuse(*_: object) -> None:
        raise Conflict("somebody needs it")

    monkeypatch.setattr(Agents, "_refuse_linked", refuse)
    moot("send", "arya", "hello")
    assert moot("agents", "rm", "arya", "--yes").err.startswith("error[E205] somebody needs it\n")
    assert toml(own) == OWN


@pytest.mark.req("G-12")
@pytest.mark.parametrize("is_running", [False, True])
def test_a_name_given_in_a_chat_is_the_name_everywhere(own: Shell, moot: Moot, is_running: bool) -> None:
    if is_running:
        own.moot("up", "--detach")
    try:
        told = own.moot("chat", "arya", stdin=b"/name zed\n")
        assert "arya is now called zed" in told.out
        assert toml(own) == OWN.replace('name = "arya"', 'name = "zed"')
        assert moot("agents", "set", "zed", "--role", "x").out.startswith("✓ ● zed  role = ")
        assert moot("config", "get", "agents.zed.role").out == "x\n"
        assert "demo" in moot("send", "zed", "hello").out
        assert moot("agents", "rm", "arya", "--yes").out.startswith("✓ zed was removed from")
    finally:
        if is_running:
            own.moot("stop")


def test_an_agent_that_was_described_and_never_used_can_be_removed(own: Shell, moot: Moot) -> None:
    assert moot("agents", "rm", "arya", "--yes").code == 0
    assert [agent["name"] for agent in tomllib.loads(toml(own))["agents"]] == ["brienne"]


def test_a_new_agent_whose_code_cannot_be_loaded_is_not_offered_for_a_chat(own: Shell, moot: Moot) -> None:
    told = moot("agents", "new", "slow", "--model", "code:nowhere:think")
    assert "cannot be loaded" in told.err
    assert "moot chat slow" not in told.err
    assert "Next: moot doctor" in told.err
