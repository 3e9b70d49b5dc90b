"""Completion: verbs, options and live names; quick, without a hub, and without making anything."""

import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from moot.cli.completion import answer
from tests.doors.cli.shell import MOOT, Shell, Told
from tests.support.stopwatch import work_done

Moot = Callable[..., Told]
pytestmark = pytest.mark.req("P-08")


def bash(line: str, home: Path) -> list[str]:
    """What is offered at the end of a line, asked as bash asks."""
    words = answer.split(line)
    at = len(words) if line.endswith(" ") else len(words) - 1
    environ = {
        "_MOOT_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(at),
        "MOOT_HOME": str(home),
    }
    given, incomplete = answer.typed_words(environ)
    return [value for value, _ in answer.candidates(given, incomplete, environ)]


@pytest.fixture
def home(moot: Moot, shell: Shell) -> Path:
    moot("conv", "new", "build", "--with", "arya,gendry")
    moot("conv", "new", "old")
    moot("conv", "archive", "old")
    moot("send", "arya", "hello", "--no-wait")
    return shell.home


def test_verbs_come_from_the_tree(home: Path) -> None:
    assert {"chat", "send", "ask", "conv", "group", "completion"} <= set(bash("moot ", home))
    assert bash("moot se", home) == ["search", "send"]
    assert {"new", "list", "show", "dissolve"} <= set(bash("moot conv ", home))
    assert bash("moot conversations sh", home) == ["show"]
    assert bash("moot --json conv dis", home) == ["dissolve"]
    assert bash("moot nonsense ", home) == []


@pytest.mark.parametrize(
    "line", ["moot chat ", "moot send ", "moot ask ", "moot agents show ", "moot send --as "]
)
def test_agents_are_offered_where_an_agent_is_meant(home: Path, line: str) -> None:
    assert set(bash(line, home)) == {"arya", "gendry", "quiet", "caller", "broken", "slow"}
    assert bash(f"{line}ge", home) == ["gendry"]


@pytest.mark.parametrize(
    "line",
    [
        "moot chat --conv ",
        "moot send --conv ",
        "moot conv show ",
        "moot group add arya --conv ",
        "moot tail --conv ",
    ],
)
def test_open_conversations_are_offered_where_one_is_meant(home: Path, line: str) -> None:
    assert bash(line, home) == ["build"]


def test_words_that_are_a_text_are_not_completed(home: Path) -> None:
    assert bash("moot send arya ", home) == []
    assert bash("moot send --conv build ", home) == []
    assert bash("moot ask arya -- ge", home) == []
    assert "gendry" in bash("moot chat arya ", home)
    assert "gendry" in bash("moot conv add build arya ", home)


def test_options_and_their_values(home: Path) -> None:
    assert bash("moot send --req", home) == ["--require"]
    assert bash("moot send --require ", home) == ["queued", "delivered", "answered"]
    assert "--json" not in bash("moot send --json --", home)
    assert "--conv" in bash("moot send arya --", home)
    assert bash("moot completion ", home) == ["bash", "zsh", "fish"]
    assert bash("moot conv list --kind di", home) == ["direct"]
    assert bash("moot send --file ", home) == ["\0file"]


def test_a_quote_that_is_still_open_does_no_harm(home: Path) -> None:
    assert bash('moot send arya "half a te', home) == []
    assert answer.split("moot 'x y") == ["moot", "x y"]


def test_a_home_that_is_not_there_or_not_readable_is_left_alone(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    assert bash("moot chat ", nowhere) == []
    assert bash(f"moot --home {nowhere} conv show ", tmp_path) == []
    assert not nowhere.exists()
    broken = tmp_path / "broken"
    broken.mkdir()
    (broken / "moot.db").write_bytes(b"no database")
    (broken / "moot.toml").write_text("no = [toml")
    assert bash("moot chat ", broken) == []
    assert sorted(path.name for path in broken.iterdir()) == ["moot.db", "moot.toml"]
    described = tmp_path / "described"
    described.mkdir()
    (described / "moot.toml").write_text('[[agents]]\nname = "arya"\n')
    assert bash("moot chat ", described) == ["arya"]
    assert [path.name for path in described.iterdir()] == ["moot.toml"]


def process(home: Path, environ: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    shell = Shell(home)
    return subprocess.run([MOOT], env=shell.environ(environ), capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("kind", "line", "at", "told"),
    [
        ("bash", "moot chat ge", "2", "plain,gendry\n"),
        ("zsh", "moot chat ge", "2", "plain\ngendry\n_\n"),
        ("fish", "moot chat ge", "ge", "plain,gendry\n"),
        ("fish", "moot conv dis", "dis", "plain,dissolve\tDissolve a group; its history stays readable.\n"),
        ("zsh", "moot gro", "1", "plain\ngroup\nThe /group commands, from a shell.\n"),
    ],
)
def test_each_shell_is_answered_in_its_own_form(home: Path, kind: str, line: str, at: str, told: str) -> None:
    done = process(home, {"_MOOT_COMPLETE": f"{kind}_complete", "COMP_WORDS": line, "COMP_CWORD": at})
    assert (done.returncode, done.stdout, done.stderr) == (0, told, "")


def test_a_question_that_makes_no_sense_is_answered_with_silence(home: Path) -> None:
    done = process(home, {"_MOOT_COMPLETE": "bash_complete", "COMP_WORDS": "moot x", "COMP_CWORD": "soon"})
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.parametrize("kind", ["bash", "zsh", "fish"])
def test_the_script_is_clicks_own(moot: Moot, kind: str) -> None:
    told = moot("completion", kind)
    assert told.code == 0
    assert f"_MOOT_COMPLETE={kind}_complete" in told.out
    assert moot("completion", kind, "--json").json["script"] == told.out[:-1]
    assert moot("completion", "tcsh").code == 2


def test_bash_itself_completes_with_the_script(home: Path) -> None:
    script = """
    eval "$(moot completion bash)"
    COMP_WORDS=(moot chat ge); COMP_CWORD=2
    _moot_completion moot
    echo "${COMPREPLY[@]}"
    """
    environ = Shell(home).environ({"PATH": f"{MOOT.parent}:/usr/bin:/bin"})
    done = subprocess.run(["bash", "-c", script], env=environ, capture_output=True, text=True, check=False)
    assert done.stdout == "gendry\n", done.stderr


def test_it_imports_next_to_nothing_and_takes_little_more_than_python_itself(home: Path) -> None:
    """Of a processor, beside the interpreter's own start: 50 ms where that takes 20."""
    asked = {"_MOOT_COMPLETE": "bash_complete", "COMP_WORDS": "moot chat ", "COMP_CWORD": "2"}
    loud = process(home, {**asked, "PYTHONPROFILEIMPORTTIME": "1"})
    imported = {line.rpartition("|")[2].strip() for line in loud.stderr.splitlines()}
    assert not imported & {
        "click",
        "msgspec",
        "asyncio",
        "structlog",
        "moot.hub",
        "moot.settings",
        "subprocess",
    }

    def least_work(*command: str) -> float:
        took = []
        for _ in range(7):
            before = work_done()
            subprocess.run(command, env=Shell(home).environ(asked), capture_output=True, check=False)
            took.append(work_done() - before)
        return min(took)

    bare = least_work(str(MOOT.with_name("python")), "-c", "import json, shlex, tomllib, apsw")
    assert least_work(str(MOOT)) < 2.5 * bare + 0.02
