"""`moot init`: the first minute, at a terminal and without one."""

import os
import pty
import select
import stat
import subprocess
import time
from pathlib import Path

import pytest

from moot.settings import Home, load
from tests.doors.cli.shell import MOOT, Shell
from tests.support.waiting import PATIENCE

CLEAN = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": ""}


@pytest.fixture
def fresh(tmp_path: Path) -> Shell:
    return Shell(tmp_path / "new")


def files_of(shell: Shell) -> dict[str, bytes]:
    return {
        str(path.relative_to(shell.home)): path.read_bytes()
        for path in shell.home.rglob("*")
        if path.is_file()
    }


def test_without_a_question_a_team_is_set_up(fresh: Shell) -> None:
    told = fresh.moot(
        "init", "--yes", "--agent", "arya: backend engineer", "--agent", "gendry: reviewer, short"
    )
    assert told.code == 0
    assert "Next:  moot chat arya gendry" in told.out
    assert told.out.count("   moot ") + told.out.count(" moot ") >= 3
    settings = load(Home(fresh.home), {})
    assert [(a.name, a.role, a.brain) for a in settings.agents] == [
        ("arya", "backend engineer", "demo"),
        ("gendry", "reviewer, short", "demo"),
    ]
    assert settings.hub.user == "user"
    assert stat.S_IMODE((fresh.home / "moot.toml").stat().st_mode) == 0o600
    assert stat.S_IMODE(fresh.home.stat().st_mode) == 0o700
    for name in ("SOUL.md", "IDENTITY.md", "USER.md", "ROLE.md"):
        assert (fresh.home / "agents" / "arya" / name).read_text(encoding="utf-8").strip()
    assert "#" in (fresh.home / "moot.toml").read_text(encoding="utf-8")


def test_the_team_answers_at_once(fresh: Shell) -> None:
    fresh.moot("init", "--yes", "--agent", "arya: backend engineer", "--user", "karl")
    told = fresh.moot("send", "arya", "what now?", "--json").json
    assert told["outcome"] == "replied"
    assert told["receipt"]["from"] == "karl"
    assert fresh.moot("doctor").code == 0
    assert fresh.moot("config", "get", "agents.arya.role", "-q").out == "backend engineer\n"


def test_programs_get_it_as_json(fresh: Shell) -> None:
    told = fresh.moot("init", "--yes", "--json").json
    assert (told["written"], told["agents"]) == (True, ["helper"])
    assert told["path"] == str(fresh.home / "moot.toml")
    assert "moot open" in told["next"]
    assert len(told["files"]) == 5


def test_what_is_there_is_never_changed_and_who_is_missing_is_named(fresh: Shell) -> None:
    fresh.moot("init", "--yes", "--agent", "arya: backend engineer")
    soul = fresh.home / "agents" / "arya" / "SOUL.md"
    soul.write_text("mine", encoding="utf-8")
    before = files_of(fresh)
    told = fresh.moot("init", "--yes", "--agent", "gendry: reviewer")
    assert told.code == 1
    assert told.err.startswith("error[E205] ")
    assert "already exists, so gendry was not added" in told.err
    assert '  fix   moot agents new gendry --role "reviewer"' in told.err
    again = fresh.moot("init", "--yes", "--agent", "arya: backend engineer")
    assert (again.code, "already exists, with 1 agent: arya." in again.out) == (0, True)
    assert fresh.moot("init", "--yes", "--json").json["written"] is False
    assert files_of(fresh) == before


def test_files_of_an_agent_that_are_there_stay(fresh: Shell) -> None:
    (fresh.home / "agents" / "arya").mkdir(parents=True)
    fresh.home.chmod(0o700)
    (fresh.home / "agents" / "arya" / "SOUL.md").write_text("mine", encoding="utf-8")
    assert fresh.moot("init", "--yes", "--agent", "arya").code == 0
    assert (fresh.home / "agents" / "arya" / "SOUL.md").read_text(encoding="utf-8") == "mine"
    assert (fresh.home / "agents" / "arya" / "ROLE.md").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--agent", "Arya the Great: x"), '"Arya the Great" cannot be used as an agent name'),
        (("--agent", "system: x"), "reserved"),
        (("--agent", "a: x", "--agent", "a: y"), "taken"),
        (("--agent", "karl: x", "--user", "karl"), "reserved"),
        (("--user", "K"), '"K" cannot be used as your name'),
        (("--brain", "guess"), 'unknown brain "guess"'),
        (("--agent", f"a: {'x' * 600}"), "longer than 500 characters"),
        (("--agent", ": nameless"), "cannot be used as an agent name"),
    ],
)
def test_what_cannot_be_is_said_and_nothing_is_written(
    fresh: Shell, words: tuple[str, ...], told: str
) -> None:
    refused = fresh.moot("init", "--yes", *words)
    assert refused.code == 2
    assert told in refused.err
    assert not fresh.home.exists()


def test_a_role_with_quotes_and_references_is_only_text(fresh: Shell) -> None:
    told = fresh.moot("init", "--yes", "--agent", 'a: says "hi" and \\n # not a ${COMMENT}')
    assert told.code == 0
    assert load(Home(fresh.home), {}).agents[0].role == 'says "hi" and \\n # not a ${COMMENT}'


