"""Files of other programs, written whole or not at all, with their owner's mode, through their links."""

import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600


class Unreadable(ValueError):
    """The file is not what its program reads; says why."""


def content(path: Path) -> bytes | None:
    """None where there is no such file. What is no file (a pipe, a device) is not waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as opened:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable(f"{path} is not a regular file")
        return opened.read()


def mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        return OWNER_ONLY


def fingerprint(data: bytes | None) -> str:
    """What tells whether a file is still as it was left; a missing one has its own."""
    return "missing" if data is None else sha256(data).hexdigest()


def missing_folders(path: Path) -> tuple[Path, ...]:
    """Those above a file that would have to be made, outermost first."""
    found = []
    for folder in path.parents:
        if folder.exists():
            break
        found.append(folder)
    return tuple(reversed(found))


def write(path: Path, data: bytes, mode: int) -> None:
    """In one step. A link stays a link: what it leads to is written."""
    real = path.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    draft = real.with_name(f".{real.name}.moot-{os.getpid()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, OWNER_ONLY)
    try:
        with os.fdopen(file, "wb") as opened:
            opened.write(data)
            opened.flush()
            os.fsync(opened.fileno())
        draft.chmod(mode)
        draft.replace(real)
    finally:
        draft.unlink(missing_ok=True)


def put_back(path: Path, data: bytes | None, mode: int, folders: tuple[Path, ...] = ()) -> None:
    """The file as it was; where it was not there, it goes, and with it the folders that were made for it."""
    if data is not None:
        write(path, data, mode)
        return
    path.unlink(missing_ok=True)
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:  # somebody put something else there, or took it away already
            return
