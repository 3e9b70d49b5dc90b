"""The page's files as they were built, below moot/_web: read once, compressed once, found by their path.

Above: serve.py. Not here: building them (tools/dashboard.py, and the hook that makes wheels). A clone has none until
they are built; who builds them while a hub runs need not start it again.
"""

import asyncio
import gzip
from collections.abc import Mapping
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Final

from msgspec import Struct

INDEX: Final = "index.html"
MEDIA: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".txt": "text/plain; charset=utf-8",
    ".webmanifest": "application/manifest+json",
    ".woff2": "font/woff2",
}
"""By how a file's name ends. Nothing else is served."""
PACKED: Final = frozenset({".ico", ".png", ".woff2"})
"""Formats that are compressed already."""
WORTH_BYTES: Final = 1024
"""Less is not worth compressing."""


class BuiltFile(Struct):
    content: bytes
    media: str
    etag: str
    packs: bool
    packed: bytes | None = None

    async def gzip(self) -> bytes | None:
        """The compressed content, made on first use in a thread; None if compressing is no use."""
        if self.packs and self.packed is None:
            self.packed = await asyncio.to_thread(gzip.compress, self.content, 9, mtime=0)
        return self.packed


class BuiltFiles:
    def __init__(self, folder: Path | None = None) -> None:
        self._folder = Path(str(files("moot").joinpath("_web"))) if folder is None else folder
        self._files: dict[str, BuiltFile] = {}
        self._as_of: tuple[int, int] | None = None
        """When index.html was written, and which file it was: it is written last."""

    def get(self, path: str) -> BuiltFile | None:
        return self._current().get(path)

    def _current(self) -> dict[str, BuiltFile]:
        try:
            state = (self._folder / INDEX).stat()
        except OSError:
            self._files, self._as_of = {}, None
            return self._files
        now = (state.st_mtime_ns, state.st_ino)
        if now != self._as_of:
            self._files, self._as_of = _read(self._folder), now
        return self._files


def _read(folder: Path) -> dict[str, BuiltFile]:
    files = {}
    for path in sorted(folder.rglob("*")):
        media = MEDIA.get(path.suffix)
        if media is None or path.is_symlink() or not path.is_file():
            continue
        content = path.read_bytes()
        packs = path.suffix not in PACKED and len(content) >= WORTH_BYTES
        etag = f'"{sha256(content).hexdigest()[:32]}"'
        files[path.relative_to(folder).as_posix()] = BuiltFile(content, media, etag, packs)
    return files
