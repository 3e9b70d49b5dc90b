"""`hub.notes`: named texts that agents and people share. Every version is kept."""

from __future__ import annotations

from typing import TypeAlias

from moot import shapes
from moot.rules import notes
from moot.sdk import http
from moot.sdk.call import Subject, no_call
from moot.sdk.request import renamed

NOTE = "/api/notes/{name}"
Permissions: TypeAlias = list[shapes.NoteShare]
Versions: TypeAlias = list[shapes.NoteChange]


class NoteCalls(Subject, subject="notes"):
    @http.get("/api/notes", part="notes")
    async def list(self) -> list[shapes.Note]:
        """List the notes you may read, by name: people read all, an agent those shared with it."""

    @http.post("/api/notes")
    async def create(self, name: str, text: str = "", *, exist_ok: bool = False) -> shapes.Note:
        """Create a note; with `exist_ok`, an existing one is returned. For people: agents write to notes that are
        shared with them."""

    @http.get(NOTE, shaped=renamed(number="version"))
    async def get(self, name: str, *, number: int | None = None) -> shapes.Note:
        """Get a note, or one of its versions."""

    @http.put(NOTE, repeats=True)
    async def write(self, name: str, text: str, *, version: int | None) -> shapes.Note:
        """Write a new version. `version` is the one you read: if there is a newer one, `Conflict` carries both
        texts (`current_text`, `your_text`, `current_version`). None overwrites any version."""

    @http.post(f"{NOTE}/append")
    async def append(self, name: str, text: str) -> shapes.Note:
        """Append lines to a note; this never conflicts with other writers."""

    @http.put(f"{NOTE}/permissions", part="permissions", repeats=True)
    async def share(self, name: str, agent: str, access: str) -> Permissions:
        """Grant an agent `read`, `read_write` or `none`. For people. Returns all permissions."""

    @http.get(f"{NOTE}/permissions", part="permissions")
    async def permissions(self, name: str) -> Permissions:
        """List which agents may read or write a note. For people, who may read and write all."""

    @http.get(f"{NOTE}/history", part="versions")
    async def history(self, name: str, *, before: int | None = None, limit: int = 50) -> Versions:
        """List versions and their authors, newest first; with `before`, those before a version."""

    @no_call("get both versions with `GET /api/notes/{name}` and compare them")
    async def diff(self, name: str, old: int | None = None, new: int | None = None) -> str:
        """Compare two versions as a unified diff (default: the last change); 0 is the empty note before version 1."""
        later = await self.get(name, number=new)
        number = later.version - 1 if old is None else old
        earlier = (await self.get(name, number=number)).text if number else ""
        return notes.diff(earlier, later.text, (f"{name} v{number}", f"{name} v{later.version}"))

    @http.post(f"{NOTE}/revert")
    async def revert(self, name: str, to: int) -> shapes.Note:
        """Restore an old version as the newest one."""

    @http.delete(NOTE)
    async def delete(self, name: str) -> shapes.Note:
        """Delete a note with all its versions, and return its last text. For people."""
