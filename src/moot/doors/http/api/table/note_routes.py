"""Shared notes."""

from typing import Final

from moot import shapes
from moot.doors.http.api import notes
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import CREATE, CREATED, LOOK, MANAGE, POST
from moot.errors import BadName, BadText, Conflict, NotFound

NOTES: Final = (
    Route("GET", "/api/notes", "List the notes you may read, with their texts", notes.notes, LOOK, notes.NoteList),
    Route(
        "POST", "/api/notes", "Create a note", notes.create, CREATE, shapes.Note, body=notes.NewNote, status=CREATED,
        errors=(BadName, BadText, Conflict),
    ),
    Route(
        "GET", "/api/notes/{name}", "Get a note, or one of its versions, with its version as ETag", notes.note, LOOK,
        shapes.Note, query=notes.VersionQuery, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/notes/{name}", "Write a new version; a conflict returns both texts", notes.write, POST,
        shapes.Note, body=notes.WrittenNote, headers=("If-Match",), errors=(NotFound, BadText, Conflict),
    ),
    Route(
        "DELETE", "/api/notes/{name}", "Delete a note with all its versions", notes.remove, MANAGE, shapes.Note,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/notes/{name}/append", "Append to a note", notes.append, POST, shapes.Note,
        body=notes.AppendedText, errors=(NotFound, BadText),
    ),
    Route(
        "POST", "/api/notes/{name}/revert", "Restore an old version as the newest", notes.revert, POST,
        shapes.Note, body=notes.RevertedNote, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/notes/{name}/history", "List versions and their authors, newest first", notes.history, LOOK,
        notes.NoteHistory, query=notes.HistoryQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/notes/{name}/permissions", "List which agents may read or write a note", notes.permissions, LOOK,
        notes.NotePermissions, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/notes/{name}/permissions", "Grant an agent read, read_write or none", notes.share,
        MANAGE, notes.NotePermissions, body=notes.NoteSharing, errors=(NotFound, Conflict),
    ),
)  # fmt: skip
