"""The table of routes: every method of every path, who may call it, what it takes and what it answers.

Nothing is served that is not in this table."""

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
    Route("GET", "/healthz", "Check that the process answers", hub.healthz, None, schema.Healthy),
    Route("GET", "/readyz", "Check that the store answers too", hub.readyz, LOOK, schema.Healthy),
    Route("GET", "/metrics", "Get metrics for Prometheus", hub.metrics, LOOK, str, media="text/plain"),
    Route("GET", "/openapi.json", "Get this description of the API", hub.openapi, LOOK, dict[str, Any]),
    Route("GET", "/api/status", "Get the state of the hub", hub.status, LOOK, schema.Status),
    Route(
        "GET", "/api/limits", "Get the limits, and how close agents are to them", hub.limits, LOOK,
        shapes.BrakeReport, query=schema.LimitsQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/limits/reset", "Reset the limiter between two agents", hub.reset_limit, RULE,
        shapes.PairLimit, body=schema.LimitedPair, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/settled", "Wait until no conversation has an open turn", hub.settled, RULE,
        schema.Settled, query=schema.WaitQuery, waits="timeout", errors=(HubAbsent,),
    ),
    Route(
        "GET", "/api/usage", "Get what the newest 1,000 turns cost", hub.usage, RULE, dict[str, Any],
        query=schema.UsageQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit", "List who did what, through which door, and what was refused; newest first", hub.audit,
        RULE, schema.AuditLog, query=schema.AuditFilter, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/audit/verify", "Verify that nothing was altered or removed", hub.verify, RULE, shapes.AuditReport,
    ),
    Route(
        "GET", "/api/search", "Search messages by words, phrases and operators, newest first", conversations.search,
        LOOK, schema.Hits, query=schema.SearchQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/reload", "Read moot.toml again and apply it", hub.reload, RULE, shapes.Reloaded,
        errors=(BadSettings, HubAbsent),
    ),
    Route(
        "GET", "/api/events", "Stream events as they happen", hub.events, LOOK, str,
        query=schema.EventsQuery, media="text/event-stream", headers=("Last-Event-ID",), errors=(NotFound,),
    ),
)  # fmt: skip

CONVERSATIONS: Final = (
    Route(
        "GET", "/api/conversations", "List your conversations; the owner gets all of them", conversations.conversations,
        LOOK, schema.ConversationList, query=schema.ConversationsQuery,
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
)  # fmt: skip

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
        "GET", "/api/dead-letters", "List turns that failed or expired and were not retried",
        conversations.dead_letters, LOOK, schema.TurnList, query=schema.AgentQuery, errors=(NotFound,),
    ),
)  # fmt: skip

AGENTS: Final = (
    Route("GET", "/api/agents", "List participants", agents.agents, LOOK, schema.AgentList),
    Route(
        "POST", "/api/agents", "Register an outside agent or a person", agents.create, RULE,
        shapes.Agent, body=schema.NewAgent, status=CREATED, errors=(BadName,),
    ),
    Route(
        "POST", "/api/agents/broadcast", "Send a message to every other agent", agents.broadcast, POST,
        delivery.Broadcast, body=schema.SendBody, headers=KEY, errors=(BadText,),
    ),
    Route(
        "GET", "/api/agents/{name}", "Get a participant", agents.agent, LOOK, shapes.Agent, about=AGENT,
        errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/agents/{name}", "Change a participant's name, role, display name or project", agents.change,
        CHANGE_OWN, shapes.Agent, about=AGENT, body=schema.ChangedAgent, errors=(NotFound, BadName),
    ),
    Route(
        "POST", "/api/agents/{name}/messages", "Send a message to a participant", agents.send, POST, delivery.Delivered,
        body=schema.SendBody, headers=KEY, errors=(NotFound, BadText, Conflict), refusal=delivery.DeliveryRefusal,
        settles=True,
    ),
    Route(
        "POST", "/api/agents/{name}/send", "Send a message to a participant and get the full receipt", agents.letter,
        POST, Receipt, body=schema.Letter, status=CREATED, headers=KEY, errors=(NotFound, *SAYING), settles=True,
    ),
    Route(
        "POST", "/api/agents/{name}/ask", "Ask a participant and wait for the answer", agents.ask, POST,
        schema.Asked, body=schema.Asking, headers=KEY, waits="timeout", errors=(NotFound, HubAbsent, *SAYING),
    ),
    Route(
        "POST", "/api/agents/{name}/check", "Fetch waiting messages as an outside agent's turn; can wait",
        external.check, CHANGE_OWN, shapes.Handed, about=AGENT, body=schema.CheckBody, waits="wait_seconds",
        errors=(NotFound, HubAbsent),
    ),
    Route(
        "GET", "/api/agents/{name}/received", "List messages it received, read or unread", agents.received, SEE_OWN,
        schema.ReceivedList, about=AGENT, query=schema.ReceivedQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/context", "Get the context its turn would start with now", agents.context, SEE_OWN,
        dict[str, Any], about=AGENT, query=schema.ConversationQuery, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/replay", "Rebuild its views from the log and compare them", agents.replay, RULE,
        shapes.Replayed, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/conversations", "List its conversations", agents.conversations, SEE_OWN,
        schema.ConversationList, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "GET", "/api/agents/{name}/inbox", "List its unread messages", agents.inbox, SEE_OWN,
        schema.MessageList, about=AGENT, query=schema.InboxQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/interrupt", "Stop its running turns", agents.interrupt, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/pause", "Pause it: it gets no turns", agents.pause, RULE, shapes.Agent, about=AGENT,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/resume", "Resume it: it gets turns again", agents.resume, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound,),
    ),
    Route(
        "DELETE", "/api/agents/{name}", "Remove it; its messages stay", agents.remove, RULE, shapes.Agent,
        about=AGENT, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/agents/{name}/tokens", "List its tokens, without their secrets", agents.tokens, SEE_OWN,
        schema.TokenList, about=AGENT, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/agents/{name}/tokens", "Issue a token; it is shown only once", agents.issue, CHANGE_OWN,
        shapes.IssuedToken, about=AGENT, body=schema.NewToken, status=CREATED, errors=(NotFound,),
    ),
    Route(
        "DELETE", "/api/agents/{name}/tokens/{id}", "Revoke a token", agents.revoke, CHANGE_OWN, shapes.Token,
        about=AGENT, errors=(NotFound,),
    ),
)  # fmt: skip

