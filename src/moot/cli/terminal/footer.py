"""The foot of the screen while a person may type: an unfinished line, who is waited for, the prompt.

Other output is written above it, so neither breaks up the other. If the cursor may not be moved (a dumb terminal, a
screen reader), only the prompt is drawn again, after a moment of silence.
"""

import asyncio
import shutil
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

import click

from moot.cli.terminal.line_editor import LineEditor

QUIET_SECONDS: Final = 0.3
NEWLINE: Final = "↵"
CUT: Final = "…"


class Foot:
    def __init__(self, editor: LineEditor, *, moves: bool, fit: Callable[[str], str], colour: bool) -> None:
        self.prompt = ""
        """What the draft stands behind; empty: nobody is asked, and what is typed is not shown yet."""
        self._editor = editor
        self._moves = moves
        self._fit = fit
        self._colour = colour
        self._growing = ""
        self._waiting: list[str] = []
        self._rows = 0
        """How many are drawn; the cursor is in the last one."""
        self._drawn_widths: list[int] = []
        """How many columns each of them takes, the last one up to the cursor."""
        self._echoed = ""
        """Where nothing can be moved: what of the draft stands on the screen."""
        self._later: asyncio.TimerHandle | None = None

    # --- what others say -----------------------------------------------------------------------------------

    def grow(self, text: str) -> None:
        """Add to a line that is being written; it moves above once it is complete."""
        whole, newline, self._growing = (self._growing + text).rpartition("\n")
        with self.lift():
            self._put(whole + newline)

    def wait_for(self, lines: list[str]) -> None:
        if lines != self._waiting:
            self.erase()
            self._waiting = lines
            self.draw()

    @contextmanager
    def lift(self) -> Iterator[None]:
        """Remove the foot while the block writes."""
        self.erase()
        try:
            yield
        finally:
            self.draw()

    # --- what the person types -----------------------------------------------------------------------------

    def on_draft_changed(self) -> None:
        """Draw the changed draft."""
        if self._moves:
            self.erase()
        elif not self._echo():
            self._put("\n" if self._rows else "")
            self._rows = 0
        else:
            return
        self.draw(at_once=True)

    def _echo(self) -> bool:
        """Write or remove the last character directly, if that is enough."""
        text, before = self._fit_text(self._editor.text), self._echoed
        if not self._rows or self._editor.cursor != len(self._editor.text):
            return False
        if text.startswith(before):
            self._put(text[len(before) :])
        elif before.startswith(text):
            self._put("\b \b" * width(before[len(text) :]))
        else:
            return False
        self._echoed = text
        return True

    def on_entered(self, text: str) -> None:
        """Move the typed line up, above the foot."""
        if self._moves:
            with self.lift():
                self._put(self._fit(f"{self.prompt}{text}\n"))
        else:
            self._put("\n")
            self._rows = 0

    # --- drawing -------------------------------------------------------------------------------------------

    def draw(self, *, at_once: bool = False) -> None:
        if self._moves:
            self._draw_rows()
        elif self.prompt and not self._rows:
            self._stop_waiting()
            if at_once:
                self._draw_line()
            else:  # more may follow
                self._later = asyncio.get_running_loop().call_later(QUIET_SECONDS, self._draw_line)

    def _draw_line(self) -> None:
        self._echoed = self._fit_text(self._editor.text)
        self._put(self._fit(self.prompt) + self._echoed)
        self._rows = 1

    def _draw_rows(self) -> None:
        columns = shutil.get_terminal_size().columns
        above = [*([self._growing] if self._growing else []), *self._waiting]
        rows = [clip(self._fit(row), columns - 1) for row in above]
        back = 0
        if self.prompt:
            row, back = self._prompt_row(columns - 1)
            rows.append(row)
        if rows:
            self._put("\n".join(rows) + (f"\x1b[{back}D" if back else ""))
            self._rows = len(rows)
            self._drawn_widths = [width(click.unstyle(row)) for row in rows]
            self._drawn_widths[-1] -= back

    def on_resized(self) -> None:
        """Draw the foot again for the new width of the terminal."""
        if self._rows and self._moves:
            self.erase()
            self.draw()

    def _height(self) -> int:
        """Rows between the first and the cursor: a terminal that became narrower has wrapped what was drawn."""
        columns = shutil.get_terminal_size().columns
        above, last = self._drawn_widths[:-1], self._drawn_widths[-1]
        return sum(max(1, -(-cells // columns)) for cells in above) + last // columns

    def _prompt_row(self, columns: int) -> tuple[str, int]:
        """The prompt with as much of the draft around the cursor as fits, and the cursor's distance from its end."""
        prompt, cut, editor = self._fit(self.prompt), self._fit(CUT), self._editor
        before, behind = (
            self._fit_text(editor.text[: editor.cursor]),
            self._fit_text(editor.text[editor.cursor :]),
        )
        room = max(8, columns - width(prompt) - 2 * width(cut))
        head = leading(before[::-1], room - width(leading(behind, room // 2)))[::-1]
        tail = leading(behind, room - width(head))
        begin, end = cut if head != before else "", cut if tail != behind else ""
        return f"{prompt}{begin}{head}{tail}{end}", width(tail + end)

    def _fit_text(self, text: str) -> str:
        return self._fit(text.replace("\n", NEWLINE).replace("\t", " "))

    def erase(self) -> None:
        self._stop_waiting()
        if self._rows and self._moves:
            up = f"\x1b[{height}A" if (height := self._height()) else ""
            self._put(f"\r{up}\x1b[J")
        elif self._rows:
            self._put("\n")
        self._rows = 0

    def finish(self) -> None:
        """Remove the foot at the end; a growing line stays."""
        self.erase()
        if self._growing:
            self._put(f"{self._growing}\n")
        self._growing, self._waiting, self.prompt = "", [], ""

    def _stop_waiting(self) -> None:
        if self._later is not None:
            self._later.cancel()
            self._later = None

    def _put(self, text: str) -> None:
        if text:
            click.echo(text, nl=False, color=self._colour or self._moves)
            sys.stdout.flush()


def width(text: str) -> int:
    """Columns that a text takes."""
    return sum(_columns(letter) for letter in text)


def _columns(letter: str) -> int:
    if unicodedata.combining(letter) or unicodedata.category(letter) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(letter) in ("W", "F") else 1


def leading(text: str, columns: int) -> str:
    """As much of its beginning as fits."""
    used = 0
    for at, letter in enumerate(text):
        used += _columns(letter)
        if used > columns:
            return text[:at]
    return text


def clip(row: str, columns: int) -> str:
    """Cut a row to the width: a wrapped row could not be removed."""
    bare = click.unstyle(row)
    fits = leading(bare, columns)
    return row if fits == bare else fits
