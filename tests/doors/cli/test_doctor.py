"""`moot doctor` and `moot explain`."""

import os
import re
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.cli.read.explain import meanings
from moot.cli.run.doctor_bridge import not_started
from moot.errors import WARNINGS, tree
from moot.model.hint import WarningCode
from moot.settings import Home, load
from tests.doors.cli.shell import Shell, Told, make_home
from tests.support.elsewhere import free_port

Moot = Callable[..., Told]


@pytest.fixture(autouse=True)
def any_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_HUB__PORT", "0")


def test_all_is_well(moot: Moot) -> None:
    moot("send", "arya", "hello")
    told = moot("doctor")
    assert told.code == 0
    assert told.out.splitlines()[-1] == "All good."
    checks = {check["check"]: check for check in moot("doctor", "--json").json["checks"]}
    assert set(checks) == {"moot", "sqlite", "home", "moot.toml", "hub", "database", "backups"}
    assert checks["database"]["text"].startswith("2 messages, integrity ok, all chains verified")


def test_the_worst_comes_first_with_its_fix(shell: Shell, moot: Moot) -> None:
    moot("send", "arya", "hello")
    shell.home.chmod(0o755)
    (shell.home / "moot.toml").write_text("[limits]\nchain_turns = 0\n", encoding="utf-8")
    told = moot("doctor")
    assert told.code == 1
    first, _, third, *_ = told.out.splitlines()
    assert first.startswith("✗ moot.toml: moot.toml:2:")
    assert any(line.startswith("!") for line in (third, *told.out.splitlines()))


@pytest.mark.parametrize(
    ("toml", "place"),
    [
        ("[limits]\nchain_turns = 0\n", "moot.toml:2:1 "),
        ('[hub]\nuser = "you\n', "moot.toml:2:12 "),
        ('[store]\nurl = "sqlite:other.db"\n', "store.url in "),
    ],
)
def test_broken_settings_are_not_blamed_on_the_database(
    shell: Shell, moot: Moot, toml: str, place: str
) -> None:
    moot("send", "arya", "hello")
    (shell.home / "moot.toml").write_text(toml, encoding="utf-8")
    told = moot("doctor", "--json")
    assert told.code == 1
    bad, *others = told.json["checks"]
    assert (bad["check"], bad["state"]) == ("moot.toml", "bad")
    assert bad["text"].startswith(place)
    assert {check["state"] for check in others} == {"ok"}
    [database] = [check for check in others if check["check"] == "database"]
    assert database["text"].startswith("2 messages, integrity ok, all chains verified")
    assert moot("doctor", "db").code == 0


def test_settings_that_do_nothing_yet_are_said(shell: Shell, moot: Moot) -> None:
    add_agent(shell, "far", "a2a:https://example.com/agent")
    words = "agents.far.brain is accepted, but has no effect in this version yet"
    assert words in moot("doctor").out


def add_agent(shell: Shell, name: str, brain: str) -> None:
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write(f'\n[[agents]]\nname = "{name}"\nbrain = "{brain}"\n')


