"""`moot mcp config|install|uninstall|status`: what is run and written, and that all of it can be undone."""

import asyncio
import json
import os
import shlex
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from moot import Hub
from moot.cli.mcp.clients.entry import this_moot
from tests.doors.cli.shell import Terminal, Told, make_home
from tests.support.coding_clients import Desk

Moot = Callable[..., Told]
[MOOT] = this_moot()

# Laid out as no program would: only the very bytes bring these back.
ODD_CLAUDE = (
    '{"numStartups": 7,\n "mcpServers": {"other": {"command":"x","args":[ ]}} ,"tipsHistory":{"ä":1}}'
)
ODD_SETTINGS = (
    '{\n    "model": "opus",\n'
    '    "hooks": {"Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]}\n}\n\n'
)
ODD_CODEX = (
    '# my own words\nmodel = "o9"   # stays\n\n[mcp_servers.other]\ncommand = "x"\n# last words, no line end'
)
ODD_HOOKS = '{"hooks":{"PreToolUse":[]}}'


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    desk = Desk(tmp_path / "person", "claude", "codex")
    for key, value in desk.environ().items():
        monkeypatch.setenv(key, value)
    for key in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "CLAUDE_FAILS_LATE"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.chdir(desk.project)
    monkeypatch.setattr("moot.cli.mcp.clients.report.seconds_to_start", lambda: 0.4)
    return desk


@pytest.fixture
def settled(desk: Desk, moot: Moot, monkeypatch: pytest.MonkeyPatch) -> Moot:
    """`moot` typed by somebody whose Moot lives in the usual place."""
    monkeypatch.delenv("MOOT_HOME")
    return moot


def furnished(desk: Desk) -> None:
    desk.write(".claude.json", ODD_CLAUDE, 0o600)
    desk.write(".claude/settings.json", ODD_SETTINGS)
    desk.write(".codex/config.toml", ODD_CODEX, 0o640)
    desk.write(".codex/hooks.json", ODD_HOOKS)


@pytest.mark.req("J-13")
def test_install_says_what_it_will_do_and_lets_the_clients_do_it(desk: Desk, settled: Moot) -> None:
    told = settled("mcp", "install", "claude", "codex", "--yes")
    assert told.code == 0, told.err
    assert told.out == (
        f"Found   claude ({desk.bin}/claude)   codex ({desk.bin}/codex)\n"
        "Will run:\n"
        f"  claude mcp add --scope user --transport stdio moot -- {MOOT} mcp --client claude\n"
        f"  codex mcp add moot -- {MOOT} mcp --client codex\n"
        "Will not touch: project files, other MCP servers.      Undo: moot mcp uninstall\n"
        "✓ claude      registered    restart open sessions; /mcp there should list moot;"
        " server started in 0.4 s (Claude Code allows 30 s)\n"
        "✓ codex       registered    restart open sessions; server started in 0.4 s (Codex allows 10 s)\n"
        "Reachability now: claude on-demand, codex on-demand.\n"
        "  Messages wait until the agent asks. To deliver at turn end: moot mcp install --wake claude codex\n"
    )
    assert desk.calls == [
        [
            *["claude", "mcp", "add", "--scope", "user", "--transport", "stdio", "moot", "--"],
            MOOT,
            "mcp",
            "--client",
            "claude",
        ],
        [*["codex", "mcp", "add", "moot", "--"], MOOT, "mcp", "--client", "codex"],
    ]
    assert desk.json(".claude.json")["mcpServers"]["moot"]["args"] == ["mcp", "--client", "claude"]
    assert not (desk.home / ".claude/settings.json").exists()


@pytest.mark.req("J-13")
@pytest.mark.parametrize("before", [furnished, lambda desk: None], ids=["files-there", "no-files"])
@pytest.mark.parametrize("scope", ["user", "project"])
@pytest.mark.parametrize("flags", [(), ("--wake",), ("--wake", "--http")], ids=" ".join)
def test_uninstall_restores_every_file_byte_for_byte(
    desk: Desk, settled: Moot, before: Callable[[Desk], None], scope: str, flags: tuple[str, ...]
) -> None:
    for program in ("code", "agy"):
        desk.put(program)
    before(desk)
    snapshot = desk.snapshot()
    told = settled("mcp", "install", "--scope", scope, *flags, "--yes")
    assert told.code == 0, told.err
    changed = desk.snapshot()
    assert len(changed) >= len(snapshot)
    assert changed != snapshot
    undone = settled("mcp", "uninstall")
    assert undone.code == 0, undone.out
    assert "cleaned" not in undone.out
    assert desk.snapshot() == snapshot
    assert not (desk.home / ".moot" / "clients.json").exists()
    if not snapshot:
        # Claude Code keeps backups of its own in .claude; whatever was made for us is gone.
        assert {path.name for path in desk.home.iterdir()} <= {
            "api",
            "bin",
            "calls.jsonl",
            ".moot",
            ".claude",
        }
        assert list(desk.project.iterdir()) == []


