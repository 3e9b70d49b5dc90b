"""The chat loop: preview, prompt, slash commands, words. The same in `chat` and in `demo`."""

import asyncio
import time

from moot.cli import why
from moot.cli.failures import text as error_text
from moot.cli.keyboard import left_as_found, line_so_far, typed
from moot.cli.screen import Screen
from moot.cli.session import Session
from moot.cli.talk import Outcome, Talk
from moot.cli.words import agents_in, round_line
from moot.errors import MootError

HELP = (
    ("/why [N]", "why each agent answered, or was silent: about the newest message, or number N"),
    ("/continue", "let a stopped round or chain go on"),
    ("/help", "this list"),
    ("/quit", "leave; Ctrl+D does too"),
    ("//TEXT", "a message that begins with /"),
)
ROUND_SECONDS = 300.0
QUIET_SECONDS = 0.6


class Dialogue:
    def __init__(self, session: Session, talk: Talk, note: str = "") -> None:
        self._screen: Screen = session.screen
        self._talk = talk
        self._hub = talk.hub
        self._note = note

    async def run(self) -> None:
        """Until the person leaves."""
        with left_as_found():
            while True:
                self._screen.say(self._screen.dim(await self.preview()))
                line = await self._typed()
                if line is None:
                    self._screen.say()
                    return
                if not await self.take(line):
                    return

    async def _typed(self) -> str | None:
        """The next line; where something came in between, the prompt is shown again behind it."""
        self._screen.prompt, self._screen.interrupted_at = self._screen.fit("you ▸ "), 0.0
        restoring = asyncio.create_task(self._restore_the_prompt())
        try:
            return await typed(self._screen.prompt)
        finally:
            self._screen.prompt = ""
            restoring.cancel()
            await asyncio.gather(restoring, return_exceptions=True)

    async def _restore_the_prompt(self) -> None:
        while True:
            await asyncio.sleep(QUIET_SECONDS / 2)
            since = self._screen.interrupted_at
            if since and time.monotonic() - since > QUIET_SECONDS:
                self._screen.ask_again(line_so_far())

    async def preview(self) -> str:
        """Who would answer, by the very function that decides it."""
        found = await self._hub.preview(self._talk.conversation.id, "…")
        must = f"{', '.join(found.must)} must" if found.must else "nobody must"
        may = [f"{', '.join(found.may)} may"] if found.may else []
        cap = [f"cap {found.cap}"] if self._talk.conversation.kind == "group" else []
        blocked = [f"{row.agent} cannot: {row.reason}" for row in found.blocked]
        return "will answer: " + " · ".join(
            [must, *may, *blocked, *cap, *([self._note] if self._note else [])]
        )

    async def take(self, line: str) -> bool:
        """One line of the person; False when they leave."""
        words = line.strip()
        try:
            if words.startswith("//"):
                await self.say(words[1:])
            elif words.startswith("/"):
                return await self.command(words)
            elif words:
                await self.say(line)
        except MootError as error:
            self._screen.note(error_text(error, ()))
        return True

    async def command(self, line: str) -> bool:
        name, *rest = line.split()
        match name:
            case "/quit":
                return False
            case "/help":
                for form, meaning in HELP:
                    self._screen.say(f"  {form:<12}{meaning}")
            case "/why":
                await self.why(rest[0] if rest else "")
            case "/continue":
                moved = await self._hub.conversations.resume(self._talk.conversation.id)
                self._screen.say("it goes on" if moved else "nothing was stopped here")
                await self.wait()
            case _:
                agents = agents_in(self._talk.conversation)
                to = f" @{agents[0].name}" if agents else ""
                self._screen.say(
                    f"unknown command {name}. To send it to an agent: /{name}{to}        /help lists all"
                )
        return True

    async def why(self, number: str) -> None:
        where = self._talk.conversation
        seq = number or str(self._talk.last)
        address = await why.address(self._hub, seq, where.id)
        await why.show(self._screen, self._hub, await self._hub.why(address))

    async def say(self, text: str) -> Outcome:
        receipt = await self._talk.post(text)
        for warning in receipt.warnings:
            self._screen.note(f"warning[{warning.code}] {warning.message}")
        settled = await self.wait()
        done = await self._talk.outcome(receipt, settled)
        if self._talk.conversation.kind == "group":
            cap = int(self._talk.conversation.settings["max_agent_turns_per_message"])
            self._screen.say(self._screen.dim(f"  {round_line(done.why, done.last, len(done.replies), cap)}"))
        return done

    async def wait(self) -> bool:
        """Until everybody is done. Ctrl+C stops the waiting, not the agents."""
        settled = False
        try:
            settled = await self._talk.wait(ROUND_SECONDS)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None:
                task.uncancel()
        if not settled:
            self._screen.note(
                "stopped waiting; the message is kept, and answers will stand here when they come"
            )
        return settled
