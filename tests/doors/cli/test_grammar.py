"""What holds for every command: help, --json, exit codes, colours, speed."""

import io
import os
import pty
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

from moot.cli.app import root
from moot.cli.commands import COMMANDS
from moot.cli.frame.exit_codes import EXITS
from moot.cli.frame.params import Leaf
from moot.errors import tree
from tests.doors.cli.shell import MOOT, Shell, Told, make_home

Moot = Callable[..., Told]
ROOT = Path(__file__).parents[3]

EVERY_LEAF = {
    "demo": ("demo", "--fast"),
    "init": ("init", "--yes", "--agent", "arya: backend engineer"),
    "doctor": ("doctor",),
    "chat": ("chat", "--conv", "build", "hello @arya"),
    "send": ("send", "arya", "hello"),
    "ask": ("ask", "arya", "gendry", "-m", "ready?"),
    "inbox": ("inbox",),
    "tail": ("tail",),
    "search": ("search", "hello"),
    "why": ("why", "build:1"),
    "turns": ("turns", "--conv", "build"),
    "turn show": ("turn", "show", "1"),
    "turn dead": ("turn", "dead"),
    "turn retry": (),  # needs a turn that failed: test_talk.py has one
    "context": ("context", "arya", "build"),
    "replay": ("replay", "arya"),
    "links list": ("links", "list"),
    "links show": (),  # these need a link: test_links.py has some
    "links new": ("links", "new", "arya", "gendry"),
    "links set": (),
    "links enable": (),
    "links disable": (),
    "links rm": (),
    "links log": (),
    "limits show": ("limits", "show"),
    "limits set": ("limits", "set", "pair_per_minute", "12"),
    "limits reset": ("limits", "reset", "arya", "gendry"),
    "guard status": ("guard", "status"),
    "guard set": ("guard", "set", "20"),
    "topology show": ("topology", "show"),
    "topology export": ("topology", "export", "-"),
    "topology diff": (),  # these need a file: test_topology.py has one
    "topology apply": (),
    "tasks list": ("tasks", "list"),
    "tasks show": (),  # these need a task: tests/behaviour/test_tasks.py has some
    "tasks new": ("tasks", "new", "arya", "look into it"),
    "tasks stop": (),
    "audit log": ("audit", "log"),
    "audit verify": ("audit", "verify"),
    "bridge setup": ("bridge", "setup", "telegram"),
    "bridge test": (),  # asks a chat app: tests/bridges has one
    "bridge status": ("bridge", "telegram", "status"),
    "bridge add": ("bridge", "telegram", "add"),
    "bridge list": ("bridge", "list", "discord"),
    "bridge bind": (),
    "bridge rm": (),  # these need a chat that was found: tests/bridges has some
    "bridge posts": ("bridge", "posts"),
    "bridge resend": (),
    "bridge drop": (),
    "open": (),  # needs a running hub: test_open.py has one
    "people list": ("people", "list"),
    "people invite": (),
    "people link": (),
    "people unlink": (),
    "decisions list": ("decisions", "list"),
    "decisions show": (),  # these need an agent that asks: tests/behaviour/test_decisions.py has one
    "decisions answer": (),
    "tokens new": ("tokens", "new", "arya"),
    "tokens list": ("tokens", "list", "arya"),
    "tokens revoke": (),  # needs a token: test_keys.py has one
    "notes list": ("notes", "list"),
    "notes show": (),  # these need a note: test_notes.py has some
    "notes new": ("notes", "new", "plan", "a text"),
    "notes edit": (),
    "notes append": (),
    "notes history": (),
    "notes diff": (),
    "notes revert": (),
    "notes rm": (),
    "notes share": (),
    "reload": ("reload",),
    "up": (),  # runs until stopped: test_hub.py reads its JSON
    "status": ("status",),
    "mcp config": ("mcp", "config", "arya"),
    "mcp install": (),  # needs a client: test_mcp_install.py has some
    "mcp uninstall": ("mcp", "uninstall"),
    "mcp status": ("mcp", "status"),
    "mcp hook": (),  # speaks only its client's language: test_mcp_hook.py
    "help": ("help", "slash"),
    "version": ("version",),
    "completion": ("completion", "bash"),
    "explain": ("explain", "E201"),
    "config path": ("config", "path"),
    "config list": ("config", "list"),
    "config get": ("config", "get", "hub.port"),
    "config set": ("config", "set", "hub.port", "0"),
    "config edit": (),  # wants a terminal
    "stop": ("stop",),
    "logs": (),  # needs a hub that ran in the background: test_watching.py has one
    "agents start": (),  # a process of its own: test_daemons.py reads their JSON
    "agents stop": ("agents", "stop", "--all"),
    "agents restart": (),
    "agents status": ("agents", "status"),
    "agents logs": (),
    "agents ping": (),
    "export": ("export", "build", "-o", "build.md"),
    "import": ("import", "build.jsonl"),
    "backup create": ("backup", "create"),
    "backup list": ("backup", "list"),
    "backup verify": ("backup", "verify"),
    "backup restore": ("backup", "restore", "--yes"),
    "kafka status": (),  # needs a broker: tests/kafka/test_command.py
    "kafka rebuild": (),
    "migrate-store": (),  # needs a server: test_postgres_home.py
    "agents list": ("agents", "list"),
    "agents show": ("agents", "show", "arya"),
    "agents new": ("agents", "new", "fin", "--role", "counts"),
    "agents set": ("agents", "set", "arya", "--role", "counts"),
    "agents rm": ("agents", "rm", "arya", "--yes"),
    "pause": ("pause", "arya"),
    "resume": ("resume", "arya"),
    "agents spawn": (),  # needs a template: tests/behaviour/test_spawn.py has some
    "agents tree": ("agents", "tree"),
    "agents rename": ("agents", "rename", "arya", "brienne"),
    "keys set": ("keys", "set", "anthropic"),
    "keys list": ("keys", "list"),
    "keys test": (),  # asks a provider: test_models.py has one
    "models": ("models",),
    "keys remove": ("keys", "remove", "openrouter.ai"),
    "group create": ("group", "create", "arya", "gendry"),
    "group add": ("group", "add", "caller", "--conv", "build"),
    "group remove": ("group", "remove", "gendry", "--conv", "build"),
    "group list": ("group", "list", "--conv", "build"),
    "group dissolve": ("group", "dissolve", "--conv", "build", "--yes"),
    "group config": ("group", "config", "max_depth", "3", "--conv", "build"),
    "conv add": ("conv", "add", "build", "caller"),
    "conv remove": ("conv", "remove", "build", "gendry"),
    "conv dissolve": ("conv", "dissolve", "build", "--yes"),
    "conv stop": ("conv", "stop", "build"),
    "conv retry": ("conv", "retry", "build"),
    "conv new": ("conv", "new", "other", "--with", "arya"),
    "conv list": ("conv", "list"),
    "conv show": ("conv", "show", "build"),
    "conv join": ("conv", "join", "build", "caller"),
    "conv leave": ("conv", "leave", "build", "gendry"),
    "conv rename": ("conv", "rename", "build", "built"),
    "conv archive": ("conv", "archive", "build"),
    "conv unarchive": ("conv", "unarchive", "old"),
    "conv delete": ("conv", "delete", "build", "--yes"),
    "conv continue": ("conv", "continue", "build"),
    "conv config": ("conv", "config", "build"),
}