def test_a_second_install_changes_nothing_and_says_so(desk: Desk, settled: Moot) -> None:
    furnished(desk)
    settled("mcp", "install", "--wake", "--yes")
    snapshot, calls = desk.snapshot(), desk.calls
    ledger = (desk.home / ".moot/clients.json").read_bytes()
    told = settled("mcp", "install", "--wake", "--yes")
    assert told.code == 0
    assert "Nothing to do for claude: it is already connected.\n" in told.out
    assert "Nothing to do for codex: it is already connected.\n" in told.out
    assert (desk.snapshot(), desk.calls) == (snapshot, calls)
    assert (desk.home / ".moot/clients.json").read_bytes() == ledger


@pytest.mark.req("J-13")
def test_hooks_can_be_added_later_and_all_is_undone_together(desk: Desk, settled: Moot) -> None:
    furnished(desk)
    snapshot = desk.snapshot()
    settled("mcp", "install", "--yes")
    told = settled("mcp", "install", "--wake", "--yes")
    assert "Will run" not in told.out
    assert "  ~/.claude/settings.json   Stop, UserPromptSubmit, SessionStart\n" in told.out
    assert "Reachability now: claude next-turn, codex next-turn once its hooks are trusted.\n" in told.out
    hooks = desk.json(".claude/settings.json")["hooks"]
    assert hooks["Stop"][0] == {"hooks": [{"type": "command", "command": "say done"}]}
    [ours] = hooks["Stop"][1]["hooks"]
    assert ours["command"] == f"{MOOT} mcp hook --client claude Stop 2>/dev/null || true"
    assert set(hooks) == {"Stop", "UserPromptSubmit", "SessionStart"}
    settled("mcp", "uninstall")
    assert desk.snapshot() == snapshot


@pytest.mark.req("J-13")
def test_what_its_owner_changed_since_stays_and_only_our_entry_goes(desk: Desk, settled: Moot) -> None:
    furnished(desk)
    settled("mcp", "install", "--wake", "--yes")
    for name in (".claude.json", ".claude/settings.json", ".codex/hooks.json"):
        document = desk.json(name)
        document["mine"] = {"since": True}
        desk.write(name, json.dumps(document, indent=4))
    toml = desk.home / ".codex/config.toml"
    toml.write_text(f'approval_policy = "never"\n{toml.read_text()}\n[mcp_servers.third]\ncommand = "y"\n')
    told = settled("mcp", "uninstall")
    assert told.code == 0
    assert told.out.count("it has changed since, so only Moot's entry was removed") == 4
    claude = desk.json(".claude.json")
    assert claude["mcpServers"] == {"other": {"command": "x", "args": []}}
    assert claude["mine"] == {"since": True}
    assert desk.json(".claude/settings.json") == {**json.loads(ODD_SETTINGS), "mine": {"since": True}}
    assert desk.json(".codex/hooks.json") == {**json.loads(ODD_HOOKS), "mine": {"since": True}}
    text = toml.read_text()
    assert tomllib.loads(text) == {
        "approval_policy": "never",
        "model": "o9",
        "mcp_servers": {"other": {"command": "x"}, "third": {"command": "y"}},
    }
    assert "# my own words" in text
    assert ["claude", "mcp", "remove", "--scope", "user", "moot"] in desk.calls
    assert ["codex", "mcp", "remove", "moot"] in desk.calls


