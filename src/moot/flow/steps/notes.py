"""What the verbs on shared notes share: finding a note for who may, putting a version behind the last, telling of it.

Above: write_note.py, share_note.py, delete_note.py. Below: rules/notes.py says who may, rules/audit.py chains.
"""

from msgspec import structs

from moot.errors import NotPermitted
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import micros
from moot.model.participant import HUMAN, Participant
from moot.model.records.note import NOTE_PERMISSIONS, NOTE_VERSIONS, NOTES, NoteName, NoteVersion, SharedNote
from moot.rules import audit, notes
from moot.rules.draft import Draft


def by_person(draft: Draft, author: ParticipantId, what: str) -> Participant:
    """Which notes there are, and which agents may use them, is for people to say."""
    participant = draft.participant(author)
    if participant.kind is not HUMAN:
        raise NotPermitted(
            f"{participant.name} may not {what} notes", detail="only people may do this, not agents"
        )
    return participant


def readable(draft: Draft, author: ParticipantId, name: str) -> SharedNote:
    """The note, for whoever may read it."""
    reader, wanted = draft.participant(author), notes.canonical_name(name)
    note = draft.seen.record(NOTES, wanted)
    permission = draft.seen.record(NOTE_PERMISSIONS, wanted, author)
    if note is None or notes.access_of(reader, permission) is None:
        raise notes.unknown_note(name, reader)
    return note


def put_version(
    draft: Draft, before: SharedNote | None, name: NoteName, text: str, author: ParticipantId
) -> SharedNote:
    """A new version of a note, or the first one of a new note."""
    now = draft.at.now
    number, head = (1, "") if before is None else (before.version + 1, before.hash)
    version = NoteVersion(note=name, version=number, text=text, by=author, at=now, hash="")
    version = structs.replace(version, hash=audit.note_version_hash(head, version))
    draft.put(NOTE_VERSIONS, version)
    note = SharedNote(
        name=name,
        text=text,
        version=number,
        hash=version.hash,
        created_by=author if before is None else before.created_by,
        created_at=now if before is None else before.created_at,
        updated_by=author,
        updated_at=now,
    )
    return draft.put(NOTES, note)


def emit_note(draft: Draft, kind: EventType, note: SharedNote, by: ParticipantId, **more: str) -> None:
    """Record what happened to a note. The event does not repeat its text, which is read from the version."""
    body = {
        "name": note.name,
        "version": note.version,
        "hash": note.hash,
        "created_by": note.created_by,
        "created_us": micros(note.created_at),
        "updated_by": note.updated_by,
        "updated_us": micros(note.updated_at),
    }
    draft.emit(kind, by=by, body={**body, **more})
