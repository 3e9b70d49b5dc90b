"""A wall around a coding CLI: it writes to its project and its own state alone, and sees nothing else of the person's
home.

Above: cli_plan.py. Below: bubblewrap. The network stays: the CLI talks to its provider. Its end is the keeper's
business; `--die-with-parent` and a process namespace of its own make it certain.
"""

import os
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Final

STATE: Final = (
    ".claude",
    ".claude.json",
    ".codex",
    ".config",
    ".cache",
    ".local/share",
    ".local/state",
    ".gemini",
    ".qwen",
)
"""Where CLIs keep their login and their sessions."""


def find_bwrap() -> str | None:
    return shutil.which("bwrap")


def wrapper(
    bwrap: str, project: Path, environ: Mapping[str, str], hidden: Path
) -> Callable[[list[str]], list[str]]:
    """Puts a command line behind the wall. `hidden` is Moot's own home."""
    home = Path(environ.get("HOME") or "/nonexistent").resolve()

    def wrapped(argv: list[str]) -> list[str]:
        program = shutil.which(argv[0], path=environ.get("PATH")) or argv[0]
        real = Path(program).resolve()
        words = [bwrap, "--die-with-parent", "--unshare-pid", "--unshare-ipc", "--ro-bind", "/", "/"]
        words += ["--dev", "/dev", "--proc", "/proc"]
        for cover in (Path("/tmp"), home):  # what lies in them comes after: the later covers the earlier
            if cover.is_dir() and cover != Path("/"):
                words += ["--tmpfs", str(cover)]
                for folder in _needed((real, Path(program)), cover):
                    words += ["--ro-bind", str(folder), str(folder)]
        for part in STATE:
            if (home / part).exists():
                words += ["--bind", str(home / part), str(home / part)]
        words += ["--tmpfs", str(hidden)] if hidden.is_dir() else []
        words += ["--bind", str(project), str(project), "--chdir", str(project), "--"]
        return [*words, program, *argv[1:]]

    return wrapped


def _needed(program: tuple[Path, ...], cover: Path) -> list[Path]:
    """What of a folder that is covered the program itself lies in."""
    found: list[Path] = []
    for path in program:
        if path.is_relative_to(cover):
            top = cover / path.relative_to(cover).parts[0]
            found.append(top if top.is_dir() and os.access(top, os.R_OK) else path.parent)
    return list(dict.fromkeys(found))