def test_a_client_that_is_gone_is_undone_by_editing_its_file(desk: Desk, settled: Moot) -> None:
    furnished(desk)
    settled("mcp", "install", "--yes")
    (desk.bin / "codex").unlink()
    toml = desk.home / ".codex/config.toml"
    toml.write_text(f'approval_policy = "never"\n{toml.read_text()}')
    assert settled("mcp", "uninstall", "codex").code == 0
    assert tomllib.loads(toml.read_text()) == {"approval_policy": "never", **tomllib.loads(ODD_CODEX)}
    assert "# my own words" in toml.read_text()
    assert desk.json(".claude.json")["mcpServers"].keys() == {"other", "moot"}, (
        "the other client was not named"
    )


def test_changes_that_mean_nothing_do_not_keep_the_old_bytes_from_coming_back(
    desk: Desk, settled: Moot
) -> None:
    furnished(desk)
    snapshot = desk.snapshot()
    settled("mcp", "install", "--wake", "--yes")
    desk.write(".claude/settings.json", json.dumps(desk.json(".claude/settings.json")))
    settled("mcp", "uninstall")
    assert desk.snapshot() == snapshot


def test_an_install_over_a_file_that_changed_keeps_the_change_when_it_is_undone(
    desk: Desk, settled: Moot
) -> None:
    furnished(desk)
    settled("mcp", "install", "claude", "--yes")
    document = desk.json(".claude.json")
    desk.write(".claude.json", json.dumps({**document, "mine": 1}))
    told = settled("mcp", "install", "claude", "--http", "--yes")
    assert told.code == 0, told.err
    assert desk.json(".claude.json")["mcpServers"]["moot"]["type"] == "http"
    settled("mcp", "uninstall")
    left = desk.json(".claude.json")
    assert left["mine"] == 1
    assert left["mcpServers"] == {"other": {"command": "x", "args": []}}


