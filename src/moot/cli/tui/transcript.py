"""The transcript: entries drawn as lines, scrolled, anchored at the bottom only while the person is there.

The lines of each entry are cached per width; only an entry that changes is drawn again. Above: chat_room.py passes it
states. Below: bubbles.py. Not here: what the entries say.
"""

from functools import lru_cache

from rich.segment import Segment
from rich.style import Style
from textual import events
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from moot.cli.tui.bubbles import Line, Look, entry_lines
from moot.cli.tui.chat_state import ChatState, Entry

SELECTED = Style(reverse=True)
UNSTYLED = Style()
"""Filters of Textual (NO_COLOR) want a style on every piece."""


@lru_cache(maxsize=4_000)
def strip_of(line: tuple[Segment, ...], width: int) -> Strip:
    """A line as Textual sends it. Equal lines share one strip, which remembers what it looks like in a terminal."""
    fitted = Segment.adjust_line_length(list(line), width)
    return Strip([Segment(part.text, part.style or UNSTYLED) for part in fitted], width)


class Transcript(ScrollView, can_focus=True):
    DEFAULT_CSS = """
    Transcript { height: 1fr; scrollbar-size-vertical: 1; scrollbar-gutter: stable; background: transparent; }
    """

    class ReachedTop(Message):
        """The person scrolled to the first entry."""

    class Moved(Message):
        """The person is at the bottom now, or no longer."""

    def __init__(self, look: Look) -> None:
        super().__init__(id="transcript")
        self.look = look
        self.new = 0
        """Entries that came while the person was looking further up."""
        self._state: ChatState | None = None
        self._cache: dict[str, tuple[Entry, list[Line]]] = {}
        self._lines: list[Line] = []
        self._starts: list[tuple[int, Entry]] = []
        self._selected = ""
        self._at_bottom = True
        self._width = 0
        self._painted: list[Strip] = []
        """What the rows of the screen showed when they were last drawn."""

    @property
    def at_bottom(self) -> bool:
        return self._at_bottom

    def show(self, state: ChatState) -> None:
        """Draw what has changed."""
        before = self._state
        is_other = before is None or before.where.id != state.where.id
        if is_other or before is None or before.where is not state.where:
            self._cache.clear()
        if is_other:
            self._at_bottom, self.new, self._selected = True, 0, ""
        elif before is not None and not self._at_bottom:
            keys_before = {entry.key for entry in before.entries[-len(state.entries) :]}
            behind = [
                entry for entry in state.entries if entry.key not in keys_before and entry.seq > before.last
            ]
            self.new += len(behind)
        grown_above = self._grown_above(before, state) and not is_other
        self._state = state
        height = len(self._lines)
        self._lay_out()
        if self._at_bottom:
            self.scroll_end(animate=False, immediate=True, force=True)
        elif grown_above:
            self.scroll_to(
                y=self.scroll_y + len(self._lines) - height, animate=False, immediate=True, force=True
            )

    @staticmethod
    def _grown_above(before: ChatState | None, state: ChatState) -> bool:
        if before is None or not before.entries or not state.entries:
            return False
        return before.entries[0].key != state.entries[0].key and len(state.entries) > len(before.entries)

    def redraw(self) -> None:
        """Draw everything again, for another look or width."""
        self._cache.clear()
        self._lay_out()
        if self._at_bottom:
            self.scroll_end(animate=False, immediate=True, force=True)

    def _lay_out(self) -> None:
        state, width = self._state, self.scrollable_content_region.width
        if state is None or width <= 0:
            return
        if width != self._width:
            self._cache.clear()
            self._width = width
        lines: list[Line] = []
        cache: dict[str, tuple[Entry, list[Line]]] = {}
        self._starts = []
        for entry in state.entries:
            cached = self._cache.get(entry.key)
            if cached is None or cached[0] is not entry:
                cached = (entry, entry_lines(entry, state, self.look, width))
            cache[entry.key] = cached
            self._starts.append((len(lines), entry))
            lines += cached[1]
        self._cache, self._lines = cache, lines
        self._grow(Size(width, len(lines)))
        self._paint()

    def _grow(self, size: Size) -> None:
        """Set the scrollable size. The usual setter would lay out the whole screen again and delay a key by some 20 ms
        for every line that an agent writes; only the scrollbar has to know."""
        if size != self.virtual_size:
            self.set_reactive(Transcript.virtual_size, size)
            self._scroll_update(size)

    def _paint(self) -> None:
        """Redraw the rows whose content has changed."""
        rows = [self._row(y) for y in range(self.size.height)]
        before = self._painted
        self._painted = rows
        width = self.size.width
        changed = [
            Region(0, y, width, 1) for y, row in enumerate(rows) if y >= len(before) or before[y] is not row
        ]
        if changed:
            self.refresh(*changed)

    def _row(self, y: int) -> Strip:
        at = y + round(self.scroll_y)
        line = tuple(self._lines[at]) if 0 <= at < len(self._lines) else ()
        strip = strip_of(line, self.size.width)
        is_selected = self._selected and at == self._line_of(self._selected)
        return strip.apply_style(SELECTED) if is_selected else strip

    def render_lines(self, crop: Region) -> list[Strip]:
        """The cached rows where nothing changed: every line that an agent writes moves the others, and drawing
        these again would delay keys."""
        strips = [self._row(y) for y in crop.line_range]
        background = self.background_colors[1]
        for line_filter in self.get_line_filters():
            strips = [strip.apply_filter(line_filter, background) for strip in strips]
        left, right = crop.column_span
        return (
            strips if (left, right) == (0, self.size.width) else [strip.crop(left, right) for strip in strips]
        )

    def _line_of(self, key: str) -> int:
        return next((start for start, entry in self._starts if entry.key == key), -1)

    # --- where the person is ---------------------------------------------------------------------------------

    def on_resize(self, event: events.Resize) -> None:
        self._lay_out()
        if self._at_bottom:
            self.scroll_end(animate=False, immediate=True, force=True)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        if self.show_vertical_scrollbar:
            self.vertical_scrollbar.position = new_value
        self._paint()
        is_end = round(new_value) >= self.max_scroll_y
        if is_end != self._at_bottom and old_value != new_value:
            self._at_bottom = is_end
            self.new = 0 if is_end else self.new
            self.post_message(self.Moved())
        if new_value < 1 and old_value > new_value:
            self.post_message(self.ReachedTop())

    def to_bottom(self) -> None:
        self._at_bottom, self.new = True, 0
        self.scroll_end(animate=False, immediate=True, force=True)
        self.post_message(self.Moved())

    # --- one message, picked with the keys -------------------------------------------------------------------

    @property
    def selected(self) -> Entry | None:
        return next((entry for _, entry in self._starts if entry.key == self._selected), None)

    def select(self, step: int) -> None:
        """Select the message before or after; at first, the newest."""
        rows = [entry.key for _, entry in self._starts if entry.seq]
        if not rows:
            return
        at = rows.index(self._selected) + step if self._selected in rows else len(rows) - 1
        self._selected = rows[max(0, min(at, len(rows) - 1))]
        line = self._line_of(self._selected)
        self.scroll_to_region(Region(0, line, 1, 3), animate=False, force=True, immediate=True)
        self._paint()

    def select_seq(self, seq: int) -> bool:
        """Select one message by its number, if it is on the screen."""
        key = next((entry.key for _, entry in self._starts if entry.seq == seq), "")
        if key:
            self._selected = key
            self.select(0)
        return bool(key)

    def unselect(self) -> None:
        self._selected = ""
        self._paint()
