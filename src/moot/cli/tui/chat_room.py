"""The chat's one screen: the transcript, what each agent does, the draft, who would answer it, the keys that work now.

It applies changes to the state (reducer.py), draws the state at most twenty times a second, so that keys never wait,
and shows overlays. Above: room_keys.py, chat_app.py. Below: the widgets, room_talk.py,
hub_link.py. Not here: which key does what.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Coroutine
from functools import partial
from typing import Any, Final

from msgspec import Struct, structs
from rich.table import Table
from rich.text import Span, Text
from textual import events, on
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.screen import Screen
from textual.widgets import Static
from textual.worker import Worker

from moot import shapes
from moot.cli.frame.errors import text as error_text
from moot.cli.frame.session import Session
from moot.cli.talk.foreseen import will_answer
from moot.cli.terminal.phrases import title
from moot.cli.tui import overlay_texts
from moot.cli.tui.bubbles import NARROW, Look
from moot.cli.tui.chat_state import ChatSnapshot, ChatState, ConversationRead, Entry, HubLost, Remark
from moot.cli.tui.composer import Composer, SuggestionMenu
from moot.cli.tui.hub_link import HubLink
from moot.cli.tui.overlays import Choice, ListOverlay, QuestionOverlay, TextOverlay
from moot.cli.tui.reducer import reduce, start_state
from moot.cli.tui.room_talk import RoomTalk
from moot.cli.tui.status_words import agent_rows
from moot.cli.tui.suggestions import command_words, suggestions
from moot.cli.tui.transcript import Transcript
from moot.errors import BadValue, HubAbsent, MootError
from moot.model.event import EventType
from moot.rules.words import slash

FRAME_SECONDS: Final = 0.05
"""Twenty frames a second: nobody reads faster, and more frames would delay keys."""
TYPED_SECONDS: Final = 0.06
MAX_WAIT_SECONDS: Final = 0.2
PREVIEW_SECONDS: Final = 0.12
NEVER: Final = float("inf")
REFRESH_SECONDS: Final = 0.3
FLASH_SECONDS: Final = 4.0
LEAVING: Final = ("exit", "quit")
ENDINGS: Final = (EventType.TURN_FINISHED, EventType.TURN_OWED, EventType.TURN_HELD)


class TourScript(Struct, frozen=True):
    """What a tour says by itself: before, then in the person's name, then when that has been answered."""

    before: tuple[str, ...] = ()
    text: str = ""
    after: tuple[str, ...] = ()


class ChatPlan(Struct, frozen=True):
    """What a chat begins with."""

    look: Look = Look()
    chips: dict[str, str] = {}
    note: str = ""
    """Shown after who would answer: what an answer costs."""
    many: int = 60
    max_turns: int | None = None
    tour: TourScript = TourScript()


