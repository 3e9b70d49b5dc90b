"""A wall around a coding CLI: it writes to its project and its own state alone, and sees nothing else of the person's
home.

Above: cli_plan.py. Below: bubblewrap. The network stays: the CLI talks to its provider. Its end is the keeper's
business; `--die-with-parent` and a process namespace of its own make it certain.

What decides which programs run later, outside the wall, stays as it is: settings and hooks of the CLIs, hooks and
settings of the project's repository. What of these is not there yet can still be made; see the how-to.
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from moot.brains.command.worktree_git import LinkedWorktree, reads_worktree_settings

Wall: TypeAlias = Callable[[list[str], Sequence[Path]], list[str]]
"""Puts a command line behind the wall, with what it has to see besides."""

STATE: Final = (
    *(".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".copilot", ".kimi"),
    *(
        f".{place}/{name}"
        for place in ("config", "cache", "local/share", "local/state")
        for name in ("opencode", "goose")
    ),
    ".config/github-copilot",
)
"""Where CLIs keep their login and their sessions. Not whole folders such as `.config`: what other programs start from
lies there too."""
STATE_VARIABLES: Final = ("CLAUDE_CONFIG_DIR", "CODEX_HOME")
SETTINGS: Final = (
    *(
        "settings.json",
        "settings.local.json",
        "hooks",
        "commands",
        "agents",
        "plugins",
        "skills",
        "CLAUDE.md",
    ),
    *("config.toml", "hooks.json", "AGENTS.md", "prompts", "rules"),
)
"""What in such a folder says which programs run, or what a model is told."""
SOCKETS: Final = (Path("/run"), Path("/var/run"))
"""Where the system's services listen: to connect to one takes no right to write."""
RESOLVER: Final = Path("/etc/resolv.conf")
"""Often a link into there; without it no name of a provider is found."""
OF_PROJECTS: Final = (
    *(".git/hooks", ".git/config", ".git/config.worktree"),
    *(".claude", ".codex", ".mcp.json", ".vscode", ".idea"),
)


def find_bwrap() -> str | None:
    return shutil.which("bwrap")


def no_wall(argv: list[str], visible: Sequence[Path] = ()) -> list[str]:
    return argv


def wrapper(
    bwrap: str,
    project: Path,
    environ: Mapping[str, str],
    hidden: Path,
    worktree: LinkedWorktree | None = None,
) -> Wall:
    """`hidden` is Moot's own home; `worktree` where the project's repository lies elsewhere."""
    home = Path(environ.get("HOME") or "/nonexistent").resolve()
    state = [home / part for part in STATE] + [
        Path(environ[name]) for name in STATE_VARIABLES if environ.get(name)
    ]
    temporary = Path(environ.get("TMPDIR") or "/tmp").absolute()
    covers = dict.fromkeys((*SOCKETS, Path("/tmp"), home))
    if not home.is_relative_to(temporary):
        covers[temporary] = None  # one that the program is told of has to be there, and to be written

    def wrapped(argv: list[str], visible: Sequence[Path] = ()) -> list[str]:
        program = shutil.which(argv[0], path=environ.get("PATH")) or argv[0]
        words = [bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
        words += ["--dev", "/dev", "--proc", "/proc"]
        seen = (*_installed(Path(program)), *_moot(), RESOLVER.resolve())
        for cover in covers:  # what lies in them comes after: the later covers the earlier
            if cover.is_dir() and not cover.is_symlink() and cover != Path("/"):
                words += ["--tmpfs", str(cover)]
                words += _bound("--ro-bind", (path for path in seen if path.is_relative_to(cover)))
        words += _bound("--bind", state)
        words += _bound("--ro-bind", (place / part for place in state for part in SETTINGS))
        words += ["--tmpfs", str(hidden)] if hidden.is_dir() else []
        words += _bound("--bind", (path for path in visible if path.is_dir()))
        words += _bound("--ro-bind", (path for path in visible if path.is_file()))
        if worktree is not None:
            words += ["--ro-bind", str(worktree.top), str(worktree.top)]
        words += ["--bind", str(project), str(project)]
        words += worktree.mounts(home) if worktree is not None else _pinned(project / ".git")
        words += _bound("--ro-bind", (project / part for part in OF_PROJECTS))
        return [*words, "--chdir", str(project), "--", program, *argv[1:]]

    return wrapped


def _pinned(git: Path) -> list[str]:
    """The repository itself is a mount: a rename would otherwise put another in its place, with other settings."""
    if git.is_symlink() or not git.exists():
        return []
    if git.is_file():
        return ["--ro-bind", str(git), str(git)]
    if reads_worktree_settings(git):
        (git / "config.worktree").touch()  # what is there can be made read-only
    hooks = git / "hooks"
    return ["--bind", str(git), str(git), *(() if os.path.lexists(hooks) else ("--tmpfs", str(hooks)))]


def _bound(how: str, paths: Iterator[Path] | Sequence[Path]) -> list[str]:
    return [word for path in dict.fromkeys(paths) if path.exists() for word in (how, str(path), str(path))]


def _installed(program: Path) -> list[Path]:
    """The folders that a program is installed in, and no more around them than it needs."""
    found = [program.parent]
    real = program.resolve()
    above = [folder for folder in real.parents if folder.name == "node_modules"]
    found.append(above[-1] if above else real.parent)
    return [path for path in found if path.is_dir() and os.access(path, os.R_OK)]


def _moot() -> list[Path]:
    """Moot itself, as it is installed: its own small programs run behind the wall too (tool_relay.py)."""
    return [Path(sys.prefix), Path(sys.base_prefix), Path(__file__).resolve().parents[2]]