def leaves() -> Iterator[tuple[str, click.Command]]:
    ctx = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(ctx, name)
        if isinstance(command, click.Group):
            for verb, below in command.commands.items():
                yield f"{name} {verb}", below
        elif command is not None:
            yield name, command


def test_the_table_above_names_every_command() -> None:
    assert {name for name, _ in leaves()} == set(EVERY_LEAF)


def nouns() -> list[str]:
    found = {name: root.get_command(click.Context(root), name) for name in COMMANDS}
    return [name for name, command in found.items() if isinstance(command, click.Group)]


@pytest.mark.parametrize("noun", sorted(set(nouns()) - {"mcp"}))  # alone that one is the server
def test_a_noun_without_a_verb_shows_its_verbs(moot: Moot, noun: str) -> None:
    for words in ((noun,), (noun, "--quiet")):
        told = moot(*words)
        assert (told.code, told.err) == (0, "")
        assert told.out == moot(noun, "-h").out
    program = moot(noun, "--json")
    assert (program.code, program.out) == (2, "")
    assert program.error["title"].startswith(f"moot {noun} needs a subcommand: ")


def test_every_code_there_is_can_be_explained(moot: Moot) -> None:
    sources = (ROOT / "src").rglob("*.py")
    named = {code for path in sources for code in re.findall(r"\bE\d{3}\b", path.read_text(encoding="utf-8"))}
    assert {"E000", "E201", "E304"} <= named
    for code in sorted(named | {kind.code for kind in tree()}):
        told = moot("explain", code, "--json")
        assert (told.code, told.json["code"]) == (0, code), told.err
        assert told.json["meaning"]
        assert moot("explain", code).out.startswith(
            f"{code}  {told.json['name']}\n  {told.json['meaning']}\n"
        )
        assert f"  {code}  " in moot("help", "errors").out


