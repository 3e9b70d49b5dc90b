"""`moot topology`: drawn in each form, written to a file, compared with one and made to be as one says."""

import signal
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doors.cli.shell import Shell, Terminal, Told
from tests.doors.http.up import Up

Moot = Callable[..., Told]
pytestmark = pytest.mark.req("S-12")
NAMES = ("manager", "support", "engineering", "finance")
TREE = """\
manager ✕ away
├─▼ support ✕ away           manager is superior of support. Both may start.
│  └─▲ engineering ✕ away    engineering is superior of support. Both may start.
└─▼ engineering ✕ away       manager is superior of engineering. Only manager may start.
   └─┄ finance ✕ away        engineering and finance are peers. The link is off.
"""
LINKS = """
[[links]]
from = "manager"
to = "support"
relationship = "superior"
"""


@pytest.fixture
def wired(shell: Shell, tmp_path: Path) -> Shell:
    """One link of moot.toml, three that somebody made."""
    toml = shell.home / "moot.toml"
    rows = "".join(f'\n[[agents]]\nname = "{name}"\n' for name in NAMES)
    toml.write_text(toml.read_text() + rows + LINKS)
    for words in (
        ("support", "engineering", "--subordinate"),
        ("manager", "engineering", "--superior", "--one-way"),
        ("engineering", "finance", "--off"),
    ):
        assert shell.moot("links", "new", *words).code == 0
    return shell


@pytest.fixture
def team(wired: Shell) -> Path:
    """All of it in a file."""
    path = wired.home.parent / "team.toml"
    assert wired.moot("topology", "export", str(path)).out == f"✓ {path}   4 links\n"
    return path


def test_the_tree_is_drawn_by_superiors_with_each_link_once(wired: Shell) -> None:
    told = wired.moot("topology", "show")
    assert told.out.startswith(TREE)
    assert "without links: " in told.out
    assert "▼ reports to the one above" in told.err
    assert wired.moot("topology", "show", "--format", "tree").out == told.out


def test_colour_only_repeats_what_the_words_say(wired: Shell) -> None:
    coloured = wired.moot("topology", "show", env={"FORCE_COLOR": "1"}).out
    assert "\x1b[38;5;169mmanager ✕ away\x1b[0m" in coloured
    plain = wired.moot("topology", "show", env={"FORCE_COLOR": "1", "NO_COLOR": "1"}).out
    assert "\x1b" not in plain
    letters = wired.moot("topology", "show", env={"MOOT_ASCII": "1"}).out
    assert letters.isascii()
    assert "|-v support x away" in letters


def test_every_other_form_has_everybody_and_every_link(wired: Shell) -> None:
    table = wired.moot("topology", "show", "--format", "table").out.splitlines()
    assert table[0].split() == ["from", "to", "from", "is", "may", "start", "is", "set", "id"]
    assert len(table) == 5
    assert "moot.toml:" in table[1]
    dot = wired.moot("topology", "show", "--format", "dot").out
    assert '"manager" -> "engineering" [dir=forward, constraint=true, label="superior"];' in dot
    assert '"engineering" -> "finance" [dir=both, constraint=false, label="peer", style=dashed];' in dot
    mermaid = wired.moot("topology", "show", "--format", "mermaid").out
    assert mermaid.startswith("graph TD\n")
    assert mermaid.count("superior") == 3
    document = wired.moot("topology", "show", "--json").json
    assert wired.moot("topology", "show", "--format", "json").json == document
    assert [link["relationship"] for link in document["links"]] == [
        "superior",
        "subordinate",
        "superior",
        "peer",
    ]


def test_nobody_is_linked(moot: Moot) -> None:
    told = moot("topology", "show")
    assert told.code == 0
    assert "arya" in told.out
    assert "agents write to each other freely" in told.err
    assert moot("topology", "show", "--format", "table").out == ""


def test_what_was_exported_is_equal_and_reads_as_toml(wired: Shell, team: Path) -> None:
    rows = tomllib.loads(team.read_text())["links"]
    assert [(row["from"], row["to"], row.get("enabled", True)) for row in rows][-1] == (
        "engineering",
        "finance",
        False,
    )
    assert "# set in moot.toml:" in team.read_text()
    told = wired.moot("topology", "diff", str(team))
    assert (told.code, told.out) == (0, "")
    assert wired.moot("topology", "export", "-").out == team.read_text()
    assert wired.moot("topology", "diff", "-", stdin=team.read_bytes()).code == 0
    again = wired.moot("topology", "export", str(team))
    assert again.code == 1
    assert "--force" in again.err
    assert wired.moot("topology", "export", str(team), "--force").code == 0


def test_a_list_in_json_is_told_from_toml(wired: Shell, tmp_path: Path) -> None:
    for text in ('{"links": []}', '  [{"from": "manager"}]'):
        (tmp_path / "team.json").write_text(text)
        told = wired.moot("topology", "apply", str(tmp_path / "team.json"), "--yes")
        assert told.code == 2
        assert told.err.startswith("error[E103] team.json is JSON; expected TOML\n")


CHANGED = """\
~ engineering and support are peers. Both may start.
  was: engineering is superior of support. Both may start.
- manager is superior of engineering. Only manager may start.
- engineering and finance are peers. The link is off.
"""


