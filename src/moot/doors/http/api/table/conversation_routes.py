"""Conversations: made, found, changed, ended."""

from typing import Final

from moot import shapes
from moot.doors.http.api import conversations, schema
from moot.doors.http.api.route import Route, SubjectKind
from moot.doors.http.api.table.abbreviations import (
    CREATE,
    CREATED,
    EMPTY,
    IN,
    LOOK,
    MANAGE,
    POST,
    READ,
    SAYING,
)
from moot.doors.http.page import commands
from moot.errors import BadName, Closed, Conflict, HubAbsent, NotFound
from moot.model.answer import Preview

CONVERSATIONS: Final = (
    Route(
        "GET", "/api/conversations", "List your conversations; the owner gets all of them", conversations.conversations,
        LOOK, schema.ListedConversations, query=schema.ConversationsQuery,
    ),
    Route(
        "POST", "/api/conversations", "Create a conversation and join it", conversations.create, CREATE,
        shapes.Conversation, body=schema.NewConversation, status=CREATED, errors=(NotFound, BadName, Conflict),
    ),
    Route(
        "POST", "/api/implicit", "Get or create your conversation with these participants",
        conversations.implicit, CREATE, shapes.Conversation, body=schema.Among, errors=(NotFound, *SAYING),
    ),
    Route(
        "POST", "/api/ephemeral", "Create a conversation for one question; it archives itself", conversations.ephemeral,
        CREATE, shapes.Conversation, body=schema.Question, errors=(NotFound, *SAYING),
    ),
    Route(
        "GET", "/api/conversations/{id}", "Get a conversation by name or id", conversations.conversation, READ,
        shapes.Conversation, about=IN, errors=(NotFound,),
    ),
    Route(
        "PATCH", "/api/conversations/{id}", "Rename a conversation or change its settings", conversations.change,
        MANAGE, shapes.Conversation, about=IN, body=schema.ChangedConversation,
        errors=(NotFound, BadName, Conflict, Closed),
    ),
    Route(
        "DELETE", "/api/conversations/{id}", "Archive a conversation, or erase it with purge=true",
        conversations.remove, MANAGE,
        None, about=IN, query=schema.EraseQuery, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/participants", "Add a participant", conversations.join, MANAGE,
        shapes.Conversation, about=IN, body=schema.Joining, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "DELETE", "/api/conversations/{id}/participants/{name}", "Remove a participant, or leave", conversations.leave,
        MANAGE, None, about=SubjectKind.SEAT, status=EMPTY, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/continue", "Resume a round or chain that a brake stopped",
        conversations.go_on, MANAGE, schema.Resumed, about=IN, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/unarchive", "Unarchive a conversation, by id", conversations.unarchive, MANAGE,
        shapes.Conversation, about=IN, errors=(NotFound, Conflict),
    ),
    Route(
        "POST", "/api/conversations/{id}/dissolve", "Dissolve a group: archive it and unbind its chat channel",
        conversations.dissolve, MANAGE, None, about=IN, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/stop", "Stop the agents that are speaking, or one of them", conversations.stop,
        MANAGE, schema.Stopped, about=IN, body=schema.Stopping, errors=(NotFound, Closed),
    ),
    Route(
        "POST", "/api/conversations/{id}/read", "Mark messages as read up to a seq", conversations.read, POST, None,
        about=IN, body=schema.ReadTo, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "GET", "/api/conversations/{id}/settled", "Wait until the conversation has no open turn",
        conversations.settled, READ,
        schema.Settled, about=IN, query=schema.WaitQuery, waits="timeout", errors=(NotFound, HubAbsent),
    ),
    Route(
        "POST", "/api/conversations/{id}/preview", "Preview who would answer a message; nothing is stored",
        conversations.preview, POST, Preview, about=IN, body=schema.DraftBody, errors=(NotFound, *SAYING),
    ),
    Route(
        "GET", "/api/commands", "List the slash commands", commands.commands, LOOK, schema.CommandList,
    ),
    Route(
        "POST", "/api/conversations/{id}/commands", "Carry out a slash command as typed in a chat",
        commands.run_command, MANAGE, schema.CommandDone, about=IN, body=schema.TypedLine,
        errors=(NotFound, Conflict, *SAYING),
    ),
)  # fmt: skip
