"""Files of the home: opened without following a link, and private from their first byte.

Above: whoever reads or writes a file of the home. Below: the kernel, which does the refusing: each part of a path is
opened from the folder above it with O_NOFOLLOW, so nothing can be exchanged between a check and its use.
Not here: SQLite's files, which SQLite opens itself (stores/sqlite/file), and files that the owner names to a
command, which may be links.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from moot.errors import BadSettings

PRIVATE: Final = 0o600
PRIVATE_FOLDER: Final = 0o700
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO
# Without waiting: opening a pipe would block until somebody writes to it.
_SAFE: Final = os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


class Unfit(OSError):
    """A file that is there and is not what it ought to be; `strerror` says why, as the end of a sentence."""

    def __init__(self, why: str) -> None:
        super().__init__(errno.EPERM, why)


def read(path: Path, max_bytes: int) -> bytes:
    """The first `most` bytes of a plain file of ours, in a folder that only we write to."""
    with opened(path) as file:
        return _read(file, max_bytes)


def read_below(root: Path, parts: tuple[str, ...], max_bytes: int) -> bytes:
    """The first `most` bytes of a plain file of ours below a folder, where others may have written. No part of its way
    down may be a link, and the file may have no second name: that could be of a file elsewhere."""
    with _folder_of(root, parts) as folder:
        file = _opened(parts[-1], os.O_RDONLY, folder)
        try:
            if os.fstat(file).st_nlink > 1:
                raise Unfit("it has a second hard link")
            return _read(file, max_bytes)
        finally:
            os.close(file)


def why_not_read(root: Path, parts: tuple[str, ...]) -> str:
    """Why `read_below` would not read it; empty where it would."""
    try:
        read_below(root, parts, 0)
    except OSError as error:
        return why(error)
    return ""


def create_below(root: Path, parts: tuple[str, ...], content: bytes) -> None:
    """A new private file below a folder, with the folders between; whatever is there already stays."""
    with _folder_of(root, parts, make=True) as folder:
        file = os.open(parts[-1], os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, PRIVATE, dir_fd=folder)
        try:
            _write(file, content)
            os.fsync(file)
        finally:
            os.close(file)


def replace_below(
    root: Path, parts: tuple[str, ...], content: bytes, mode: int = PRIVATE, *, make: bool = True
) -> None:
    """A file below a folder, whole or not at all, private unless `mode` says otherwise; with `make` the folders between
    too. No part of its way down may be a link; a link in its own place is replaced, not followed."""
    with _folder_of(root, parts, make=make) as folder:
        draft = f".{parts[-1]}.{os.getpid()}.new"
        with suppress(FileNotFoundError):
            os.unlink(draft, dir_fd=folder)
        file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, PRIVATE, dir_fd=folder)
        try:
            _write(file, content)
            if mode != PRIVATE:
                os.fchmod(file, mode)
            os.fsync(file)
        finally:
            os.close(file)
        os.replace(draft, parts[-1], src_dir_fd=folder, dst_dir_fd=folder)
        os.fsync(folder)


def move_below(root: Path, parts: tuple[str, ...], target: Path) -> None:
    """Take a file, link or folder from below a folder to a new place. No part of its way down may be a link, and a link
    in its own place is moved, not followed. A folder can only be moved within its disk."""
    with _folder_of(root, parts) as folder:
        try:
            os.rename(parts[-1], target, src_dir_fd=folder)
        except OSError as error:
            if error.errno != errno.EXDEV:
                raise
            _move_to_another_disk(parts[-1], folder, target)


def _move_to_another_disk(name: str, folder: int, target: Path) -> None:
    if stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
        target.symlink_to(os.readlink(name, dir_fd=folder))
    else:
        file = _opened(name, os.O_RDONLY, folder)
        try:
            replace(target, _read(file, os.fstat(file).st_size))
        finally:
            os.close(file)
    os.unlink(name, dir_fd=folder)


def replace(path: Path, content: bytes) -> None:
    """A private file, whole or not at all. A link in its place is replaced, not followed. Not synced: for what is true
    only while something runs."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.new")
    with suppress(FileNotFoundError):
        draft.unlink()
    file = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _SAFE, PRIVATE)
    try:
        _write(file, content)
    finally:
        os.close(file)
    draft.replace(path)


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """A plain file of ours, to read."""
    with _folder_of(path.parent, (path.name,)) as folder:
        file = _opened(path.name, os.O_RDONLY, folder)
    try:
        yield file
    finally:
        os.close(file)


