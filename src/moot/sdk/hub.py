"""What a hub can be asked to do: speak, read, wait. `hub.post(…)`; the rest is on its subjects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from typing import Any

from moot import shapes
from moot.model.answer import Preview, Receipt
from moot.sdk import http
from moot.sdk.agents import AgentCalls
from moot.sdk.call import Subject, no_call
from moot.sdk.conversations import ConversationCalls
from moot.sdk.decisions import DecisionCalls
from moot.sdk.deliveries import DeliveryCalls
from moot.sdk.history import HistoryCalls
from moot.sdk.inspector import InspectorCalls
from moot.sdk.links import LinkCalls
from moot.sdk.mailbox import MailboxCalls
from moot.sdk.notes import NoteCalls
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
    def history(self) -> HistoryCalls:
        """What has happened."""

    @no_call("the header `Moot-Act-As` of any request")
    def acting_as(self, name: str) -> HubCalls:
        """Speak as somebody else; all rules bind whom it speaks as. For the owner only."""

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
    ) -> Receipt:
        """Say something. Returns once it is on disk, with each agent's part in it. Answers carry the correlation id."""

    @http.post(f"{PLACE}/preview", repeats=True)
    async def preview(self, conversation: str, text: str, *, force: Sequence[str] = ()) -> Preview:
        """Who would answer, by the very function that decides it; nothing is stored."""

    @http.post("/api/agents/{target}/send")
    async def send(
        self, target: str, text: str, *, intent: str | None = None, idempotency_key: str | None = None
    ) -> Receipt:
        """Say something to one agent, in the conversation of the pair."""

    @http.post("/api/agents/broadcast", shaped=renamed(text="message"))
    async def broadcast(self, text: str, *, idempotency_key: str | None = None) -> dict[str, Any]:
        """One message to everybody else, each in its pair's own conversation, under its own limit."""

    @http.post("/api/tasks", shaped=renamed(target="to"))
    async def delegate(
        self,
        target: str,
        task: str,
        *,
        deadline_seconds: float | None = None,
        conversation: str | None = None,
    ) -> shapes.Task:
        """Hand work to somebody who reports to you. It is worked on in a conversation of its own; how it ended is
        reported to you where you delegated it, or in `conversation`, also if the worker dies or the deadline passes."""

    @http.post("/api/agents/{target}/ask")
    async def ask(
        self,
        target: str,
        text: str,
        *,
        timeout: float = 60.0,  # noqa: ASYNC109
        choices: Sequence[str] = (),
        idempotency_key: str | None = None,
    ) -> shapes.Message:
        """Ask one agent, and wait for the answer to this question: a message, or `Passed`, `TurnFailed`, `TimedOut`."""

    @http.patch("/api/messages/{id}")
    async def edit(self, id: str, text: str, *, version: int) -> shapes.Message:
        """Change a message of one's own. `Stale` where it is not of this version any more."""

    @http.delete("/api/messages/{id}")
    async def delete(self, id: str, *, version: int) -> shapes.Message:
        """Take a message of one's own back. `Stale` where it is not of this version any more."""

    # --- reading ---------------------------------------------------------------------------------------

    @http.get(MESSAGES, part="messages")
    async def messages(
        self, conversation: str, *, after: int = 0, before: int | None = None, limit: int = 100
    ) -> list[shapes.Message]:
        """Ascending. With `before` alone: the newest `limit` below it."""

    @http.get("/api/messages/{id}")
    async def message(self, id: str) -> shapes.Message:
        """One message by its address."""

    @http.get(MESSAGES, part="messages")
    async def newest(self, conversation: str, limit: int = 50) -> list[shapes.Message]:
        """The last messages, ascending."""

    @http.get("/api/agents/{agent}/received", part="received")
    async def inbox(
        self, *, agent: str | None = None, unread: bool = False, limit: int = 20
    ) -> list[shapes.Received]:
        """What others said where one takes part, oldest first; with `unread`, only what was not read yet."""

    @http.get("/api/turns", part="turns")
    async def turns(
        self, *, conversation: str | None = None, agent: str | None = None, state: str | None = None
    ) -> list[shapes.Turn]:
        """The newest thousand, oldest first."""

    @http.get("/api/turns/{id}")
    async def turn(self, id: str, *, given: bool = True) -> shapes.Turn:
        """One turn, with exactly what its agent was given; without that where it is not asked for."""

    @http.get("/api/messages/{message_id}/why")
    async def why(self, message_id: str) -> shapes.Why:
        """Each agent's part in a message: who had to answer, who could, who was silent and by which rule."""

    @http.get("/api/search", part="hits", shaped=renamed(query="q"))
    async def search(self, query: str, *, limit: int = 20) -> list[shapes.Hit]:
        """Words, "phrases" and `from: to: in: kind: before: after: has: is:`, newest first."""

    @http.get("/api/topology")
    async def topology(self) -> shapes.Topology:
        """Everybody and every link between them, with where people have put them on the map."""

    @http.put("/api/topology/positions", repeats=True)
    async def arrange(self, positions: Mapping[str, Mapping[str, float]]) -> shapes.Positions:
        """Put somebody, by name or id, on the map that all look at: `{"arya": {"x": 1, "y": 2}}`. For people."""

    # --- waiting ---------------------------------------------------------------------------------------

    @http.get(f"{PLACE}/settled")
    async def settled(self, conversation: str | None = None, *, timeout: float = 30.0) -> None:  # noqa: ASYNC109
        """Wait until no turn waits, is ready, held or running (owed ones do not count); else `TimedOut`."""

    @no_call("`GET /api/events`, a stream")
    def events(
        self,
        *,
        conversation: str | None = None,
        agent: str | None = None,
        types: Sequence[str] = (),
        after: str | int | None = None,
    ) -> AsyncIterator[shapes.Event]:
        """What happens, as it happens; with `after`, from that event on without a gap."""

    # --- the hub itself ----------------------------------------------------------------------------------

    @http.post("/api/reload", repeats=True)
    async def reload(self) -> shapes.Reloaded:
        """Take in moot.toml as it is now: links, policy, limits, groups and agents at once, the rest when the hub next
        starts. A broken file changes nothing and is refused with its line. For the owner only."""
