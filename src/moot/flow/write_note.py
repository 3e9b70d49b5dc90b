"""Write a shared note: a new version of it, or the first one of a new note. Nothing that was written is lost.

Whoever saw an older version than the one that stands is refused with both texts. Agents write what they were
granted; people write all, and they alone make new notes: an agent that could would learn which names are taken.
"""

from msgspec import Struct

from moot.errors import BadName, Conflict, NotPermitted
from moot.flow.steps import notes as steps
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.note import NOTE_PERMISSIONS, NOTES, NoteAccess, NoteName, SharedNote
from moot.ports import Scope
from moot.rules import notes
from moot.rules.draft import Draft, Seen
from moot.rules.words.names import NameProblem, check_note_name
from moot.rules.words.text import storable

NEW = 0
"""The version that somebody saw who makes a new note."""
UNREAD = -1
"""The version of somebody who does not say what it saw, and may not write over what it did not see."""
MAX_SHOWN = 40


class WriteNote(Struct, frozen=True, gc=False):
    author: ParticipantId
    name: str
    text: str
    version: int | None
    """That the author saw; `NEW` makes a note, `UNREAD` is refused, None writes over whatever stands."""
    append: bool = False
    """The text goes behind what stands."""
    exist_ok: bool = False
    """Of a note that is to be made: where there is one of that name, it is the answer."""
    others: int = 0
    """How many notes there are, as the caller counted them; so the limit holds but for those made at the same time."""


def scope(command: WriteNote) -> Scope:
    name = notes.canonical_name(command.name)
    if command.version == NEW:
        return Scope(names=(command.author,), records=(NOTES.one(name),))
    mine = (NOTES.one(name), NOTE_PERMISSIONS.one(name, command.author))
    return Scope(names=(command.author,), records=mine, everyone=True)  # to name whoever wrote before


def decide(command: WriteNote, seen: Seen, at: Moment) -> Decision[SharedNote]:
    draft = Draft(seen, at)
    if command.version == NEW:
        return _made(draft, command)
    before = _writable(draft, command)
    text = notes.appended(before.text, command.text) if command.append else command.text
    text = storable(text, at.terms.limits.message_bytes, may_be_empty=True)
    if text == before.text:  # it stands as it was wanted: said twice, or by two at once
        return Decision([], before)
    if command.version not in (None, before.version):
        raise _stale(draft, command, before)
    if before.version >= notes.MAX_VERSIONS:
        raise Conflict(
            f"{before.name} has {before.version} versions, and all of them are kept",
            detail="nothing was written: go on in a new note",
            fix=(Hint(Act.SHOW_NOTE, note=before.name),),
            note=before.name,
        )
    note = steps.put_version(draft, before, before.name, text, command.author)
    steps.emit_note(draft, EventType.NOTE_CHANGED, note, command.author)
    return Decision(draft.changes(), note)


def _made(draft: Draft, command: WriteNote) -> Decision[SharedNote]:
    steps.by_person(draft, command.author, "make")
    name = _checked(command.name)
    before = draft.seen.record(NOTES, name)
    if before is not None and command.exist_ok:
        return Decision([], before)
    if before is not None:
        raise Conflict(
            f'a note named "{name}" already exists', fix=(Hint(Act.SHOW_NOTE, note=name),), note=name
        )
    if command.others >= notes.MAX_NOTES:
        raise Conflict(
            f"there are already {command.others} notes",
            detail=f"expected at most {notes.MAX_NOTES}: merge some, or delete those that nobody needs",
            fix=(Hint(Act.LIST_NOTES),),
        )
    text = storable(command.text, draft.at.terms.limits.message_bytes, may_be_empty=True)
    note = steps.put_version(draft, None, name, text, command.author)
    steps.emit_note(draft, EventType.NOTE_CREATED, note, command.author)
    return Decision(draft.changes(), note)


def _checked(name: str) -> NoteName:
    try:
        return NoteName(check_note_name(name))
    except NameProblem as problem:
        raise BadName(
            f"{name[:MAX_SHOWN]!a} cannot be the name of a note",
            detail=f"expected {problem.expected}",
            suggestions=problem.suggestions,
            problem=problem.problem,
        ) from problem


def _writable(draft: Draft, command: WriteNote) -> SharedNote:
    note = steps.readable(draft, command.author, command.name)
    participant = draft.participant(command.author)
    permission = draft.seen.record(NOTE_PERMISSIONS, note.name, participant.id)
    if notes.access_of(participant, permission) is not NoteAccess.READ_WRITE:
        raise NotPermitted(
            f"{participant.name} may read {note.name}, but not write it",
            fix=(Hint(Act.SHARE_NOTE, note=note.name, agent=participant.name),),
            note=note.name,
        )
    return note


def _stale(draft: Draft, command: WriteNote, note: SharedNote) -> Conflict:
    writer = draft.name(note.updated_by)
    title = f"{writer} wrote version {note.version} of {note.name}; you have version {command.version}"
    if command.version == UNREAD:
        title = f"{note.name} is at version {note.version}; say which version you have read"
    return Conflict(
        title,
        detail="nothing was written: merge both texts, and write the result as a change of the newest version",
        fix=(Hint(Act.SHOW_NOTE, note=note.name),),
        note=note.name,
        current_version=note.version,
        current_text=note.text,
        your_text=command.text,
        updated_by=writer,
    )