def open_private(path: Path, flags: int) -> int:
    """A descriptor of a plain file of ours, closed to others; made where it is missing if `flags` say so."""
    with _folder_of(path.parent, (path.name,)) as folder:
        file = _opened(path.name, flags, folder)
    try:
        close_to_others(file)
    except BaseException:  # whatever stopped it, the descriptor must not stay
        os.close(file)
        raise
    return file


def close_to_others(file: int) -> None:
    if os.fstat(file).st_mode & _OTHERS:
        os.fchmod(file, PRIVATE)


def tighten(path: Path) -> None:
    """Close a plain file of ours to others without opening it: closing it again would let go of every lock that this
    process has on it, and SQLite has some."""
    found = os.stat(path, follow_symlinks=False)
    if not stat.S_ISREG(found.st_mode):
        raise Unfit(_kind(found))
    if not found.st_mode & _OTHERS:
        return
    if not hasattr(os, "O_PATH"):
        path.chmod(PRIVATE)
        return
    file = os.open(path, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if stat.S_ISREG(os.fstat(file).st_mode):
            os.chmod(f"/proc/self/fd/{file}", PRIVATE)
    finally:
        os.close(file)


def refused(path: Path, error: OSError, key: str) -> BadSettings:
    """What to tell whoever cannot go on without the file."""
    return BadSettings(
        f"cannot use {path}: {why(error)}",
        detail="expected a regular file of yours, mode 0600, not a link",
        fix=(f"ls -l {path}", f"rm {path}"),
        file=str(path),
        line=0,
        column=0,
        key=key,
    )


def why(error: OSError) -> str:
    return error.strerror or error.__class__.__name__


@contextmanager
def _folder_of(root: Path, parts: tuple[str, ...], *, make: bool = False) -> Iterator[int]:
    """The folder a file is in, as a descriptor."""
    if not parts or any(part in ("", ".", "..") or "/" in part or "\0" in part for part in parts):
        raise Unfit("it is not a file name")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in parts[:-1]:
            if make:
                with suppress(FileExistsError):
                    os.mkdir(part, PRIVATE_FOLDER, dir_fd=folder)
            inner = _inner(part, folder)
            os.close(folder)
            folder = inner
        yield folder
    finally:
        os.close(folder)


def _inner(name: str, folder: int) -> int:
    try:
        return os.open(name, _FOLDER, dir_fd=folder)
    except NotADirectoryError:
        raise Unfit(f"{name} is a link or not a folder") from None


def _opened(name: str, flags: int, folder: int) -> int:
    try:
        file = os.open(name, flags | _SAFE, PRIVATE, dir_fd=folder)
    except OSError:
        seen = _look(name, folder)
        if seen is None or stat.S_ISREG(seen.st_mode):
            raise
        raise Unfit(_kind(seen)) from None
    try:
        _judge(os.fstat(file), os.fstat(folder))
    except BaseException:  # whatever stopped it, the descriptor must not stay
        os.close(file)
        raise
    return file


def _look(name: str, folder: int) -> os.stat_result | None:
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except OSError:
        return None


def _judge(seen: os.stat_result, folder: os.stat_result) -> None:
    if not stat.S_ISREG(seen.st_mode):
        raise Unfit(_kind(seen))
    if seen.st_uid not in (os.geteuid(), folder.st_uid):
        raise Unfit("it belongs to another user")


def _kind(seen: os.stat_result) -> str:
    mode = seen.st_mode
    kinds = ((stat.S_ISLNK, "a link"), (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"))
    found = next((word for is_it, word in kinds if is_it(mode)), "a device or a socket")
    return f"it is {found}, not a regular file"


def _read(file: int, max_bytes: int) -> bytes:
    found = b""
    while len(found) < max_bytes and (more := os.read(file, max_bytes - len(found))):
        found += more
    return found


def _write(file: int, content: bytes) -> None:
    left = memoryview(content)
    while left:
        left = left[os.write(file, left) :]
