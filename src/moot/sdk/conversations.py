"""`hub.conversations`: create, find and change conversations. `ref` is a name or an id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from moot.sdk import http
from moot.sdk.call import Subject
from moot.sdk.request import as_settings, with_channel, with_fields
from moot.shapes import Conversation, ListedConversation

Rows: TypeAlias = list[ListedConversation]
PLACE = "/api/conversations/{ref}"


class ConversationCalls(Subject, subject="conversations"):
    @http.post("/api/conversations", shaped=with_channel, repeats="exist_ok")
    async def create(
        self,
        name: str,
        *,
        participants: Sequence[str] = (),
        kind: str = "group",
        settings: dict[str, Any] | None = None,
        channel: tuple[str, str] = ("", ""),
        exist_ok: bool = False,
    ) -> Conversation:
        """Create a conversation and join it. `channel` binds it to a chat in another app, which can have only one:
        (channel_type, channel_group_id).

        With `exist_ok`, returns your conversation of this name and kind if there is one: missing participants
        join it, its settings stay. A program can then run twice.
        """

    @http.post("/api/implicit", repeats=True)
    async def implicit(
        self, participants: Sequence[str], *, text: str | None = None, intent: str | None = None
    ) -> Conversation:
        """Get or create your conversation with exactly these participants; of two that are linked, the channel of
        their link. If you pass the text you are about to send, a message that would be refused creates nothing."""

    @http.post("/api/ephemeral", repeats="key")
    async def ephemeral(
        self, target: str, key: str = "", *, text: str | None = None, intent: str | None = None
    ) -> Conversation:
        """Create a conversation for one question: the target answers first, then anybody else it mentions.

        With a key, a repeated call returns the same conversation while it is open. If you pass the text you are about
        to send, a message that would be refused creates nothing.
        """

    @http.get(PLACE)
    async def get(self, ref: str) -> Conversation:
        """Get a conversation."""

    @http.get("/api/conversations", part="conversations")
    async def list(
        self,
        *,
        archived: bool = False,
        kind: str | None = None,
        channel_type: str | None = None,
        channel_group_id: str | None = None,
    ) -> list[Conversation]:
        """List conversations, optionally only those of one kind or chat channel."""

    @http.get("/api/conversations", part="conversations")
    async def overview(self, *, archived: bool = False, kind: str | None = None) -> Rows:
        """List conversations with how far each has come, how much of it you have not read, and its last message."""

    @http.post(f"{PLACE}/participants")
    async def join(self, ref: str, name: str) -> Conversation:
        """Add a participant."""

    @http.delete(f"{PLACE}/participants/{{name}}")
    async def leave(self, ref: str, name: str) -> None:
        """Remove a participant."""

    @http.patch(PLACE)
    async def rename(self, ref: str, name: str) -> Conversation:
        """Rename it; its id stays the same."""

    @http.patch(PLACE, shaped=as_settings)
    async def configure(self, ref: str, **settings: Any) -> Conversation:
        """Override `[groups]` of moot.toml for this conversation; None removes an override."""

    @http.delete(PLACE)
    async def archive(self, ref: str) -> None:
        """Archive it: it can be read but not written to, and its name becomes free."""

    @http.post(f"{PLACE}/dissolve")
    async def dissolve(self, ref: str) -> None:
        """Archive it and unbind its chat channel; its history stays readable."""

    @http.post(f"{PLACE}/unarchive")
    async def unarchive(self, ref: str) -> None:
        """Unarchive it. `ref` is its id: its name may have been taken by another since."""

    @http.delete(PLACE, shaped=with_fields(purge=True))
    async def delete(self, ref: str) -> None:
        """Delete it with all its messages."""

    @http.post(f"{PLACE}/continue", part="resumed")
    async def resume(self, ref: str) -> bool:
        """Resume a round or chain that a brake stopped, like `/continue`."""

    @http.post(f"{PLACE}/stop", part="stopped")
    async def stop(self, ref: str, agent: str | None = None) -> tuple[str, ...]:
        """Stop the agents that are speaking, or one of them, and return their names. What they said so far is kept."""

    @http.post(f"{PLACE}/read", repeats=True)
    async def read(self, ref: str, seq: int) -> None:
        """Mark messages as read up to `seq`: they leave the person's inbox."""
