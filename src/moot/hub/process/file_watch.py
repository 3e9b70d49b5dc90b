"""Watching one file with the operating system's own means: writes, replacements and deletions are noticed.

The file is watched and not its folder, in which a database is written all the time; only while there is no file, or
where it is a link that may be turned elsewhere, the folder is too. Above: settings_in_force.py, in a hub alone: the
library is imported when the first file is watched.
"""

import asyncio
import os
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing, asynccontextmanager
from pathlib import Path

STEP_MS = 200
"""How long what happens in quick succession is gathered: editors write in several steps."""


async def changes(file: Path) -> AsyncIterator[None]:
    """Yields each time the file or its contents have changed; never ends. `OSError` where the system cannot watch."""
    seen = _identity(file)
    while True:
        seen = await _changed(file, seen)
        yield


async def trouble(file: Path) -> str:
    """Why a file cannot be watched; empty where it can."""
    try:
        async with aclosing(_watch(file)) as words, _word(words) as word:
            return "" if not word.done() else str(word.exception())
    except OSError as refused:
        return str(refused)


Identity = tuple[tuple[int, ...] | None, tuple[int, ...] | None]


def _identity(file: Path) -> Identity:
    """What is another after a change: of the file, and of the link that leads to it."""
    return _facts(file, follow=True), _facts(file, follow=False)


def _facts(file: Path, *, follow: bool) -> tuple[int, ...] | None:
    try:
        stat = os.stat(file, follow_symlinks=follow)
    except OSError:
        return None
    return stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns


def _places(file: Path) -> list[Path]:
    places = [file.resolve()] if file.exists() else []
    return [*places, file.parent] if file.is_symlink() or not places else places


def _watch(file: Path) -> AsyncGenerator[object, None]:
    from watchfiles import awatch  # noqa: PLC0415  only a hub watches

    return awatch(
        *_places(file),
        watch_filter=None,
        step=STEP_MS,
        debounce=2 * STEP_MS,
        recursive=False,
        force_polling=False,
    )


@asynccontextmanager
async def _word(words: AsyncGenerator[object, None]) -> AsyncIterator[asyncio.Future[object]]:
    """The next word of a watch that has begun: whatever happens from here on, the system tells."""
    word = asyncio.ensure_future(anext(words))
    try:
        await asyncio.sleep(0)
        yield word
    finally:
        word.cancel()
        await asyncio.gather(word, return_exceptions=True)


async def _changed(file: Path, seen: Identity) -> Identity:
    """What the file is like once it is no longer as it was seen."""
    try:
        async with aclosing(_watch(file)) as words:
            while True:
                async with _word(words) as word:
                    if (now := _identity(file)) != seen:
                        return now
                    await word
    except RuntimeError as refused:  # the library's word for what the system refused
        raise OSError(str(refused)) from refused
