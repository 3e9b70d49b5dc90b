"""Who may read and write a shared note, and what becomes of its text.

People may read and write every note; an agent does what it was granted, and a note that it may not read is not there
for it. Above: flow/steps/notes.py for writes, inside their decisions; hub/notes.py for reads. Below: nothing.
"""

from collections import Counter
from collections.abc import Iterable
from difflib import unified_diff

from moot.errors import NotFound
from moot.model.hint import Act, Hint
from moot.model.participant import HUMAN, Participant
from moot.model.records.note import NoteAccess, NotePermission
from moot.rules.words.names import NameProblem, check_note_name

MAX_NOTES = 500
"""In one home: a note is something that people look after."""
MAX_VERSIONS = 10_000
"""Of one note: every one is kept."""


def access_of(participant: Participant, permission: NotePermission | None) -> NoteAccess | None:
    """What somebody may do with a note; None where it does not see it."""
    if participant.kind is HUMAN:
        return NoteAccess.READ_WRITE
    return permission.access if permission is not None else None


def canonical_name(name: str) -> str:
    """The name as a note of it would be stored; nothing where no note can be called so."""
    try:
        return check_note_name(name)
    except NameProblem:
        return ""


def unknown_note(name: str, participant: Participant) -> NotFound:
    """What is said of a note that is not there, and to an agent of one that it may not read."""
    if participant.kind is HUMAN:
        possible = canonical_name(name)
        make = (Hint(Act.NEW_NOTE, note=possible),) if possible else ()
        fix = (Hint(Act.LIST_NOTES), *make)
        return NotFound(f'no note is called "{name}"', what="note", fix=fix, ref=name)
    return NotFound(f'no note of yours is called "{name}"', what="note", ref=name)


def appended(text: str, more: str) -> str:
    """A text with more behind it, on a line of its own."""
    return f"{text}\n{more}" if text and not text.endswith("\n") else text + more


def changed_lines(old: str, new: str) -> tuple[int, int]:
    """How many lines are new, and how many are gone, wherever they stand."""
    before, after = Counter(old.splitlines()), Counter(new.splitlines())
    return (after - before).total(), (before - after).total()


def diff(old: str, new: str, titles: tuple[str, str]) -> str:
    """What changed, as people read it: a unified diff, empty where nothing did."""
    found: Iterable[str] = unified_diff(old.splitlines(), new.splitlines(), *titles, lineterm="")
    return "".join(f"{line}\n" for line in found)