def test_without_a_terminal_it_needs_yes(fresh: Shell) -> None:
    told = fresh.moot("init")
    assert told.code == 2
    assert '  fix   moot init --yes --agent "NAME: ROLE"' in told.err
    assert not fresh.home.exists()


def typed(shell: Shell, *answers: tuple[str, str]) -> tuple[int, str]:
    """Run `moot init` at a terminal: after each text it shows, an answer."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [MOOT, "init"],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env=shell.environ({**CLEAN, "TERM": "dumb"}),
    )
    os.close(theirs)
    screen = ""
    try:
        for awaited, answer in answers:
            screen += read_until(ours, awaited)
            os.write(ours, f"{answer}\n".encode())
        screen += read_until(ours, "")
        return process.wait(PATIENCE), screen
    finally:
        process.kill()
        process.wait(PATIENCE)
        os.close(ours)


def read_until(terminal: int, awaited: str, seconds: float = PATIENCE) -> str:
    """What is shown until a text comes; with none, until the other end is gone."""
    found, end = "", time.monotonic() + seconds
    while not (awaited and awaited in found):
        assert time.monotonic() < end, f"waited for {awaited!r}, saw {found!r}"
        ready, _, _ = select.select([terminal], [], [], 0.5)
        if not ready:
            continue
        try:
            data = os.read(terminal, 4096)
        except OSError:
            return found
        if not data:
            return found
        found += data.decode(errors="replace")
    return found


def test_at_a_terminal_three_questions_are_asked(fresh: Shell) -> None:
    code, screen = typed(
        fresh,
        ("Your name", "Karl Ray"),
        ("Your name", "karl"),
        ("2/3", "arya: backend engineer"),
        ("\n", "system: no"),
        ("reserved", "gendry: reviewer"),
        ("\n", ""),
        ("[1]:", "ollama"),
        ("[1]:", ""),
    )
    assert code == 0, screen
    assert '"Karl Ray" cannot be used as your name' in screen
    assert "     karl-ray " in screen
    assert '"ollama" is not a whole number; expected at least 1 and at most 3' in screen
    assert all(len(line) < 80 for line in screen.partition("Next:")[2].splitlines())
    settings = load(Home(fresh.home), {})
    assert settings.hub.user == "karl"
    assert [(a.name, a.brain) for a in settings.agents] == [("arya", "demo"), ("gendry", "demo")]
    assert "Next:  moot chat arya gendry" in screen


def test_a_key_can_be_pasted_and_is_not_shown(fresh: Shell) -> None:
    key = "sk-ant-canary-0123456789-x7Qa"
    code, screen = typed(
        fresh,
        ("Your name", ""),
        ("2/3", "arya: thinks"),
        ("\n", ""),
        ("paste a key", "2"),
        ("provider", "anthropic"),
        ("hidden", key),
    )
    assert code == 0, screen
    assert key not in screen
    assert load(Home(fresh.home), {}).agents[0].brain.startswith("anthropic:")
    assert stat.S_IMODE((fresh.home / "keys.json").stat().st_mode) == 0o600


def test_a_second_run_at_a_terminal_asks_nothing(fresh: Shell) -> None:
    fresh.moot("init", "--yes", "--agent", "arya")
    code, screen = typed(fresh)
    assert code == 0
    assert "already exists" in screen


def with_claude(tmp_path: Path) -> tuple[dict[str, str], Path]:
    """The environment of a machine on which claude is installed, and a folder to work in."""
    program = tmp_path / "bin" / "claude"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    project = tmp_path / "site"
    project.mkdir()
    return {"PATH": f"{program.parent}:/usr/bin:/bin"}, project


@pytest.mark.req("J-08")
def test_coding_clis_that_are_installed_are_offered(
    fresh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ, project = with_claude(tmp_path)
    monkeypatch.setenv("PATH", environ["PATH"])
    code, screen = typed(
        fresh,
        ("Your name", ""),
        ("2/3", "arya: keeps the site"),
        ("\n", ""),
        ("[4] claude, a coding agent that is installed here", "4"),
        ("folder in which arya works", "/nowhere"),
        ("is not a folder", str(project)),
    )
    assert code == 0, screen
    [arya] = load(Home(fresh.home), {}).agents
    assert (arya.brain, arya.project) == ("command:claude", str(project))
    assert "moot doctor cli" in screen


@pytest.mark.req("J-08")
def test_without_questions_a_coding_cli_works_in_the_folder_that_is_named(
    fresh: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    environ, project = with_claude(tmp_path)
    init = ("init", "--yes", "--agent", "arya", "--brain", "command:claude", "--project")
    inside = fresh.moot(*init, str(fresh.home.parent), env=environ)
    assert inside.code != 0
    assert "expected a folder outside it" in inside.err
    assert fresh.moot(*init, str(project), env=environ).code == 0
    made = fresh.moot("agents", "new", "gendry", "--json", env=environ)
    assert "moot agents set gendry --model command:claude --project DIR" in made.json["offers"]
    monkeypatch.chdir(project)
    fresh.moot("agents", "new", "ben", "--model", "command:claude", env=environ)
    rows = {row.name: (row.brain, row.project) for row in load(Home(fresh.home), {}).agents}
    assert rows["arya"] == rows["ben"] == ("command:claude", str(project))
    assert rows["gendry"][0] == "demo"
