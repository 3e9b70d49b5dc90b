"""The table: every method of every path, who may, what goes in, what comes out. Nothing is served that is not here.

Links, topology, tasks and notes join it with the features they belong to.
"""

from typing import Any, Final

from moot import shapes
from moot.doors import telling
from moot.doors.access import Action
from moot.doors.http import bodies, finding, house, outside, people, talking
from moot.doors.http.table import About, Route, Socket
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

CREATED, EMPTY = 201, 204
LOOK, READ, POST, RULE = Action.LOOK, Action.READ, Action.POST, Action.RULE
CREATE, MANAGE, SEE_OWN, CHANGE_OWN = Action.CREATE, Action.MANAGE, Action.SEE_OWN, Action.CHANGE_OWN
IN, AGENT, MESSAGE, TURN = About.CONVERSATION, About.AGENT, About.MESSAGE, About.TURN
KEY: Final = ("Idempotency-Key",)
SAYING: Final = (BadText, Closed, Braked, Conflict, StoreUnwritable)

HOUSE: Final = (
    Route("GET", "/healthz", "Whether the process answers", house.healthz, None, bodies.Healthy),
    Route("GET", "/readyz", "Whether the store answers too", house.readyz, LOOK, bodies.Healthy),
    Route("GET", "/metrics", "Numbers for Prometheus", house.metrics, LOOK, str, media="text/plain"),
    Route("GET", "/openapi.json", "This description", house.openapi, LOOK, dict[str, Any]),
    Route("GET", "/api/status", "How the hub is", house.status, LOOK, bodies.Status),
    Route("GET", "/api/limits", "The limits in force", house.limits, LOOK, dict[str, Any]),
    Route(
        "GET", "/api/settled", "Wait until no turn of any conversation is open", house.settled, RULE,
        bodies.Settled, query=bodies.Waiting, waits="timeout", errors=(HubAbsent,),
    ),
    Route(
        "GET", "/api/usage", "What the newest thousand turns cost", house.usage, RULE, dict[str, Any],
        query=bodies.Spent, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit", "Who let whom in, and what was changed", house.audit, RULE, bodies.EventList,
        query=bodies.Page,
    ),
    Route(
        "GET", "/api/search", "What was said: words, phrases and operators; newest first", talking.search, LOOK,
        bodies.Hits, query=bodies.Search, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/events", "What happens, as it happens", house.events, LOOK, str,
        query=bodies.Events, media="text/event-stream", headers=("Last-Event-ID",), errors=(NotFound,),
    ),
)  # fmt: skip

CONVERSATIONS: Final = (
    Route(
        "GET", "/api/conversations", "The conversations you are in; the owner's are all", talking.conversations,
        LOOK, bodies.ConversationList, query=bodies.Conversations,
    ),
    Route(
        "POST", "/api/conversations", "Begin a conversation; you join it", talking.create, CREATE,
        shapes.Conversation, body=bodies.NewConversation, status=CREATED, errors=(NotFound, BadName, Conflict),
    ),
    Route(
        "POST", "/api/implicit", "The one conversation of these names and you, made when first needed",
        talking.implicit, CREATE, shapes.Conversation, body=bodies.Among, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/ephemeral", "A conversation for one question; it archives itself", talking.ephemeral, CREATE,
        shapes.Conversation, body=bodies.Question, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/conversations/{id}", "One, by name or id", talking.conversation, READ,
        shapes.Conversation, about=IN, errors=(NotFound,),
    ),
    Route(
        "PATCH", "/api/conversations/{id}", "Another name, other settings", talking.change, MANAGE,
        shapes.Conversation, about=IN, body=bodies.ChangedConversation,
        errors=(NotFound, BadName, Conflict, Closed),
    ),
    Route(
        "DELETE", "/api/conversations/{id}", "Archive it; with purge=true erase it", talking.remove, MANAGE,
        None, about=IN, query=bodies.Erasing, status=EMPTY, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/conversations/{id}/participants", "Bring somebody in", talking.join, MANAGE,
        shapes.Conversation, about=IN, body=bodies.Joining, errors=(NotFound, Closed),
    ),
    Route(
        "DELETE", "/api/conversations/{id}/participants/{name}", "Take somebody out, or leave", talking.leave,
        MANAGE, None, about=About.SEAT, status=EMPTY, errors=(NotFound, Closed),
    ),
    Route(
        "POST", "/api/conversations/{id}/continue", "Let a stopped round or chain go on", talking.go_on, MANAGE,
        bodies.Resumed, about=IN, errors=(NotFound, Closed),
    ),
    Route(
        "POST", "/api/conversations/{id}/unarchive", "Bring it back; by id", talking.unarchive, MANAGE,
        shapes.Conversation, about=IN, errors=(NotFound, Conflict),
    ),
    Route(
        "POST", "/api/conversations/{id}/dissolve", "Archive it, and let go of the chat it was bound to",
        talking.dissolve, MANAGE, None, about=IN, status=EMPTY, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/conversations/{id}/stop", "Interrupt who speaks in it, or one of them", talking.stop, MANAGE,
        bodies.Stopped, about=IN, body=bodies.Stopping, errors=(NotFound, Closed),
    ),
    Route(
        "POST", "/api/conversations/{id}/read", "You have read so far", talking.read, POST, None, about=IN,
        body=bodies.ReadTo, status=EMPTY, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/conversations/{id}/settled", "Wait until no turn is open", talking.settled, READ,
        bodies.Settled, about=IN, query=bodies.Waiting, waits="timeout", errors=(NotFound, HubAbsent),
    ),
    Route(
        "POST", "/api/conversations/{id}/preview", "Who would answer a message; nothing is stored",
        talking.preview, POST, Preview, about=IN, body=bodies.Draft, errors=(NotFound, *SAYING),
    ),
)  # fmt: skip

