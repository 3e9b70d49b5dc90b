"""The table: every method of every path, who may, what goes in, what comes out. Nothing is served that is not here.

Links, topology, tasks and notes join it with the features they belong to.
"""

from typing import Any, Final

from moot import shapes
from moot.doors import delivery
from moot.doors.http.api import agents, conversations, external, hub, schema, subject
from moot.doors.http.api.route import About, Route, Socket
from moot.errors import (
    BadName,
    BadText,
    Braked,
    Closed,
    Conflict,
    HubAbsent,
    NotFound,
    Stale,
    StoreUnwritable,
    TurnFailed,
)
from moot.model.answer import Preview, Receipt
from moot.rules.access import Action

CREATED, EMPTY = 201, 204
LOOK, READ, POST, RULE = Action.LOOK, Action.READ, Action.POST, Action.RULE
CREATE, MANAGE, SEE_OWN, CHANGE_OWN = Action.CREATE, Action.MANAGE, Action.SEE_OWN, Action.CHANGE_OWN
IN, AGENT, MESSAGE, TURN = About.CONVERSATION, About.AGENT, About.MESSAGE, About.TURN
KEY: Final = ("Idempotency-Key",)
SAYING: Final = (BadText, Closed, Braked, Conflict, StoreUnwritable)

HOUSE: Final = (
    Route("GET", "/healthz", "Whether the process answers", hub.healthz, None, schema.Healthy),
    Route("GET", "/readyz", "Whether the store answers too", hub.readyz, LOOK, schema.Healthy),
    Route("GET", "/metrics", "Numbers for Prometheus", hub.metrics, LOOK, str, media="text/plain"),
    Route("GET", "/openapi.json", "This description", hub.openapi, LOOK, dict[str, Any]),
    Route("GET", "/api/status", "How the hub is", hub.status, LOOK, schema.Status),
    Route("GET", "/api/limits", "The limits in force", hub.limits, LOOK, dict[str, Any]),
    Route(
        "GET", "/api/settled", "Wait until no turn of any conversation is open", hub.settled, RULE,
        schema.Settled, query=schema.Waiting, waits="timeout", errors=(HubAbsent,),
    ),
    Route(
        "GET", "/api/usage", "What the newest thousand turns cost", hub.usage, RULE, dict[str, Any],
        query=schema.Spent, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit", "Who let whom in, and what was changed", hub.audit, RULE, schema.EventList,
        query=schema.Page,
    ),
    Route(
        "GET", "/api/search", "What was said: words, phrases and operators; newest first", conversations.search, LOOK,
        schema.Hits, query=schema.Search, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/events", "What happens, as it happens", hub.events, LOOK, str,
        query=schema.Events, media="text/event-stream", headers=("Last-Event-ID",), errors=(NotFound,),
    ),
)  # fmt: skip

CONVERSATIONS: Final = (
    Route(
        "GET", "/api/conversations", "The conversations you are in; the owner's are all", conversations.conversations,
        LOOK, schema.ConversationList, query=schema.Conversations,
    ),
    Route(
        "POST", "/api/conversations", "Begin a conversation; you join it", conversations.create, CREATE,
        shapes.Conversation, body=schema.NewConversation, status=CREATED, errors=(NotFound, BadName, Conflict),
    ),
    Route(
        "POST", "/api/implicit", "The one conversation of these names and you, made when first needed",
        conversations.implicit, CREATE, shapes.Conversation, body=schema.Among, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/ephemeral", "A conversation for one question; it archives itself", conversations.ephemeral,
        CREATE, shapes.Conversation, body=schema.Question, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/conversations/{id}", "One, by name or id", conversations.conversation, READ,
        shapes.Conversation, about=IN, errors=(NotFound,),
    ),
    Route(
        "PATCH", "/api/conversations/{id}", "Another name, other settings", conversations.change, MANAGE,
        shapes.Conversation, about=IN, body=schema.ChangedConversation,
        errors=(NotFound, BadName, Conflict, Closed),
    ),
    Route(
        "DELETE", "/api/conversations/{id}", "Archive it; with purge=true erase it", conversations.remove, MANAGE,
        None, about=IN, query=schema.Erasing, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/participants", "Bring somebody in", conversations.join, MANAGE,
        shapes.Conversation, about=IN, body=schema.Joining, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "DELETE", "/api/conversations/{id}/participants/{name}", "Take somebody out, or leave", conversations.leave,
        MANAGE, None, about=About.SEAT, status=EMPTY, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/continue", "Let a stopped round or chain go on", conversations.go_on, MANAGE,
        schema.Resumed, about=IN, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/unarchive", "Bring it back; by id", conversations.unarchive, MANAGE,
        shapes.Conversation, about=IN, errors=(NotFound, Conflict),
    ),
    Route(
        "POST", "/api/conversations/{id}/dissolve", "Archive it, and let go of the chat it was bound to",
        conversations.dissolve, MANAGE, None, about=IN, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/stop", "Interrupt who speaks in it, or one of them", conversations.stop,
        MANAGE, schema.Stopped, about=IN, body=schema.Stopping, errors=(NotFound, Closed),
    ),
    Route(
        "POST", "/api/conversations/{id}/read", "You have read so far", conversations.read, POST, None, about=IN,
        body=schema.ReadTo, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "GET", "/api/conversations/{id}/settled", "Wait until no turn is open", conversations.settled, READ,
        schema.Settled, about=IN, query=schema.Waiting, waits="timeout", errors=(NotFound, HubAbsent),
    ),
    Route(
        "POST", "/api/conversations/{id}/preview", "Who would answer a message; nothing is stored",
        conversations.preview, POST, Preview, about=IN, body=schema.Draft, errors=(NotFound, *SAYING),
    ),
)  # fmt: skip

