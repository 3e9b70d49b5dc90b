"""Git for an agent in a worktree and a sandbox: it can commit, and cannot harm the repository of the worktree.

A worktree has its objects, branches and settings in its repository, which lies outside the sandbox. The agent can read
that repository but not write to it: git's writes go to folders of Moot's that cover the repository's own. After a turn
the host copies the new objects, outside the sandbox, and moves the agent's branch. Git computes every object's name
again from its content there, so a forged one is not copied; other branches, hooks and settings are never touched.

Above: cli_sandbox.py mounts it; command_brain.py and at the end hub/process/worktrees.py take its commits over.
Below: git, as a program. Not here: who gets a worktree.
"""

import os
import re
import shutil
import stat
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

import structlog
from msgspec import Struct

from moot import files
from moot.settings import Home

log = structlog.get_logger("moot.worktrees")

GIT_SECONDS: Final = 60.0
MAX_LINK_BYTES: Final = 4096
BRANCHES: Final = "refs/heads/"
OBJECTS: Final = Path("/tmp/.moot-objects")
"""Where the repository's own objects are in the sandbox: Moot's folder covers their real path."""
TAKEN_OVER: Final = "taken"
"""A file with the commit of the agent's branch that was taken over last."""
MAX_REFS: Final = 10_000
MAX_DEPTH: Final = 20
OBJECT_NAME: Final = re.compile(r"[0-9a-f]{40}([0-9a-f]{24})?")
OBJECT_FOLDER: Final = re.compile(r"[0-9a-f]{2}|pack")
OBJECT_FILE: Final = re.compile(r"[0-9a-f]{38}([0-9a-f]{24})?|pack-[0-9a-f]+\.(pack|idx)")
SETS_WORKTREE: Final = re.compile(r"^[^#;]*\bworktree\b", re.IGNORECASE | re.MULTILINE)
SETTINGS: Final = {"core.hooksPath": os.devnull, "core.fsmonitor": "false", "gc.auto": "0"}
"""Outside the sandbox git runs no program that the repository names."""


class GitFailed(Exception):
    """Git refused, was too slow, or is not there."""


