"""The agents still at work, on stderr: after a moment, and rewritten in place. No bars, nothing in pipes."""

import shutil
import sys
import time
from collections.abc import Callable

import click

from moot.cli.terminal.screen import Screen

AFTER_SECONDS = 0.4
"""An agent that answers sooner needs no line."""
NO_SIGN_SECONDS = 120


class WaitingAgents:
    """The agents that work on an answer, each with what it does and since when."""

    def __init__(self, after: float = AFTER_SECONDS, now: Callable[[], float] = time.monotonic) -> None:
        self._after = after
        self._now = now
        self._since: dict[str, tuple[str, float]] = {}
        self._announced: dict[str, str] = {}

    def begins(self, agent: str, what: str) -> None:
        if self._since.get(agent, ("", 0.0))[0] != what:
            self._since[agent] = (what, self._now())

    def ends(self, agent: str) -> None:
        self._since.pop(agent, None)
        self._announced.pop(agent, None)

    def clear(self) -> None:
        """Forget all agents."""
        self._since.clear()
        self._announced.clear()

    def lines(self, render: Callable[[str, str], str] = "{} {}".format) -> list[str]:
        """One per agent that has been at it for a while, with its seconds."""
        now = self._now()
        return [
            render(agent, f"{what}{_for(now - since)}")
            for agent, (what, since) in self._since.items()
            if now - since >= self._after
        ]

    def changes(self) -> list[str]:
        """What was not reported yet, without seconds, for output line by line."""
        now = self._now()
        late = {agent: what for agent, (what, since) in self._since.items() if now - since >= self._after}
        new = [f"{agent} {what}" for agent, what in late.items() if self._announced.get(agent) != what]
        self._announced |= late
        return new


def _for(seconds: float) -> str:
    if seconds < 1:
        return "…"
    stalled = f", no progress for {seconds // 60:.0f} min" if seconds >= NO_SIGN_SECONDS else ""
    return f" {seconds:.0f}s{stalled}"


class InPlace:
    """Lines at the foot of a terminal that are overwritten. The cursor stays at their beginning."""

    def __init__(self, screen: Screen) -> None:
        self._screen = screen
        self._drawn_width = 0
        """How many columns the longest line takes; 0: nothing is drawn."""
        screen.before_writing = self.clear

    def draw(self, lines: list[str]) -> None:
        if self._screen.foot is not None:
            self._screen.foot.wait_for([self._screen.fit(line) for line in lines])
            return
        self.clear()
        columns = shutil.get_terminal_size().columns
        cut_lines = [self._cut(line, columns) for line in lines]
        if not cut_lines:
            return
        if self._screen.moves and len(cut_lines) > 1:
            self._put("\n".join(cut_lines) + f"\r\x1b[{len(cut_lines) - 1}A")
        else:
            cut_lines = [self._cut(" · ".join(cut_lines), columns)]
            self._put(cut_lines[0] + "\r")
        self._drawn_width = max(len(click.unstyle(line)) for line in cut_lines)

    def _cut(self, line: str, columns: int) -> str:
        """Cut a line to the width: a wrapped line could not be overwritten."""
        line = self._screen.fit(line)
        return line if len(click.unstyle(line)) < columns else click.unstyle(line)[: columns - 1]

    def clear(self) -> None:
        if self._screen.foot is not None:
            return  # the foot makes room by itself
        if self._drawn_width:
            # The terminal may have become narrower since: more blanks than it has columns would wrap.
            blanks = min(self._drawn_width, shutil.get_terminal_size().columns - 1)
            self._put("\x1b[J" if self._screen.moves else " " * blanks + "\r")
            self._drawn_width = 0

    def _put(self, text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()
