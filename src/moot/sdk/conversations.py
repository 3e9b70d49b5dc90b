"""`hub.conversations`: make, find and change conversations. `ref` is a name or an id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from moot.sdk import http
from moot.sdk.call import Subject
from moot.sdk.request import as_settings, with_channel, with_fields
from moot.shapes import Conversation

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
        """A new conversation, which you join. `channel` binds it to a chat elsewhere, which has one at most:
        (channel_type, channel_group_id).

        With `exist_ok` one of this name and kind that you are in already is returned: participants who are missing
        join it, its settings stay. So a program may run twice.
        """

    @http.post("/api/implicit", repeats=True)
    async def implicit(self, participants: Sequence[str]) -> Conversation:
        """The one conversation of this set of names, made when it is first needed."""

    @http.post("/api/ephemeral", repeats="key")
    async def ephemeral(self, target: str, key: str = "") -> Conversation:
        """A conversation for one question: the target answers first, then whoever else is named in it.

        With a key, the same one while it is open: a repeat must not make a second.
        """

    @http.get(PLACE)
    async def get(self, ref: str) -> Conversation:
        """One conversation."""

    @http.get("/api/conversations", part="conversations")
    async def list(
        self,
        *,
        archived: bool = False,
        kind: str | None = None,
        channel_type: str | None = None,
        channel_group_id: str | None = None,
    ) -> list[Conversation]:
        """All there are, or those of one kind or of one chat elsewhere."""

    @http.post(f"{PLACE}/participants")
    async def join(self, ref: str, name: str) -> Conversation:
        """Somebody takes part from now on."""

    @http.delete(f"{PLACE}/participants/{{name}}")
    async def leave(self, ref: str, name: str) -> None:
        """Somebody takes part no longer."""

    @http.patch(PLACE)
    async def rename(self, ref: str, name: str) -> Conversation:
        """Give it another name; its id stays."""

    @http.patch(PLACE, shaped=as_settings)
    async def configure(self, ref: str, **settings: Any) -> Conversation:
        """Set what holds here instead of the `[groups]` of moot.toml; None goes back to that."""

    @http.delete(PLACE)
    async def archive(self, ref: str) -> None:
        """Put it away: nobody speaks there, and its name is free."""

    @http.post(f"{PLACE}/dissolve")
    async def dissolve(self, ref: str) -> None:
        """Archive it, and let go of the chat elsewhere that it was bound to; what was said stays readable."""

    @http.post(f"{PLACE}/unarchive")
    async def unarchive(self, ref: str) -> None:
        """`ref` is the id: the name of an archived conversation may belong to another by now."""

    @http.delete(PLACE, shaped=with_fields(purge=True))
    async def delete(self, ref: str) -> None:
        """Erase it with everything said in it."""

    @http.post(f"{PLACE}/continue", part="resumed")
    async def resume(self, ref: str) -> bool:
        """`/continue`: let a stopped round or chain go on."""

    @http.post(f"{PLACE}/stop", part="stopped")
    async def stop(self, ref: str, agent: str | None = None) -> tuple[str, ...]:
        """Interrupt who speaks here, or one of them; tells whom. What they had said is kept, and wakes nobody."""

    @http.post(f"{PLACE}/read", repeats=True)
    async def read(self, ref: str, seq: int) -> None:
        """A person has read so far: what lies before waits in their inbox no longer."""
