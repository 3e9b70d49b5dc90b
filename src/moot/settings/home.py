"""The one folder that holds everything of an installation: where it is, what is in it, who may read it.

Above: wiring and the command line. Below: nothing.
Not here: what the files contain.
"""

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from msgspec import Struct

from moot.errors import BadSettings
from moot.model.hint import Act, Hint, Way

_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_PRIVATE: Final = 0o700


def find_home(option: str | None, environ: Mapping[str, str]) -> Path:
    """`--home`, else `MOOT_HOME`, else `~/.moot`; absolute, and not necessarily existing."""
    if option is not None:
        return _absolute(option, "--home", environ)
    if environ.get("MOOT_HOME"):
        return _absolute(environ["MOOT_HOME"], "MOOT_HOME", environ)
    return _absolute("~/.moot", "HOME", environ)


class Home(Struct, frozen=True):
    path: Path

    @property
    def toml(self) -> Path:
        return self.path / "moot.toml"

    @property
    def db(self) -> Path:
        return self.path / "moot.db"

    @property
    def keys(self) -> Path:
        return self.path / "keys.json"

    @property
    def agents(self) -> Path:
        """One workspace per agent, named by its id."""
        return self.path / "agents"

    @property
    def logs(self) -> Path:
        return self.path / "logs"

    @property
    def backups(self) -> Path:
        return self.path / "backups"

    @property
    def audit(self) -> Path:
        """What is stored of the audit outside the database."""
        return self.path / "audit"

    @property
    def run(self) -> Path:
        """What exists only while something runs."""
        return self.path / "run"

    @property
    def hub_json(self) -> Path:
        return self.run / "hub.json"

    @property
    def hub_sock(self) -> Path:
        return self.run / "hub.sock"

    @property
    def token(self) -> Path:
        return self.run / "token"

    @property
    def run_agents(self) -> Path:
        """Pid file and socket of each daemon, named by its agent."""
        return self.run / "agents"

    @property
    def run_peers(self) -> Path:
        """Sockets of processes that are neither the hub nor a daemon."""
        return self.run / "peers"

    def socket_of(self, agent: str) -> Path:
        return self.run_agents / f"{agent}.sock"

    def pid_of(self, agent: str) -> Path:
        return self.run_agents / f"{agent}.pid"

    def log_of(self, agent: str) -> Path:
        return self.logs / f"{agent}.log"

    @property
    def quarantine(self) -> Path:
        """What agents put where git would have followed it, a folder for each time."""
        return self.path / "quarantine"

    @property
    def worktrees(self) -> Path:
        """Checkouts of spawned agents: next to the home, and in no repository."""
        return self.path.with_name(f"{self.path.name}-worktrees")

    def folder(self, path: str) -> Path:
        """A folder that a setting names; relative to the home."""
        return (self.path / os.path.expanduser(path)).resolve()

    def overlaps(self, folder: Path) -> str:
        """How a folder and the home overlap, as the end of a sentence; empty if they do not.

        A tool that works in such a folder could change an agent's identity or read the owner's files.
        """
        home, place = self.path.resolve(), folder.resolve()
        if place == home:
            return "is Moot's own home"
        if place.is_relative_to(home):
            return "is inside Moot's own home"
        return "contains Moot's own home" if home.is_relative_to(place) else ""

    def make(self) -> None:
        """Create what is missing, for the owner alone. Safe to repeat, and from several processes at once."""
        _folder(self.path, is_ours=self._looks_like_a_home())
        for inside in (
            self.run,
            self.run_agents,
            self.run_peers,
            self.logs,
            self.backups,
            self.agents,
            self.audit,
        ):
            if inside.is_symlink():
                raise _refusal(inside, "is a link; expected a real folder", (f"rm {inside}",))
            _folder(inside, is_ours=True)

    def _looks_like_a_home(self) -> bool:
        """Whether we may close it to other users: not if it is a folder with other things in it."""
        try:
            inside = set(os.listdir(self.path))
        except OSError:
            return False
        return not inside or bool(inside & {self.toml.name, self.db.name, self.run.name})


def _folder(path: Path, *, is_ours: bool) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(mode=_PRIVATE, exist_ok=True)
        status = path.stat()
    except FileExistsError:
        raise _refusal(path, "is not a folder", (f"mv {path} {path}.old",)) from None
    except NotADirectoryError:
        raise _refusal(
            path, "is inside something that is not a folder", (Hint(Act.USE_ANOTHER_HOME),)
        ) from None
    except OSError as error:
        raise _refusal(path, f"cannot be created: {error.strerror}", (Hint(Act.USE_ANOTHER_HOME),)) from None
    mode = stat.S_IMODE(status.st_mode)
    if mode & _OTHERS_WRITE and (status.st_uid != os.geteuid() or not is_ours):
        problem = f"can be written by other users (mode {mode:04o}); expected a folder of yours, mode 0700"
        raise _refusal(path, problem, (f"chmod 700 {path}", Hint(Act.USE_ANOTHER_HOME)))
    if is_ours and mode != _PRIVATE and status.st_uid == os.geteuid():
        path.chmod(_PRIVATE)


def _absolute(path: str, source: str, environ: Mapping[str, str]) -> Path:
    if not path.strip() or "\0" in path:
        raise _refusal(Path(), f"{source} is not a folder; expected a path such as ~/.moot", ())
    if path == "~" or path.startswith("~/"):
        path = (environ.get("HOME") or str(Path.home())) + path[1:]
    return Path(os.path.expanduser(path)).absolute()


def _refusal(path: Path, words: str, fix: tuple[Way, ...]) -> BadSettings:
    has_path = path != Path()
    return BadSettings(
        f"the home {path} {words}" if has_path else words,
        fix=fix,
        file=str(path) if has_path else "",
        line=0,
        column=0,
        key="home",
    )
