"""`hub.mailbox`: messages waiting for an outside agent, which no host runs: it fetches its turns and ends them."""

from __future__ import annotations

from collections.abc import Sequence

from moot import shapes
from moot.model.answer import Receipt
from moot.sdk import http
from moot.sdk.call import Subject
from moot.sdk.request import renamed

CHECK, TURN = "/api/agents/{me}/check", "/api/turns/{turn_id}"


class MailboxCalls(Subject, subject="mailbox"):
    @http.post(CHECK, repeats="handed")
    async def check(
        self, *, limit: int = 50, handed: Sequence[str] | None = None, held: Sequence[str] = ()
    ) -> shapes.Handed:
        """Fetch waiting messages as a turn of their own; calling again ends that turn as passed."""

    @http.post(CHECK, repeats="handed", shaped=renamed(timeout="wait_seconds"))
    async def wait(
        self,
        *,
        timeout: float = 30.0,  # noqa: ASYNC109
        limit: int = 50,
        handed: Sequence[str] | None = None,
        held: Sequence[str] = (),
    ) -> shapes.Handed:
        """Like `check`, but waits until there is something or the time is over."""

    @http.post("/api/messages/{message_id}/reply")
    async def reply(
        self, message_id: str, text: str, *, idempotency_key: str | None = None
    ) -> Receipt | None:
        """Answer a message and end the turn it came with. Returns None if the text counts as silence."""

    @http.get(f"{TURN}/view")
    async def view(self, turn_id: str, *, messages: int = 20, tokens: int = 8000) -> shapes.View:
        """Get what an outside agent sees in its open turn."""

    @http.post(f"{TURN}/end", repeats=True)
    async def end(self, turn_id: str, *, text: str | None = None, error: str | None = None) -> shapes.Turn:
        """End an outside agent's open turn with a text, with an error that everybody sees, or silently."""

    @http.post(f"{TURN}/give-back", repeats=True)
    async def give_back(self, turn_id: str) -> None:
        """Give an outside agent's open turn back, so that it is offered again."""