def test_a_file_is_looked_at_then_applied(wired: Shell, team: Path) -> None:
    team.write_text(f'{LINKS}[[links]]\nfrom = "engineering"\nto = "support"\n')
    differs = wired.moot("topology", "diff", str(team))
    assert (differs.code, differs.out) == (1, CHANGED)
    dry = wired.moot("topology", "apply", str(team), "--dry-run")
    assert (dry.code, dry.out) == (0, CHANGED)
    unasked = wired.moot("topology", "apply", str(team))
    assert unasked.code == 2
    assert "deleting 2 links needs confirmation" in unasked.err
    assert wired.moot("topology", "diff", str(team)).code == 1
    assert wired.moot("topology", "apply", str(team), "--yes").out == CHANGED
    assert wired.moot("topology", "diff", str(team)).code == 0
    assert wired.moot("topology", "apply", str(team), "--json").json["changed"] == []


def test_on_a_terminal_it_asks_before_it_deletes(wired: Shell, team: Path) -> None:
    team.write_text(LINKS)
    terminal = Terminal(wired, "topology", "apply", str(team))
    terminal.read_until("Delete 3 links?")
    terminal.type("n")
    assert "+" not in terminal.rest()
    assert wired.moot("topology", "diff", str(team)).code == 1


def test_it_says_whom_it_cuts_off(wired: Shell, team: Path) -> None:
    team.write_text(team.read_text() + '\n[[links]]\nfrom = "arya"\nto = "gendry"\n')
    assert "  arya could no longer write to " in wired.moot("topology", "diff", str(team)).out
    assert "  arya can no longer write to " in wired.moot("topology", "apply", str(team)).out


@pytest.mark.parametrize(
    ("text", "words", "caret"),
    [
        ("[[links]]\nfrom = \n", "is not TOML", "2 | from ="),
        (LINKS.replace("superior", "boss"), 'relationship = "boss" is not one of', "5 | relationship"),
        (f'{LINKS}[[links]]\nfrom = "manager"\nto = "nobody"\n', 'no agent is called "nobody"', "8 | to = "),
        ("[hub]\nport = 1\n", "expected [[links]] only", "1 | [hub]"),
        (
            LINKS.replace("superior", "peer"),
            "the link of manager and support is set by moot.toml:",
            "2 | [[links]]",
        ),
    ],
)
def test_a_bad_file_is_refused_with_line_and_caret_and_changes_nothing(
    wired: Shell, team: Path, text: str, words: str, caret: str
) -> None:
    good = team.read_bytes()
    team.write_text(text)
    told = wired.moot("topology", "apply", str(team), "--yes")
    assert told.code == 2
    assert "error[E103] team.toml:" in told.err
    assert words in told.err
    assert caret in told.err
    assert "^" in told.err
    assert f"fix   edit {team}" in told.err
    assert wired.moot("topology", "diff", "-", stdin=good).code == 0


def test_a_file_that_leaves_out_a_link_of_moot_toml_is_refused_with_its_line(
    wired: Shell, team: Path
) -> None:
    team.write_text("")
    told = wired.moot("topology", "apply", str(team))
    assert told.code == 1
    assert "the link of manager and support is set by moot.toml:" in told.err
    assert "Nothing was changed" in told.err
    assert (
        "! manager is superior of support. Both may start. Set in moot.toml:"
        in wired.moot("topology", "diff", str(team)).out
    )


def test_a_file_that_is_not_there_is_said_to_be_missing(moot: Moot, tmp_path: Path) -> None:
    assert moot("topology", "diff", str(tmp_path / "none.toml")).code == 3
    assert moot("topology", "apply", str(tmp_path)).code == 1


def test_a_running_hub_does_it(wired: Shell, team: Path) -> None:
    team.write_text(LINKS)
    hub = Up(wired.home)
    hub.start()
    try:
        assert wired.moot("topology", "diff", str(team)).code == 1
        assert wired.moot("topology", "apply", str(team), "--yes").code == 0
        assert "└─▼ support" in wired.moot("topology", "show").out
        refused = wired.moot("topology", "apply", "-", stdin=LINKS.replace("support", "nobody").encode())
        assert refused.code == 2
        assert 'no agent is called "nobody"' in refused.err
    finally:
        hub.end(signal.SIGTERM)


def test_the_log_of_a_link_has_what_was_done_to_it_and_what_was_said(wired: Shell) -> None:
    wired.moot("send", "manager", "a customer waits", "--as", "support", "--no-wait")
    link = wired.moot("links", "show", "support,engineering", "--json").json["id"]
    wired.moot("links", "set", link, "--peer")
    log = wired.moot("links", "log", "engineering,support", "--json").json
    assert [(entry["what"], entry["by"], entry["door"]) for entry in log] == [
        ("link.created", "user", "cli"),
        ("link.changed", "user", "cli"),
    ]
    said = wired.moot("links", "log", "manager,support").out.splitlines()
    linked = "linked manager and support (manager is superior of support. Both may start.)"
    assert said[0].endswith(f"  moot.toml {linked} by config")
    assert said[1].endswith("  support: a customer waits"), "who said it stands there once"
    wired.moot("links", "disable", link)
    for name in ("support", "engineering"):
        other = {"support": "engineering", "engineering": "support"}[name]
        assert wired.moot("send", other, "are you there?", "--as", name, "--no-wait").code == 5
    tried = wired.moot("links", "log", link).out.splitlines()[-2:]
    assert ["was refused: " in line for line in tried] == [True, True], "what did not pass is shown too"
    wired.moot("links", "rm", link, "--yes")
    gone = wired.moot("links", "log", link).out.splitlines()
    assert "deleted the link of support and engineering" in gone[-1]
    assert wired.moot("links", "log", "nothing").code == 3
    assert wired.moot("links", "log", "manager,finance").code == 3