MESSAGES: Final = (
    Route(
        "GET", "/api/conversations/{id}/messages", "What was said, ascending", conversations.messages, READ,
        schema.MessageList, about=IN, query=schema.Messages, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/conversations/{id}/messages", "Say something; answered once it is on disk", conversations.post,
        POST, Receipt, about=IN, body=schema.NewMessage, status=CREATED, headers=KEY,
        errors=(NotFound, *SAYING), settles=True,
    ),
    Route(
        "GET", "/api/messages/{id}", "One message, with its version as ETag", conversations.message, READ,
        shapes.Message, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "PATCH", "/api/messages/{id}", "Other words for a message of yours", conversations.edit, POST,
        shapes.Message, about=MESSAGE, body=schema.Edit, headers=("If-Match",),
        errors=(NotFound, BadText, Conflict, Closed),
    ),
    Route(
        "DELETE", "/api/messages/{id}", "Take a message back; its place stays", conversations.delete, POST,
        shapes.Message, about=MESSAGE, headers=("If-Match",), errors=(NotFound, Conflict, Closed),
    ),
    Route(
        "GET", "/api/messages/{id}/why", "Each agent's part in it, and the rule", conversations.why, READ,
        shapes.Why, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/messages/{id}/deliveries", "How far it got with each agent, and when", conversations.deliveries,
        READ, schema.DeliveryList, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/messages/{id}/again", "Say it once more, for these agents only", conversations.again, POST,
        Receipt, about=MESSAGE, body=schema.Again, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "POST", "/api/messages/{id}/reply", "Answer it: the end of the turn it came with; silence is 204",
        external.reply, POST, Receipt, about=MESSAGE, body=schema.Reply, status=CREATED, headers=KEY, silent=True,
        errors=(NotFound, TurnFailed, *SAYING),
    ),
    Route(
        "GET", "/api/turns", "Turns, oldest first", conversations.turns, LOOK, schema.TurnList, query=schema.Turns,
        errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}", "One turn; its agent and the owner see what it was given", conversations.turn, READ,
        shapes.Turn, about=TURN, query=schema.OneTurn, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}/view", "What an outside agent sees in a turn it has open", external.view, READ,
        shapes.View, about=TURN, query=schema.Window, errors=(NotFound, Stale),
    ),
    Route(
        "POST", "/api/turns/{id}/end", "An outside agent ends its turn: with a text, an error, or silence",
        external.end, POST, shapes.Turn, about=TURN, body=schema.Ending, errors=(NotFound, Stale, TurnFailed),
    ),
    Route(
        "POST", "/api/turns/{id}/give-back", "An outside agent gives its turn back: it waits for it again",
        external.give_back, POST, None, about=TURN, status=EMPTY, errors=(NotFound, Stale),
    ),
    Route(
        "POST", "/api/turns/{id}/redeliver", "Ask once more for what failed or expired", conversations.redeliver, POST,
        Receipt, about=TURN, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "GET", "/api/dead-letters", "Turns that failed or expired, and were not made up for",
        conversations.dead_letters, LOOK, schema.TurnList, query=schema.OfAgent, errors=(NotFound,),
    ),
)  # fmt: skip

