"""Overlays on the conversation: a text, a list to pick from, a question.

Above: chat_room.py opens them and takes the answer. Below: Textual. Not here: what they say (overlay_texts.py).
"""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from functools import partial
from typing import ClassVar, Final

from msgspec import Struct
from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option
from textual.worker import Worker

from moot.cli.tui.suggestions import fuzzy

CSS: Final = """
TextOverlay, ListOverlay, QuestionOverlay { align: center middle; background: transparent; }
.box { width: 90%; max-width: 100; height: auto; max-height: 85%; border: round $primary;
    background: $surface; padding: 0 1; }
.box:ansi { background: ansi_default; border: round ansi_blue; }
.box VerticalScroll { height: auto; max-height: 100%; }
.box OptionList { height: auto; max-height: 20; border: none; background: transparent; padding: 0; }
.box Input { border: none; height: 1; padding: 0; background: transparent; }
.foot { color: $text-muted; height: 1; }
"""


class Choice(Struct, frozen=True):
    id: str
    label: str
    about: str = ""


class TextOverlay(ModalScreen[None]):
    """Something to read; Esc goes back."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,f1,f2,enter", "dismiss", "back"),
        Binding("ctrl+c,ctrl+d", "dismiss", show=False, priority=True),
    ]

    def __init__(self, title: str, text: Text | Table) -> None:
        super().__init__()
        self._title = title
        self.text = text

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = self._title
            with VerticalScroll():
                yield Static(self.text)
            yield Static("↑↓ scroll   Esc back", classes="foot")

    def on_mount(self) -> None:
        self.query_one(VerticalScroll).focus()

    async def action_dismiss(self, result: None = None) -> None:
        self.dismiss(None)


class ListOverlay(ModalScreen[str | None]):
    """Pick one row: letters narrow the list, Enter takes it, Esc goes back. With `search`, letters are a query."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", "back"),
        Binding("ctrl+c,ctrl+d", "leave", show=False, priority=True),
        Binding("down", "step(1)", show=False, priority=True),
        Binding("up", "step(-1)", show=False, priority=True),
    ]
    WAIT: ClassVar[float] = 0.15

    def __init__(
        self,
        title: str,
        rows: Sequence[Choice],
        *,
        empty: str = "nothing here",
        search: Callable[[str], Awaitable[Sequence[Choice]]] | None = None,
    ) -> None:
        super().__init__()
        self._title = title
        self._all = list(rows)
        self._empty = empty
        self._search = search
        self.rows: list[Choice] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = self._title
            yield Input(placeholder="type to search" if self._search else "type to narrow the list")
            yield OptionList()
            yield Static("↑↓ choose   Enter take   Esc back", classes="foot")

    def on_mount(self) -> None:
        self.query_one(OptionList).can_focus = False
        self.query_one(Input).focus()
        self._show(self._all)

    def _show(self, rows: Sequence[Choice]) -> None:
        self.rows = list(rows)
        options = self.query_one(OptionList)
        options.clear_options()
        width = max((len(row.label) for row in rows), default=0) + 2
        for row in rows:
            text = Text(f"{row.label:<{min(width, 40)}}")
            text.append(row.about, style="dim")
            options.add_option(Option(text))
        if rows:
            options.highlighted = 0
        else:
            options.add_option(Option(Text(self._empty, style="dim"), disabled=True))

    def on_input_changed(self, event: Input.Changed) -> None:
        if self._search is None:
            self._show([row for row in self._all if fuzzy(event.value, row.label)])
        else:
            search: Callable[[], Coroutine[None, None, None]] = partial(self._search_soon, event.value)
            _: Worker[None] = self.run_worker(search, exclusive=True)

    async def _search_soon(self, typed: str) -> None:
        await asyncio.sleep(self.WAIT)
        if self._search is not None:
            self._show(await self._search(typed) if typed.strip() else ())

    def on_input_submitted(self) -> None:
        at = self.query_one(OptionList).highlighted
        if at is not None and at < len(self.rows):
            self.dismiss(self.rows[at].id)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        if event.option_index < len(self.rows):
            self.dismiss(self.rows[event.option_index].id)

    def action_step(self, by: int) -> None:
        options = self.query_one(OptionList)
        if self.rows:
            options.highlighted = ((options.highlighted or 0) + by) % len(self.rows)

    def action_leave(self) -> None:
        self.dismiss(None)


class QuestionOverlay(ModalScreen[bool]):
    """A question before something is removed: y does it, every other key does not."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("y", "answer(True)", "yes"),
        Binding("n,escape,enter", "answer(False)", "no"),
        Binding("ctrl+c,ctrl+d", "answer(False)", show=False, priority=True),
    ]

    def __init__(self, question: str) -> None:
        super().__init__()
        self.question = question

    def compose(self) -> ComposeResult:
        with Vertical(classes="box"):
            yield Static(self.question)
            yield Static("y yes   n no", classes="foot")

    def action_answer(self, answer: bool) -> None:
        self.dismiss(answer)
