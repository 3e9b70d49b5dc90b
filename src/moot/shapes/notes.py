"""Shared notes as the outside sees them."""

from moot.model.records import note as model_note
from moot.shapes.shape import Names, Shape, when


class Note(Shape, frozen=True):
    """A note, or one of its versions."""

    name: str
    text: str
    version: int
    updated_by: str
    updated_at: str | None
    created_by: str
    created_at: str | None

    @classmethod
    def of(cls, note: model_note.SharedNote, names: Names) -> "Note":
        return cls(
            name=note.name,
            text=note.text,
            version=note.version,
            updated_by=names(note.updated_by),
            updated_at=when(note.updated_at),
            created_by=names(note.created_by),
            created_at=when(note.created_at),
        )


class NoteChange(Shape, frozen=True):
    """Who wrote a version of a note, and how much it changed."""

    name: str
    version: int
    by: str
    at: str | None
    size: int
    """Characters of its text."""
    added: int
    """Lines added since the previous version."""
    removed: int
    """Lines removed since the previous version."""


class NoteShare(Shape, frozen=True):
    """What an agent may do with a note, and who granted it."""

    agent: str
    access: str
    """`read` or `read_write`."""
    by: str
    at: str | None

    @classmethod
    def of(cls, granted: model_note.NotePermission, names: Names) -> "NoteShare":
        return cls(
            agent=names(granted.participant),
            access=granted.access.value,
            by=names(granted.by),
            at=when(granted.at),
        )
