"""`moot demo` without a terminal: the tour, honest about what speaks."""

import json
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.doors.cli.shell import Shell, Terminal
from tests.support.printed import run_as_printed
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE


@pytest.mark.req("P-01")
def test_without_a_terminal_it_tells_the_tour_and_leaves(shell: Shell) -> None:
    told = shell.moot("demo", "--fast", stdin=b"")
    assert told.code == 0
    assert "Scripted replies by a demo brain. No model is called" in told.out
    said = [line for line in told.out.splitlines() if line.endswith(":") and ", demo, " in line]
    assert len(said) == 2
    assert said[0].startswith("● analyst, demo, ")
    assert said[0].endswith("mentioned by you:")
    assert said[1].startswith("● writer, demo, ")
    assert said[1].endswith("mentioned by analyst:")
    assert "critic passed · turns 2 of 3 · ended: nobody else was asked" in told.out
    assert "a mention forces a reply, an agent calls another, a third stays silent" in told.out
    assert (shell.home / "demo" / "moot.db").exists()
    assert not (shell.home / "moot.db").exists()


def test_the_same_words_every_time(shell: Shell) -> None:
    first, second = (shell.moot("demo", "--fast", "--json").json for _ in range(2))
    assert [m["text"] for m in first["messages"]] == [m["text"] for m in second["messages"]]
    assert first["conversation"]["id"] != second["conversation"]["id"]
    assert {m["metadata"].get("brain") for m in first["messages"] if m["kind"] == "agent"} == {"demo/1"}


def test_the_loop_is_stopped_and_the_way_out_is_told(shell: Shell) -> None:
    told = shell.moot("demo", "--tour", "loop", "--fast")
    assert told.code == 0
    assert "keep acknowledging each other. /continue resumes them" in told.out
    assert "no_progress" in told.out
    assert f"moot --home {shell.home}/demo conv continue thanks" in told.out
    assert shell.moot("--home", f"{shell.home}/demo", "conv", "continue", "thanks").out == "resumed\n"


def test_reset_removes_only_a_demo(shell: Shell) -> None:
    shell.moot("demo", "--fast")
    assert shell.moot("demo", "--reset").code == 0
    assert not (shell.home / "demo").exists()
    (shell.home / "demo").mkdir()
    (shell.home / "demo" / "precious").touch()
    assert shell.moot("demo", "--reset").code == 2
    assert (shell.home / "demo" / "precious").exists()


@pytest.mark.alone
def test_on_a_terminal_a_person_types_and_agents_answer(shell: Shell) -> None:
    terminal = Terminal(shell, "demo")
    try:
        watch = Stopwatch()
        terminal.read_until("│ You asked")
        assert watch.seconds() < 3
        terminal.read_until("you ▸ ")
        terminal.type("@critic and you?")
        terminal.read_until("turns 1 of 3")
        terminal.read_until("you ▸ ")
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert "● critic  demo" in terminal.seen
    finally:
        terminal.close()


