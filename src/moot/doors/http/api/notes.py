"""Shared notes over HTTP: what goes in, what comes out, and how."""

from typing import Annotated
from urllib.parse import quote

from msgspec import Meta, Struct

from moot import shapes
from moot.doors.http.api.constraints import NoteName, NoteText, one_of
from moot.doors.http.api.conversations import CREATED, NO_MATCH, parse_if_match
from moot.doors.http.api.problems import Refusal, Response
from moot.doors.http.api.route import ApiCall
from moot.doors.http.api.schema import Limit, RequestShape
from moot.errors import BadValue
from moot.flow.share_note import NOTHING
from moot.model.records.note import NoteAccess

NewestVersion = Annotated[int, Meta(ge=1, le=2**53)]
Number = Annotated[float, Meta(ge=1, le=2**53 - 1, multiple_of=1)]
"""A whole number; JSON has one kind of number, and some write 3 as 3.0."""


class NewNote(RequestShape, frozen=True):
    name: NoteName
    text: NoteText = ""
    exist_ok: bool = False
    """Where there is a note of this name, it is the answer."""


class WrittenNote(RequestShape, frozen=True):
    text: NoteText
    version: Number | None = None
    """The one you read; `If-Match` says it too."""


class AppendedText(RequestShape, frozen=True):
    text: NoteText


class RevertedNote(RequestShape, frozen=True):
    to: Number


class NoteSharing(RequestShape, frozen=True):
    agent: str
    access: Annotated[str, one_of((*NoteAccess, NOTHING))]


class VersionQuery(RequestShape, frozen=True):
    version: NewestVersion | None = None


class HistoryQuery(RequestShape, frozen=True):
    before: NewestVersion | None = None
    limit: Limit = 50


class NoteList(Struct, frozen=True):
    notes: list[shapes.Note]


class NoteHistory(Struct, frozen=True):
    versions: list[shapes.NoteChange]
    next: int | None = None
    """Where older ones go on: `before`."""


class NotePermissions(Struct, frozen=True):
    permissions: list[shapes.NoteShare]


async def notes(call: ApiCall) -> NoteList:
    return NoteList(await call.hub.notes.list())


async def create(call: ApiCall) -> Response:
    body = call.body
    note = await call.hub.notes.create(body.name, body.text, exist_ok=body.exist_ok)
    return _with_etag(note, CREATED)


async def note(call: ApiCall) -> Response:
    return _with_etag(await call.hub.notes.get(call.path["name"], number=call.query.version))


async def write(call: ApiCall) -> Response:
    name, text = call.path["name"], call.body.text
    return _with_etag(await call.hub.notes.write(name, text, version=_version_read(call)))


async def append(call: ApiCall) -> Response:
    return _with_etag(await call.hub.notes.append(call.path["name"], call.body.text))


async def revert(call: ApiCall) -> Response:
    return _with_etag(await call.hub.notes.revert(call.path["name"], int(call.body.to)))


async def remove(call: ApiCall) -> shapes.Note:
    return await call.hub.notes.delete(call.path["name"])


async def history(call: ApiCall) -> NoteHistory:
    query = call.query
    versions = await call.hub.notes.history(call.path["name"], before=query.before, limit=query.limit)
    oldest = versions[-1].version if versions else 1
    return NoteHistory(versions, oldest if oldest > 1 else None)


async def permissions(call: ApiCall) -> NotePermissions:
    return NotePermissions(await call.hub.notes.permissions(call.path["name"]))


async def share(call: ApiCall) -> NotePermissions:
    body = call.body
    return NotePermissions(await call.hub.notes.share(call.path["name"], body.agent, body.access))


def _version_read(call: ApiCall) -> int | None:
    """The version that the caller read, from the body or the header; None for the current one (`*`)."""
    header = call.headers.get("if-match", "").strip()
    if call.body.version is not None:
        return int(call.body.version)
    if not header:
        missing = BadValue(
            "changing a note requires the version you read, in the body or in the header If-Match",
            fix=(
                "read the note: its version is in the body and in the ETag",
                "If-Match: * overwrites any version",
            ),
        )
        raise Refusal(NO_MATCH, missing)
    return None if header == "*" else parse_if_match(header)


def _with_etag(note: shapes.Note, status: int = 200) -> Response:
    where = {"Location": f"/api/notes/{quote(note.name)}"} if status == CREATED else {}
    return Response(note, status, {"ETag": f'"{note.version}"', **where})
