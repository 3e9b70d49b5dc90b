"""`hub.bridges`: chats in Telegram and Discord, whose accounts write there, and what did not get through."""

from __future__ import annotations

from moot import shapes
from moot.sdk.call import Subject, not_over_http

OF_THE_OWNER = "bridges are set up by the owner, on the hub's own machine"


class BridgeCalls(Subject, subject="bridges"):
    @not_over_http(OF_THE_OWNER)
    async def chats(self, bridge: str | None = None) -> list[shapes.ChatElsewhere]:
        """List the chats that bots are in, oldest first, with the conversation each is paired with."""

    @not_over_http(OF_THE_OWNER)
    async def accounts(self) -> list[shapes.LinkedAccount]:
        """List the accounts that have written in paired chats, and whose they are."""

    @not_over_http(OF_THE_OWNER)
    async def code(self, bridge: str, *, seconds: float = 900.0) -> shapes.NewCode:
        """Issue a code that pairs one chat, once, when somebody writes `/pair CODE` there. For the owner only."""

    @not_over_http(OF_THE_OWNER)
    async def bind(self, bridge: str, chat: str, conversation: str) -> shapes.ChatElsewhere:
        """Let a chat continue a conversation that exists; it need not be paired before. What was said in the
        conversation until now is not repeated in the chat. For the owner only."""

    @not_over_http(OF_THE_OWNER)
    async def unpair(self, bridge: str, chat: str) -> shapes.ChatElsewhere:
        """Let go of a chat: nobody in it wakes an agent any more. Its conversation stays. For the owner only."""

    @not_over_http(OF_THE_OWNER)
    async def link(self, bridge: str, account: str, person: str) -> shapes.LinkedAccount:
        """Say whose account it is: from now on it speaks as that person, without a guest's limits. For the owner
        only."""

    @not_over_http(OF_THE_OWNER)
    async def unlink(self, bridge: str, account: str) -> shapes.LinkedAccount:
        """Make an account a guest's again. For the owner only."""

    @not_over_http(OF_THE_OWNER)
    async def posts(self, state: str | None = None) -> list[shapes.OutgoingPost]:
        """List posts that may not have arrived: waiting, unconfirmed and failed ones, or those in a state."""

    @not_over_http(OF_THE_OWNER)
    async def resend(self, id: str) -> shapes.OutgoingPost:
        """Send an unconfirmed or dead post again; it may then be there twice. For the owner only."""

    @not_over_http(OF_THE_OWNER)
    async def drop(self, id: str) -> shapes.OutgoingPost:
        """Drop a post that may not have arrived; it is not sent again. For the owner only."""

    @not_over_http(OF_THE_OWNER)
    async def dead_letters(self) -> list[shapes.UnheardMessage]:
        """List what came in and could not be taken in, with its text."""

    @not_over_http(OF_THE_OWNER)
    async def holders(self) -> list[shapes.BridgeHolder]:
        """List which hub runs which bridge, and until when."""
