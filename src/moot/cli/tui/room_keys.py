"""Which key does what in the full-screen chat, apart from the keys of the draft.

Above: chat_app.py shows this room. Below: chat_room.py, which has no keys of its own. The composer
handles the keys of the draft; overlay_texts.py lists all keys for people.
"""

from __future__ import annotations

import time
from functools import partial
from typing import ClassVar, Final

from textual import events, on
from textual.binding import Binding, BindingType

from moot.cli.tui import overlay_texts
from moot.cli.tui.chat_room import ChatRoom
from moot.cli.tui.overlays import Choice, ListOverlay
from moot.cli.tui.transcript import Transcript
from moot.hub.commands.slash import newest_question

TWICE_SECONDS: Final = 1.5
AT_ONCE: Final = 0.01
MAX_PAGES: Final = 20
"""Pages of earlier messages that are read to reach a search result."""
DRAFT_KEPT: Final = "your draft is kept: Enter sends it, Ctrl+C again leaves and prints it"
GOING_ON: Final = "the agents continue: Esc stops them, Ctrl+C again leaves"


class KeyedRoom(ChatRoom):
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "escape", priority=False),
        Binding("ctrl+c", "interrupt", priority=True),
        Binding("ctrl+d", "end_of_input", priority=True),
        Binding("ctrl+g", "places", priority=True),
        Binding("ctrl+r", "search", priority=True),
        Binding("alt+n,alt+shift+down", "unread(1)", priority=True),
        Binding("alt+p,alt+shift+up", "unread(-1)", priority=True),
        Binding("pageup", "page(-1)", priority=True),
        Binding("pagedown", "page(1)", priority=True),
        Binding("ctrl+end", "bottom", priority=True),
        Binding("f1", "keys", priority=True),
        Binding("f2", "why", priority=True),
        Binding("f3", "turns", priority=True),
        Binding("f4", "settings", priority=True),
        Binding("f6,shift+tab", "messages", priority=True),
    ]

    _pressed = ("", 0.0)
    _has_stopped = False
    """By the Esc before this one."""

    def _is_second_press(self, key: str) -> bool:
        """Whether a key is pressed twice in a row, within a moment."""
        before, at = self._pressed
        now = time.monotonic()
        is_again = before == key and now - at < TWICE_SECONDS
        self._pressed = ("", 0.0) if is_again else (key, now)
        return is_again

    # --- stopping and leaving ------------------------------------------------------------------------------------

    def action_escape(self) -> None:
        if self.focused is self.transcript:
            self.transcript.unselect()
            self.composer.focus()
            self._draw_words()
            return
        speakers = self.state.speakers
        is_again = self._is_second_press("escape")
        has_stopped, self._has_stopped = self._has_stopped, bool(speakers)
        if is_again and (speakers or has_stopped):  # the next speaker may not have begun yet
            self.guard(self.talk.stop_any)
        elif speakers:
            self.guard(partial(self.talk.stop, speakers[-1]))
        elif self.reply is not None:
            self.reply = None
            self._preview_soon()
        else:
            self.flash("Esc: nobody is writing")

    def action_interrupt(self) -> None:
        """Never discard a draft: the first press says that it is kept, the second leaves and prints it."""
        has_draft = bool(self.composer.text.strip())
        if self._is_second_press("interrupt") or not (has_draft or self.state.speakers):
            self.leave(interrupted=True)
        else:
            self.flash(DRAFT_KEPT if has_draft else GOING_ON)

    def action_end_of_input(self) -> None:
        if self.composer.text:
            self.composer.action_delete_right()
        else:
            self.leave()

    # --- the transcript ------------------------------------------------------------------------------------------

    def action_page(self, way: int) -> None:
        (self.transcript.scroll_page_down if way > 0 else self.transcript.scroll_page_up)(
            animate=False, force=True
        )

    def action_bottom(self) -> None:
        self.transcript.to_bottom()

    @on(Transcript.Moved)
    def _on_scrolled(self) -> None:
        self._draw_words()
        self._soon("read", AT_ONCE, self._mark_read)

    @on(Transcript.ReachedTop)
    def _on_top_reached(self) -> None:
        if self.state.has_more:
            self._soon("older", AT_ONCE, self._read_older)

    async def _read_older(self) -> None:
        first = next((entry.seq for entry in self.state.entries if entry.seq), 0)
        if first > 1:
            self.apply(await self.link.older(self.state.where.id, first))

    def action_messages(self) -> None:
        """Move the focus to the messages, and back."""
        if self.focused is self.transcript:
            self.action_escape()
            return
        self.menu.show(None)
        self.transcript.focus()
        self.transcript.select(0)
        self._draw_words()

    def on_key(self, event: events.Key) -> None:
        """Letters are commands only while the focus is on the messages."""
        if self.focused is not self.transcript:
            return
        acts = {
            "up": lambda: self.transcript.select(-1),
            "down": lambda: self.transcript.select(1),
            "r": self._reply,
            "w": self._why_selected,
            "t": self._turn_selected,
            "y": self._copy,
        }
        if (act := acts.get(event.key)) is not None:
            event.stop()
            event.prevent_default()
            act()

    def _reply(self) -> None:
        self.reply = self.transcript.selected
        self.transcript.unselect()
        self.composer.focus()
        self._preview_soon()

    def _why_selected(self) -> None:
        if (entry := self.transcript.selected) is not None:
            self.guard(partial(self.explain, entry.seq))

    def _turn_selected(self) -> None:
        entry = self.transcript.selected
        if entry is not None and entry.turn:
            self.guard(partial(self.show_turn, entry.turn))
        else:
            self.flash("t: no turn made this message")

    def _copy(self) -> None:
        if (entry := self.transcript.selected) is not None:
            self.app.copy_to_clipboard(entry.text)
            self.flash(f"copied #{entry.seq} as Markdown")

    # --- overlays ------------------------------------------------------------------------------------------------

    def action_keys(self) -> None:
        self.lay_over("keys", overlay_texts.keys_text())

    def action_why(self) -> None:
        self.guard(self._why_newest)

    async def _why_newest(self) -> None:
        newest = await newest_question(self.link.hub, self.state.where.id)
        await self.explain(newest.seq if newest is not None else 0)

    def action_turns(self) -> None:
        self.guard(self.pick_turn)

    def action_settings(self) -> None:
        if not self.state.is_group:
            self.flash("F4: only groups have settings of turn-taking")
            return
        self.guard(self._settings)

    async def _settings(self) -> None:
        """Make the command that changes a setting the draft, unless there is a draft already."""
        choice = await self.pick("group settings", overlay_texts.setting_rows(self.state.where))
        if choice is None:
            return
        if self.composer.text.strip():
            self.flash(f"your draft is kept; to change it type {choice}VALUE")
        else:
            self.composer.set_draft(choice)

    def action_places(self) -> None:
        self.guard(self._places)

    async def _places(self) -> None:
        rows = await overlay_texts.place_rows(self.link.hub, self.state)
        if (choice := await self.pick("go to", rows)) is not None:
            await self.go_to(await self.link.hub.conversations.get(choice))

    def action_unread(self, way: int) -> None:
        waiting = [
            place for place, count in self.state.unread.items() if count and place != self.state.where.id
        ]
        if waiting:
            self.guard(partial(self._go_unread, waiting[0 if way > 0 else -1]))
        else:
            self.flash("nothing is unread elsewhere")

    async def _go_unread(self, place: str) -> None:
        await self.go_to(await self.link.hub.conversations.get(place))

    def action_search(self) -> None:
        self.guard(self._search)

    async def _search(self) -> None:
        async def search(typed: str) -> list[Choice]:
            return await overlay_texts.search_rows(self.link.hub, self.state.where, typed)

        overlay = ListOverlay("search here", (), empty="nothing found", search=search)
        choice = await self.app.push_screen_wait(overlay)
        if choice is not None:
            await self._show_message(int(choice))

    async def _show_message(self, seq: int) -> None:
        for _ in range(MAX_PAGES):
            if any(entry.seq == seq for entry in self.state.entries) or not self.state.has_more:
                break
            await self._read_older()
        self._frame()
        if self.transcript.select_seq(seq):
            self.transcript.focus()
