"""The chat loop: preview, prompt, slash commands, words. The same in `chat` and in `demo`."""

import asyncio
import time

from moot.cli import why
from moot.cli.brakes import warn
from moot.cli.failures import text as error_text
from moot.cli.keyboard import left_as_found, line_so_far, typed
from moot.cli.screen import Screen, safe
from moot.cli.session import Session
from moot.cli.talk import Outcome, Talk
from moot.cli.words import round_line, title
from moot.errors import BadValue, MootError
from moot.hub.slash import At, Done, carry_out
from moot.model.answer import Receipt
from moot.rules import slash

ROUND_SECONDS = 300.0
QUIET_SECONDS = 0.6


class Dialogue:
    def __init__(self, session: Session, talk: Talk, note: str = "", *, max_turns: int | None = None) -> None:
        self._session = session
        self._screen: Screen = session.screen
        self._talk = talk
        self._hub = talk.hub
        self._note = note
        self._max_turns = max_turns

    async def run(self, *, once: bool = False) -> None:
        """Until the person leaves."""
        with left_as_found():
            while True:
                self._screen.say(self._screen.dim(await self.preview()))
                line = await self._typed(f"{self._hub.name if self._speaks_for_another else 'you'} ▸ ")
                if line is None:
                    self._screen.say()
                    return
                if not await self.take(line) or (once and line.strip()):
                    return

    @property
    def _speaks_for_another(self) -> bool:
        return self._hub.name != self._hub.settings.hub.user

    async def _typed(self, prompt: str) -> str | None:
        """The next line; where something came in between, the prompt is shown again behind it."""
        self._screen.prompt, self._screen.interrupted_at = self._screen.fit(prompt), 0.0
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
        in_group = self._talk.conversation.kind == "group"
        cap = [f"cap {self._max_turns or found.cap}"] if in_group else []
        blocked = [f"{row.agent} cannot: {row.reason}" for row in found.blocked]
        return "will answer: " + " · ".join(
            [must, *may, *blocked, *cap, *([self._note] if self._note else [])]
        )

    async def take(self, line: str) -> bool:
        """One line of the person; False when they leave."""
        if not line.strip():
            return True
        try:
            command = slash.parse(line)
            if isinstance(command, slash.Say):
                await self.say(command.text)
                return True
            return await self.command(command)
        except MootError as error:
            self._screen.note(error_text(error, (), more=False))
        return True

    async def command(self, command: slash.Command) -> bool:
        """What the chat shows better than in plain lines it shows itself; the rest is everybody's."""
        match command:
            case slash.Why():
                await self.why(str(command.number or self._talk.last))
                return True
            case slash.GroupRemove() | slash.GroupDissolve() | slash.Archive():
                if not await self._is_sure(command):
                    return True
            case _:
                pass
        async with self._talk.by_other_means() as mine:
            done = await carry_out(command, At(self._hub, self._talk.conversation))
            mine.update({done.receipt.id} if done.receipt is not None else ())
        return await self._show(done)

    async def _is_sure(self, command: slash.Command) -> bool:
        """What takes something away is asked about; where nobody can answer, it is not done."""
        if not self._session.is_terminal:
            raise BadValue(
                "this asks first, and nobody is there to answer",
                fix=(f"moot conv -h, with --yes, for {self._talk.conversation.name}",),
            )
        words = {
            slash.GroupRemove: "take them out of",
            slash.GroupDissolve: "dissolve",
            slash.Archive: "archive",
        }
        answer = await self._typed(f"{words[type(command)]} {title(self._talk.conversation)}? [y/N] ")
        return (answer or "").strip().lower() in ("y", "yes")

    async def _show(self, done: Done) -> bool:
        for line in done.lines:
            self._screen.say(f"  {safe(line)}")
        if done.moved is not None:
            await self._talk.move(done.moved)
        if done.receipt is not None:
            await self._follow_up(done.receipt)
        elif done.waits:
            await self.wait()
        return not done.left

    async def why(self, number: str) -> None:
        if number == "0":
            self._screen.say("  nothing has been said here yet")
            return
        address = await why.address(self._hub, number, self._talk.conversation.id)
        await why.show(self._screen, self._hub, await self._hub.why(address))

    async def say(self, text: str) -> Outcome:
        return await self._follow_up(await self._talk.post(text, max_turns=self._max_turns))

    async def _follow_up(self, receipt: Receipt) -> Outcome:
        """Wait for what a message sets off, and tell how it ended."""
        await warn(self._session, self._hub, self._talk.conversation, receipt, in_chat=True)
        settled = await self.wait()
        done = await self._talk.outcome(receipt, settled)
        if settled and self._talk.conversation.kind == "group":
            cap = self._max_turns or int(self._talk.conversation.settings["max_agent_turns_per_message"])
            self._screen.say(self._screen.dim(f"  {round_line(done.why, done.last, len(done.replies), cap)}"))
        elif settled and done.outcome in ("passed", "failed"):
            self._screen.say(self._screen.dim(f"  {_ended(done)}"))
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
            self._talk.hush()
            self._screen.note(
                "stopped waiting; the message is kept, and answers will stand here when they come"
            )
        return settled


def _ended(done: Outcome) -> str:
    who = ", ".join(row.agent for row in done.why.agents)
    return {
        "passed": f"{who} read it and chose to say nothing",
        "failed": f"{who} could not answer: /why says what went wrong, /retry asks again",
    }[done.outcome]
