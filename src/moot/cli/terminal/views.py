"""Two ways of drawing a talk: plain lines for pipes, screen readers and CI; a growing text for terminals."""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING

from moot import shapes
from moot.cli.terminal.phrases import chip, cut, is_agent, line, marks_of, reason_for
from moot.cli.terminal.progress import AFTER_SECONDS, InPlace, WaitingAgents
from moot.cli.terminal.screen import Screen, clock_time, safe

if TYPE_CHECKING:
    from moot.hub import Hub

MAX_COLUMNS = 88
ENDING_WORDS = {
    "passed": "passed",
    "owed": "is away; it will answer when it is back",
    "held": "is held for a moment",
}


class Silent:
    """Draws nothing: for --json."""

    def started(self, agent: str, reason: str) -> None: ...
    def delta(self, agent: str, text: str) -> None: ...
    async def show_message(self, message: shapes.Message) -> None: ...
    def ended(self, agent: str, state: str) -> None: ...
    def over(self) -> None: ...
    def hush(self) -> None: ...
    def tick(self) -> None: ...
    def moved(self, conversation: shapes.Conversation) -> None: ...


class Plain:
    """Append-only lines; a reply is printed once, complete. States are left out when the answer is only piped."""

    def __init__(self, screen: Screen, hub: Hub, marks: dict[str, str], *, tells: bool = True) -> None:
        self._screen = screen
        self._hub = hub
        self._marks = marks
        self._tells = tells
        self._waiting = WaitingAgents()

    def started(self, agent: str, reason: str) -> None:
        self._waiting.begins(agent, "thinking")

    def delta(self, agent: str, text: str) -> None: ...

    def tick(self) -> None:
        if self._tells:
            for change in self._waiting.changes():
                self._screen.note(f"status: {change}")

    def moved(self, conversation: shapes.Conversation) -> None:
        self._marks = marks_of(conversation)

    async def show_message(self, message: shapes.Message) -> None:
        self._waiting.ends(message.sender)
        reason = await reason_for(self._hub, message) if is_agent(message) else ""
        self._screen.say(line(self._screen, self._hub, message, self._marks, reason))

    def ended(self, agent: str, state: str) -> None:
        self._waiting.ends(agent)
        if self._tells and state in ENDING_WORDS:
            self._screen.note(f"status: {agent} {ENDING_WORDS[state]}")

    def over(self) -> None:
        self._waiting.clear()

    def hush(self) -> None: ...


class Streaming:
    """For terminals: a reply grows as it comes, one at a time; a reply that streams beside it is shown when complete.
    Between replies temporary lines say who is still thinking."""

    def __init__(
        self,
        screen: Screen,
        hub: Hub,
        marks: dict[str, str],
        chips: dict[str, str],
        *,
        after: float = AFTER_SECONDS,
    ) -> None:
        self._screen = screen
        self._hub = hub
        self._marks = marks
        self._chips = chips
        self._reasons: dict[str, str] = {}
        self._waiting = WaitingAgents(after)
        self._foot = InPlace(screen)
        self._speaker = ""
        self._hushed: set[str] = set()
        """Who was cut off on the screen; they are shown once, complete."""
        self._shown = ""
        self._column = 0

    def started(self, agent: str, reason: str) -> None:
        self._reasons[agent] = reason
        self._waiting.begins(agent, "thinking")
        self.tick()

    def tick(self) -> None:
        """Draw who is waited for, unless a text is still growing."""
        if not self._speaker:
            self._foot.draw([] if self._screen.quiet else self._waiting.lines(self._waiting_line))

    def _waiting_line(self, agent: str, what: str) -> str:
        return f"{self._screen.name(agent, self._marks.get(agent, '●'))}  {self._screen.dim(what)}"

    def moved(self, conversation: shapes.Conversation) -> None:
        self._marks = marks_of(conversation)

    def delta(self, agent: str, text: str) -> None:
        if agent in self._hushed or not (self._speaker or text):
            return
        self._waiting.begins(agent, "writing")
        if not self._speaker:
            self._speaker, self._shown, self._column = agent, "", 0
            self._foot.draw([])
            now = clock_time(shapes.when(time.time()))
            self._screen.say(
                self._header(agent, self._chips.get(agent, ""), now, self._reasons.get(agent, ""))
            )
            self._screen.grow(f"{self._screen.bar(agent)} ")
        if agent == self._speaker:
            self._shown += text
            self._screen.grow(self._with_bar(agent, text))

    async def show_message(self, message: shapes.Message) -> None:
        self._waiting.ends(message.sender)
        self._hushed.discard(message.sender)
        if not is_agent(message):
            self._cut()
            self._screen.say(f"  {line(self._screen, self._hub, message, self._marks)}")
            return
        reason = await reason_for(self._hub, message)
        if message.sender == self._speaker and message.text == self._shown:
            self._screen.grow(cut(message))
            self._screen.grown()
        else:
            self._cut()
            self._column = 0
            self._screen.say(self._header(message.sender, chip(message), clock_time(message.at), reason))
            self._screen.say(
                f"{self._screen.bar(message.sender)} {self._with_bar(message.sender, message.text)}{cut(message)}"
            )
        self._speaker = ""
        self.tick()

    def ended(self, agent: str, state: str) -> None:
        self._waiting.ends(agent)
        self._hushed.discard(agent)
        if agent == self._speaker:
            self._cut()
        if state == "held":
            self._waiting.begins(agent, "held for a moment")
        elif state in ENDING_WORDS and state != "passed":
            self._screen.say(self._screen.dim(f"  {agent} {ENDING_WORDS[state]}"))
        self.tick()

    def over(self) -> None:
        self._cut()
        self._waiting.clear()
        self._foot.draw([])

    def hush(self) -> None:
        if self._speaker:
            self._hushed.add(self._speaker)
        self._cut()

    def _cut(self) -> None:
        """A stream that did not become a message."""
        if self._speaker:
            self._screen.grow(" …")
            self._screen.grown()
        self._speaker = ""

    def _header(self, agent: str, chip: str, at: str | None, reason: str = "") -> str:
        speaker = self._screen.name(agent, self._marks.get(agent, "●"))
        return "  ".join(part for part in (speaker, chip, at, reason) if part)

    def _with_bar(self, agent: str, text: str) -> str:
        """The text wrapped to the terminal, each line after the speaker's bar."""
        parts: list[str] = []
        room = min(shutil.get_terminal_size().columns, MAX_COLUMNS) - len("| ")
        for word in re.findall(r"\n|[^\S\n]+|\S+", safe(text)):
            if word == "\n" or (self._column + len(word) > room and self._column):
                parts.append(f"\n{self._screen.bar(agent)} ")
                self._column = 0
                if word.isspace():
                    continue
            parts.append(word)
            self._column += len(word)
        return "".join(parts)
