"""Backups of a home: `backups/moot-….db`, each a verified copy of the database at one moment.

Beside it, in a folder of the same name, lie moot.toml and the agents' identity files. Secrets never go into a
backup: keys.json and the hub's token stay where they are, and moot.toml only refers to secrets.

Above: the command line, and housekeeping in a running hub. Below: the store's own copying (wiring.py).
"""

import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

from msgspec import Struct

from moot import files
from moot.context.identity import FILES
from moot.errors import HubRunning, NotFound, StoreDamaged, StoreUnwritable
from moot.hub.process import daemons, heads_file
from moot.hub.process.hub_lock import HubLock
from moot.model.hint import Act, Hint, Way
from moot.settings import Home
from moot.wiring import storage

_NAME = re.compile(r"moot-(?:(auto|before-restore|schema\d+)-)?(\d{8}T\d{12}Z)\.db")
_STAMP = "%Y%m%dT%H%M%S%fZ"
KINDS = {"": "manual", "auto": "automatic", "before-restore": "before a restore"}
PRIVATE_FOLDER = 0o700
SETTINGS = "moot.toml"
FROM_ELSEWHERE = "moot.toml.restored"
"""Settings decide what runs, so those of a backup from elsewhere take effect only when the owner renames them."""
MAX_BYTES = 1 << 20
"""Of an identity file; a prompt takes much less."""


class Backup(Struct, frozen=True):
    """An existing backup, as described by its name and size."""

    path: Path
    bytes: int
    at: float
    kind: str


class NewBackup(Struct, frozen=True):
    path: Path
    bytes: int
    messages: int


class Verified(Struct, frozen=True):
    path: Path
    sound: bool
    schema: int
    messages: int
    problems: tuple[str, ...]


class Restored(Struct, frozen=True):
    path: Path
    messages: int
    safety: Path | None
    """Where the replaced database is kept."""
    files: tuple[str, ...]
    """Settings and identity files that were missing and have been restored."""
    revoked: int = 0
    """Tokens that were valid when it was made and are not now: revoked since, or not known here."""


def create(home: Home, *, kind: str = "", at: float | None = None) -> NewBackup:
    """Copy the database even while it is in use, verify the copy, and put the files next to it."""
    store = storage(home)
    if not store.exists():
        raise NotFound(
            f"there is nothing to back up: {store.place} does not exist",
            fix=(Hint(Act.RUN_DEMO), Hint(Act.MAKE_HOME)),
            ref=Path(store.place).name,
        )
    home.make()
    target = home.backups / _name(kind, time.time() if at is None else at)
    copy = store.copy(target)
    _copy_files(home.path, _beside(target), _files(home.path))
    return NewBackup(target, target.stat().st_size, copy.messages)


def _name(kind: str, at: float) -> str:
    stamp = datetime.fromtimestamp(at, UTC).strftime(_STAMP)
    return f"moot-{kind}-{stamp}.db" if kind else f"moot-{stamp}.db"


def list_backups(home: Home) -> list[Backup]:
    """All backups, newest first."""
    backups: list[Backup] = []
    for path in home.backups.glob("moot-*.db"):
        met = _NAME.fullmatch(path.name)
        if met is not None:
            at = datetime.strptime(met[2], _STAMP).replace(tzinfo=UTC).timestamp()
            kind = KINDS.get(met[1] or "", "before a migration")
            backups.append(Backup(path, path.stat().st_size, at, kind))
    return sorted(backups, key=lambda backup: (backup.at, backup.path.name), reverse=True)


class Chosen(Struct, frozen=True):
    path: Path
    passed_over: tuple[Verified, ...] = ()
    """Newer ones that are damaged."""


def choose(home: Home, ref: str | None) -> Chosen:
    """The backup to restore: the one that is named, else the newest that is sound."""
    if ref is not None:
        return Chosen(find(home, ref))
    damaged: list[Verified] = []
    for backup in list_backups(home):
        if backup.kind == KINDS["before-restore"]:
            continue
        verified = verify(home, backup.path)
        if verified.sound:
            return Chosen(backup.path, tuple(damaged))
        damaged.append(verified)
    raise NotFound(
        f"there is no intact backup in {home.backups}",
        detail="\n".join(f"{each.path.name}: {each.problems[0]}" for each in damaged[:3]),
        fix=(Hint(Act.LIST_BACKUPS), Hint(Act.CREATE_BACKUP)),
        ref="backup",
    )


