"""Methods of the hub itself: post, read and wait, as in `hub.post(…)`. The others are grouped by subject."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from moot import shapes
from moot.model.answer import Preview, Receipt
from moot.model.json import JsonObject
from moot.sdk import http
from moot.sdk.agents import AgentCalls
from moot.sdk.audit import AuditCalls
from moot.sdk.bridges import BridgeCalls
from moot.sdk.call import Subject, no_call
from moot.sdk.conversations import ConversationCalls
from moot.sdk.decisions import DecisionCalls
from moot.sdk.deliveries import DeliveryCalls
from moot.sdk.inspector import InspectorCalls
from moot.sdk.links import LinkCalls
from moot.sdk.mailbox import MailboxCalls
from moot.sdk.notes import NoteCalls
from moot.sdk.operator import OperatorCalls
from moot.sdk.request import renamed
from moot.sdk.tasks import TaskCalls

PLACE, MESSAGES = "/api/conversations/{conversation}", "/api/conversations/{conversation}/messages"


class HubCalls(Subject, subject=""):
    @property
    def conversations(self) -> ConversationCalls:
        """Make, find and change them."""

    @property
    def agents(self) -> AgentCalls:
        """The registry, and tokens."""

    @property
    def links(self) -> LinkCalls:
        """Who may write to whom."""

    @property
    def bridges(self) -> BridgeCalls:
        """Chats in Telegram and Discord, and whose accounts write there."""

    @property
    def decisions(self) -> DecisionCalls:
        """What agents ask people to decide."""

    @property
    def tasks(self) -> TaskCalls:
        """What was delegated."""

    @property
    def notes(self) -> NoteCalls:
        """What agents and people keep together."""

    @property
    def mailbox(self) -> MailboxCalls:
        """What waits for an outside agent."""

    @property
    def deliveries(self) -> DeliveryCalls:
        """How far messages got, and once more."""

    @property
    def inspector(self) -> InspectorCalls:
        """Behind what agents say."""

    @property
    def operator(self) -> OperatorCalls:
        """What is going on, and looking after it."""

    @property
    def audit(self) -> AuditCalls:
        """Who did what, and whether any of it was altered."""

    @no_call("the header `Moot-Act-As` of any request")
    def acting_as(self, name: str) -> HubCalls:
        """Act as another participant, under that participant's rules. Owner only."""

    # --- speaking --------------------------------------------------------------------------------------

    @http.post(MESSAGES)
    async def post(  # noqa: PLR0913  the options of a message
        self,
        conversation: str,
        text: str,
        *,
        reply_to: str | None = None,
        force: Sequence[str] = (),
        intent: str | None = None,
        interrupt: bool = False,
        idempotency_key: str | None = None,
        max_turns: int | None = None,
        correlation_id: str | None = None,
        shape: JsonObject | None = None,
    ) -> Receipt:
        """Post a message. Returns once on disk, with each agent's part in it. Replies carry the correlation id.
        `shape`: of a question to one agent, what the answer has to look like (see `ask`)."""

    @http.post(f"{PLACE}/preview", repeats=True)
    async def preview(self, conversation: str, text: str, *, force: Sequence[str] = ()) -> Preview:
        """Preview who would answer, by the same function that decides it; nothing is stored."""

    @http.post("/api/agents/{target}/send")
    async def send(
        self, target: str, text: str, *, intent: str | None = None, idempotency_key: str | None = None
    ) -> Receipt:
        """Send a message to one agent, in your direct conversation with it."""

    @http.post("/api/agents/broadcast", shaped=renamed(text="message"))
    async def broadcast(self, text: str, *, idempotency_key: str | None = None) -> dict[str, Any]:
        """Send a message to every other agent, each in your direct conversation with it and under its own limit."""

    @http.post("/api/tasks", shaped=renamed(target="to"))
    async def delegate(
        self,
        target: str,
        task: str,
        *,
        deadline_seconds: float | None = None,
        conversation: str | None = None,
        shape: JsonObject | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Task:
        """Delegate a task to an agent that reports to you. It is worked on in its own conversation; the outcome is
        reported to you where you delegated it, or in `conversation`, also if the worker dies or the deadline passes.
        `shape`: what the result has to look like (see `ask`)."""

    @http.post("/api/spawned")
    async def spawn(
        self,
        template: str,
        *,
        name: str = "",
        project: str = "",
        task: str = "",
        idempotency_key: str | None = None,
    ) -> shapes.Spawned:
        """Start an agent from a template of moot.toml; an agent that does becomes its superior. `task` is delegated to
        it at once. `project`: the folder it works in, which has to be one that is open to you."""

    @http.post("/api/agents/{target}/ask")
    async def ask(
        self,
        target: str,
        text: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109
        choices: Sequence[str] = (),
        shape: JsonObject | None = None,
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        """Ask one agent and wait for its answer: a message, or `Passed`, `TurnFailed` or `TimedOut` is raised.
        `choices` are the possible answers; `shape` is a JSON Schema (part of one) that the answer must fit, and its
        value is then in `metadata["answer"]`. Who answers otherwise is told once; after that, `TurnFailed`."""

    @http.patch("/api/messages/{id}")
    async def edit(self, id: str, text: str, *, version: int) -> shapes.Message:
        """Edit your own message. Raises `Conflict` if it is no longer at this version."""

    @http.delete("/api/messages/{id}")
    async def delete(self, id: str, *, version: int) -> shapes.Message:
        """Delete your own message. Raises `Conflict` if it is no longer at this version."""

    # --- reading ---------------------------------------------------------------------------------------

    @http.get(MESSAGES, part="messages")
    async def messages(
        self, conversation: str, *, after: int = 0, before: int | None = None, limit: int = 100
    ) -> list[shapes.Message]:
        """List messages, oldest first. With `before` alone: the newest `limit` messages before it."""

    @http.get("/api/messages/{id}")
    async def message(self, id: str) -> shapes.Message:
        """Get a message by its id."""

    @http.get(MESSAGES, part="messages")
    async def newest(self, conversation: str, limit: int = 50) -> list[shapes.Message]:
        """List the newest messages, oldest first."""

    @http.get("/api/agents/{agent}/received", part="received")
    async def inbox(
        self, *, agent: str | None = None, unread: bool = False, limit: int = 20
    ) -> list[shapes.Received]:
        """List messages from others in your conversations, oldest first; with `unread`, only unread ones."""

    @http.get("/api/turns", part="turns")
    async def turns(
        self, *, conversation: str | None = None, agent: str | None = None, state: str | None = None
    ) -> list[shapes.Turn]:
        """List the newest 1,000 turns, oldest first."""

    @http.get("/api/turns/{id}")
    async def turn(self, id: str, *, given: bool = True) -> shapes.Turn:
        """Get a turn, with exactly what its agent was given unless `given` is false."""

    @http.get("/api/messages/{message_id}/why")
    async def why(self, message_id: str) -> shapes.Why:
        """Explain who had to answer a message, who could, who stayed silent, and by which rule."""

    @http.get("/api/search", part="hits", shaped=renamed(query="q"))
    async def search(self, query: str, *, limit: int = 20) -> list[shapes.Hit]:
        """Search messages, newest first: words, "phrases" and `from: to: in: kind: before: after: has: is:`."""

    @http.get("/api/topology")
    async def topology(self) -> shapes.Topology:
        """Everybody and every link between them, with where people have put them on the map."""

    @http.put("/api/topology/positions", repeats=True)
    async def arrange(self, positions: Mapping[str, Mapping[str, float]]) -> shapes.Positions:
        """Put somebody, by name or id, on the map that all look at: `{"arya": {"x": 1, "y": 2}}`. For people."""

    @http.get("/api/limits")
    async def limits(self, *, conversation: str | None = None) -> shapes.BrakeReport:
        """How close pairs of agents, agents and chains are to their limits: all for the owner, else your own."""

    @http.post("/api/limits/reset", repeats=True, shaped=renamed(sender="from"))
    async def reset_limit(self, sender: str, to: str) -> shapes.PairLimit:
        """Let one agent write to another again without the delays and the cap it ran into. For people."""

    # --- waiting ---------------------------------------------------------------------------------------

    @http.get(f"{PLACE}/settled")
    async def settled(self, conversation: str | None = None, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        """Wait until no turn is waiting, ready, held or running (owed turns do not count); raises `TimedOut`."""

    @no_call("`GET /api/events`, a stream")
    def events(
        self,
        *,
        conversation: str | None = None,
        agent: str | None = None,
        types: Sequence[str] = (),
        after: str | int | None = None,
    ) -> AsyncIterator[shapes.Event]:
        """Follow events as they happen; with `after`, from that event on, without gaps."""

    # --- the hub itself ----------------------------------------------------------------------------------

    @http.post("/api/reload", repeats=True)
    async def reload(self) -> shapes.Reloaded:
        """Read moot.toml again. Links, policy, limits, groups and agents change at once, the rest when the hub next
        starts. A broken file changes nothing; the error names the line. Owner only."""