def test_a_moot_that_moved_is_registered_anew(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    furnished(desk)
    snapshot = desk.snapshot()
    monkeypatch.setattr("moot.cli.mcp.clients.entry.this_moot", lambda: ("/old/moot",))
    settled("mcp", "install", "--wake", "--yes")
    monkeypatch.undo()
    for key, value in desk.environ().items():
        monkeypatch.setenv(key, value)
    monkeypatch.chdir(desk.project)
    monkeypatch.delenv("MOOT_HOME", raising=False)
    monkeypatch.setattr("moot.cli.mcp.clients.report.seconds_to_start", lambda: 0.4)
    assert settled("mcp", "install", "--wake", "--yes").code == 0
    assert "/old/moot" not in json.dumps(desk.json(".claude.json"))
    assert "/old/moot" not in json.dumps(desk.json(".claude/settings.json"))
    assert "/old/moot" not in (desk.home / ".codex/config.toml").read_text()
    settled("mcp", "uninstall")
    assert desk.snapshot() == snapshot


@pytest.mark.parametrize("late", [False, True])
def test_a_client_that_fails_is_told_and_can_be_undone(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch, late: bool
) -> None:
    furnished(desk)
    snapshot = desk.snapshot()
    if late:
        monkeypatch.setenv("CLAUDE_FAILS_LATE", "1")
    else:
        (desk.bin / "claude").write_text("#!/bin/sh\necho 'it is Monday' >&2\nexit 4\n")
    told = settled("mcp", "install", "claude", "--yes")
    assert told.code == 3
    words = "something went wrong after all" if late else "it is Monday"
    assert f"error[E501] claude mcp add failed: {words}\n" in told.err
    monkeypatch.delenv("CLAUDE_FAILS_LATE", raising=False)
    assert settled("mcp", "uninstall").code == 0
    assert desk.snapshot() == snapshot


def test_an_entry_made_by_hand_is_not_ours_to_change(desk: Desk, settled: Moot) -> None:
    desk.write(".claude.json", '{"mcpServers": {"moot": {"command": "my-own"}}}')
    snapshot = desk.snapshot()
    told = settled("mcp", "install", "--yes")
    assert told.code == 1
    assert "error[E205] claude already has an MCP server called moot, which Moot did not add\n" in told.err
    assert "fix   claude mcp remove --scope user moot      or: moot mcp install claude\n" in told.err
    assert desk.snapshot() == snapshot
    assert desk.calls == []


@pytest.mark.parametrize(
    "text", ['{"hooks": {}, // mine\n}', "[]", '{"hooks": []}', '{"hooks": {"Stop": 1}}']
)
def test_a_file_that_cannot_be_read_whole_is_left_alone(desk: Desk, settled: Moot, text: str) -> None:
    desk.write(".claude/settings.json", text)
    snapshot = desk.snapshot()
    told = settled("mcp", "install", "--wake", "--yes")
    assert told.code == 1
    assert told.err.startswith("error[E205] ")
    assert "settings.json" in told.err
    assert desk.snapshot() == snapshot
    assert desk.calls == [], "nothing was begun"


def test_a_link_stays_a_link(desk: Desk, settled: Moot) -> None:
    real = desk.write("dotfiles/settings.json", ODD_SETTINGS)
    (desk.home / ".claude").mkdir()
    link = desk.home / ".claude/settings.json"
    link.symlink_to(real)
    settled("mcp", "install", "claude", "--wake", "--yes")
    assert link.is_symlink()
    assert real.read_text() != ODD_SETTINGS
    settled("mcp", "uninstall")
    assert link.is_symlink()
    assert real.read_text() == ODD_SETTINGS


def test_nothing_is_done_where_nobody_can_be_asked(desk: Desk, settled: Moot) -> None:
    told = settled("mcp", "install")
    assert told.code == 2
    assert "add --yes" in told.err
    assert settled("mcp", "install", "--json").code == 2
    assert desk.calls == []
    assert not (desk.home / ".moot").exists()


def test_a_person_is_asked_and_may_say_no(desk: Desk, tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home")
    terminal = Terminal(shell, "mcp", "install", "claude", env=desk.environ())
    terminal.read_until("Continue? [Y/n]")
    terminal.type("n")
    terminal.rest()
    assert terminal.process.returncode == 130
    assert desk.calls == []
    terminal.close()


def test_print_only_prints(desk: Desk, settled: Moot) -> None:
    furnished(desk)
    snapshot = desk.snapshot()
    told = settled("mcp", "install", "--wake", "--print")
    assert told.code == 0
    assert f"  codex mcp add moot -- {MOOT} mcp --client codex\n" in told.out
    assert "  ~/.codex/hooks.json   Stop, UserPromptSubmit, SessionStart\n" in told.out
    assert settled("mcp", "install", "--print", "--json").json[1]["runs"][0][:3] == ["codex", "mcp", "add"]
    assert (desk.snapshot(), desk.calls) == (snapshot, [])
    assert not (desk.home / ".moot").exists()


def test_a_client_that_is_missing_is_e501_with_what_to_paste(desk: Desk, settled: Moot) -> None:
    (desk.bin / "codex").unlink()
    told = settled("mcp", "install", "claude", "codex", "--yes")
    assert told.code == 3
    assert told.err == (
        "error[E501] codex is not on PATH\n"
        "  fix   install Codex, or add this to its config:\n"
        "        [mcp_servers.moot]\n"
        f'        command = "{MOOT}"\n'
        '        args = ["mcp", "--client", "codex"]\n'
        "  more  moot explain E501\n"
    )
    assert desk.calls == [], "the other one was not begun"
    assert settled("explain", "E501").code == 0


def test_with_no_client_at_all_it_says_where_it_looked(desk: Desk, settled: Moot) -> None:
    for program in desk.bin.iterdir():
        program.unlink()
    told = settled("mcp", "install", "--yes")
    assert told.code == 3
    assert (
        "error[E501] no supported coding CLI is on PATH\n  looked for claude, codex, gemini, agy, code\n"
        in told.err
    )


@pytest.mark.parametrize(
    ("took", "words"), [(12.34, "its first answer took 12.3 s"), (None, "it did not answer at all")]
)
def test_a_start_too_slow_for_the_client_is_e501(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch, took: float | None, words: str
) -> None:
    monkeypatch.setattr("moot.cli.mcp.clients.report.seconds_to_start", lambda: took)
    told = settled("mcp", "install", "codex", "--yes")
    assert told.code == 3
    assert told.err == (
        "error[E501] codex gave up after 10 s\n"
        f"  moot mcp was started the way codex starts it: {words}\n"
        "  fix   moot doctor mcp\n"
        "  more  moot explain E501\n"
    )


def test_a_token_made_for_a_client_is_shown_once_and_dies_with_the_entry(desk: Desk, settled: Moot) -> None:
    told = settled("mcp", "install", "claude", "codex", "--http", "--yes", "--json")
    assert told.code == 0, told.err
    secrets = [each["token"] for each in told.json]
    assert all(secret.startswith("moot_ag_") for secret in secrets)
    kept = b"".join(data for data, _ in desk.snapshot().values())
    kept += (desk.home / ".moot/clients.json").read_bytes()
    assert not any(secret.encode() in kept for secret in secrets)
    entry = desk.json(".claude.json")["mcpServers"]["moot"]
    assert entry["url"] == "http://127.0.0.1:8420/mcp/"
    assert entry["headers"] == {"Authorization": "Bearer ${MOOT_TOKEN_CLAUDE}"}
    codex = tomllib.loads((desk.home / ".codex/config.toml").read_text())["mcp_servers"]["moot"]
    assert codex == {"url": "http://127.0.0.1:8420/mcp/", "bearer_token_env_var": "MOOT_TOKEN_CODEX"}
    settled("mcp", "uninstall")
    revoked = revoked_tokens(desk)
    assert revoked == {"claude": 1, "codex": 1}


def revoked_tokens(desk: Desk) -> dict[str, int]:
    async def look() -> dict[str, int]:
        async with Hub.open(desk.home / ".moot") as hub:
            return {
                name: sum(token.revoked_at is not None for token in await hub.agents.tokens(name))
                for name in ("claude", "codex")
            }

    return asyncio.run(look())


# --- config ----------------------------------------------------------------------------------------------


@pytest.mark.req("J-08")
@pytest.mark.parametrize("client", ["claude", "generic", "gemini", "antigravity", "vscode"])
def test_config_prints_json_to_paste_and_nothing_else(settled: Moot, client: str) -> None:
    told = settled("mcp", "config", "arya", "--client", client)
    assert told.code == 0
    [servers] = json.loads(told.out).values()
    named = [] if client == "generic" else ["--client", client]
    assert servers["moot"]["command"] == MOOT
    assert Path(servers["moot"]["command"]).is_absolute()
    assert servers["moot"]["args"] == ["mcp", *named, "--agent", "arya"]


@pytest.mark.req("J-08")
def test_config_prints_toml_for_codex(settled: Moot) -> None:
    told = settled("mcp", "config", "arya", "--client", "codex")
    assert tomllib.loads(told.out) == {
        "mcp_servers": {"moot": {"command": MOOT, "args": ["mcp", "--client", "codex", "--agent", "arya"]}}
    }
    assert told.err == "for Codex, in ~/.codex/config.toml\n"


def test_config_names_the_home_unless_it_is_the_default(desk: Desk, moot: Moot, settled: Moot) -> None:
    assert json.loads(settled("mcp", "config").out)["mcpServers"]["moot"]["args"] == ["mcp"]
    elsewhere = str(desk.home / "elsewhere")
    told = moot("--home", elsewhere, "mcp", "config")
    assert json.loads(told.out)["mcpServers"]["moot"]["args"] == ["mcp", "--home", elsewhere]
    assert not Path(elsewhere).exists(), "printing makes no home"


def test_config_for_http_refers_to_the_token_and_shows_it_once(settled: Moot) -> None:
    told = settled("mcp", "config", "ci", "--http", "--quiet")
    [entry] = json.loads(told.out)["mcpServers"].values()
    assert entry["headers"]["Authorization"] == "Bearer ${MOOT_TOKEN_CI}"
    assert told.err.startswith("export MOOT_TOKEN_CI=moot_ag_ci_")
    assert told.err.endswith("   # ci's token, shown this once\n")
    asked = json.loads(settled("mcp", "config", "--http", "--client", "vscode").out)
    assert asked["servers"]["moot"]["headers"]["Authorization"] == "Bearer ${input:moot-token}"
    assert asked["inputs"][0]["password"] is True
    assert settled("mcp", "config", "--http").code == 2


def test_a_hub_that_takes_any_port_has_no_address_to_register(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_HUB__PORT", "0")
    for words in (("config", "ci", "--http"), ("install", "claude", "--http", "--yes")):
        told = settled("mcp", *words)
        assert told.code == 2
        assert "error[E204] there is no address to register: no hub is running" in told.err
    assert desk.calls == []


# --- status ----------------------------------------------------------------------------------------------


def test_status_tells_how_each_client_stands(desk: Desk, settled: Moot) -> None:
    settled("mcp", "install", "claude", "--wake", "--yes")
    desk.write(".codex/config.toml", '[mcp_servers.moot]\ncommand = "moot"\n')
    found = {each["client"]: each for each in settled("mcp", "status", "--json").json}
    assert found["claude"]["found"] == f"{desk.bin}/claude"
    assert [(each["scope"], each["by"]) for each in found["claude"]["registered"]] == [("user", "moot")]
    assert found["claude"]["wake"] is True
    assert [each["by"] for each in found["codex"]["registered"]] == ["hand"]
    assert found["codex"]["wake"] is False
    assert found["gemini"]["found"] is None
    desk.write(".codex/config.toml", "not = = toml")
    told = settled("mcp", "status", "codex")
    assert told.code == 0
    assert "! codex: " in told.err
    assert os.listdir(desk.home / ".moot") != []


# --- doctor ----------------------------------------------------------------------------------------------


def checks(told: Told) -> dict[str, tuple[str, str]]:
    return {check["check"]: (check["state"], check["text"]) for check in told.json["checks"]}


def test_the_doctor_tells_of_the_clients_that_moot_connected_and_of_no_others(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MOOT_HUB__PORT", "0")
    assert not {"claude", "codex"} & set(checks(settled("doctor", "--json")))
    settled("mcp", "install", "claude", "--wake", "--yes")
    found = checks(settled("doctor", "--json"))
    assert found["claude"] == ("warn", "connected, woken by hooks; no session seen yet")
    assert "codex" not in found


def test_the_doctor_starts_the_server_and_looks_at_every_client(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    settled("mcp", "install", "codex", "--yes")
    monkeypatch.setattr("moot.cli.mcp.clients.doctor_lines.seconds_to_start", lambda: 0.4)
    assert checks(settled("doctor", "mcp", "--json")) == {
        "mcp": ("ok", "moot mcp starts in 0.4 s"),
        "claude": ("ok", "installed, not connected: moot mcp install claude"),
        "codex": ("warn", "connected, reads messages on demand; no session seen yet"),
    }
    monkeypatch.setattr("moot.cli.mcp.clients.doctor_lines.seconds_to_start", lambda: 12.3)
    told = settled("doctor", "mcp")
    assert told.code == 1
    assert "✗ mcp: moot mcp takes 12.3 s to start; Codex gives up after 10 s\n" in told.out
    (desk.bin / "codex").unlink()
    monkeypatch.setattr("moot.cli.mcp.clients.doctor_lines.seconds_to_start", lambda: None)
    found = checks(settled("doctor", "mcp", "--json"))
    assert found["mcp"] == ("bad", "moot mcp did not answer within 30 s")
    assert found["codex"] == ("warn", "connected, but no longer on PATH")


def test_the_doctor_sees_an_entry_whose_moot_is_gone_and_what_hooks_logged(
    desk: Desk, settled: Moot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.cli.mcp.clients.doctor_lines.seconds_to_start", lambda: 0.4)
    desk.write(".claude.json", '{"mcpServers": {"moot": {"command": "/gone/moot"}}}')
    desk.write(".codex/config.toml", "not = = toml")
    desk.write(".moot/logs/hooks.log", '{"error": "OSError: no room"}\n')
    found = checks(settled("doctor", "mcp", "--json"))
    assert found["claude"] == ("bad", "it starts /gone/moot, which does not exist")
    assert found["codex"][0] == "bad"
    assert found["hooks"] == ("warn", "errors in ~/.moot/logs/hooks.log; the newest: OSError: no room")
    desk.write(".moot/clients.json", "not json")
    for words in (("doctor", "mcp"), ("doctor",)):
        state, text = checks(settled(*words, "--json"))["mcp"]
        assert state == "bad"
        assert "cannot read " in text
        assert "clients.json" in text


def test_paths_with_spaces_stay_one_word_for_the_shell_that_runs_a_hook(
    desk: Desk, moot: Moot, settled: Moot
) -> None:
    elsewhere = str(desk.home / "my own 'place'")
    assert moot("--home", elsewhere, "mcp", "install", "claude", "--wake", "--yes").code == 0
    [ours] = desk.json(".claude/settings.json")["hooks"]["Stop"][0]["hooks"]
    words = shlex.split(ours["command"].removesuffix(" 2>/dev/null || true"))
    assert words == [MOOT, "mcp", "hook", "--home", elsewhere, "--client", "claude", "Stop"]
