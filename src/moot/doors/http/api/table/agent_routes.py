"""Participants: the registry, writing to one of them, inboxes and tokens."""

from typing import Any, Final

from moot import shapes
from moot.doors import delivery
from moot.doors.http.api import agents, external, schema
from moot.doors.http.api.route import Route
from moot.doors.http.api.table.abbreviations import (
    AGENT,
    CHANGE_OWN,
    CREATED,
    KEY,
    LOOK,
    POST,
    RULE,
    SAYING,
    SEE_OWN,
)
from moot.errors import BadName, BadText, Conflict, HubAbsent, NotFound
from moot.model.answer import Receipt

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