MESSAGES: Final = (
    Route(
        "GET", "/api/conversations/{id}/messages", "What was said, ascending", talking.messages, READ,
        bodies.MessageList, about=IN, query=bodies.Messages, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/conversations/{id}/messages", "Say something; answered once it is on disk", talking.post,
        POST, Receipt, about=IN, body=bodies.NewMessage, status=CREATED, headers=KEY,
        errors=(NotFound, *SAYING), finds_itself=True,
    ),
    Route(
        "GET", "/api/messages/{id}", "One message, with its version as ETag", talking.message, READ,
        shapes.Message, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "PATCH", "/api/messages/{id}", "Other words for a message of yours", talking.edit, POST,
        shapes.Message, about=MESSAGE, body=bodies.Edit, headers=("If-Match",),
        errors=(NotFound, BadText, Conflict, Closed),
    ),
    Route(
        "DELETE", "/api/messages/{id}", "Take a message back; its place stays", talking.delete, POST,
        shapes.Message, about=MESSAGE, headers=("If-Match",), errors=(NotFound, Conflict, Closed),
    ),
    Route(
        "GET", "/api/messages/{id}/why", "Each agent's part in it, and the rule", talking.why, READ,
        shapes.Why, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/messages/{id}/deliveries", "How far it got with each agent, and when", talking.deliveries, READ,
        bodies.DeliveryList, about=MESSAGE, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/messages/{id}/again", "Say it once more, for these agents only", talking.again, POST, Receipt,
        about=MESSAGE, body=bodies.Again, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "POST", "/api/messages/{id}/reply", "Answer it: the end of the turn it came with; silence is 204",
        outside.reply, POST, Receipt, about=MESSAGE, body=bodies.Reply, status=CREATED, headers=KEY, silent=True,
        errors=(NotFound, TurnFailed, *SAYING),
    ),
    Route(
        "GET", "/api/turns", "Turns, oldest first", talking.turns, LOOK, bodies.TurnList, query=bodies.Turns,
        errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}", "One turn; its agent and the owner see what it was given", talking.turn, READ,
        shapes.Turn, about=TURN, query=bodies.OneTurn, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}/view", "What an outside agent sees in a turn it has open", outside.view, READ,
        shapes.View, about=TURN, query=bodies.Window, errors=(NotFound, Stale),
    ),
    Route(
        "POST", "/api/turns/{id}/end", "An outside agent ends its turn: with a text, an error, or silence",
        outside.end, POST, shapes.Turn, about=TURN, body=bodies.Ending, errors=(NotFound, Stale, TurnFailed),
    ),
    Route(
        "POST", "/api/turns/{id}/give-back", "An outside agent gives its turn back: it waits for it again",
        outside.give_back, POST, None, about=TURN, status=EMPTY, errors=(NotFound, Stale),
    ),
    Route(
        "POST", "/api/turns/{id}/redeliver", "Ask once more for what failed or expired", talking.redeliver, POST,
        Receipt, about=TURN, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "GET", "/api/dead-letters", "Turns that failed or expired, and were not made up for", talking.dead_letters,
        LOOK, bodies.TurnList, query=bodies.OfAgent, errors=(NotFound,),
    ),
)  # fmt: skip

