"""Share a note: say what one agent may do with it. People need no permission, and nobody but them gives one."""

from msgspec import Struct

from moot.errors import Conflict
from moot.flow.steps import acts, find
from moot.flow.steps import notes as steps
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import HUMAN
from moot.model.records.note import NOTE_PERMISSIONS, NOTES, NoteAccess, NotePermission
from moot.ports import Scope
from moot.rules import notes
from moot.rules.draft import Draft, Seen

NOTHING = "none"
"""How events say that an agent may do nothing with a note."""


class ShareNote(Struct, frozen=True, gc=False):
    author: ParticipantId
    name: str
    agent: str
    access: NoteAccess | None
    """None takes away what was granted."""


def scope(command: ShareNote) -> Scope:
    name = notes.canonical_name(command.name)
    return Scope(
        names=(command.author, command.agent),
        records=(acts.HEAD, NOTES.one(name), NOTE_PERMISSIONS.where(note=name)),
    )


def decide(command: ShareNote, seen: Seen, at: Moment) -> Decision[list[NotePermission]]:
    """All permissions of the note, as they are from now on."""
    draft = Draft(seen, at)
    steps.by_person(draft, command.author, "share")
    note = steps.readable(draft, command.author, command.name)
    agent = find.addressee(seen, command.agent)
    if agent.kind is HUMAN:
        raise Conflict(
            f"{agent.name} is a person",
            detail="people read and write every note; only agents need permission",
        )
    granted = {each.participant: each for each in seen.records(NOTE_PERMISSIONS.where(note=note.name))}
    before = granted.get(agent.id)
    if command.access is (before.access if before is not None else None):
        return Decision([], list(granted.values()))
    if command.access is None:
        del granted[agent.id]
        acts.drop_permission(draft, note.name, agent.id, command.author)
    else:
        given = NotePermission(note.name, agent.id, command.access, command.author, at.now)
        granted[agent.id] = acts.put_permission(draft, given, command.author)
    access = NOTHING if command.access is None else command.access.value
    steps.emit_note(draft, EventType.NOTE_SHARED, note, command.author, agent=agent.id, access=access)
    return Decision(draft.changes(), list(granted.values()))