@pytest.mark.req("P-01")
def test_while_it_runs_the_printed_lines_work_as_printed(shell: Shell, tmp_path: Path) -> None:
    terminal = Terminal(shell, "demo", "--fast")
    try:
        terminal.read_until("from another terminal:")
        terminal.read_until("you ▸ ")
        lines = terminal.seen.replace("\r\n", "\n").split("\n")
        [asking] = [line.strip() for line in lines if line.strip().startswith("curl ")]
        there = json.loads(run_as_printed(asking, tmp_path))["agents"]
        assert {"analyst", "writer", "critic"} <= {agent["name"] for agent in there}
        [page] = [line.strip() for line in lines if "#code=" in line]
        address = page.partition("/#code=")[0]
        assert address.startswith("http://127.0.0.1:")
        assert address in asking, "the page is served by the hub that answers the shell"
        [connecting] = [line.strip() for line in lines if line.strip().startswith("claude mcp add ")]
        _, _, server = connecting.partition(" -- ")
        hello = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "x", "version": "1"},
        }
        asked = [
            {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
            {
                "jsonrpc": "2.0",
                "id": 2,
                "method": "tools/call",
                "params": {"name": "list_agents", "arguments": {}},
            },
        ]
        done = subprocess.run(
            ["sh", "-c", server], input="".join(json.dumps(line) + "\n" for line in asked), cwd=tmp_path,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
        names = [agent["name"] for agent in answers[2]["result"]["structuredContent"]["agents"]]
        assert {"analyst", "writer", "critic"} <= set(names)
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert not (shell.home / "demo" / "run" / "hub.json").exists()
    finally:
        terminal.close()


def test_on_a_terminal_one_sees_who_is_thinking_until_they_speak_or_pass(shell: Shell) -> None:
    terminal = Terminal(shell, "demo")
    try:
        terminal.read_until("you ▸ Analyze AAPL earnings, @analyst")
        for agent in ("analyst", "writer", "critic"):
            terminal.read_until(f"● {agent}  thinking")
        terminal.read_until("  critic passed · turns 2 of 3")
        terminal.read_until("you ▸ ")
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
        left = [line.rpartition("\r")[2] for line in terminal.seen.replace("\r\n", "\n").split("\n")]
        assert not [line for line in left if "thinking" in line]
    finally:
        terminal.close()


@pytest.mark.req("P-03", "P-01")
def test_the_team_can_think_with_a_fake_model_and_the_inspector_shows_it(shell: Shell) -> None:
    told = shell.moot("demo", "--with-fake-model", stdin=b"", timeout=60)
    assert told.code == 0
    assert "Scripted replies by a fake model server" in told.out
    assert told.out.count("(fake model)") == 2
    assert "critic passed" in told.out
    home = str(shell.home / "demo-model")
    turn = shell.moot("--home", home, "turn", "show", "1")
    assert turn.code == 0
    assert "── system\nYou are analyst, analyst." in turn.out
    assert '[From human "user"]: #1 <' in turn.out
    assert "output tokens: " in turn.out
    now = shell.moot("--home", home, "context", "critic", "market-team", "--json").json
    assert now["agent"] == "critic"
    assert now["given"]["messages"][-1]["content"].startswith("[Moot]: ")
    assert shell.moot("--home", home, "turn", "show", "99").code == 3
    assert shell.moot("--home", home, "context", "nobody", "market-team").code == 3


STORY = [
    ("customer", None),
    ("support", "escalate"),
    ("support", None),
    ("manager", "delegate"),
    ("engineering", None),
    ("engineering", None),
    ("engineering", "report"),
    ("manager", "inform"),
    ("support", None),
]


@pytest.mark.req("S-10")
def test_the_support_tour_goes_from_a_customer_over_links_and_a_task_back_to_the_customer(
    shell: Shell,
) -> None:
    first, second = (shell.moot("demo", "--tour", "support", "--fast", "--json").json for _ in range(2))
    said = [message for message in first["messages"] if message["kind"] != "system"]
    left = iter((m["from"], m["intent"]) for m in said)
    assert all(step in left for step in STORY)  # in this order; what is told twice counts once
    assert said[0]["from"] == "customer"
    assert (first["answer"]["from"], first["answer"]["conversation"]) == (
        "support",
        first["conversation"]["id"],
    )
    assert first["answer"]["text"].startswith("@customer, good news.")
    assert (first["task"]["state"], first["task"]["by"], first["task"]["to"]) == (
        "done",
        "manager",
        "engineering",
    )
    assert first["task"]["result"] in first["answer"]["text"]
    assert {m["root"] for m in said} == {said[0]["id"]}
    assert [m["text"] for m in second["messages"] if m["kind"] != "system"][-1] == said[-1]["text"]


@pytest.mark.alone
@pytest.mark.req("S-10")
def test_the_support_tour_takes_less_than_20_seconds(shell: Shell) -> None:
    watch = Stopwatch()
    assert watch.seconds_of(shell.moot("demo", "--tour", "support", "--fast", "--json").json["seconds"]) < 20


def test_what_the_support_tour_says_to_try_next_works_as_printed(shell: Shell) -> None:
    told = shell.moot("demo", "--tour", "support", "--fast")
    assert "manager is superior of support. Both may start." in told.out
    assert "● support, demo, " in told.out
    assert "over the link of manager and support, escalate:" in told.out
    lines = told.out.partition("Try next:\n")[2].splitlines()
    assert len(lines) >= 4
    for line in lines:
        words = shlex.split(line)
        assert words[:1] == ["moot"]
        assert shell.moot(*words[1:]).code == 0, line
    home = str(shell.home / "demo-support")
    refused = shell.moot("--home", home, "send", "engineering", "hello", "--as", "support", "--no-wait")
    assert refused.code == 5
    assert shell.moot("demo", "--reset").code == 0
    assert not (shell.home / "demo-support").exists()


def test_a_model_does_not_play_the_support_tour(shell: Shell) -> None:
    assert shell.moot("demo", "--tour", "support", "--with-fake-model").code == 2


@pytest.mark.req("J-08")
def test_the_coding_tour_shows_projects_a_question_an_interruption_and_a_permission(shell: Shell) -> None:
    told = shell.moot("demo", "--tour", "coding", "--json", timeout=60).json
    said = [(m["from"], m["text"].strip()) for m in told["messages"] if m["kind"] in ("agent", "human")]
    left = iter(said)
    for step in (
        ("user", "Which port does the browser driver listen on? Please tell abra, too."),
        ("janus", "Which port does the driver listen on? I need it for the panel."),
        ("puppet", "It listens on 9223; it stands in driver.toml."),
        ("janus", "The driver listens on port 9223. Please use it in the personas."),
        ("abra", "Done: the personas use port 9223. I may not push by myself, so I have asked you."),
        ("abra", "Pushed."),
    ):
        assert step in left, (step, said)
    [cut] = [m for m in told["messages"] if m["metadata"].get("partial")]
    assert cut["from"] == "abra"
    assert cut["text"].startswith("Personas are people")
    [asked] = told["decisions"]
    assert asked["question"].endswith("Bash: git push")
    assert asked["state"] == "used"
    assert [one["agent"] for one in told["budgets"]] == ["abra", "janus", "puppet"]


def test_what_the_coding_tour_says_to_try_next_works_as_printed(shell: Shell) -> None:
    told = shell.moot("demo", "--tour", "coding", timeout=60)
    assert f"puppet works in {shell.home / 'demo-coding-projects' / 'puppet'}" in told.out
    assert "abra, demo, " in told.out
    assert ", interrupted:" in told.out
    assert "You are asked: May abra do this in" in told.out
    lines = [line for line in told.out.partition("Try next:\n")[2].splitlines() if line.startswith("  moot")]
    assert len(lines) >= 4
    for line in lines:
        assert shell.moot(*shlex.split(line)[1:]).code == 0, line
    assert shell.moot("demo", "--reset").code == 0
    assert not (shell.home / "demo-coding").exists()
    assert not (shell.home / "demo-coding-projects").exists()
