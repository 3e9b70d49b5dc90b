"""A person's own text of a note: typed in an editor, given or piped in, and kept where it could not be written."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from shlex import quote

import click

from moot import files, shapes
from moot.cli.frame.hub_access import home_of
from moot.cli.frame.session import Session
from moot.cli.terminal.standard_input import message_text
from moot.errors import BadValue, Conflict, StoreUnwritable

FOLDER = "drafts"
"""A folder of the home: texts that people wrote and that were not stored."""
MAX_DRAFTS = 1000


def edit_text(session: Session, note: shapes.Note, text: tuple[str, ...]) -> str | None:
    """The person's new text of a note; None if nothing was changed."""
    words = message_text(session, text)
    if words or text:
        return words
    if session.json or not sys.stdin.isatty():
        raise BadValue(
            "an editor needs a terminal", fix=(f"moot notes edit {note.name} TEXT", "pipe the text in")
        )
    return click.edit(note.text, extension=".md", require_save=True)


@contextmanager
def draft_kept_on_conflict(session: Session, name: str, text: str) -> Iterator[None]:
    """Save the person's text to a file if somebody else wrote the note first."""
    try:
        yield
    except Conflict as stale:
        if "current_version" not in stale.facts:
            raise
        path = _save_draft(home_of(session).path, name, text)
        raise Conflict(
            stale.title,
            detail=f"nothing was written; your text is kept in {path}",
            fix=(f"moot notes diff {name}", f"moot notes edit {name} < {quote(str(path))}"),
            kept_in=str(path),
            **stale.facts,
        ) from None


def _save_draft(home: Path, name: str, text: str) -> Path:
    """Save a text in a file of its own, private as the home is."""
    for number in range(1, MAX_DRAFTS + 1):
        place = (FOLDER, f"{name}.md" if number == 1 else f"{name}-{number}.md")
        try:
            files.create_below(home, place, text.encode())
        except FileExistsError:
            continue
        return home.joinpath(*place)
    raise StoreUnwritable(f"{home / FOLDER} holds {MAX_DRAFTS} drafts of {name}; delete some")