@pytest.mark.req("P-07")
@pytest.mark.parametrize(
    ("brain", "line"),
    [
        ("anthropic:claude-haiku-5-5", "✗ agents: fin uses anthropic, but no key is set"),
        (
            "openai:llama@http://127.0.0.1:9/v1",
            "✗ models: openai at 127.0.0.1:9: it cannot be reached (fin cannot answer)",
        ),
        (
            "code:nowhere:think",
            "✗ agents: agent fin: code:nowhere:think cannot be loaded: No module named 'nowhere'",
        ),
        (
            "code:cli_team:nobody",
            "✗ agents: agent fin: code:cli_team:nobody cannot be loaded: module 'cli_team' has no attribute 'nobody'",
        ),
        ("code:cli_torn:think", "✗ agents: agent fin: code:cli_torn:think cannot be loaded: SyntaxError: "),
        (
            "code:cli_plain:think",
            "✗ agents: agent fin",
        ),
        ("command:claude", "✗ agents: the project of fin, "),
    ],
)
def test_an_agent_that_cannot_answer_is_broken(
    shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch, brain: str, line: str
) -> None:
    for name in ("ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    (shell.home / "cli_torn.py").write_text("def think(:\n")
    (shell.home / "cli_plain.py").write_text("def think(turn):\n    return 'no'\n")
    monkeypatch.syspath_prepend(str(shell.home))
    assert moot("doctor").out.splitlines()[-1] == "All good."
    add_agent(shell, "fin", brain)
    told = moot("doctor")
    assert told.code == 1
    assert told.out.splitlines()[0].startswith(line)
    assert told.out.splitlines()[-1] == "1 to fix."


def test_a_bridge_that_is_set_up_is_looked_at(
    shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NOT_IN_THIS_SHELL", raising=False)
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write('[bridges.telegram]\nbots.arya = "${NOT_IN_THIS_SHELL}"\n')
    assert moot("send", "arya", "hello").code == 0  # the hub alone needs the token
    told = moot("doctor")
    assert told.code == 1
    first = "✗ telegram: moot.toml: bots.arya has no token: its variable is not set"
    assert told.out.splitlines()[0] == first
    assert not_started(load(Home(shell.home))) == [("telegram", first.partition("moot.toml: ")[2])]
    assert moot("bridge", "status").err.startswith(
        "error[E204] missing argument 'telegram|discord'. Choose from: telegram, discord\n"
    )


def test_an_agent_whose_last_turn_failed_is_told_of_until_it_answers(shell: Shell, moot: Moot) -> None:
    moot("send", "broken", "hello")
    told = moot("doctor")
    assert told.code == 0
    assert told.out.startswith(
        "! turns: the last turn of broken failed: RuntimeError: it broke on purpose\n    fix   moot status\n"
    )
    assert told.out.splitlines()[-1] == "Nothing is broken."
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text().replace("code:cli_team:broken", "code:cli_team:echo"))
    moot("send", "broken", "and now?")
    assert moot("doctor").out.splitlines()[-1] == "All good."


def test_it_makes_nothing(shell: Shell, moot: Moot) -> None:
    before = sorted(path.name for path in shell.home.iterdir())
    assert moot("doctor").code == 0
    assert sorted(path.name for path in shell.home.iterdir()) == before


@pytest.mark.parametrize("code", meanings())
def test_every_code_is_explained_with_who_must_act_a_cause_and_what_to_do(moot: Moot, code: str) -> None:
    told = moot("explain", code)
    assert told.code == 0
    first, _, who, cause, to_do, *_ = told.out.splitlines()
    assert first.startswith(f"{code}  ")
    assert "Exit code" in told.out
    labels = ("  Who acts:      ", "  Typical cause: ", "  What to do:    ")
    for line, label in zip((who, cause, to_do), labels, strict=True):
        assert line.startswith(label)
        text = line.removeprefix(label)
        assert text[0].isupper() or text[0] == "`"
        assert text.endswith(".")
    for typed in re.findall(r"`moot ([^`]*)`", told.out):
        words = [word for word in typed.split() if word.islower() and not word.startswith("-")]
        assert moot(*words[:2], "-h").code == 0, typed


def test_every_error_has_its_code_explained() -> None:
    assert {kind.code for kind in tree()} < set(meanings())


def test_every_warning_has_its_code_explained() -> None:
    """By construction: a code that warns is an error's, or has its own class."""
    assert {code.value for code in WarningCode} <= set(meanings())
    assert {kind.code for kind in WARNINGS} <= set(WarningCode)
    assert not {kind.code for kind in WARNINGS} & {kind.code for kind in tree()}


def test_a_code_nobody_gave(moot: Moot) -> None:
    assert moot("explain", "E999").code == 3


# --- repairs and topics --------------------------------------------------------------------------------------


def damage(shell: Shell) -> list[str]:
    """Everything that dying processes leave behind, and a file that was copied without care."""
    for name in ("hub.json", "hub.sock"):
        (shell.home / "run" / name).touch()
    for name in ("arya.pid", "arya.sock"):
        (shell.home / "run" / "agents" / name).touch()
    keys = shell.home / "keys.json"
    keys.write_text("{}")
    keys.chmod(0o644)
    draft = shell.home / ".moot.toml.123.new"
    draft.touch()
    os.utime(draft, (0, 0))
    return [
        "keys.json is not used: other users can read it (mode 0644)",
        ".moot.toml.123.new was left behind by a command that died while writing",
        "hub.json is left over from a hub that no longer runs",
        "hub.sock is left over from a hub that no longer runs",
        "arya.pid is left over from a daemon of arya that no longer runs",
        "arya.sock is left over from a daemon of arya that no longer runs",
    ]


@pytest.mark.req("P-07")
def test_a_home_may_lie_deeper_than_the_address_of_a_socket_is_long(tmp_path: Path) -> None:
    folder = tmp_path / ("deep" * 20) / ("deeper" * 10)
    folder.mkdir(parents=True)
    shell = make_home(folder / "home")
    (shell.home / "run").mkdir(mode=0o700)
    (shell.home / "run" / "agents").mkdir(mode=0o700)
    (shell.home / "run" / "agents" / "arya.sock").touch()
    told = shell.moot("doctor")
    assert told.err == ""
    assert "arya.sock is left over from a daemon of arya that no longer runs" in told.out


@pytest.mark.req("P-07")
def test_what_is_safe_is_repaired_after_a_backup(shell: Shell, moot: Moot) -> None:
    moot("send", "arya", "hello")
    troubles = damage(shell)
    told = moot("doctor")
    assert (told.code, told.err) == (1, "")
    assert [line.partition(": ")[2] for line in told.out.splitlines() if line[0] in "✗!"] == troubles
    assert told.out.splitlines()[-2:] == [
        "1 to fix.",
        "Run moot doctor --fix to repair what is safe (a backup is made first).",
    ]
    assert list((shell.home / "backups").iterdir()) == []
    mended = moot("doctor", "--fix", "--json")
    assert mended.code == 0
    assert [check["text"] for check in mended.json["repaired"]] == troubles
    assert mended.json["ok"] is True
    assert moot("backup", "verify", mended.json["backup"]).code == 0
    assert (shell.home / "keys.json").stat().st_mode & 0o777 == 0o600
    again = moot("doctor", "--fix")
    assert again.out.splitlines()[-1] == "All good."
    assert "backup made" not in again.out


@pytest.mark.req("P-07")
def test_what_lives_is_not_repaired_away(shell: Shell, moot: Moot) -> None:
    shell.moot("agent", "start", "arya")
    shell.moot("up", "--detach")
    try:
        told = moot("doctor", "--fix", "--json").json
        assert (told["repaired"], told["backup"]) == ([], None)
        assert {check["check"] for check in told["checks"]} >= {"hub", "daemons"}
        assert moot("agent", "ping", "arya").code == 0
        assert moot("doctor", "net").out.splitlines()[0].endswith("answers with 200")
    finally:
        shell.moot("stop", "--all")


def test_a_damaged_database_is_not_touched_by_repairs(shell: Shell, moot: Moot) -> None:
    moot("send", "arya", "hello")
    (shell.home / "run" / "hub.json").touch()
    broken = b"not a database at all" * 400
    (shell.home / "moot.db").write_bytes(broken)
    told = moot("doctor", "--fix")
    assert told.code == 1
    assert "repaired: hub.json is left over from a hub that no longer runs" in told.out
    assert told.err.startswith("no backup was made: ")
    assert (shell.home / "moot.db").read_bytes() == broken
    assert moot("doctor", "db").out.startswith("✗ database: ")


def test_a_port_that_another_program_uses_is_told_with_its_name(
    shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        monkeypatch.setenv("MOOT_HUB__PORT", str(port))
        name = Path("/proc/self/comm").read_text().strip()
        [check] = [c for c in moot("doctor", "--json").json["checks"] if c["check"] == "port"]
        assert check["text"] == f'{port} is used by "{name}" (pid {os.getpid()})'
        told = shell.moot("up", env={"MOOT_HUB__PORT": str(port)})
        assert told.code == 9
        assert told.err == (
            f'error[E401] port {port} is used by "{name}" (pid {os.getpid()})\n'
            f"  fix   moot up --port {port + 1}      or: moot config set hub.port 0\n"
            "  more  moot explain E401\n"
        )


def test_a_port_can_be_given_by_hand(shell: Shell, moot: Moot) -> None:
    port = free_port()
    told = shell.moot("serve", "--detach", "--port", str(port), "--json")
    try:
        assert (told.json["port"], told.json["host"]) == (port, "127.0.0.1")
    finally:
        shell.moot("stop")


def test_net_asks_the_providers_whose_key_is_set(
    shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.cli.manage.models.local_server_answers", lambda: False)
    assert "no key is set, so no provider was asked" in moot("doctor", "net").out
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0123456789abcdef")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9")
    told = moot("doctor", "net")
    assert told.code == 0
    assert told.out.startswith("! models: openai at 127.0.0.1:9: it cannot be reached\n")
    assert "models" not in {check["check"] for check in moot("doctor", "--json").json["checks"]}
