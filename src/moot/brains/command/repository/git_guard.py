"""A look at the repositories of a project before and after an agent has worked there: what would make a person's git
run a program of the agent's is put back as it was, kept in quarantine, and told to the owner.

Git follows what lies in a repository: programs that its settings name, hooks, `commondir`, which leads to the settings
of another folder, links through which it writes. A repository below the project counts as well: `git status` above it
runs git inside of it once the index names it. Nothing keeps an agent that may write files from making one, so they
are looked for after every turn, and when its program has ended. In the sandbox `.git` itself is closed
(cli_sandbox.py), so what changes there is not the agent's.

Above: command_brain.py. Below: git_settings.py, quarantine.py. No link is followed: the agent may still be at work.
"""

import os
import stat
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Final, TypeAlias

import structlog
from msgspec import Struct, msgpack

from moot import files
from moot.brains.command.repository import quarantine
from moot.brains.command.repository.git_settings import added_by_stealth
from moot.brains.command.repository.quarantine import RepositoryFinding
from moot.settings import Home

log = structlog.get_logger("moot.coding")

FIND_SECONDS: Final = 30.0
MAX_FOUND_BYTES: Final = 16 * 1024 * 1024
MAX_FILE_BYTES: Final = 1024 * 1024
MAX_LOG_FILES: Final = 20_000
MAX_FINDINGS: Final = 200
SETTINGS: Final = ("config", "config.worktree")
ELSEWHERE: Final = "commondir"
"""Names the folder that git takes settings, hooks and branches from."""
NOWHERE_ELSE: Final = b"."
"""In that file: the folder itself. Moot puts it there so that nothing else can be put there (cli_sandbox.py)."""
GIT: Final = ".git"
SAMPLE: Final = ".sample"


class Trap(Struct, frozen=True):
    """Something that git would follow, as it is."""

    kind: str
    """`file`, `link`, `folder`, `large` (a file that is too large to keep), or `odd`."""
    content: bytes = b""
    """Of a file; where a link leads."""
    mode: int = 0


Traps: TypeAlias = dict[str, Trap]


