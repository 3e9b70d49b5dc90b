"""Messages and turns."""

from typing import Final

from moot import shapes
from moot.doors.http.api import conversations, external, schema
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import (
    CREATED,
    EMPTY,
    IN,
    KEY,
    LOOK,
    MESSAGE,
    POST,
    READ,
    SAYING,
    TURN,
)
from moot.errors import BadText, Closed, Conflict, NotFound, Stale, TurnFailed
from moot.model.answer import Receipt

MESSAGES: Final = (
    Route(
        "GET", "/api/conversations/{id}/messages", "List messages, oldest first", conversations.messages, READ,
        schema.MessageList, about=IN, query=schema.MessagesQuery, errors=(NotFound,), glances=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/messages", "Post a message; the response is sent once it is on disk",
        conversations.post, POST, Receipt, about=IN, body=schema.NewMessage, status=CREATED, headers=KEY,
        errors=(NotFound, *SAYING), settles=True,
    ),
    Route(
        "GET", "/api/messages/{id}", "Get a message, with its version as ETag", conversations.message, READ,
        shapes.Message, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "PATCH", "/api/messages/{id}", "Edit your own message", conversations.edit, POST,
        shapes.Message, about=MESSAGE, body=schema.Edit, headers=("If-Match",),
        errors=(NotFound, BadText, Conflict, Closed),
    ),
    Route(
        "DELETE", "/api/messages/{id}", "Delete a message; its seq is kept", conversations.delete, POST,
        shapes.Message, about=MESSAGE, headers=("If-Match",), errors=(NotFound, Conflict, Closed),
    ),
    Route(
        "GET", "/api/messages/{id}/why", "Explain why each agent answered or stayed silent", conversations.why, READ,
        shapes.Why, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/messages/{id}/deliveries", "Get how far the message got with each agent, and when",
        conversations.deliveries, READ, schema.DeliveryList, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/messages/{id}/again", "Repeat a message for these agents only", conversations.again, POST,
        Receipt, about=MESSAGE, body=schema.Again, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "POST", "/api/messages/{id}/reply", "Answer a message and end the turn it came with; 204 if silent",
        external.reply, POST, Receipt, about=MESSAGE, body=schema.Reply, status=CREATED, headers=KEY, silent=True,
        errors=(NotFound, TurnFailed, *SAYING),
    ),
    Route(
        "GET", "/api/turns", "List turns, oldest first", conversations.turns, LOOK, schema.TurnList,
        query=schema.TurnsQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}", "Get a turn; its agent and the owner also see its context", conversations.turn, READ,
        shapes.Turn, about=TURN, query=schema.TurnQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}/view", "Get what an outside agent sees in its open turn", external.view, READ,
        shapes.View, about=TURN, query=schema.ContextQuery, errors=(NotFound, Stale),
    ),
    Route(
        "POST", "/api/turns/{id}/end", "End an outside agent's turn with a text, an error or silence",
        external.end, POST, shapes.Turn, about=TURN, body=schema.Ending, errors=(NotFound, Stale, TurnFailed),
    ),
    Route(
        "POST", "/api/turns/{id}/give-back", "Give an outside agent's turn back, so that it is offered again",
        external.give_back, POST, None, about=TURN, status=EMPTY, errors=(NotFound, Stale),
    ),
    Route(
        "POST", "/api/turns/{id}/redeliver", "Retry a turn that failed or expired", conversations.redeliver, POST,
        Receipt, about=TURN, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "GET", "/api/live", "Get what running turns have said so far", conversations.live, LOOK, schema.LiveTexts,
        query=schema.LimitsQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/dead-letters", "List turns that failed or expired and were not retried",
        conversations.dead_letters, LOOK, schema.TurnList, query=schema.AgentQuery, errors=(NotFound,),
    ),
)  # fmt: skip
