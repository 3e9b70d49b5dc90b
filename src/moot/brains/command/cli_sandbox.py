"""The sandbox of a coding CLI: it can write only to its project and its own state, and sees nothing else of the
person's home.

Above: cli_plan.py. Below: bubblewrap. The network stays open: the CLI talks to its provider. The keeper ends the CLI;
`--die-with-parent` and a process namespace of its own make sure of it.

Files that decide which programs run later, outside the sandbox, are read-only: settings and hooks of the CLIs, and what
leads the project's repository to settings and hooks. Settings of the CLIs that do not exist yet can still be created;
see the how-to. Other repositories in the project are checked after each turn (repository/git_guard.py).
"""

import os
import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, TypeAlias

from moot import files
from moot.brains.command.worktree_git import LinkedWorktree, reads_worktree_settings, sets_worktree

SandboxWrap: TypeAlias = Callable[[list[str], Sequence[Path]], list[str]]
"""Puts a command line into the sandbox; the paths are made visible to it."""

STATE: Final = (
    *(".claude", ".claude.json", ".codex", ".gemini", ".qwen", ".copilot", ".kimi"),
    *(
        f".{folder}/{name}"
        for folder in ("config", "cache", "local/share", "local/state")
        for name in ("opencode", "goose")
    ),
    ".config/github-copilot",
)
"""Where CLIs keep their login and their sessions. Not whole folders such as `.config`, which also hold what other
programs start from."""
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
"""The parts of such a folder that decide which programs run, or what a model is told."""
SOCKETS: Final = (Path("/run"), Path("/var/run"))
"""Where the system's services listen. A read-only mount would not help: connecting needs no write permission."""
RESOLVER: Final = Path("/etc/resolv.conf")
"""Often a link into `/run`; without it the provider's host name cannot be resolved."""
PROTECTED_IN_REPOSITORIES: Final = ("commondir", "modules", "worktrees")
"""Besides settings and hooks: what leads git to the settings of another folder. A `commondir` that names its own folder
changes nothing; it is made so that no other can be."""
PROTECTED_IN_PROJECTS: Final = (
    *(".git/hooks", ".git/config", ".git/config.worktree"),
    *(".claude", ".codex", ".mcp.json", ".vscode", ".idea"),
)


def find_bwrap() -> str | None:
    return shutil.which("bwrap")


def no_sandbox(argv: list[str], visible: Sequence[Path] = ()) -> list[str]:
    return argv


def wrapper(
    bwrap: str,
    project: Path,
    environ: Mapping[str, str],
    moot_home: Path,
    worktree: LinkedWorktree | None = None,
) -> SandboxWrap:
    """`moot_home` is hidden; `worktree` is given if the project's repository lies elsewhere."""
    home = Path(environ.get("HOME") or "/nonexistent").resolve()
    state = [home / part for part in STATE] + [
        Path(environ[name]) for name in STATE_VARIABLES if environ.get(name)
    ]
    temporary = Path(environ.get("TMPDIR") or "/tmp").absolute()
    covers = dict.fromkeys((*SOCKETS, Path("/tmp"), home))
    if not home.is_relative_to(temporary):
        covers[temporary] = None  # TMPDIR is passed on, so it has to exist and be writable

    def wrap(argv: list[str], visible: Sequence[Path] = ()) -> list[str]:
        program = shutil.which(argv[0], path=environ.get("PATH")) or argv[0]
        options = [bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
        options += ["--dev", "/dev", "--proc", "/proc"]
        readable = (*_program_folders(Path(program)), *_moot_folders(), RESOLVER.resolve())
        for cover in covers:  # their contents are mounted after them: a later mount covers an earlier one
            if cover.is_dir() and not cover.is_symlink() and cover != Path("/"):
                options += ["--tmpfs", str(cover)]
                options += _bind("--ro-bind", (path for path in readable if path.is_relative_to(cover)))
        options += _bind("--bind", state)
        options += _bind("--ro-bind", (folder / part for folder in state for part in SETTINGS))
        options += ["--tmpfs", str(moot_home)] if moot_home.is_dir() else []
        options += _bind("--bind", (path for path in visible if path.is_dir()))
        options += _bind("--ro-bind", (path for path in visible if path.is_file()))
        if worktree is not None:
            options += ["--ro-bind", str(worktree.top), str(worktree.top)]
        options += ["--bind", str(project), str(project)]
        options += worktree.mounts(home) if worktree is not None else _git_mounts(project / ".git")
        options += _bind("--ro-bind", (project / part for part in PROTECTED_IN_PROJECTS))
        return [*options, "--chdir", str(project), "--", program, *argv[1:]]

    return wrap


def _git_mounts(git: Path) -> list[str]:
    """Mount the repository itself, so that no rename can replace it with one that has other settings."""
    if git.is_symlink() or not git.exists():
        return []
    if git.is_file():
        return ["--ro-bind", str(git), str(git)]
    if reads_worktree_settings(git):
        (git / "config.worktree").touch()  # what is there can be made read-only
    hooks, elsewhere = git / "hooks", git / "commondir"
    if not os.path.lexists(elsewhere) and not sets_worktree(git):
        files.replace_below(git, (elsewhere.name,), b".\n", 0o644, make=False)
    words = ["--bind", str(git), str(git), *(() if os.path.lexists(hooks) else ("--tmpfs", str(hooks)))]
    return [*words, *_bind("--ro-bind", [git / part for part in PROTECTED_IN_REPOSITORIES])]


def _bind(how: str, paths: Iterator[Path] | Sequence[Path]) -> list[str]:
    return [word for path in dict.fromkeys(paths) if path.exists() for word in (how, str(path), str(path))]


def _program_folders(program: Path) -> list[Path]:
    """The folders that a program is installed in, and nothing around them."""
    found = [program.parent]
    real = program.resolve()
    above = [folder for folder in real.parents if folder.name == "node_modules"]
    found.append(above[-1] if above else real.parent)
    return [path for path in found if path.is_dir() and os.access(path, os.R_OK)]


def _moot_folders() -> list[Path]:
    """Where Moot is installed: its own small programs run in the sandbox too (tool_relay.py)."""
    return [Path(sys.prefix), Path(sys.base_prefix), Path(__file__).resolve().parents[2]]
