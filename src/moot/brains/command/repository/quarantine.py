"""What was taken away from where git would have followed it: kept in the home, and named until the owner removes it.

Above: git_guard.py puts it there; hub/operation/now.py shows it. Below: files of the home, which no agent in a sandbox
sees.
"""

from itertools import count
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct, json

from moot import files
from moot.settings import Home

log = structlog.get_logger("moot.coding")

NOTE: Final = "note.json"
MAX_NAMED: Final = 5
"""Findings that one sentence names."""


class RepositoryFinding(Struct, frozen=True):
    """Something in a repository that would have made git do what the agent wants."""

    path: str
    what: str
    """What it was, as the end of a sentence that begins with its path."""
    kept: str = ""
    """Its name in the quarantine; empty where nothing was there to take."""
    trouble: str = ""
    """Why it could not be undone."""

    def __str__(self) -> str:
        return f"{self.path} {self.what}" + (f" (NOT undone: {self.trouble})" if self.trouble else "")


class QuarantineNote(Struct, frozen=True):
    """What one check has found."""

    agent: str
    findings: tuple[RepositoryFinding, ...]
    folder: str = ""
    since: float = 0.0

    @property
    def sentence(self) -> str:
        named = "; ".join(str(one) for one in self.findings[:MAX_NAMED])
        more = len(self.findings) - MAX_NAMED
        rest = f"; and {more} more" if more > 0 else ""
        return f"{self.agent} changed what git does for you: {named}{rest}. It was undone, and is kept in {self.folder}"


def new_folder(home: Home, agent: str) -> Path:
    home.quarantine.mkdir(mode=0o700, exist_ok=True)
    folders = (home.quarantine / f"{agent}-{number}" for number in count(1))
    folder = next(folder for folder in folders if not folder.exists())
    folder.mkdir(mode=0o700)
    return folder


def write_note(folder: Path, agent: str, findings: tuple[RepositoryFinding, ...]) -> None:
    files.replace(folder / NOTE, json.encode(QuarantineNote(agent, findings)))
    for one in findings:
        log.warning(
            f"{agent} changed what git does: {one}",
            action="repository_put_back",
            agent=agent,
            path=one.path,
            kept=str(folder / one.kept) if one.kept else "",
        )


def notes(home: Home) -> list[QuarantineNote]:
    """Those that the owner has not removed, the newest first."""
    known = []
    for file in home.quarantine.glob(f"*/{NOTE}"):
        try:
            note = json.decode(file.read_bytes(), type=QuarantineNote)
            known.append(QuarantineNote(note.agent, note.findings, str(file.parent), file.stat().st_mtime))
        except (OSError, ValueError):
            continue
    return sorted(known, key=lambda note: -note.since)
