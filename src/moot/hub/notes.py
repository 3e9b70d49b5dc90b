"""`hub.notes`: shared notes, read and written with permission.

A read asks for the note and for the caller's permission; a write settles both inside its decision. What a caller may
not read is refused as if it were not there, and only names that it may read are offered instead.
"""

from collections.abc import Awaitable, Sequence
from typing import TypeVar

from msgspec import structs

from moot import shapes
from moot.errors import BadValue, NotFound, NotPermitted
from moot.flow import delete_note, share_note, write_note
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.participant import HUMAN, Participant
from moot.model.records.note import (
    NOTE_PERMISSIONS,
    NOTE_VERSIONS,
    NOTES,
    NoteAccess,
    NoteName,
    NotePermission,
    NoteVersion,
    SharedNote,
)
from moot.rules import notes
from moot.rules.words.mentions import nearest
from moot.sdk.call import in_process
from moot.sdk.notes import NoteCalls, Permissions, Versions

T = TypeVar("T")
MAX_VERSIONS = 200
"""Versions that are read at once, each with its text."""
MAX_OFFERED = 20


class Notes(NoteCalls):
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    # --- reading ---------------------------------------------------------------------------------------

    async def list(self) -> list[shapes.Note]:
        return [self._shape(note) for note in await self._visible_notes()]

    async def get(self, name: str, *, number: int | None = None) -> shapes.Note:
        note = await self._visible_note(name)
        if number is None or number == note.version:
            return self._shape(note)
        version = await self._version(note, number)
        earlier = structs.replace(
            note, text=version.text, version=number, updated_by=version.by, updated_at=version.at
        )
        return self._shape(earlier)

    async def history(self, name: str, *, before: int | None = None, limit: int = 50) -> Versions:
        note = await self._visible_note(name)
        newest = note.version if before is None else min(note.version, before - 1)
        oldest = max(0, newest - max(0, min(limit, MAX_VERSIONS)))
        versions: Versions = []
        text = await self._text(note, oldest)
        for number in range(oldest + 1, newest + 1):
            version = await self._version(note, number)
            versions.insert(0, self._version_shape(version, text))
            text = version.text
        return versions

    diff = NoteCalls.diff

    async def permissions(self, name: str) -> Permissions:
        note = await self._visible_note(name)
        if not await self._is_person():
            raise NotPermitted(
                "agents may not list who may use a note", detail="only people may do this, not agents"
            )
        return self._granted(await self._core.parts.store.records(NOTE_PERMISSIONS.where(note=note.name)))

    @in_process("doors decide with it who may see events of a note")
    async def readers(self, name: str, created_at: str | None) -> frozenset[str]:
        """The agents that may read a note by now; none where it is gone, or another has its name."""
        note = await self._note(name)
        if note is None or shapes.when(note.created_at) != created_at:
            return frozenset()
        granted = await self._core.parts.store.records(NOTE_PERMISSIONS.where(note=note.name))
        return frozenset(self._core.directory.name(each.participant) for each in granted)

    @in_process("doors list their tools by it")
    async def broadest_access(self) -> NoteAccess | None:
        """The most that the caller may do with any note; None where there is none for it."""
        store, participant = self._core.parts.store, await self._reader()
        if participant.kind is HUMAN:
            return NoteAccess.READ_WRITE if await store.records(NOTES.all()) else None
        granted = {
            each.access for each in await store.records(NOTE_PERMISSIONS.where(participant=participant.id))
        }
        return max(granted, key=tuple(NoteAccess).index, default=None)

    # --- writing ---------------------------------------------------------------------------------------

    async def create(self, name: str, text: str = "", *, exist_ok: bool = False) -> shapes.Note:
        others = await self._core.parts.store.note_count()
        command = write_note.WriteNote(self._me, name, text, write_note.NEW, exist_ok=exist_ok, others=others)
        return await self._write(command)

    async def write(self, name: str, text: str, *, version: int | None) -> shapes.Note:
        if version is not None and version <= write_note.NEW and version != write_note.UNREAD:
            raise BadValue(f"version = {version} is not a version of a note", detail="expected at least 1")
        return await self._write(write_note.WriteNote(self._me, name, text, version))

    async def append(self, name: str, text: str) -> shapes.Note:
        return await self._write(write_note.WriteNote(self._me, name, text, None, append=True))

    async def revert(self, name: str, to: int) -> shapes.Note:
        note = await self._visible_note(name)
        old = await self._version(note, to)
        return await self._write(write_note.WriteNote(self._me, name, old.text, note.version))

    async def share(self, name: str, agent: str, access: str) -> Permissions:
        command = share_note.ShareNote(self._me, name, agent, _access(access))
        return self._granted(await self._with_suggestions(self._core.do(share_note, command)))

    async def delete(self, name: str) -> shapes.Note:
        command = delete_note.DeleteNote(self._me, name)
        return self._shape(await self._with_suggestions(self._core.do(delete_note, command)))

    async def _write(self, command: write_note.WriteNote) -> shapes.Note:
        return self._shape(await self._with_suggestions(self._core.do(write_note, command)))

    # --- who may ---------------------------------------------------------------------------------------

    async def _visible_note(self, name: str) -> SharedNote:
        """The note, if the caller may read it."""
        return await self._with_suggestions(self._unless_hidden(name))

    async def _unless_hidden(self, name: str) -> SharedNote:
        reader, note = await self._reader(), await self._note(name)
        if note is None or await self._access(reader, note.name) is None:
            raise notes.unknown_note(name, reader)
        return note

    async def _visible_notes(self) -> Sequence[SharedNote]:
        """Notes that the caller may read, by name."""
        store, participant = self._core.parts.store, await self._reader()
        if participant.kind is HUMAN:
            candidates: Sequence[SharedNote | None] = await store.records(NOTES.all())
        else:
            granted = await store.records(NOTE_PERMISSIONS.where(participant=participant.id))
            candidates = [await self._note(each.note) for each in granted]
        return sorted((note for note in candidates if note is not None), key=lambda note: note.name)

    async def _access(self, participant: Participant, name: NoteName) -> NoteAccess | None:
        granted = await self._core.parts.store.records(NOTE_PERMISSIONS.one(name, participant.id))
        return notes.access_of(participant, granted[0] if granted else None)

    async def _reader(self) -> Participant:
        return await self._core.directory.participant(self._me)

    async def _is_person(self) -> bool:
        return (await self._reader()).kind is HUMAN

    async def _with_suggestions(self, work: Awaitable[T]) -> T:
        """Add to the refusal of an unknown name those that the caller could have meant."""
        try:
            return await work
        except NotFound as refusal:
            if refusal.what != "note" or "available" in refusal.facts:
                raise
            names = [note.name for note in await self._visible_notes()]
            listed = ", ".join(names[:MAX_OFFERED])
            raise NotFound(
                refusal.title,
                what=refusal.what,
                detail=f"notes here: {listed}" if names else "there are no notes here",
                fix=refusal.fix,
                suggestions=nearest(str(refusal.facts["ref"]), names),
                available=names[:MAX_OFFERED],
                **refusal.facts,
            ) from None

    # --- rows ------------------------------------------------------------------------------------------

    async def _note(self, name: str) -> SharedNote | None:
        matching = await self._core.parts.store.records(NOTES.one(notes.canonical_name(name)))
        return matching[0] if matching else None

    async def _version(self, note: SharedNote, number: int) -> NoteVersion:
        versions = await self._core.parts.store.records(NOTE_VERSIONS.one(note.name, number))
        if not versions:
            raise NotFound(
                f"{note.name} has no version {number}",
                what="version",
                detail=f"its versions are 1 to {note.version}",
            )
        return versions[0]

    async def _text(self, note: SharedNote, number: int) -> str:
        """Of a version; before the first one there was nothing."""
        return (await self._version(note, number)).text if number else ""

    # --- shapes ----------------------------------------------------------------------------------------

    def _shape(self, note: SharedNote) -> shapes.Note:
        return shapes.Note.of(note, self._core.directory.name)

    def _granted(self, granted: Sequence[NotePermission]) -> Permissions:
        shaped = [shapes.NoteShare.of(each, self._core.directory.name) for each in granted]
        return sorted(shaped, key=lambda each: each.agent)

    def _version_shape(self, version: NoteVersion, before: str) -> shapes.NoteChange:
        added, removed = notes.changed_lines(before, version.text)
        return shapes.NoteChange(
            name=version.note,
            version=version.version,
            by=self._core.directory.name(version.by),
            at=shapes.when(version.at),
            size=len(version.text),
            added=added,
            removed=removed,
        )


def _access(word: str) -> NoteAccess | None:
    if word == share_note.NOTHING:
        return None
    try:
        return NoteAccess(word)
    except ValueError:
        values = ", ".join((*NoteAccess, share_note.NOTHING))
        raise BadValue(f'unknown access "{word}"', detail=f"expected one of {values}") from None
