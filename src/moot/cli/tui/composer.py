"""Where the person writes: several lines, a paste in one piece, what was sent before, and a menu for `@` and `/`.

Enter sends, unless another key follows at once: nobody types that fast, so it is a paste from a terminal that does not
mark pastes, and its lines belong together.

Above: chat_room.py sends what is submitted. Below: suggestions.py. Not here: what a line means.
"""

from collections.abc import Callable
from typing import Final

from rich.text import Text
from textual import events
from textual.message import Message
from textual.widgets import OptionList, TextArea
from textual.widgets.option_list import Option

from moot.cli.terminal.keystrokes import clean_paste
from moot.cli.tui.suggestions import Suggestion, Suggestions

BURST_SECONDS: Final = 0.02
"""If no key follows Enter for this long, the text ends there."""
MAX_REMEMBERED: Final = 500
FRAME: Final = 14
"""Columns that the menu needs for its place, its border and its scrollbar."""


class SentTexts:
    """What was sent before, and the draft that is set aside while the person looks through it."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._place = 0
        self._aside = ""

    def add(self, text: str) -> None:
        if text.strip() and text not in self._texts[-1:]:
            self._texts = [*self._texts, text][-MAX_REMEMBERED:]
        self._place = len(self._texts)

    def earlier(self, draft: str) -> str | None:
        if not self._place:
            return None
        if self._place == len(self._texts):
            self._aside = draft
        self._place -= 1
        return self._texts[self._place]

    def later(self) -> str | None:
        if self._place >= len(self._texts):
            return None
        self._place += 1
        return self._aside if self._place == len(self._texts) else self._texts[self._place]


class SuggestionMenu(OptionList, can_focus=False):
    """A menu drawn over the conversation, which does not move."""

    DEFAULT_CSS = """
    SuggestionMenu { layer: menu; dock: bottom; display: none; height: auto; max-height: 10; width: auto;
        max-width: 100%; min-width: 30; border: round $primary; background: $surface; padding: 0 1; }
    SuggestionMenu:ansi { background: ansi_default; }
    """

    def __init__(self) -> None:
        super().__init__(id="menu")
        self.suggestions: Suggestions | None = None
        self.made_for = ""
        """The text before the cursor that its rows complete."""

    @property
    def is_open(self) -> bool:
        return self.suggestions is not None

    def show(self, suggestions: Suggestions | None) -> None:
        if suggestions == self.suggestions:
            return
        self.suggestions = suggestions
        self.display = suggestions is not None
        self.clear_options()
        if suggestions is None:
            return
        width = max(len(row.label) for row in suggestions.rows) + 2
        room = max(20, self.app.size.width - FRAME)
        for row in suggestions.rows:
            text = Text(f"{row.label:<{width}}", no_wrap=True)
            text.append(row.about, style="dim")
            text.truncate(room, overflow="ellipsis")
            self.add_option(Option(text))
        self.highlighted = 0

    def choice(self) -> Suggestion | None:
        if self.suggestions is None or self.highlighted is None:
            return None
        return self.suggestions.rows[self.highlighted]

    def step(self, by: int) -> None:
        if self.suggestions is not None:
            self.highlighted = ((self.highlighted or 0) + by) % len(self.suggestions.rows)


class Composer(TextArea):
    DEFAULT_CSS = """
    Composer { height: auto; max-height: 7; border: none; padding: 0; background: transparent; }
    Composer:focus { border: none; }
    """

    class Submitted(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Edited(Message):
        """The draft or the cursor has changed."""

    def __init__(self, menu: SuggestionMenu, suggest: Callable[[str], Suggestions | None]) -> None:
        super().__init__(
            "", id="composer", soft_wrap=True, show_line_numbers=False, compact=True, tab_behavior="focus",
            highlight_cursor_line=False,
        )  # fmt: skip
        self.sent = SentTexts()
        self._menu = menu
        self._suggest = suggest
        self._closed_for = ""
        """The text for which the person closed the menu."""
        self._entered = 0
        """Counts Enter keys; an Enter that is followed by another key at once is a line end."""
        self._is_entering = False
        self._is_edit_announced = False

    @property
    def before_cursor(self) -> str:
        row, column = self.cursor_location
        lines = self.text.split("\n")
        return "\n".join([*lines[:row], lines[row][:column]])

    def set_draft(self, text: str) -> None:
        self.text = text
        self.move_cursor(self.document.end)

    def offer(self) -> None:
        """Open, change or close the menu according to the text before the cursor."""
        before = self.before_cursor
        self._menu.made_for = before
        self._menu.show(None if self.text == self._closed_for else self._suggest(before))

    # --- keys ------------------------------------------------------------------------------------------------

    async def _on_key(self, event: events.Key) -> None:
        if self._is_entering:
            self._is_entering = False
            self._entered += 1
            self.insert("\n")
        if event.key == "tab":
            self.offer()
        if self._is_menu_current and self._in_menu(event.key):
            self._swallow(event)
            return
        if event.key == "enter":
            self._swallow(event)
            self._enter()
            return
        if event.key in ("alt+enter", "ctrl+j", "shift+enter"):
            self._swallow(event)
            self.insert("\n")
            return
        if event.key in ("up", "down") and self._recall(event.key):
            self._swallow(event)
            return
        await super()._on_key(event)

    @staticmethod
    def _swallow(event: events.Key) -> None:
        event.stop()
        event.prevent_default()

    @property
    def _is_menu_current(self) -> bool:
        """Whether the menu belongs to the text as it is now. Fast keys can be ahead of it: completing an earlier text
        would throw away what was typed since."""
        return self._menu.is_open and self._menu.made_for == self.before_cursor

    def _in_menu(self, key: str) -> bool:
        match key:
            case "up" | "down":
                self._menu.step(1 if key == "down" else -1)
            case "tab" | "enter":
                return self._complete()
            case "escape":
                self._closed_for = self.text
                self._menu.show(None)
            case _:
                return False
        return True

    def _complete(self) -> bool:
        choice, suggestions = self._menu.choice(), self._menu.suggestions
        if choice is None or suggestions is None:
            return False
        before = self.before_cursor
        if before[suggestions.start :] == choice.insert.rstrip():
            self._menu.show(None)
            return False  # the word is complete already: the key does what it does without a menu
        behind = self.text[len(before) :]
        self._menu.show(None)
        self.text = before[: suggestions.start] + choice.insert + behind.removeprefix(" ")
        place = before[: suggestions.start] + choice.insert
        self.move_cursor((place.count("\n"), len(place.rpartition("\n")[2])))
        return True

    def _enter(self) -> None:
        self._is_entering = True
        self._entered += 1
        number = self._entered
        self.set_timer(BURST_SECONDS, lambda: self._when_quiet(number))

    def _when_quiet(self, number: int) -> None:
        """Submit after all keys that are queued already, for the app and for this widget."""
        self.app.call_later(lambda: self.call_later(self._submit, number))

    def _submit(self, number: int) -> None:
        if not self._is_entering or number != self._entered:
            return
        self._is_entering = False
        text = self.text
        self.sent.add(text)
        self.clear()
        self.post_message(self.Submitted(text))

    def _recall(self, key: str) -> bool:
        """Up in the first line and down in the last go through what was sent before."""
        row, _ = self.cursor_location
        if key == "up" and row == 0:
            text = self.sent.earlier(self.text)
        elif key == "down" and row == self.document.line_count - 1:
            text = self.sent.later()
        else:
            return False
        if text is not None:
            self.set_draft(text)
        return text is not None

    def on_resize(self, event: events.Resize) -> None:
        """Keep the cursor's line visible."""
        self.call_after_refresh(self.scroll_cursor_visible, animate=False)

    async def _on_paste(self, event: events.Paste) -> None:
        """Insert a paste as one piece, without control characters."""
        event.stop()
        event.prevent_default()
        self.insert(clean_paste(event.text))

    def _announce_edit(self) -> None:
        """Announce an edit once for all keys that came together: an unmarked paste has thousands."""
        if not self._is_edit_announced:
            self._is_edit_announced = True
            self.post_message(self.Edited())

    def allow_announcement(self) -> None:
        self._is_edit_announced = False

    def on_text_area_changed(self, event: TextArea.Changed) -> None:
        event.stop()
        self._announce_edit()

    def on_text_area_selection_changed(self, event: TextArea.SelectionChanged) -> None:
        event.stop()
        self._announce_edit()
