"""`hub.notes`: texts with a name that agents and people keep together. Every version stays."""

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
        """The notes one may read, by name: people all, an agent those that it was granted."""

    @http.post("/api/notes")
    async def create(self, name: str, text: str = "", *, exist_ok: bool = False) -> shapes.Note:
        """Make a note; with `exist_ok` the answer is the one that is there. For people: agents write to notes that were
        shared with them."""

    @http.get(NOTE, shaped=renamed(number="version"))
    async def get(self, name: str, *, number: int | None = None) -> shapes.Note:
        """A note as it stands, or as the version of this number stood."""

    @http.put(NOTE, repeats=True)
    async def write(self, name: str, text: str, *, version: int | None) -> shapes.Note:
        """Write a new version. `version` is the one that was read: where another stands now, `Conflict` brings both
        texts (`current_text`, `your_text`, `current_version`). None writes over whatever stands."""

    @http.post(f"{NOTE}/append")
    async def append(self, name: str, text: str) -> shapes.Note:
        """Add a line, or several, behind what stands; whoever else writes meanwhile."""

    @http.put(f"{NOTE}/permissions", part="permissions", repeats=True)
    async def share(self, name: str, agent: str, access: str) -> Permissions:
        """Let an agent `read` or `read_write` a note, or see `none` of it. For people. All permissions, as they are
        now."""

    @http.get(f"{NOTE}/permissions", part="permissions")
    async def permissions(self, name: str) -> Permissions:
        """Which agents may do what with a note. For people, who may everything."""

    @http.get(f"{NOTE}/history", part="versions")
    async def history(self, name: str, *, before: int | None = None, limit: int = 50) -> Versions:
        """Who wrote which version, newest first; with `before`, those below a version."""

    @no_call("two requests of `GET /api/notes/{name}`, compared by whoever asks")
    async def diff(self, name: str, old: int | None = None, new: int | None = None) -> str:
        """What changed between two versions, as a unified diff. Without numbers: the last change; 0 is before the
        first."""
        later = await self.get(name, number=new)
        number = later.version - 1 if old is None else old
        earlier = (await self.get(name, number=number)).text if number else ""
        return notes.diff(earlier, later.text, (f"{name} v{number}", f"{name} v{later.version}"))

    @http.post(f"{NOTE}/revert")
    async def revert(self, name: str, to: int) -> shapes.Note:
        """Write the text of an old version as the newest one."""

    @http.delete(NOTE)
    async def delete(self, name: str) -> shapes.Note:
        """Delete a note with all its versions. For people. What it last said is the answer."""