class LinkedWorktree(Struct, frozen=True):
    """A worktree whose repository lies elsewhere."""

    top: Path
    admin: Path
    """Its own folder in the repository: HEAD and index."""
    common: Path
    """The repository's git folder."""
    store: Path | None = None
    """The folder that covers the repository, for a worktree that Moot has made. In any other git can only read."""

    @property
    def name(self) -> str:
        return self.top.name

    @property
    def branch(self) -> str:
        """The branch that Moot has made for its agent. Not read from HEAD: the agent can write that."""
        return f"{BRANCHES}moot/{self.name}"

    # --- in the sandbox -------------------------------------------------------------------------------------------

    def _is_prepared(self) -> bool:
        """Prepare the folders that cover the repository; False if that fails."""
        try:
            if self.store is not None:
                self._prepare(self.store)
        except (GitFailed, OSError) as trouble:
            log.warning(
                "git can only look", action="no_git_store", agent=self.name, error=str(trouble)[-300:]
            )
            return False
        return self.store is not None

    def _prepare(self, store: Path) -> None:
        """Called before each start, also while another process runs: nothing that may be mounted is replaced."""
        with suppress(GitFailed):  # it is logged, and tried again after the turn
            self.take_over()
        for part in ("objects/info", "info", "refs", "logs"):
            (store / part).mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.common / "logs").mkdir(exist_ok=True)
        if reads_worktree_settings(self.common):
            (self.admin / "config.worktree").touch()
        files.replace(store / "info" / "alternates", f"{OBJECTS}\n".encode())
        user = f"[user]\n\tname = {self.name}\n\temail = {self.name}@moot.invalid\n[gc]\n\tauto = 0\n"
        files.replace(store / "gitconfig", user.encode())
        self._copy_refs(store / "refs")
        if not (store / TAKEN_OVER).exists():
            value = self._git("for-each-ref", "--format=%(objectname)", self.branch)
            files.replace(store / TAKEN_OVER, value.strip())

    def _copy_refs(self, target: Path) -> None:
        """Copy the repository's refs, except over branches that the agent has itself. The agent writes in `target`: no
        link there is followed."""
        copies = _loose_refs(target)
        for name, value in _loose_refs(self.common / "refs").items():
            if copies.get(name) != value and not (name.startswith("heads/") and name in copies):
                with suppress(OSError):  # something of the agent's is in its place
                    files.replace_below(target, tuple(name.split("/")), f"{value}\n".encode())

    def mounts(self, home: Path) -> list[str]:
        """Options for bwrap, after those of the project; creates what they mount. What must not be replaced is a mount
        of its own, which no rename can move."""
        words = ["--ro-bind", str(self.common), str(self.common)]
        if self.store is not None and self._is_prepared():
            store, common = self.store, self.common
            words += ["--ro-bind", str(common / "objects"), str(OBJECTS)]
            words += ["--bind", str(store / "objects"), str(common / "objects")]
            words += ["--ro-bind", str(store / "info"), str(common / "objects" / "info")]
            for part in ("refs", "logs"):
                words += ["--bind", str(store / part), str(common / part)]
            words += ["--bind", str(self.admin), str(self.admin)]
            for part in ("commondir", "gitdir", "config.worktree"):
                if (self.admin / part).exists():
                    words += ["--ro-bind", str(self.admin / part), str(self.admin / part)]
            words += ["--ro-bind", str(store / "gitconfig"), str(home / ".gitconfig")]
        link = str(self.top / ".git")
        return [*words, "--ro-bind", link, link]

    @property
    def written(self) -> tuple[Path, ...]:
        """Where git writes in the sandbox besides the worktree. A CLI with a sandbox of its own has to open these."""
        if self.store is None:
            return ()
        return (self.admin, *(self.common / part for part in ("objects", "refs", "logs")))

    # --- outside --------------------------------------------------------------------------------------------------

    def take_over(self) -> None:
        """Copy what the agent has committed or staged to the repository, and move its branch. Raises GitFailed; the
        agent's work is not lost then."""
        if self.store is None or not (self.store / "objects").is_dir():
            return
        try:
            _remove_links(self.admin)
            self._copy_objects()
            self._move_branches(_loose_refs(self.store / "refs" / "heads"))
        except (GitFailed, OSError) as failed:
            log.warning(
                "what an agent has committed was not taken over",
                action="commits_not_taken_over",
                agent=self.name,
                error=str(failed)[-300:],
            )
            raise GitFailed(str(failed)) from None

    def _copy_objects(self) -> None:
        assert self.store is not None
        with TemporaryDirectory(prefix="objects-", dir=self.store) as folder:
            _link_objects(self.store / "objects", Path(folder))
            self._copy_missing({"GIT_OBJECT_DIRECTORY": folder})

    def _copy_missing(self, of_agent: Mapping[str, str]) -> None:
        every = ("cat-file", "--batch-all-objects", "--batch-check=%(objectname)")
        names = self._git(*every, variables=of_agent)
        if not names.strip():
            return
        copies = self._git("cat-file", "--batch-check=%(objectname)", text=names)
        missing = [line.split()[0] for line in copies.splitlines() if line.endswith(b" missing")]
        if missing:
            listed = b"\n".join(missing) + b"\n"
            pack = self._git("pack-objects", "--quiet", "--stdout", text=listed, variables=of_agent)
            self._git("unpack-objects", "-q", "--strict", text=pack)  # all or nothing, and all they refer to

    def _move_branches(self, heads: Mapping[str, str]) -> None:
        assert self.store is not None
        listed = self._git("for-each-ref", "--format=%(refname) %(objectname)", BRANCHES).decode()
        real = dict(line.split(" ", 1) for line in listed.splitlines())
        own = self.branch.removeprefix(BRANCHES)
        note = self.store / TAKEN_OVER
        before = note.read_text() if note.exists() else ""
        value = heads.get(own, before)
        if (
            value == before and real.get(self.branch, value) != value
        ):  # moved by a person, and not by the agent
            value = real[self.branch]
            files.replace_below(self.store / "refs" / "heads", tuple(own.split("/")), f"{value}\n".encode())
        elif value not in (before, real.get(self.branch)):
            is_next = real.get(self.branch, "") in ("", before) or self._is_ancestor(real[self.branch], value)
            self._move(self.branch if is_next else self._side_branch(own), value, real)
        files.replace(note, value.encode())
        elsewhere = ("--not", "--branches", "--tags", "--remotes")
        for name, value in heads.items():
            is_known = name == own or value in real.values()
            if not is_known and self._git("rev-list", "--max-count=1", value, *elsewhere):
                self._move(self._side_branch(name), value, real)

    def _side_branch(self, name: str) -> str:
        """The name in the repository for a branch that the agent has made itself."""
        return f"{BRANCHES}moot-{self.name}/{name}"

    def _move(self, ref: str, value: str, real: Mapping[str, str]) -> None:
        self._git(
            "rev-list", "--objects", "--quiet", value, "--not", "--all"
        )  # fails unless all of it is there
        self._git("update-ref", "-m", "moot: taken over from its agent", ref, value, real.get(ref, ""))

    def _is_ancestor(self, old: str, value: str) -> bool:
        """Whether commit `old` is in the history of commit `value`."""
        with suppress(GitFailed):
            self._git("merge-base", "--is-ancestor", old, value)
            return True
        return False

    def _git(self, *words: str, text: bytes = b"", variables: Mapping[str, str] | None = None) -> bytes:
        environ = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        environ |= {"GIT_CONFIG_COUNT": str(len(SETTINGS)), "GIT_TERMINAL_PROMPT": "0", **(variables or {})}
        for number, (key, value) in enumerate(SETTINGS.items()):
            environ |= {f"GIT_CONFIG_KEY_{number}": key, f"GIT_CONFIG_VALUE_{number}": value}
        try:
            done = subprocess.run(
                ["git", f"--git-dir={self.common}", *words],
                input=text,
                env=environ,
                capture_output=True,
                timeout=GIT_SECONDS,
                check=True,
            )
        except subprocess.CalledProcessError as error:
            raise GitFailed(f"git {words[0]}: {error.stderr.decode(errors='replace').strip()}") from None
        except (OSError, subprocess.TimeoutExpired) as error:
            raise GitFailed(f"git {words[0]}: {error}") from None
        return done.stdout