class ChatRoom(Screen[None]):
    AUTO_FOCUS = "#composer"
    CSS = """
    ChatRoom { layers: base menu; layout: vertical; background: transparent; }
    #header, #activity, #hints { height: 1; padding: 0 1; }
    #preview { height: auto; max-height: 3; padding: 0 1; color: $text-muted; }
    #hints { color: $text-muted; }
    #input { height: auto; max-height: 8; padding: 0 1; border-top: solid $primary; }
    #prompt { width: auto; height: 1; }
    ChatRoom:ansi #preview, ChatRoom:ansi #hints { text-style: dim; }
    """

    def __init__(self, session: Session, link: HubLink, snapshot: ChatSnapshot, plan: ChatPlan) -> None:
        super().__init__()
        self.state: ChatState = start_state(snapshot, plan.chips)
        self.plan = plan
        self.link = link
        self.talk = RoomTalk(session, link, self, max_turns=plan.max_turns)
        self.transcript = Transcript(plan.look)
        self.menu = SuggestionMenu()
        self.composer = Composer(self.menu, lambda before: suggestions(before, self.state, time.time()))
        self.reply: Entry | None = None
        self.drafts: dict[str, str] = {}
        self._is_dirty = True
        self._drawn_at = self._typed_at = 0.0
        self._preview_at = NEVER
        self._flash = ("", 0.0)
        self._flashed_draft = ""
        """The draft at the time of the flash."""
        self._later: dict[str, Any] = {}
        self._last_drawn: dict[str, tuple[Text, list[Span]]] = {}

    def compose(self) -> ComposeResult:
        yield Static(id="header")
        yield self.transcript
        yield Static(id="activity")
        with Horizontal(id="input"):
            yield Static(f"{self._speaker} ▸ ", id="prompt")
            yield self.composer
        yield Static(id="preview")
        yield Static(id="hints")
        yield self.menu

    @property
    def _speaker(self) -> str:
        mine = [seat for seat in self.state.where.participants if seat.name == self.state.me]
        return self.plan.look.fit(self.state.me if mine and mine[0].kind != "human" else "you")

    def on_mount(self) -> None:
        self.composer.focus()
        self.set_interval(FRAME_SECONDS, self._frame)
        self.set_interval(1.0, self._draw_words)
        self._work(self._listen)
        self._preview_soon()
        if self.plan.tour.text:
            self._work(self._open)

    # --- what happens --------------------------------------------------------------------------------------------

    async def _listen(self) -> None:
        async for change in self.link.changes(lambda: self.state.where.id):
            was_cut = self.state.is_cut
            self.apply(change)
            if isinstance(change, HubLost) and not was_cut:
                self.remark("the hub stopped; all messages are kept. Looking for it …")
            elif isinstance(change, ChatSnapshot) and was_cut:
                self.remark("connected again; nothing was lost")
            elif isinstance(change, shapes.Event):
                self._follow_up(change)

    def apply(self, change: object) -> None:
        self.state = reduce(self.state, change)
        self._is_dirty = True

    def _follow_up(self, event: shapes.Event) -> None:
        """Read again what an event may have changed."""
        is_here = event.conversation == self.state.where.id
        if event.type in ENDINGS:
            self.talk.turn_ended()
        if is_here and event.type.startswith("conversation."):
            self._soon("place", REFRESH_SECONDS, self._read_place)
        if is_here and event.type == EventType.MESSAGE_POSTED:
            self._soon("read", REFRESH_SECONDS, self._mark_read)
        if event.type.startswith(("turn.", "agent.", "decision.")) and event.type != EventType.TURN_DELTA:
            self._soon("everybody", REFRESH_SECONDS, self._read_everybody)

    def _soon(self, what: str, seconds: float, work: Callable[[], Awaitable[object]]) -> None:
        """Do the work once, a moment after the first request for it."""
        if what not in self._later:

            def begin() -> None:
                self._later.pop(what, None)
                self.guard(work)

            self._later[what] = self.set_timer(seconds, begin)

    def guard(self, work: Callable[[], Awaitable[object]]) -> None:
        """Do the work in the background and report errors as remarks."""

        async def guarded_work() -> None:
            try:
                await work()
            except HubAbsent:
                pass  # _listen reports it and reconnects
            except MootError as error:
                self.remark(error_text(error, (), more=False))

        self._work(guarded_work)

    def _work(self, work: Callable[[], Coroutine[None, None, None]], *, instead_of: str = "") -> None:
        _: Worker[None] = self.run_worker(work, group=instead_of or "default", exclusive=bool(instead_of))

    async def _read_place(self) -> None:
        self.apply(ConversationRead(await self.link.hub.conversations.get(self.state.where.id)))

    async def _read_everybody(self) -> None:
        self.apply(await self.link.everybody(self.state.where.id))

    async def _mark_read(self) -> None:
        if self.transcript.at_bottom and self.app.app_focus and self.state.last:
            await self.link.hub.conversations.read(self.state.where.id, self.state.last)

    async def _open(self) -> None:
        tour = self.plan.tour
        for line in tour.before:
            self.remark(line)
        if await self.talk.say(tour.text) is not None:
            await self.talk.wait_settled()
        for line in tour.after:
            self.remark(line)
        self._preview_soon()

    # --- drawing -------------------------------------------------------------------------------------------------

    def _frame(self) -> None:
        """Draw what has changed. Keys come first: while somebody types, the transcript waits a little."""
        now = time.monotonic()
        if now >= self._preview_at:
            self._preview_at = NEVER
            self._work(self._preview, instead_of="preview")
        is_waiting = now - self._typed_at < TYPED_SECONDS and now - self._drawn_at < MAX_WAIT_SECONDS
        if self._is_dirty and self.is_current and not is_waiting:
            self._drawn_at = now
            self._is_dirty = False
            self.transcript.show(self.state)
            self._draw_words()

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:
        self._draw_words()

    def on_screen_resume(self) -> None:
        self._is_dirty = True

    def on_resize(self, event: events.Resize) -> None:
        self._is_dirty = True

    def _draw_words(self) -> None:
        now, width = time.time(), self.size.width - 2
        self._write("#header", self._header(now, width))
        self._write("#activity", self._activity(now, width))
        self._write("#hints", self._hints(now, width))
        below = 2 + self.query_one("#input").size.height + self.query_one("#preview").size.height
        self.menu.styles.margin = (0, 0, below, min(6, max(0, width - 40)))

    def _write(self, place: str, text: Text) -> None:
        """Update a line only if it changed: an update would redraw everything between the lines too."""
        if self._last_drawn.get(place) != (text, text.spans):
            self._last_drawn[place] = (text, text.spans)
            self.query_one(place, Static).update(text, layout=False)

    def _names(self, rows: list[tuple[str, str, str]], between: str) -> Text:
        look, text = self.plan.look, Text(no_wrap=True, overflow="ellipsis")
        for name, sign, words in rows:
            text.append(between if text else "")
            text.append(look.fit(f"{sign} {name}"), style=look.style(name))
            text.append(look.fit(f" {words}"), style="dim")
        return text

    def _header(self, now: float, width: int) -> Text:
        state = self.state
        left = Text(title(state.where), style="bold")
        if state.is_cut:
            left.append("  hub away, looking for it …", style="bold red")
        counts = [f"needs you: {len(state.asking)}"] if state.asking else []
        counts += [f"unread: {state.elsewhere}"] if state.elsewhere else []
        right = self._names(agent_rows(state, now, only_busy=width < NARROW), " · ")
        if counts:
            right = Text.assemble((" · ".join(counts), "bold"), "  ", right)
        right.truncate(max(0, width - left.cell_len - 2), overflow="ellipsis")
        return Text.assemble(left, " " * max(2, width - left.cell_len - right.cell_len), right)

    def _activity(self, now: float, width: int) -> Text:
        transcript = self.transcript
        below = "" if transcript.at_bottom else f"↓ {transcript.new} new" if transcript.new else "↓ Ctrl+End"
        busy = self._names(agent_rows(self.state, now, only_busy=True), "    ")
        busy.truncate(max(0, width - len(below) - 1), overflow="ellipsis")
        gap = " " * max(1, width - busy.cell_len - len(below))
        return Text.assemble(busy, gap, (self.plan.look.fit(below), "bold"))

    def _hints(self, now: float, width: int) -> Text:
        """The keys that work now; a key that does nothing says why."""
        flash, until = self._flash
        if now < until:
            return Text(flash, style="bold", no_wrap=True, overflow="ellipsis")
        if self.focused is self.transcript:
            keys = ["↑↓ move", "r reply", "w why", "t turn", "y copy", "Esc back"]
        else:
            speakers = self.state.speakers
            stop = f"Esc stop {speakers[-1]}" if speakers else "Esc: nobody is writing"
            keys = [
                "Enter send",
                "F1 keys",
                stop,
                "Alt+Enter newline",
                "@ mention",
                "/ command",
                "Ctrl+G go to",
            ]
            keys += ["F2 why", "F3 turns", *(["F4 settings"] if self.state.is_group else [])]
        line = ""
        for key in keys:
            line = f"{line}  {key}" if line and len(line) + 2 + len(key) <= width else line or key
        return Text(line, no_wrap=True)

    def flash(self, text: str) -> None:
        """In place of the keys, for a moment."""
        self._flash = (text, time.time() + FLASH_SECONDS)
        self._flashed_draft = self.composer.text
        self._draw_words()

    # --- the draft -----------------------------------------------------------------------------------------------

    @on(Composer.Edited)
    def _on_edited(self) -> None:
        composer = self.composer
        composer.allow_announcement()
        if composer.text != self._flashed_draft:
            self._flash = ("", 0.0)  # a person who goes on typing has read it
        self._typed_at = time.monotonic()
        composer.offer()
        self._preview_soon()

    def _preview_soon(self) -> None:
        """Ask for a preview once nobody has typed for a moment; each frame checks whether it is time."""
        self._preview_at = time.monotonic() + PREVIEW_SECONDS

    async def _preview(self) -> None:
        try:
            line = await self._preview_line(self.composer.text)
        except HubAbsent:
            line = "will answer: nobody can say while the hub is away"
        except MootError as error:
            line = str(error)
        reply = f"reply to {self.reply.sender} #{self.reply.seq} · " if self.reply is not None else ""
        for place in self.query("#preview").results(Static):  # none when the chat is being left
            place.update(Text(self.plan.look.fit(f"{reply}{line}")))

    async def _preview_line(self, draft: str) -> str:
        """Who would answer the draft, by the same function that decides it; for a command, what it does."""
        try:
            command = slash.parse(draft) if draft.strip() else slash.Say("…")
        except BadValue as error:
            return command_words(draft) or f"{error} · begin with // to send it as text"
        if not isinstance(command, slash.Say):
            return command_words(draft) or "a command"
        preview = await self.link.hub.preview(self.state.where.id, command.text or "…")
        line = will_answer(preview, self.state.where, cap=self.plan.max_turns, note=self.plan.note)
        return " · ".join([line, *(warning.message for warning in preview.warnings)])

    @on(Composer.Submitted)
    def _on_submitted(self, submission: Composer.Submitted) -> None:
        text = submission.text
        if not text.strip():
            return
        if text.strip().lower() in LEAVING:
            self.leave()
            return
        try:
            command = slash.parse(text)
        except MootError as error:
            self.remark(error_text(error, (), more=False))
            self.give_back(text)
            return
        self.transcript.to_bottom()
        if isinstance(command, slash.Say):
            reply, self.reply = self.reply, None
            self.guard(partial(self.talk.say, command.text, reply_to=reply.id if reply is not None else None))
        else:
            self.guard(partial(self.talk.command, command))

    def give_back(self, text: str) -> None:
        """Restore a text that could not be sent as the draft. If there is another draft, the Up key brings it back."""
        if not self.composer.text:
            self.composer.set_draft(text)

    # --- what is shown -------------------------------------------------------------------------------------------

    @property
    def place(self) -> shapes.Conversation:
        return self.state.where

    def remark(self, text: str) -> None:
        self.apply(Remark(text, shapes.when(time.time()) or ""))

    def tick(self, text: str) -> None:
        self.apply(Remark(text, shapes.when(time.time()) or "", is_small=True))

    def lay_over(self, heading: str, text: Text | Table) -> None:
        self.app.push_screen(TextOverlay(heading, text))

    async def is_sure(self, question: str) -> bool:
        return await self.app.push_screen_wait(QuestionOverlay(question))

    async def explain(self, number: int) -> None:
        text = await overlay_texts.why_text(self.link.hub, self.state, self.plan.look, number)
        self.lay_over("why", text)

    async def show_own(self, command: slash.KeysCommand | slash.ThemeCommand | slash.TurnsCommand) -> None:
        """Carry out a command that concerns only this screen."""
        match command:
            case slash.KeysCommand():
                self.lay_over("keys", overlay_texts.keys_text())
            case slash.TurnsCommand():
                await self.pick_turn()
            case slash.ThemeCommand():
                look = structs.replace(self.plan.look, light=command.light)
                self.plan = structs.replace(self.plan, look=look)
                self.transcript.look = look
                self.transcript.redraw()
                self._last_drawn.clear()
                self._draw_words()

    async def pick_turn(self) -> None:
        rows = await overlay_texts.turn_rows(self.link.hub, self.state.where)
        if (turn := await self.pick("turns", rows, empty="no turns yet")) is not None:
            await self.show_turn(turn)

    async def show_turn(self, turn: str) -> None:
        self.lay_over(f"turn {turn}", await overlay_texts.turn_text(self.link.hub, turn))

    async def pick(self, heading: str, rows: list[Choice], *, empty: str = "nothing here") -> str | None:
        return await self.app.push_screen_wait(ListOverlay(heading, rows, empty=empty))

    async def go_to(self, where: shapes.Conversation) -> None:
        if where.id == self.state.where.id:
            self.apply(ConversationRead(where))
            return
        self.drafts[self.state.where.id] = self.composer.text
        self.apply(await self.link.snapshot(where.id, self.plan.many))
        self.reply = None
        self.composer.set_draft(self.drafts.pop(where.id, ""))
        self._preview_soon()
        self._soon("read", REFRESH_SECONDS, self._mark_read)

    def leave(self, *, interrupted: bool = False) -> None:
        self.app.exit(130 if interrupted else 0)

    @property
    def unsent(self) -> list[str]:
        """What the person wrote and did not send."""
        texts = [*self.talk.waiting.values(), *self.drafts.values(), self.composer.text]
        return [text for text in texts if text.strip()]

    async def read_all(self) -> None:
        """Mark everything that was on the screen as read."""
        if self.state.last and not self.state.is_cut:
            await self.link.hub.conversations.read(self.state.where.id, self.state.last)