AGENTS: Final = (
    Route("GET", "/api/agents", "Who there is", agents.agents, LOOK, schema.AgentList),
    Route(
        "POST", "/api/agents", "Enrol somebody: an outside agent, or a person", agents.create, RULE,
        shapes.Agent, body=schema.NewAgent, status=CREATED, errors=(BadName,),
    ),
    Route(
        "POST", "/api/agents/broadcast", "One message to everybody else", agents.broadcast, POST,
        delivery.Broadcast, body=schema.Said, headers=KEY, errors=(BadText,),
    ),
    Route(
        "GET", "/api/agents/{name}", "One of them", agents.agent, LOOK, shapes.Agent, about=AGENT,
        errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/agents/{name}", "Another name, project or role", agents.change, CHANGE_OWN, shapes.Agent,
        about=AGENT, body=schema.ChangedAgent, errors=(NotFound, BadName),
    ),
    Route(
        "POST", "/api/agents/{name}/messages", "Write to one of them", agents.send, POST, delivery.Delivered,
        body=schema.Said, headers=KEY, errors=(NotFound, BadText, Conflict), refusal=delivery.Undelivered,
        settles=True,
    ),
    Route(
        "POST", "/api/agents/{name}/send", "Write to one of them; answered with the receipt", agents.letter, POST,
        Receipt, body=schema.Letter, status=CREATED, headers=KEY, errors=(NotFound, *SAYING), settles=True,
    ),
    Route(
        "POST", "/api/agents/{name}/ask", "Write to one of them, and wait for the answer", agents.ask, POST,
        schema.Asked, body=schema.Asking, headers=KEY, waits="timeout", errors=(NotFound, HubAbsent, *SAYING),
    ),
    Route(
        "POST", "/api/agents/{name}/check", "What waits for an outside agent, as a turn of its own; it can wait for it",
        external.check, CHANGE_OWN, shapes.Handed, about=AGENT, body=schema.Check, waits="wait_seconds",
        errors=(NotFound, HubAbsent),
    ),
    Route(
        "GET", "/api/agents/{name}/received", "What others said to it, read or not", agents.received, SEE_OWN,
        schema.ReceivedList, about=AGENT, query=schema.Received, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/context", "What it would be given if its turn began now", agents.context, SEE_OWN,
        dict[str, Any], about=AGENT, query=schema.Inside, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/replay", "Its views rebuilt from the log, and compared", agents.replay, RULE,
        shapes.Replayed, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/conversations", "Those it is in", agents.conversations, SEE_OWN,
        schema.ConversationList, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/inbox", "What waits to be read by it", agents.inbox, SEE_OWN,
        schema.MessageList, about=AGENT, query=schema.Inbox, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/interrupt", "Stop what it is saying", agents.interrupt, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/pause", "It gets no turns", agents.pause, RULE, shapes.Agent, about=AGENT,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/resume", "It gets turns again", agents.resume, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound,),
    ),
    Route(
        "DELETE", "/api/agents/{name}", "Take it out; what it said stays", agents.remove, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/agents/{name}/tokens", "Its tokens, without the tokens", agents.tokens, SEE_OWN,
        schema.TokenList, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/tokens", "A new token, shown this once", agents.issue, CHANGE_OWN,
        shapes.IssuedToken, about=AGENT, body=schema.NewToken, status=CREATED, errors=(NotFound,),
    ),
    Route(
        "DELETE", "/api/agents/{name}/tokens/{id}", "Revoke one", agents.revoke, CHANGE_OWN, shapes.Token,
        about=AGENT, errors=(NotFound,),
    ),
)  # fmt: skip

ROUTES: Final[tuple[Route, ...]] = (*HOUSE, *CONVERSATIONS, *MESSAGES, *AGENTS)

SOCKETS: Final[tuple[Socket, ...]] = (
    Socket(
        "/ws/conversations/{id}", "A conversation as plain text, both ways", subject.heard, READ,
        errors=(NotFound, Conflict),
    ),
    Socket(
        "/ws/agents/{name}", "Your own conversation with one of them, made when it is first needed",
        subject.pair, POST, errors=(NotFound, Conflict),
    ),
)  # fmt: skip