def find_worktree(project: Path, home: Home) -> LinkedWorktree | None:
    """The worktree that a folder is in. None outside a worktree, and if the worktree and the repository do not both
    name each other: a folder that an agent wrote could name any repository."""
    top = next((folder for folder in (project, *project.parents) if os.path.lexists(folder / ".git")), None)
    if top is None:
        return None
    try:
        link = files.read_below(top, (".git",), MAX_LINK_BYTES).decode().strip()
        admin = Path(link.removeprefix("gitdir: "))
        back = files.read_below(admin, ("gitdir",), MAX_LINK_BYTES).decode().strip()
        above = files.read_below(admin, ("commondir",), MAX_LINK_BYTES).decode().strip()
    except (OSError, ValueError):
        return None
    common = admin.parent.parent
    is_ours = link.startswith("gitdir: ") and back == str(top / ".git") and above == "../.."
    is_plain = (
        admin.resolve() == admin and admin.parent.name == "worktrees" and not common.is_relative_to(top)
    )
    if not is_ours or not is_plain or not (common / "refs").is_dir() or (common / "reftable").exists():
        return None
    made_by_moot = top.parent == home.worktrees.resolve()
    if not made_by_moot and project != top:
        return None  # an agent whose project is one folder of it must not see the others
    return LinkedWorktree(top, admin, common, store_of(home, top.name) if made_by_moot else None)


def store_of(home: Home, agent: str) -> Path:
    return home.worktrees.resolve() / ".stores" / agent


def forget(home: Home, agent: str) -> None:
    """Delete the folder that covered the repository of a worktree that is gone."""
    shutil.rmtree(store_of(home, agent), ignore_errors=True)


def _remove_links(folder: Path) -> None:
    """Git puts no links into a worktree's own folder, but follows one that the agent has put there: a commit from
    outside the sandbox would write to the file that it names."""
    for _, folders, names, opened in os.fwalk(folder):
        for name in (*folders, *names):
            with suppress(FileNotFoundError):
                if stat.S_ISLNK(os.stat(name, dir_fd=opened, follow_symlinks=False).st_mode):
                    os.unlink(name, dir_fd=opened)


def _link_objects(source: Path, target: Path) -> None:
    """Hard-link the plain files among an agent's objects into a folder that the agent cannot write. Git would follow a
    symbolic link out of `source`, and copy objects of a repository that the agent must not read; it would wait on a
    pipe."""
    for part in filter(OBJECT_FOLDER.fullmatch, os.listdir(source)):
        try:
            opened = os.open(source / part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except (
            FileNotFoundError,
            NotADirectoryError,
        ):  # gone by now; or a link, which the kernel calls no folder
            continue
        try:
            (target / part).mkdir()
            for name in filter(OBJECT_FILE.fullmatch, os.listdir(opened)):
                _link_plain(name, opened, target / part / name)
        finally:
            os.close(opened)


def _link_plain(name: str, folder: int, target: Path) -> None:
    with suppress(FileNotFoundError):  # git has packed it since
        os.link(name, target, src_dir_fd=folder, follow_symlinks=False)
        if not stat.S_ISREG(target.lstat().st_mode):
            target.unlink()


def _loose_refs(folder: Path) -> dict[str, str]:
    """Refs that are files, by name, at most `MAX_REFS`. Links are not followed."""
    return dict(islice(_loose_refs_below(folder, ""), MAX_REFS))


def _loose_refs_below(folder: Path, prefix: str) -> Iterator[tuple[str, str]]:
    entries = list(os.scandir(folder)) if folder.is_dir() else []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False) and prefix.count("/") < MAX_DEPTH:
            yield from _loose_refs_below(Path(entry.path), f"{prefix}{entry.name}/")
        elif entry.is_file(follow_symlinks=False) and not entry.name.endswith(".lock"):
            with suppress(OSError, ValueError):
                value = files.read_below(folder, (entry.name,), MAX_LINK_BYTES).decode().strip()
                if OBJECT_NAME.fullmatch(value):
                    yield f"{prefix}{entry.name}", value


def reads_worktree_settings(common: Path) -> bool:
    """Whether git reads settings of a worktree besides those of its repository."""
    with suppress(OSError):
        return "worktreeconfig" in (common / "config").read_text(errors="replace").lower()
    return True


def sets_worktree(git: Path) -> bool:
    """Whether a repository says where its files are; git does not heed that beside a `commondir`."""
    with suppress(OSError):
        return SETS_WORKTREE.search((git / "config").read_text(errors="replace")) is not None
    return True
