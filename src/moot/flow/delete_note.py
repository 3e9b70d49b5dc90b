"""Delete a shared note with all its versions and permissions. Only that it was there, and who deleted it, is kept."""

from msgspec import Struct

from moot.flow.steps import acts
from moot.flow.steps import notes as steps
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.note import NOTE_PERMISSIONS, NOTE_VERSIONS, NOTES, SharedNote
from moot.ports import Scope
from moot.rules import notes
from moot.rules.draft import Draft, Seen


class DeleteNote(Struct, frozen=True, gc=False):
    author: ParticipantId
    name: str


def scope(command: DeleteNote) -> Scope:
    name = notes.canonical_name(command.name)
    return Scope(
        names=(command.author,),
        records=(acts.HEAD, NOTES.one(name), NOTE_PERMISSIONS.where(note=name)),
    )


def decide(command: DeleteNote, seen: Seen, at: Moment) -> Decision[SharedNote]:
    draft = Draft(seen, at)
    steps.by_person(draft, command.author, "delete")
    note = steps.readable(draft, command.author, command.name)
    for permission in seen.records(NOTE_PERMISSIONS.where(note=note.name)):
        acts.drop_permission(draft, note.name, permission.participant, command.author)
    for version in range(1, note.version + 1):
        draft.drop(NOTE_VERSIONS, note.name, version)
    draft.drop(NOTES, note.name)
    gone = {"note": note.name, "versions": note.version, "head": note.hash}
    acts.enter(draft, AuditedAct.NOTE_DELETED, command.author, f"note {note.name}", gone)
    steps.emit_note(draft, EventType.NOTE_DELETED, note, command.author)
    return Decision(draft.changes(), note)
