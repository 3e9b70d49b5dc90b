"""Carry out what the person does in the full-screen chat: say something, run a command, stop somebody. Report how each
message ended, once nobody has anything left to do.

Above: chat_room.py, which shows it. Below: the hub, the one parser of commands, and sentences that the plain chat uses
too. Not here: widgets, keys.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final, Protocol
from uuid import uuid4

from rich.text import Text

from moot import shapes
from moot.cli.frame.errors import text as error_text
from moot.cli.frame.hints import command as command_of
from moot.cli.frame.session import Session
from moot.cli.run.unloadable import with_load_errors
from moot.cli.talk.brakes import warn
from moot.cli.talk.dialogue import ended_in_words
from moot.cli.talk.follow import FollowedConversation
from moot.cli.talk.own_commands import export_to_file
from moot.cli.terminal.phrases import round_end, title
from moot.cli.terminal.screen import safe
from moot.cli.terminal.views import Silent
from moot.cli.tui.hub_link import HubLink
from moot.errors import HubAbsent, MootError
from moot.hub.commands.slash import At, CommandOutcome, carry_out, newest_question
from moot.model.answer import Receipt
from moot.rules.words import slash

if TYPE_CHECKING:
    from moot.hub import Hub

AWAY_SECONDS: Final = 600.0
"""For how long a message that could not be sent is kept for a hub that comes back."""
LOOK_AGAIN: Final = 1.0
FEW_LINES: Final = 2
"""Up to this many lines are shown as remarks in the conversation; more are shown in an overlay."""
QUESTIONS: Final = {
    slash.GroupRemoveCommand: "Remove them from",
    slash.GroupDissolveCommand: "Dissolve",
    slash.ArchiveCommand: "Archive",
}


class RoomView(Protocol):
    """The screen, as far as this module uses it."""

    @property
    def place(self) -> shapes.Conversation: ...
    def remark(self, text: str) -> None: ...
    def tick(self, text: str) -> None: ...
    def lay_over(self, heading: str, text: Text) -> None: ...
    async def is_sure(self, question: str) -> bool: ...
    async def explain(self, number: int) -> None: ...
    async def show_own(
        self, command: slash.KeysCommand | slash.ThemeCommand | slash.TurnsCommand
    ) -> None: ...
    async def go_to(self, where: shapes.Conversation) -> None: ...
    def leave(self) -> None: ...
    def give_back(self, text: str) -> None: ...


class RoomTalk:
    def __init__(
        self, session: Session, link: HubLink, view: RoomView, *, max_turns: int | None = None
    ) -> None:
        self._session = session
        self._link = link
        self._view = view
        self._max_turns = max_turns
        self._receipts: list[tuple[Receipt, int]] = []
        """The person's messages that are not settled yet, each with its own cap on turns (0: none)."""
        self._turn_has_ended = asyncio.Event()
        self._settling: asyncio.Task[None] | None = None
        self.waiting: dict[str, str] = {}
        """Texts that no hub has taken yet, by their idempotency key."""

    @property
    def _hub(self) -> Hub:
        return self._link.hub

    # --- saying ------------------------------------------------------------------------------------------------

    async def say(self, text: str, *, reply_to: str | None = None) -> Receipt | None:
        """Post a message exactly once, even if the hub goes away while it is being posted."""
        where, key = self._view.place, uuid4().hex
        self.waiting[key] = text
        try:
            receipt = await self._post_until_taken(where, text, key, reply_to)
        except MootError as error:
            self._view.remark(error_text(error, (), more=False))
            self._view.give_back(text)
            return None
        finally:
            self.waiting.pop(key, None)
        await warn(self._session, self._hub, where, receipt, in_chat=True)
        self._follow(receipt)
        return receipt

    async def _post_until_taken(
        self, where: shapes.Conversation, text: str, key: str, reply_to: str | None
    ) -> Receipt:
        while True:
            try:
                return await self._hub.post(
                    where.id, text, reply_to=reply_to, max_turns=self._max_turns, idempotency_key=key
                )
            except HubAbsent:
                self._view.remark("the hub is away; your message is sent as soon as it is back")
                await asyncio.sleep(0)  # let the listener notice that the hub has gone
                if not await self._link.wait_until_up(AWAY_SECONDS):
                    raise
                await asyncio.sleep(LOOK_AGAIN / 10)

    # --- commands ----------------------------------------------------------------------------------------------

    async def command(self, command: slash.Command) -> None:
        where = self._view.place
        if isinstance(command, slash.WhyCommand):
            newest = None if command.number else await newest_question(self._hub, where.id)
            await self._view.explain(command.number or (newest.seq if newest is not None else 0))
            return
        if isinstance(command, slash.ExportCommand):
            self._view.remark(await export_to_file(self._session, where, command.file))
            return
        if isinstance(command, slash.KeysCommand | slash.ThemeCommand | slash.TurnsCommand):
            await self._view.show_own(command)
            return
        question = QUESTIONS.get(type(command))
        if question is not None and not await self._view.is_sure(f"{question} {title(where)}?"):
            return
        await self._show(command, await carry_out(command, At(self._hub, where)))

    async def _show(self, command: slash.Command, result: CommandOutcome) -> None:
        back = f"; to undo: {self._session.screen.command(command_of(result.back))}" if result.back else ""
        lines = [f"{safe(line)}{back}" for line in result.lines]
        if len(lines) > FEW_LINES:
            self._view.lay_over(_heading(command), Text("\n".join(lines)))
        else:
            for line in lines:
                self._view.remark(line)
        if result.moved is not None:
            await self._view.go_to(result.moved)
        if result.receipt is not None:
            self._follow(result.receipt, result.cap)
        if result.left:
            self._view.leave()

    async def stop(self, agent: str | None) -> None:
        if not await self.stop_any(agent):
            self._view.remark("nobody is speaking here")

    async def stop_any(self, agent: str | None = None) -> bool:
        """Whether somebody was."""
        stopped = await self._hub.conversations.stop(self._view.place.id, agent)
        if stopped:
            self._view.remark(f"stopped {', '.join(stopped)}")
        return bool(stopped)

    # --- how it ended ------------------------------------------------------------------------------------------

    def turn_ended(self) -> None:
        self._turn_has_ended.set()

    def _follow(self, receipt: Receipt, cap: int = 0) -> None:
        self._receipts.append((receipt, cap))
        if self._settling is None:
            self._settling = asyncio.create_task(self._settle())

    async def wait_settled(self) -> None:
        """Wait until all of the person's messages are settled."""
        while self._settling is not None:
            await asyncio.wait([self._settling])

    async def close(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
            await asyncio.gather(self._settling, return_exceptions=True)

    async def _settle(self) -> None:
        try:
            while self._receipts:
                place = self._receipts[0][0].conversation
                await self._until_quiet(place)
                settled = [row for row in self._receipts if row[0].conversation == place]
                self._receipts = [row for row in self._receipts if row not in settled]
                for receipt, cap in settled:
                    await self._tell_end(receipt, cap)
        except HubAbsent:
            self._receipts.clear()  # the listener reports that the hub has gone
        except MootError as error:
            self._view.remark(error_text(error, (), more=False))
        finally:
            self._settling = None

    async def _until_quiet(self, place: str) -> None:
        while await self._hub.inspector.unsettled(place):
            with suppress(TimeoutError):
                async with asyncio.timeout(LOOK_AGAIN):
                    await self._turn_has_ended.wait()
            self._turn_has_ended.clear()

    async def _tell_end(self, receipt: Receipt, cap: int) -> None:
        where = await self._hub.conversations.get(receipt.conversation)
        result = await FollowedConversation(self._hub, where, Silent()).outcome(receipt, True)
        result = await with_load_errors(self._session, self._hub, result)
        if where.id != self._view.place.id:
            return
        if where.kind == "group":
            usual = int(where.settings["max_agent_turns_per_message"])
            cap_in_force = cap or self._max_turns or usual
            self._view.tick(round_end(result.why, result.last, len(result.replies), cap_in_force))
        elif result.outcome in ("passed", "failed"):
            self._view.remark(ended_in_words(result))


def _heading(command: slash.Command) -> str:
    name = type(command).__name__.removesuffix("Command")
    return name.replace("Group", "group ").lower().strip()
