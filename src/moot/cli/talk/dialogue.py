"""The chat loop: preview, prompt, slash commands, words. The same in `chat` and in `demo`.

At a terminal the person may type while others speak: a line is posted at once, and its end is reported when it comes.
Lines that come through a pipe wait for each other.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING
from uuid import uuid4

import click

from moot.cli.frame.errors import text as error_text
from moot.cli.frame.hints import command as command_of
from moot.cli.frame.session import Session
from moot.cli.read import why
from moot.cli.run.unloadable import with_load_errors
from moot.cli.talk import own_commands
from moot.cli.talk.brakes import warn
from moot.cli.talk.follow import FollowedConversation, Outcome, TalkView
from moot.cli.talk.foreseen import will_answer
from moot.cli.terminal.keyboard import Keyboard, piped_line
from moot.cli.terminal.phrases import round_line, title
from moot.cli.terminal.screen import Screen, safe
from moot.errors import BadValue, HubAbsent, MootError
from moot.hub.commands.slash import At, CommandOutcome, carry_out, newest_question
from moot.model.answer import Receipt
from moot.model.json import JsonObject
from moot.rules.words import slash

if TYPE_CHECKING:
    from moot.hub import Hub

ROUND_SECONDS = 300.0
LEAVING = ("exit", "quit")
"""Words that leave the chat when they are alone on a line."""


class Dialogue:
    def __init__(
        self,
        session: Session,
        talk: FollowedConversation,
        note: str = "",
        *,
        max_turns: int | None = None,
        reopen: Callable[[], Awaitable[tuple[Hub, TalkView]]] | None = None,
    ) -> None:
        """`reopen` connects again when the hub has gone."""
        talk.when_cut = self._tell_cut
        self._session = session
        self._screen: Screen = session.screen
        self._talk = talk
        self._reopen = reopen
        self._note = note
        self._max_turns = max_turns
        self._keyboard: Keyboard | None = None
        self._receipts: list[Receipt] = []
        """What the person said and is not over yet, where they may type meanwhile."""
        self._caps: dict[str, int] = {}
        """Of messages with a cap of their own: at most so many turns."""
        self._settling: asyncio.Task[None] | None = None
        self._waiting: asyncio.Future[bool] | None = None

    @asynccontextmanager
    async def keyboard(self) -> AsyncIterator[None]:
        """At a terminal, read keys from now on, even before `run` asks for a line."""
        if not self._is_typed_at:
            yield
            return
        async with Keyboard(self._screen).reading() as self._keyboard:
            self._keyboard.when_interrupted = self._may_leave
            try:
                yield
            finally:
                if self._settling is not None:
                    self._settling.cancel()
                    await asyncio.gather(self._settling, return_exceptions=True)
        interrupted, self._keyboard = self._keyboard.was_interrupted, None
        if interrupted:
            raise click.Abort

    async def run(self, *, once: bool = False) -> None:
        """Run until the person leaves."""
        if self._keyboard is None and self._is_typed_at:
            async with self.keyboard():
                await self.run(once=once)
            return
        await self._tell_preview()
        while (line := await self._read_line(f"{self._speaker} ▸ ")) is not None:
            if line.strip().lower() in LEAVING or not await self.take(line):
                return
            if once and line.strip():
                await self._until_reported()
                return
            if self._settling is None:
                await self._tell_preview()
        if self._keyboard is None:
            self._screen.say()

    @property
    def _hub(self) -> Hub:
        return self._talk.hub

    @property
    def _is_typed_at(self) -> bool:
        return self._session.is_terminal and not self._session.json

    @property
    def _speaker(self) -> str:
        return "you" if self._hub.name == self._hub.settings.hub.user else self._hub.name

    async def _read_line(self, prompt: str) -> str | None:
        if self._keyboard is not None:
            return await self._keyboard.line(prompt)
        self._screen.say(prompt, end="")
        return await piped_line()

    def _may_leave(self) -> bool:
        """Whether Ctrl+C without a draft leaves: while agents are at work, only the second one does."""
        if self._waiting is not None:
            self._waiting.cancel()
            return False
        if self._settling is None:
            return True
        self._screen.note("the agents continue: /stop stops them, Ctrl+C again leaves")
        return False

    def _tell_cut(self) -> None:
        self._screen.note("the hub stopped; all messages are kept, and your next line reconnects")

    async def _tell_preview(self) -> None:
        with suppress(HubAbsent):  # the next line finds another hub, or reports that there is none
            self._screen.say(self._screen.dim(await self.preview()))

    async def preview(self) -> str:
        """Who would answer, by the same function that decides it."""
        preview_found = await self._hub.preview(self._talk.conversation.id, "…")
        return will_answer(preview_found, self._talk.conversation, cap=self._max_turns, note=self._note)

    async def take(self, line: str) -> bool:
        """One line of the person; False when they leave."""
        if not line.strip():
            return True
        await self._connect(line)
        try:
            command = slash.parse(line)
            if isinstance(command, slash.Say):
                await self._follow(await self._post(command.text))
                return True
            return await self.command(command)
        except MootError as error:
            self._screen.note(error_text(error, (), more=False))
        return True

    async def _post(self, text: str) -> Receipt:
        """Post a message exactly once, even if the hub goes away while it is being posted."""
        limits: JsonObject = {"max_turns": self._max_turns, "idempotency_key": uuid4().hex}
        try:
            return await self._talk.post(text, **limits)
        except HubAbsent:
            await self._connect(text, anew=True)
        try:
            return await self._talk.post(text, **limits)
        except HubAbsent:
            self._screen.give_back(text)
            raise

    async def _connect(self, line: str, *, anew: bool = False) -> None:
        """If the hub has gone, connect to another, or open the home here; if that fails, give the line back."""
        if self._reopen is None or not (anew or self._talk.is_cut):
            return
        try:
            await self._talk.rejoin(*await self._reopen())
        except MootError:
            self._screen.give_back(line)
            raise
        self._screen.note("the hub had stopped; the chat is connected again")

    async def command(self, command: slash.Command) -> bool:
        """Carry out a command: some here, since the chat shows them better than plain lines; others as everywhere."""
        match command:
            case slash.WhyCommand():
                newest = (
                    None if command.number else await newest_question(self._hub, self._talk.conversation.id)
                )
                await self.why(str(command.number or (newest.seq if newest is not None else 0)))
                return True
            case slash.GroupRemoveCommand() | slash.GroupDissolveCommand() | slash.ArchiveCommand():
                if not await self._is_sure(command):
                    return True
            case slash.ExportCommand() | slash.KeysCommand() | slash.ThemeCommand():
                lines = await own_commands.run_own_command(self._session, self._talk.conversation, command)
                return await self._show(CommandOutcome(lines))
            case _:
                pass
        async with self._talk.by_other_means() as mine:
            result = await carry_out(command, At(self._hub, self._talk.conversation))
            mine.update({result.receipt.id} if result.receipt is not None else ())
        return await self._show(result)

    async def _is_sure(self, command: slash.Command) -> bool:
        """Ask before a command that removes something; without a terminal it is not done."""
        if not self._session.is_terminal:
            raise BadValue(
                "this needs confirmation, and there is no terminal to ask on",
                fix=(f"moot conv -h, with --yes, for {self._talk.conversation.name}",),
            )
        words = {
            slash.GroupRemoveCommand: "remove them from",
            slash.GroupDissolveCommand: "dissolve",
            slash.ArchiveCommand: "archive",
        }
        answer = await self._read_line(f"{words[type(command)]} {title(self._talk.conversation)}? [y/N] ")
        return (answer or "").strip().lower() in ("y", "yes")

    async def _show(self, result: CommandOutcome) -> bool:
        back = (
            f"; to undo: {self._screen.command(command_of(result.back))}" if result.back is not None else ""
        )
        for line in result.lines:
            self._screen.say(f"  {safe(line)}{back}")
        if result.moved is not None:
            await self._talk.move(result.moved)
        if result.receipt is not None:
            self._caps[result.receipt.id] = result.cap
            await self._follow(result.receipt)
        elif result.waits:
            await self._follow()
        return not result.left

    async def why(self, number: str) -> None:
        if number == "0":
            self._screen.say("  nothing has been said here yet")
            return
        address = await why.address(self._hub, number, self._talk.conversation.id)
        await why.show(self._screen, self._hub, await self._hub.why(address))

    async def say(self, text: str) -> Outcome:
        """Say something, wait for the answers, and report how it ended."""
        receipt = await self._post(text)
        await self._warn(receipt)
        return await self._tell_end(receipt, settled=await self.wait())

    async def _follow(self, receipt: Receipt | None = None) -> None:
        """Wait for what was started or, if the person may type meanwhile, report its end later."""
        if receipt is not None:
            await self._warn(receipt)
        if self._keyboard is None:
            settled = await self.wait()
            if receipt is not None:
                await self._tell_end(receipt, settled=settled)
            return
        self._receipts += [receipt] if receipt is not None else []
        if self._settling is None:
            self._settling = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        """Wait until nobody has anything left to do; then report how each message ended, and who would answer next."""
        try:
            going = True
            while going:
                settled = await self._talk.wait(ROUND_SECONDS)
                if not settled:
                    self._stop_waiting()
                receipts, self._receipts = self._receipts, []
                for receipt in receipts:
                    await self._tell_end(receipt, settled=settled)
                going = bool(self._receipts)
            await self._tell_preview()
        except HubAbsent:
            pass  # reported by when_cut
        except MootError as error:
            self._screen.note(error_text(error, (), more=False))
        finally:
            self._settling = None

    async def _until_reported(self) -> None:
        if self._settling is not None:
            await self._settling

    async def _warn(self, receipt: Receipt) -> None:
        await warn(self._session, self._hub, self._talk.conversation, receipt, in_chat=True)

    async def _tell_end(self, receipt: Receipt, *, settled: bool) -> Outcome:
        outcome = await self._talk.outcome(receipt, settled)
        outcome = await with_load_errors(self._session, self._hub, outcome)
        if settled and self._talk.conversation.kind == "group":
            usual = int(self._talk.conversation.settings["max_agent_turns_per_message"])
            cap = self._caps.pop(receipt.id, 0) or self._max_turns or usual
            self._screen.say(
                self._screen.dim(f"  {round_line(outcome.why, outcome.last, len(outcome.replies), cap)}")
            )
        elif settled and outcome.outcome in ("passed", "failed"):
            self._screen.say(self._screen.dim(f"  {ended_in_words(outcome)}"))
        return outcome

    async def wait(self) -> bool:
        """Wait until everybody is done. Ctrl+C stops the waiting, not the agents."""
        settled = False
        self._waiting = asyncio.ensure_future(self._talk.wait(ROUND_SECONDS))
        try:
            settled = await self._waiting
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
        finally:
            self._waiting = None
        if not settled:
            self._stop_waiting()
        return settled

    def _stop_waiting(self) -> None:
        self._talk.hush()
        self._screen.note("stopped waiting; the message is kept, and answers will appear here")


def ended_in_words(outcome: Outcome) -> str:
    if outcome.outcome == "passed":
        agents = ", ".join(row.agent for row in outcome.why.agents if row.state == "passed")
        return f"{agents} read it and chose to say nothing"
    return f"no answer: {'; '.join(safe(cause.text) for cause in outcome.causes)} (/why, /retry)"