class GitGuard:
    """Of one agent in one project."""

    def __init__(self, agent: str, project: Path, home: Home, *, sandboxed: bool = False) -> None:
        self._agent = agent
        self._project = project
        self._home = home
        top = next((folder for folder in (project, *project.parents) if os.path.lexists(folder / GIT)), None)
        self._roots = tuple(dict.fromkeys((project, *_git_folders_of(top, sandboxed))))
        self._closed = top / GIT if sandboxed and top is not None else None
        """Settings and hooks there are closed to the agent: if they change, somebody else did it."""
        self._note = home.run / "git" / f"{agent}.before"
        self._before: Traps | None = None
        self._programs = 0
        self._lock = threading.Lock()

    def begin(self) -> None:
        """Before a program starts. What a killed host had noted counts: nobody has looked since."""
        with self._lock:
            self._programs += 1
            if self._before is None:
                self._before = self._noted() or self._look()
                self._note_down(self._before)

    def check(self) -> tuple[RepositoryFinding, ...]:
        """Undo what a person's git must not follow; what is harmless stays."""
        with self._lock:
            return self._check()

    def end(self) -> None:
        """A program has ended, with all that it had started."""
        with self._lock:
            self._check()
            self._programs -= 1
            if not self._programs:
                self._before = None
                self._note.unlink(missing_ok=True)

    def _check(self) -> tuple[RepositoryFinding, ...]:
        if self._before is None:
            return ()
        after = self._look()
        findings = self._undo(self._before, after)
        self._before = self._look() if findings else after
        self._note_down(self._before)
        return findings

    # --- what was there before ------------------------------------------------------------------------------------

    def _noted(self) -> Traps | None:
        try:
            return msgpack.decode(files.read(self._note, 1 << 30), type=Traps)
        except (OSError, ValueError):
            return None

    def _note_down(self, traps: Traps) -> None:
        self._note.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        files.replace(self._note, msgpack.encode(traps))

    # --- looking --------------------------------------------------------------------------------------------------

    def _look(self) -> Traps:
        traps: Traps = {}
        for root in self._roots:
            for place in self._find(root):
                if place.name == GIT and (trap := _trap(place)) is not None:
                    traps[str(place)] = trap
                if place.name == "HEAD" and _is_git_folder(place.parent):
                    traps |= self._traps_in(place.parent)
        return traps

    def _find(self, root: Path) -> list[Path]:
        """Every `.git` and every `HEAD` below a folder. A program does it: a project may have a million files."""
        words = ["find", str(root), "-xdev", "(", "-name", GIT, "-o", "-name", "HEAD", ")", "-print0"]
        try:
            done = subprocess.run(words, capture_output=True, timeout=FIND_SECONDS, check=False)
            found, complaint = done.stdout, b""
        except subprocess.TimeoutExpired as late:
            found, complaint = late.stdout or b"", b"it took too long"
        except OSError as trouble:
            found, complaint = b"", str(trouble).encode()
        if len(found) > MAX_FOUND_BYTES:
            complaint = b"there are too many"
        if complaint:
            log.warning(
                "not every repository below a project was looked at",
                action="repositories_not_seen",
                agent=self._agent,
                project=str(root),
                error=complaint.decode(),
            )
        own = [root / GIT, root / GIT / "HEAD", root / "HEAD"]
        listed = [Path(os.fsdecode(name)) for name in found[:MAX_FOUND_BYTES].split(b"\0")[:-1]]
        return list(dict.fromkeys((*own, *listed)))

    def _traps_in(self, folder: Path) -> Traps:
        traps: Traps = {}
        closed = self._closed is not None and folder.is_relative_to(self._closed)
        places = [] if closed else [*(folder / name for name in SETTINGS), *_hooks(folder)]
        for place in (folder / ELSEWHERE, *places):
            if (trap := _trap(place)) is not None:
                traps[str(place)] = trap
        for place in _links(folder):
            if (trap := _trap(place)) is not None and trap.kind == "link":
                traps[str(place)] = trap
        return traps

    # --- comparing ------------------------------------------------------------------------------------------------

    def _undo(self, before: Traps, after: Traps) -> tuple[RepositoryFinding, ...]:
        changed = sorted(path for path in {*before, *after} if before.get(path) != after.get(path))
        judged = [(path, self._judge(Path(path), before.get(path), after.get(path))) for path in changed]
        traps = [(path, what) for path, what in judged if what][:MAX_FINDINGS]
        if not traps:
            return ()
        folder = quarantine.new_folder(self._home, self._agent)
        findings = tuple(
            self._put_back(Path(path), what, before.get(path), folder, f"{number}-{Path(path).name}")
            for number, (path, what) in enumerate(traps, 1)
        )
        quarantine.write_note(folder, self._agent, findings)
        return findings

    def _judge(self, path: Path, before: Trap | None, after: Trap | None) -> str:
        """What is wrong with a change; empty where it is harmless."""
        if after is None:
            is_needed = path.name not in (GIT, "HEAD") and before is not None and before.kind == "file"
            return "was removed" if is_needed and _is_git_folder(_git_folder_of(path)) else ""
        if after.kind in ("link", "odd"):
            words = "a link" if after.kind == "link" else "no plain file"
            return f"became {words}" if before is not None else f"is {words}, and new"
        if path.name == GIT:
            return self._judge_git(path, after)
        if path.parent.name != "hooks" and path.name in SETTINGS:
            return self._judge_settings(path, before, after)
        if path.parent.name != "hooks" and path.name == ELSEWHERE:
            return "" if _leads_nowhere_else(path, after) else "leads git to another repository"
        return "is a changed hook" if before is not None else "is a new hook"

    def _judge_settings(self, path: Path, before: Trap | None, after: Trap) -> str:
        names = added_by_stealth(before.content if before is not None else b"", after.content)
        names = [name for name in names if not self._is_of_submodule(path, name, after)]
        return f"has {', '.join(names)}" if names else ""

    def _judge_git(self, path: Path, after: Trap) -> str:
        """A `.git` that is a folder is looked into. A file may name only what is looked into as well."""
        if after.kind == "folder":
            return ""
        target = os.fsdecode(after.content.strip().removeprefix(b"gitdir:").strip())
        place = Path(os.path.realpath(path.parent / target))
        is_seen = any(place.is_relative_to(os.path.realpath(root)) for root in self._roots)
        return "" if is_seen else f"leads git to {place}"

    def _is_of_submodule(self, path: Path, name: str, after: Trap) -> bool:
        """`git submodule add` writes where the submodule's files are: inside the project."""
        if name != "core.worktree" or "modules" not in path.parts:
            return False
        lines = [line.strip() for line in after.content.decode(errors="replace").splitlines()]
        values = [line.partition("=")[2].strip() for line in lines if line.lower().startswith("worktree")]
        places = [Path(os.path.realpath(path.parent / value)) for value in values]
        return bool(places) and all(place.is_relative_to(self._project) for place in places)

    # --- putting it back ------------------------------------------------------------------------------------------

    def _put_back(
        self, path: Path, what: str, before: Trap | None, folder: Path, name: str
    ) -> RepositoryFinding:
        root = next(root for root in self._roots if path.is_relative_to(root))
        parts, kept = path.relative_to(root).parts, ""
        try:
            if os.path.lexists(path):
                files.move_below(root, parts, folder / name)
                kept = name
            if before is not None and before.kind == "file" and path.name != GIT:
                files.replace_below(root, parts, before.content, before.mode, make=False)
        except OSError as trouble:
            return RepositoryFinding(str(path), what, kept, files.why(trouble))
        return RepositoryFinding(str(path), what, kept)


