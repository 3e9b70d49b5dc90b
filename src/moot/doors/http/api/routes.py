"""The table: every method of every path, who may, what goes in, what comes out. Nothing is served that is not here."""

from typing import Any, Final

from moot import shapes
from moot.doors import delivery
from moot.doors.http.api import (
    agents,
    conversations,
    decisions,
    external,
    hub,
    links,
    notes,
    schema,
    subject,
    tasks,
)
from moot.doors.http.api.route import Route, SocketRoute, SubjectKind
from moot.errors import (
    BadName,
    BadSettings,
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
IN, AGENT, MESSAGE, TURN = SubjectKind.CONVERSATION, SubjectKind.AGENT, SubjectKind.MESSAGE, SubjectKind.TURN
LINK = SubjectKind.LINK
KEY: Final = ("Idempotency-Key",)
SAYING: Final = (BadText, Closed, Braked, Conflict, StoreUnwritable)

HUB: Final = (
    Route("GET", "/healthz", "Whether the process answers", hub.healthz, None, schema.Healthy),
    Route("GET", "/readyz", "Whether the store answers too", hub.readyz, LOOK, schema.Healthy),
    Route("GET", "/metrics", "Numbers for Prometheus", hub.metrics, LOOK, str, media="text/plain"),
    Route("GET", "/openapi.json", "This description", hub.openapi, LOOK, dict[str, Any]),
    Route("GET", "/api/status", "How the hub is", hub.status, LOOK, schema.Status),
    Route("GET", "/api/limits", "The limits in force", hub.limits, LOOK, dict[str, Any]),
    Route(
        "GET", "/api/settled", "Wait until no turn of any conversation is open", hub.settled, RULE,
        schema.Settled, query=schema.WaitQuery, waits="timeout", errors=(HubAbsent,),
    ),
    Route(
        "GET", "/api/usage", "What the newest thousand turns cost", hub.usage, RULE, dict[str, Any],
        query=schema.UsageQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit", "Who let whom in, and what was changed", hub.audit, RULE, schema.EventList,
        query=schema.PageQuery,
    ),
    Route(
        "GET", "/api/search", "What was said: words, phrases and operators; newest first", conversations.search, LOOK,
        schema.Hits, query=schema.SearchQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/reload", "Take in moot.toml as it is now", hub.reload, RULE, shapes.Reloaded,
        errors=(BadSettings, HubAbsent),
    ),
    Route(
        "GET", "/api/events", "What happens, as it happens", hub.events, LOOK, str,
        query=schema.EventsQuery, media="text/event-stream", headers=("Last-Event-ID",), errors=(NotFound,),
    ),
)  # fmt: skip

CONVERSATIONS: Final = (
    Route(
        "GET", "/api/conversations", "The conversations you are in; the owner's are all", conversations.conversations,
        LOOK, schema.ConversationList, query=schema.ConversationsQuery,
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
        None, about=IN, query=schema.EraseQuery, status=EMPTY, errors=(NotFound,), settles=True,
    ),
    Route(
        "POST", "/api/conversations/{id}/participants", "Bring somebody in", conversations.join, MANAGE,
        shapes.Conversation, about=IN, body=schema.Joining, errors=(NotFound, Closed), settles=True,
    ),
    Route(
        "DELETE", "/api/conversations/{id}/participants/{name}", "Take somebody out, or leave", conversations.leave,
        MANAGE, None, about=SubjectKind.SEAT, status=EMPTY, errors=(NotFound, Closed), settles=True,
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
        schema.Settled, about=IN, query=schema.WaitQuery, waits="timeout", errors=(NotFound, HubAbsent),
    ),
    Route(
        "POST", "/api/conversations/{id}/preview", "Who would answer a message; nothing is stored",
        conversations.preview, POST, Preview, about=IN, body=schema.DraftBody, errors=(NotFound, *SAYING),
    ),
)  # fmt: skip

MESSAGES: Final = (
    Route(
        "GET", "/api/conversations/{id}/messages", "What was said, ascending", conversations.messages, READ,
        schema.MessageList, about=IN, query=schema.MessagesQuery, errors=(NotFound,), glances=True,
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
        "GET", "/api/turns", "Turns, oldest first", conversations.turns, LOOK, schema.TurnList, query=schema.TurnsQuery,
        errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}", "One turn; its agent and the owner see what it was given", conversations.turn, READ,
        shapes.Turn, about=TURN, query=schema.TurnQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/turns/{id}/view", "What an outside agent sees in a turn it has open", external.view, READ,
        shapes.View, about=TURN, query=schema.ContextQuery, errors=(NotFound, Stale),
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
        conversations.dead_letters, LOOK, schema.TurnList, query=schema.AgentQuery, errors=(NotFound,),
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
        delivery.Broadcast, body=schema.SendBody, headers=KEY, errors=(BadText,),
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
        body=schema.SendBody, headers=KEY, errors=(NotFound, BadText, Conflict), refusal=delivery.DeliveryRefusal,
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
        external.check, CHANGE_OWN, shapes.Handed, about=AGENT, body=schema.CheckBody, waits="wait_seconds",
        errors=(NotFound, HubAbsent),
    ),
    Route(
        "GET", "/api/agents/{name}/received", "What others said to it, read or not", agents.received, SEE_OWN,
        schema.ReceivedList, about=AGENT, query=schema.ReceivedQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/context", "What it would be given if its turn began now", agents.context, SEE_OWN,
        dict[str, Any], about=AGENT, query=schema.ConversationQuery, errors=(NotFound,),
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
        schema.MessageList, about=AGENT, query=schema.InboxQuery, errors=(NotFound,),
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

LINKS: Final = (
    Route(
        "GET", "/api/links", "Who may write to whom", links.links, LOOK, links.LinkList, query=links.Between,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/links", "Link two agents; the answer says whom that cuts off", links.create, RULE,
        shapes.MadeLink, body=links.NewLink, status=CREATED, errors=(NotFound, Conflict),
    ),
    Route("GET", "/api/links/{id}", "One link", links.link, LOOK, shapes.Link, errors=(NotFound,)),
    Route(
        "GET", "/api/links/{id}/prompts", "What the prompts of both ends say of it", links.prompts, LOOK,
        shapes.LinkPrompts, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/links/{id}", "Who may start, who stands above whom, whether it is on", links.change, RULE,
        shapes.Link, body=links.ChangedLink, errors=(NotFound, Conflict),
    ),
    Route(
        "DELETE", "/api/links/{id}", "Delete it; its channel is archived, or erased with purge=true", links.remove,
        RULE, shapes.Link, query=schema.EraseQuery, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/links/{id}/messages", "What was said over it, ascending; also once it is deleted",
        conversations.messages, READ, schema.MessageList, about=LINK, query=schema.MessagesQuery, errors=(NotFound,),
        glances=True,
    ),
    Route(
        "GET", "/api/agents/{name}/links", "Those it is an end of", links.of_agent, LOOK, links.LinkList, about=AGENT,
        errors=(NotFound,),
    ),
    Route("GET", "/api/topology", "Everybody, and every link between them, as a map", links.topology, LOOK,
        shapes.Topology),
    Route(
        "PUT", "/api/topology/positions", "Put somebody somewhere on the map", links.arrange, MANAGE,
        shapes.Positions, body=links.NewPositions, errors=(NotFound,),
    ),
)  # fmt: skip

TASKS: Final = (
    Route(
        "GET", "/api/tasks", "What was delegated, as far as it is yours to see", tasks.tasks, LOOK, tasks.TaskList,
        query=tasks.TasksQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/tasks", "Hand work to somebody who reports to you; its end comes back to you", tasks.create, POST,
        shapes.Task, body=tasks.NewTask, status=CREATED, errors=(NotFound, *SAYING),
    ),
    Route("GET", "/api/tasks/{id}", "One task", tasks.task, LOOK, shapes.Task, errors=(NotFound,)),
    Route(
        "PATCH", "/api/tasks/{id}", "How far it is, how it ended, or that it is called off", tasks.change, POST,
        shapes.Task, body=tasks.ChangedTask, errors=(NotFound, Conflict),
    ),
)  # fmt: skip

DECISIONS: Final = (
    Route(
        "GET", "/api/decisions", "What you are asked to decide, and what you ask for", decisions.decisions, LOOK,
        decisions.DecisionList, query=decisions.DecisionsQuery,
    ),
    Route(
        "GET", "/api/decisions/{id}", "One decision", decisions.decision, LOOK, shapes.PersonsDecision,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/decisions/{id}", "Decide: once, and only who was asked", decisions.answer, POST,
        shapes.PersonsDecision, body=decisions.AnswerBody, errors=(NotFound, *SAYING),
    ),
)  # fmt: skip

NOTES: Final = (
    Route("GET", "/api/notes", "The notes you may read, with their texts", notes.notes, LOOK, notes.NoteList),
    Route(
        "POST", "/api/notes", "Make a note", notes.create, CREATE, shapes.Note, body=notes.NewNote, status=CREATED,
        errors=(BadName, BadText, Conflict),
    ),
    Route(
        "GET", "/api/notes/{name}", "A note, or one of its versions, with its version as ETag", notes.note, LOOK,
        shapes.Note, query=notes.VersionQuery, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/notes/{name}", "Write a new version; a stale one is refused with both texts", notes.write, POST,
        shapes.Note, body=notes.WrittenNote, headers=("If-Match",), errors=(NotFound, BadText, Conflict),
    ),
    Route(
        "DELETE", "/api/notes/{name}", "Delete it with all its versions", notes.remove, MANAGE, shapes.Note,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/notes/{name}/append", "Add lines behind what stands", notes.append, POST, shapes.Note,
        body=notes.AppendedText, errors=(NotFound, BadText),
    ),
    Route(
        "POST", "/api/notes/{name}/revert", "Write the text of an old version as the newest", notes.revert, POST,
        shapes.Note, body=notes.RevertedNote, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/notes/{name}/history", "Who wrote which version, newest first", notes.history, LOOK,
        notes.NoteHistory, query=notes.HistoryQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/notes/{name}/permissions", "Which agents may do what with it", notes.permissions, LOOK,
        notes.NotePermissions, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/notes/{name}/permissions", "Let an agent read, read_write or see none of it", notes.share,
        MANAGE, notes.NotePermissions, body=notes.NoteSharing, errors=(NotFound,),
    ),
)  # fmt: skip

ROUTES: Final[tuple[Route, ...]] = (
    *HUB,
    *CONVERSATIONS,
    *MESSAGES,
    *AGENTS,
    *LINKS,
    *TASKS,
    *DECISIONS,
    *NOTES,
)

SOCKETS: Final[tuple[SocketRoute, ...]] = (
    SocketRoute(
        "/ws/conversations/{id}", "A conversation as plain text, both ways", subject.heard, READ,
        errors=(NotFound, Conflict),
    ),
    SocketRoute(
        "/ws/agents/{name}", "Your own conversation with one of them, made when it is first needed",
        subject.pair, POST, errors=(NotFound, Conflict),
    ),
)  # fmt: skip
