"""What is asked of the shell tool is judged before anything runs, and a refusal says what is possible."""

from pathlib import Path
from typing import Any

import pytest

from moot.tools.command import MAX_BYTES, MAX_WORDS, AskedCommand, CommandRefused, checked

ALLOWED = ("git", "ls", "grep")

pytestmark = pytest.mark.req("K-10")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    (project / "file").touch()
    (tmp_path / "outside").mkdir()
    (project / "out").symlink_to(tmp_path / "outside")
    (project / "in").symlink_to("src")
    (project / "loop").symlink_to("loop")
    return project.resolve()


@pytest.mark.parametrize(
    ("arguments", "argv"),
    [
        ({"argv": ["git", "status"]}, ("git", "status")),
        ({"argv": ["ls", "; rm -rf /", "$(id)", "`id`", "|", "&&", ">x"]}, None),
        ({"command": "git log -3"}, ("git", "log", "-3")),
        ({"command": "  ls  "}, ("ls",)),
        (
            {"command": "git commit -m 'a | b; c && $(d) `e` > f'"},
            ("git", "commit", "-m", "a | b; c && $(d) `e` > f"),
        ),
        ({"command": 'grep "a|b" file'}, ("grep", "a|b", "file")),
        ({"command": r"grep a\|b"}, ("grep", "a|b")),
        ({"command": "grep 'end$' x"}, ("grep", "end$", "x")),
        (
            {"command": "git show HEAD~1 stash@{0} '*.py' *.c #5"},
            ("git", "show", "HEAD~1", "stash@{0}", "*.py", "*.c", "#5"),
        ),
        ({"command": "git commit -m 'two\nlines'"}, ("git", "commit", "-m", "two\nlines")),
    ],
)
def test_words_reach_the_program_as_they_are(
    arguments: dict[str, Any], argv: tuple[str, ...] | None, project: Path
) -> None:
    assert checked(arguments, ALLOWED, project) == AskedCommand(argv or tuple(arguments["argv"]), project)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({}, "either argv or command, not neither"),
        ({"argv": ["ls"], "command": "ls"}, "either argv or command, not both"),
        ({"argv": []}, "argv is empty"),
        ({"argv": "ls"}, "argv is a list of texts"),
        ({"argv": ["ls", 1]}, "argv is a list of texts"),
        ({"command": ["ls"]}, "command is one text"),
        ({"argv": ["ls"], "env": {}}, "'env' is not an argument of shell"),
        ({"command": ""}, "is empty"),
        ({"command": "ls | grep x"}, "a pipe needs one"),
        ({"command": "ls; id"}, "';' needs one"),
        ({"command": "ls && id"}, "'&' needs one"),
        ({"command": "ls &"}, "'&' needs one"),
        ({"command": "ls > x"}, "a redirection needs one"),
        ({"command": "grep x <y"}, "a redirection needs one"),
        ({"command": "(ls)"}, "a subshell needs one"),
        ({"command": "ls\nid"}, "a second line needs one"),
        ({"command": "ls $(id)"}, "a substitution needs one"),
        ({"command": "ls `id`"}, "a substitution needs one"),
        ({"command": "ls $HOME"}, "a substitution needs one"),
        ({"command": 'ls "${HOME}"'}, "a substitution needs one"),
        ({"command": 'ls "`id`"'}, "a substitution needs one"),
        ({"command": "ls 'x"}, "a quote that is never closed"),
        ({"command": "A=1 ls"}, "'A=1' sets a variable"),
        ({"argv": ["rm", "x"]}, "'rm' is not on this agent's list. Allowed: git, ls, grep."),
        ({"argv": ["/bin/ls"]}, "'/bin/ls' is a path"),
        ({"argv": ["./ls"]}, "'./ls' is a path"),
        ({"argv": ["../bin/ls"]}, "is a path"),
        ({"argv": ["ls "]}, "is not on this agent's list"),
        ({"argv": ["LS"]}, "is not on this agent's list"),
        ({"argv": [""]}, "is not on this agent's list"),
        ({"argv": ["ls\0"]}, "NUL"),
        ({"argv": ["ls", "a\0b"]}, "NUL"),
        ({"argv": ["ls", "\ud800"]}, "surrogate"),
        ({"argv": ["ls", *["x"] * MAX_WORDS]}, f"at most {MAX_WORDS}"),
        ({"argv": ["ls", "x" * MAX_BYTES]}, f"at most {MAX_BYTES}"),
        ({"argv": ["ls"], "cwd": "/"}, "is not relative"),
        ({"argv": ["ls"], "cwd": "~"}, "is not relative"),
        ({"argv": ["ls"], "cwd": ".."}, "is outside the project"),
        ({"argv": ["ls"], "cwd": "src/../../outside"}, "is outside the project"),
        ({"argv": ["ls"], "cwd": "out"}, "is outside the project"),
        ({"argv": ["ls"], "cwd": "none"}, "does not exist"),
        ({"argv": ["ls"], "cwd": "loop"}, "does not exist"),
        ({"argv": ["ls"], "cwd": "file"}, "is not a folder"),
        ({"argv": ["ls"], "cwd": "a\0b"}, "inside the project"),
        ({"argv": ["ls"], "cwd": 3}, "inside the project"),
    ],
)
def test_what_cannot_be_done_is_refused_in_words(
    arguments: dict[str, Any], words: str, project: Path
) -> None:
    with pytest.raises(CommandRefused) as refused:
        checked(arguments, ALLOWED, project)
    assert words in str(refused.value)


@pytest.mark.parametrize("cwd", ["src", "./src", "in", "src/../src", "src/.."])
def test_a_folder_inside_the_project_is_fine(cwd: str, project: Path) -> None:
    folder = checked({"argv": ["ls"], "cwd": cwd}, ALLOWED, project).cwd
    assert folder == (project if cwd == "src/.." else project / "src")


def test_nothing_is_allowed_where_nothing_is_listed(project: Path) -> None:
    with pytest.raises(CommandRefused, match="is not on this agent's list"):
        checked({"argv": ["ls"]}, (), project)