def _git_folders_of(top: Path | None, sandboxed: bool) -> Iterator[Path]:
    """Where git takes settings from for files below `top`: in a worktree that is another place."""
    if top is None:
        return
    if not (top / GIT).is_file():
        yield top / GIT
    elif not sandboxed:  # in the sandbox it is not there to be written
        with suppress(OSError, ValueError):
            link = (top / GIT).read_text()[:4096].removeprefix("gitdir:").strip()
            admin = Path(os.path.realpath(top / link))
            yield admin
            if (admin / ELSEWHERE).is_file():
                yield Path(os.path.realpath(admin / (admin / ELSEWHERE).read_text()[:4096].strip()))


def _is_git_folder(folder: Path) -> bool:
    """As git sees it; where its objects are does not matter if it names another place for them."""
    lies = os.path.lexists
    return lies(folder / "HEAD") and (
        lies(folder / ELSEWHERE) or (lies(folder / "objects") and lies(folder / "refs"))
    )


def _git_folder_of(path: Path) -> Path:
    return path.parent.parent if path.parent.name == "hooks" else path.parent


def _hooks(folder: Path) -> Iterator[Path]:
    hooks = folder / "hooks"
    if not hooks.is_symlink():  # that is a trap by itself
        with suppress(OSError):
            yield from (hooks / name for name in os.listdir(hooks) if not name.endswith(SAMPLE))


def _links(folder: Path) -> Iterator[Path]:
    """Git writes through links in its own folder, and in its logs."""
    with suppress(OSError):
        yield from (Path(entry.path) for entry in os.scandir(folder) if entry.is_symlink())
    number = 0
    for above, folders, names in os.walk(folder / "logs"):
        for name in (*folders, *names):
            number += 1
            if os.path.islink(os.path.join(above, name)):
                yield Path(above, name)
        if number > MAX_LOG_FILES:
            return


def _trap(path: Path) -> Trap | None:
    try:
        seen = os.lstat(path)
        if stat.S_ISLNK(seen.st_mode):
            return Trap("link", os.fsencode(os.readlink(path)))
        if stat.S_ISREG(seen.st_mode):
            return _plain_file(path, seen)
    except FileNotFoundError:
        return None
    except OSError:  # it cannot be read, or was exchanged just now
        return Trap("odd")
    return Trap("folder" if stat.S_ISDIR(seen.st_mode) else "odd")


def _plain_file(path: Path, seen: os.stat_result) -> Trap:
    if seen.st_size > MAX_FILE_BYTES:
        return Trap("large", f"{seen.st_size} {seen.st_mtime_ns} {seen.st_ino}".encode())
    opened = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    try:
        return Trap("file", os.read(opened, MAX_FILE_BYTES), stat.S_IMODE(seen.st_mode))
    finally:
        os.close(opened)


def _leads_nowhere_else(path: Path, trap: Trap) -> bool:
    """Git's own worktrees name the repository that they are in."""
    value = trap.content.strip()
    is_worktree = path.parent.parent.name == "worktrees" and _is_git_folder(path.parent.parent.parent)
    return value == NOWHERE_ELSE or (value == b"../.." and is_worktree)