def find(home: Home, ref: str) -> Path:
    """A backup by its path or name."""
    typed = Path(os.path.expanduser(ref))
    for path in (typed, home.backups / typed.name, home.backups / f"{typed.name}.db"):
        if path.is_file():
            return path
    names = tuple(backup.path.name for backup in list_backups(home)[:3])
    raise NotFound(
        f"there is no backup {ref}",
        detail=f"looked there and in {home.backups}",
        fix=(Hint(Act.LIST_BACKUPS),),
        suggestions=names,
        ref=ref,
    )


def verify(home: Home, path: Path) -> Verified:
    """Verify a backup completely. Problems are returned, not raised."""
    try:
        inspection = storage(home).inspect(path)
    except (StoreDamaged, StoreUnwritable) as damage:
        return Verified(path, sound=False, schema=0, messages=0, problems=(damage.detail or damage.title,))
    return Verified(
        path, not inspection.problems, inspection.schema, inspection.messages, inspection.problems
    )


def prune(home: Home, keep: int) -> list[Path]:
    """Remove automatic backups beyond the newest `keep`; those that people made, or a migration, stay."""
    removed = [backup.path for backup in list_backups(home) if backup.kind == KINDS["auto"]][keep:]
    for path in removed:
        path.unlink(missing_ok=True)
        shutil.rmtree(_beside(path), ignore_errors=True)
    return removed


# --- restoring ---------------------------------------------------------------------------------------------


def restore(home: Home, source: Path) -> Restored:
    """Replace the database with a backup. Nothing is replaced before the whole backup is verified and the current
    database is saved."""
    home.make()
    safety = home.backups / _name("before-restore", time.time())
    with _alone(home):
        done = storage(home).replace(source, keep=safety)
        heads_file.set_aside(home, safety.stem)
    if done.kept == safety:
        _copy_files(home.path, _beside(safety), _files(home.path))
    missing = [name for name in _files(_beside(source)) if not os.path.lexists(home.path / name)]
    is_own = source.resolve().parent == home.backups.resolve()
    back = _copy_files(_beside(source), home.path, missing, settings=SETTINGS if is_own else FROM_ELSEWHERE)
    return Restored(source, done.messages, done.kept, tuple(str(name) for name in back), done.revoked)


@contextmanager
def _alone(home: Home) -> Iterator[None]:
    """For the block nobody else has the home open or can open it."""
    with nothing_runs(home, "a backup can only be restored"), storage(home).reserved() as holder:
        if holder is not None:
            raise _occupied(home, "a backup can only be restored", f"{holder.name} has it open", holder.fix)
        yield


@contextmanager
def nothing_runs(home: Home, what: str) -> Iterator[None]:
    """For the block no hub or daemon of this home runs or can start; `what` names the work in the refusal."""
    lock = HubLock(home)
    try:
        lock.__enter__()
    except HubRunning as running:
        raise _occupied(
            home, what, f"a hub is running (pid {running.facts.get('pid')})", (Hint(Act.STOP_HUB),)
        ) from None
    try:
        for name, pid in daemons.all_running(home).items():
            raise _occupied(
                home, what, f"agent {name} is running (pid {pid})", (Hint(Act.STOP_AGENT, agent=name),)
            )
        yield
    finally:
        lock.__exit__(None, None, None)


def _occupied(home: Home, what: str, holder: str, fix: tuple[Way, ...]) -> HubRunning:
    return HubRunning(
        f"{home.path} is in use: {holder}",
        detail=f"{what} while the home is not in use; nothing was changed",
        fix=fix,
    )


# --- the files beside it -----------------------------------------------------------------------------------


def _beside(backup: Path) -> Path:
    return backup.with_suffix(".files")


def _files(folder: Path) -> Iterator[Path]:
    """Settings and identity files, as paths below the folder. Never anything else: what is not named here may
    be secret."""
    if (folder / SETTINGS).is_file():
        yield Path(SETTINGS)
    for path in sorted((folder / "agents").glob("*/*.md")):
        name = path.relative_to(folder)
        if path.name in FILES and not files.why_not_read(folder, name.parts):
            yield name


def _copy_files(
    source: Path, target: Path, names: Iterable[Path], *, settings: str = SETTINGS
) -> tuple[Path, ...]:
    """Copy the files and answer their new names: new files, never written through a link. moot.toml alone may be a
    link, as it is the owner's; in the target it is called `settings`."""
    target.mkdir(mode=PRIVATE_FOLDER, parents=True, exist_ok=True)
    copied: list[Path] = []
    for name in names:
        try:
            if name == Path(SETTINGS):
                new, content = Path(settings), (source / name).read_bytes()
            else:
                new, content = name, files.read_below(source, name.parts, MAX_BYTES)
            files.create_below(target, new.parts, content)
        except (files.Unfit, FileNotFoundError, FileExistsError):
            continue  # a link in its place, or its workspace's; or it went or came this moment
        copied.append(new)
    return tuple(copied)
