"""Shared notes: texts with a name that agents and people keep together, every version of them, and who may.

People read and write all notes; an agent only those that it was granted. Above: rules/notes.py says who may,
rules/audit.py chains the versions. Not here: what an agent keeps for itself, which is its own.
"""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.records.record import Table

NoteName = NewType("NoteName", str)


class NoteAccess(StrEnum):
    """What an agent may do with a note; without a permission it does not see it."""

    READ = "read"
    READ_WRITE = "read_write"


class SharedNote(Struct, frozen=True, gc=False):
    """A note as it stands: its newest version, with the text at hand."""

    name: NoteName
    text: str
    version: int
    """1, 2, 3 … without gaps."""
    hash: str
    """Of the newest version: the head of the note's chain."""
    created_by: ParticipantId
    created_at: float
    updated_by: ParticipantId
    updated_at: float


class NoteVersion(Struct, frozen=True, gc=False):
    """One version of a note, as it was written. It never changes, and goes only with the note."""

    note: NoteName
    version: int
    text: str
    by: ParticipantId
    at: float
    hash: str
    """Chains to the version before (rules/audit.py)."""


class NotePermission(Struct, frozen=True, gc=False):
    """What one agent may do with one note, and who said so."""

    note: NoteName
    participant: ParticipantId
    access: NoteAccess
    by: ParticipantId
    at: float


NOTES = Table("notes", SharedNote, key=("name",), all_at_once=True, in_micros=("created_at", "updated_at"))
NOTE_VERSIONS = Table("note_versions", NoteVersion, key=("note", "version"), in_micros=("at",))
NOTE_PERMISSIONS = Table(
    "note_permissions",
    NotePermission,
    key=("note", "participant"),
    by=("note", "participant"),
    in_micros=("at",),
    audited_as="permission",
)
