"""Files of other programs, written whole or not at all, with their owner's mode, through their links."""

import os
import stat
from hashlib import sha256
from pathlib import Path
from typing import Final

OWNER_ONLY: Final = 0o600


class Unreadable(ValueError):
    """The file is not in the form that its program reads; the text says why."""


def content(path: Path) -> bytes | None:
    """The bytes of a file; None if there is none. A pipe or a device is refused, not waited for."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(handle, "rb") as stream:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise Unreadable(f"{path} is not a regular file")
        return stream.read()


def mode_of(path: Path) -> int:
    try:
        return path.stat().st_mode & 0o7777
    except FileNotFoundError:
        return OWNER_ONLY


def fingerprint(data: bytes | None) -> str:
    """A digest that shows whether a file is still as it was left; a missing file has its own."""
    return "missing" if data is None else sha256(data).hexdigest()


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The folders that would have to be created for a file, outermost first."""
    folders = []
    for folder in path.parents:
        if folder.exists():
            break
        folders.append(folder)
    return tuple(reversed(folders))


def write(path: Path, data: bytes, mode: int) -> None:
    """Replace the file in one step. A link stays a link: its target is written."""
    real = path.resolve()
    real.parent.mkdir(parents=True, exist_ok=True)
    draft = real.with_name(f".{real.name}.moot-{os.getpid()}")
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, OWNER_ONLY)
    try:
        with os.fdopen(file, "wb") as stream:
            stream.write(data)
            stream.flush()
            os.fsync(stream.fileno())
        draft.chmod(mode)
        draft.replace(real)
    finally:
        draft.unlink(missing_ok=True)


def put_back(path: Path, data: bytes | None, mode: int, folders: tuple[Path, ...] = ()) -> None:
    """Restore a file; if there was none, remove it and the folders that were made for it."""
    if data is not None:
        write(path, data, mode)
        return
    path.unlink(missing_ok=True)
    for folder in reversed(folders):
        try:
            folder.rmdir()
        except OSError:  # somebody put something else there, or took it away already
            return