AGENTS: Final = (
    Route("GET", "/api/agents", "Who there is", people.agents, LOOK, bodies.AgentList),
    Route(
        "POST", "/api/agents", "Enrol somebody: an outside agent, or a person", people.create, RULE,
        shapes.Agent, body=bodies.NewAgent, status=CREATED, errors=(BadName,),
    ),
    Route(
        "POST", "/api/agents/broadcast", "One message to everybody else", people.broadcast, POST,
        telling.Broadcast, body=bodies.Said, headers=KEY, errors=(BadText,),
    ),
    Route(
        "GET", "/api/agents/{name}", "One of them", people.agent, LOOK, shapes.Agent, about=AGENT,
        errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/agents/{name}", "Another name, project or role", people.change, CHANGE_OWN, shapes.Agent,
        about=AGENT, body=bodies.ChangedAgent, errors=(NotFound, BadName),
    ),
    Route(
        "POST", "/api/agents/{name}/messages", "Write to one of them", people.send, POST, telling.Delivered,
        body=bodies.Said, headers=KEY, errors=(NotFound, BadText, Conflict), refusal=telling.Undelivered,
    ),
    Route(
        "POST", "/api/agents/{name}/send", "Write to one of them; answered with the receipt", people.letter, POST,
        Receipt, body=bodies.Letter, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route(
        "POST", "/api/agents/{name}/ask", "Write to one of them, and wait for the answer", people.ask, POST,
        bodies.Asked, body=bodies.Asking, headers=KEY, waits="timeout", errors=(NotFound, HubAbsent, *SAYING),
    ),
    Route(
        "POST", "/api/agents/{name}/check", "What waits for an outside agent, as a turn of its own; it can wait for it",
        outside.check, CHANGE_OWN, shapes.Handed, about=AGENT, body=bodies.Check, waits="wait_seconds",
        errors=(NotFound, HubAbsent),
    ),
    Route(
        "GET", "/api/agents/{name}/received", "What others said to it, read or not", people.received, SEE_OWN,
        bodies.ReceivedList, about=AGENT, query=bodies.Received, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/context", "What it would be given if its turn began now", people.context, SEE_OWN,
        dict[str, Any], about=AGENT, query=bodies.Inside, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/replay", "Its views rebuilt from the log, and compared", people.replay, RULE,
        shapes.Replayed, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/conversations", "Those it is in", people.conversations, SEE_OWN,
        bodies.ConversationList, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/inbox", "What waits to be read by it", people.inbox, SEE_OWN,
        bodies.MessageList, about=AGENT, query=bodies.Inbox, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/interrupt", "Stop what it is saying", people.interrupt, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/pause", "It gets no turns", people.pause, RULE, shapes.Agent, about=AGENT,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/resume", "It gets turns again", people.resume, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound,),
    ),
    Route(
        "DELETE", "/api/agents/{name}", "Take it out; what it said stays", people.remove, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/agents/{name}/tokens", "Its tokens, without the tokens", people.tokens, SEE_OWN,
        bodies.TokenList, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/tokens", "A new token, shown this once", people.issue, CHANGE_OWN,
        shapes.IssuedToken, about=AGENT, body=bodies.NewToken, status=CREATED, errors=(NotFound,),
    ),
    Route(
        "DELETE", "/api/agents/{name}/tokens/{id}", "Revoke one", people.revoke, CHANGE_OWN, shapes.Token,
        about=AGENT, errors=(NotFound,),
    ),
)  # fmt: skip

ROUTES: Final[tuple[Route, ...]] = (*HOUSE, *CONVERSATIONS, *MESSAGES, *AGENTS)

SOCKETS: Final[tuple[Socket, ...]] = (
    Socket(
        "/ws/conversations/{id}", "A conversation as plain text, both ways", finding.heard, READ,
        errors=(NotFound, Conflict),
    ),
    Socket(
        "/ws/agents/{name}", "Your own conversation with one of them, made when it is first needed",
        finding.pair, POST, errors=(NotFound, Conflict),
    ),
)  # fmt: skip