LINKS: Final = (
    Route(
        "GET", "/api/links", "List links: who may write to whom", links.links, LOOK, links.LinkList,
        query=links.Between, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/links", "Link two agents; the answer lists whom they can no longer reach", links.create, RULE,
        shapes.MadeLink, body=links.NewLink, status=CREATED, errors=(NotFound, Conflict),
    ),
    Route(
        "PUT", "/api/links", "Replace all links; with dry_run, only report what would change", links.apply, RULE,
        shapes.AppliedLinks, body=links.WantedLinks, errors=(NotFound, Conflict, StoreUnwritable),
    ),
    Route("GET", "/api/links/{id}", "Get a link", links.link, LOOK, shapes.Link, errors=(NotFound,)),
    Route(
        "GET", "/api/links/{id}/prompts", "Get what the prompts of both agents say about a link", links.prompts, LOOK,
        shapes.LinkPrompts, errors=(NotFound,),
    ),
    Route(
        "PUT", "/api/links/{id}", "Change a link's direction, relationship or whether it is on", links.change, RULE,
        shapes.Link, body=links.ChangedLink, errors=(NotFound, Conflict),
    ),
    Route(
        "DELETE", "/api/links/{id}", "Delete a link; its channel is archived, or erased with purge=true", links.remove,
        RULE, shapes.Link, query=schema.EraseQuery, errors=(NotFound, Conflict),
    ),
    Route(
        "GET", "/api/links/{id}/messages", "List a link's messages, oldest first, even after it is deleted",
        conversations.messages, READ, schema.MessageList, about=LINK, query=schema.MessagesQuery, errors=(NotFound,),
        glances=True,
    ),
    Route(
        "GET", "/api/agents/{name}/links", "List its links", links.of_agent, LOOK, links.LinkList, about=AGENT,
        errors=(NotFound,),
    ),
    Route("GET", "/api/topology", "Get all participants and links as a graph", links.topology, LOOK,
        shapes.Topology),
    Route(
        "PUT", "/api/topology/positions", "Set a participant's position in the graph", links.arrange, MANAGE,
        shapes.Positions, body=links.NewPositions, errors=(NotFound,),
    ),
)  # fmt: skip

TASKS: Final = (
    Route(
        "GET", "/api/tasks", "List the tasks you may see", tasks.tasks, LOOK, tasks.TaskList,
        query=tasks.TasksQuery, errors=(NotFound,),
    ),
    Route(
        "POST", "/api/tasks", "Delegate a task to an agent that reports to you", tasks.create, POST,
        shapes.Task, body=tasks.NewTask, status=CREATED, headers=KEY, errors=(NotFound, *SAYING),
    ),
    Route("GET", "/api/tasks/{id}", "Get a task", tasks.task, LOOK, shapes.Task, errors=(NotFound,)),
    Route(
        "PATCH", "/api/tasks/{id}", "Report progress on a task, finish it or cancel it", tasks.change, POST,
        shapes.Task, body=tasks.ChangedTask, errors=(NotFound, Conflict),
    ),
)  # fmt: skip

DECISIONS: Final = (
    Route(
        "GET", "/api/decisions", "List decisions you are asked for, and those you asked for", decisions.decisions, LOOK,
        decisions.DecisionList, query=decisions.DecisionsQuery,
    ),
    Route(
        "GET", "/api/decisions/{id}", "Get a decision", decisions.decision, LOOK, shapes.PersonsDecision,
        errors=(NotFound,),
    ),
    Route(
        "POST", "/api/decisions/{id}", "Answer a decision; only once, and only if you were asked", decisions.answer,
        POST, shapes.PersonsDecision, body=decisions.AnswerBody, errors=(NotFound, *SAYING),
    ),
)  # fmt: skip

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
        "/ws/conversations/{id}", "Follow a conversation and post to it, as plain text", subject.heard, READ,
        errors=(NotFound, Conflict),
    ),
    SocketRoute(
        "/ws/agents/{name}", "Your direct conversation with a participant, created by the first message",
        subject.pair, POST, errors=(NotFound, Conflict),
    ),
)  # fmt: skip