@pytest.fixture(scope="module")
def used_home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home in which something was said already; each test works on a copy."""
    shell = make_home(tmp_path_factory.mktemp("used") / "home")
    assert shell.fresh("conv", "new", "build", "--with", "arya,gendry,quiet").code == 0
    assert shell.fresh("conv", "new", "old").code == shell.fresh("conv", "archive", "old").code == 0
    assert shell.fresh("send", "--conv", "build", "hello @arya").code == 0
    assert shell.fresh("backup", "create").code == 0
    assert shell.fresh("export", "build", "-o", str(shell.home / "build.jsonl")).code == 0
    assert shell.fresh("keys", "set", "openrouter.ai", stdin=b"sk-or-0123456789").code == 0
    return shell.home


@pytest.mark.req("P-08")
@pytest.mark.parametrize("name", [name for name, words in EVERY_LEAF.items() if words])
def test_every_command_answers_with_one_json_document(
    used_home: Path, shell: Shell, moot: Moot, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-typed-0123456789"))
    shutil.copytree(used_home, shell.home, dirs_exist_ok=True)
    monkeypatch.chdir(shell.home)
    told = moot(*EVERY_LEAF[name], "--json")
    assert (told.code, told.err) == (0, "")
    assert told.json is not None


@pytest.mark.parametrize(("name", "command"), list(leaves()))
def test_help_begins_with_two_examples(moot: Moot, name: str, command: click.Command) -> None:
    assert isinstance(command, Leaf)
    assert len(command.examples) >= 2
    told = moot(*name.split(), "-h")
    assert told.out.startswith(f"Examples:\n  {command.examples[0]}\n")
    assert all(example.split()[0] == "moot" for example in command.examples)


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_starts_from_nothing(shell: Shell, name: str) -> None:
    """Most tests type into a process in which all of them are loaded; each has to find its own way too."""
    told = shell.fresh(name, "-h")
    assert (told.code, told.err) == (0, "")
    assert told.out


def test_the_one_line_help_in_the_table_is_the_commands_own() -> None:
    for name, entry in COMMANDS.items():
        command = root.get_command(click.Context(root), name)
        assert command is not None
        assert entry.help.rstrip(".").split(" (")[0].split(" until")[0] in command.get_short_help_str(200), (
            name
        )


def test_every_error_has_an_exit_code() -> None:
    assert set(EXITS) == set(tree())


def test_an_unknown_command_suggests_the_nearest(moot: Moot) -> None:
    told = moot("snd", "arya", "hi")
    assert told.code == 2
    assert told.err.startswith('error[E204] moot has no command "snd"\n  did you mean send?')
    assert moot("conv", "shwo").err.startswith(
        'error[E204] moot conv has no command "shwo"\n  did you mean show?'
    )


def test_a_missing_word_is_a_usage_error(moot: Moot) -> None:
    for words in (
        ("send",),
        ("send", "arya"),
        ("chat",),
        ("send", "--timeout", "soon", "arya", "hi"),
    ):
        told = moot(*words)
        assert told.code == 2, words
        assert told.err.startswith("error[E204]"), told.err


def test_alone_it_says_what_to_do_first(shell: Shell, tmp_path: Path) -> None:
    nothing = shell.moot("--home", str(tmp_path / "new"))
    assert "Nothing is set up yet." in nothing.out
    assert f"moot --home {tmp_path}/new demo" in nothing.out
    assert not (tmp_path / "new").exists()
    assert "moot chat NAME" in shell.moot().out


def test_help_and_version_import_neither_hub_nor_rich(shell: Shell) -> None:
    for word in ("--help", "--version"):
        told = shell.fresh(word, env={"PYTHONPROFILEIMPORTTIME": "1"})
        assert told.code == 0
        imported = {line.rpartition("|")[2].strip() for line in told.err.splitlines()}
        assert "click" in imported
        assert not imported & {
            "rich",
            "apsw",
            "structlog",
            "moot.hub",
            "moot.settings",
            "moot.stores",
            "asyncio",
        }


@pytest.mark.req("P-08")
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}])
def test_no_escape_bytes_where_no_colour_is_wanted(shell: Shell, env: dict[str, str]) -> None:
    """The empty environment writes to a pipe; the others to a terminal."""
    shell.moot("chat", "arya", "-m", "hello")
    words = ["conv", "show", "direct-arya+user"]
    out = shell.moot(*words).out.encode() if not env else on_a_terminal(shell, words, env)
    assert b"arya heard: hello" in out
    assert b"\x1b" not in out


@pytest.mark.req("P-08")
@pytest.mark.parametrize("name", [name for name, words in EVERY_LEAF.items() if words])
@pytest.mark.parametrize("env", [{"NO_COLOR": "1"}, {"TERM": "dumb"}, {}], ids=["no-color", "dumb", "pipe"])
def test_no_command_writes_an_escape_byte_where_none_is_wanted(
    used_home: Path,
    shell: Shell,
    moot: Moot,
    monkeypatch: pytest.MonkeyPatch,
    *,
    name: str,
    env: dict[str, str],
) -> None:
    """The empty environment writes to a pipe; the others believe they write to a terminal."""
    monkeypatch.setattr("sys.stdin", io.StringIO("sk-typed-0123456789"))
    monkeypatch.setenv("TERM", "xterm-256color")
    for key, value in env.items():
        monkeypatch.setenv(key, value)
    if env:
        for stream in (sys.stdout, sys.stderr):
            monkeypatch.setattr(stream, "isatty", lambda: True)
        monkeypatch.setenv("MOOT_PAGER", "cat")
    shutil.copytree(used_home, shell.home, dirs_exist_ok=True)
    monkeypatch.chdir(shell.home)
    told = moot(*EVERY_LEAF[name])
    assert told.code == 0, told.err
    assert "\x1b" not in told.out + told.err


def test_a_terminal_gets_colours(shell: Shell) -> None:
    shell.moot("chat", "arya", "-m", "hello")
    out = on_a_terminal(shell, ["conv", "show", "direct-arya+user"], {"TERM": "xterm-256color"})
    assert b"\x1b[38;5;169m" in out


def on_a_terminal(shell: Shell, words: list[str], env: dict[str, str]) -> bytes:
    ours, theirs = pty.openpty()
    try:
        subprocess.run(
            [MOOT, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=shell.environ(env), check=True
        )
        os.close(theirs)
        out = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # the terminal's other end is closed
                return out
            if not chunk:
                return out
            out += chunk
    finally:
        os.close(ours)


def test_escape_sequences_in_a_message_do_not_reach_the_terminal(moot: Moot) -> None:
    assert moot("send", "arya", "red \x1b[31m now").code == 0
    assert "\x1b" not in moot("tail").out
    assert "\\x1b[31m" in moot("tail").out


def test_ascii_marks_on_request(shell: Shell) -> None:
    told = shell.moot("send", "arya", "hello", env={"MOOT_ASCII": "1"})
    assert told.out.startswith("* arya, ")


def test_a_reader_that_goes_away_ends_it_quietly(shell: Shell) -> None:
    shell.moot("chat", "arya", "-m", "-", stdin=b"x" * 200_000)
    line = f"'{MOOT}' conv show direct-arya+user | head -c 1"
    done = subprocess.run(["bash", "-c", line], env=shell.environ(), capture_output=True, check=False)
    assert (len(done.stdout), done.stderr) == (1, b"")
