"""The full-screen chat as a program on the terminal: one room, in the terminal's own colours.

Above: launch.py. Below: room_keys.py. Not here: anything that is said.
"""

from __future__ import annotations

from textual.app import App

from moot.cli.frame.session import Session
from moot.cli.tui.chat_room import ChatPlan
from moot.cli.tui.chat_state import ChatSnapshot
from moot.cli.tui.hub_link import HubLink
from moot.cli.tui.overlays import CSS as OVERLAYS
from moot.cli.tui.room_keys import KeyedRoom


class ChatApp(App[int]):
    ENABLE_COMMAND_PALETTE = False
    TITLE = "moot"
    CSS = OVERLAYS

    def __init__(self, session: Session, link: HubLink, snapshot: ChatSnapshot, plan: ChatPlan) -> None:
        super().__init__(ansi_color=True)
        self.theme = "ansi-light" if plan.look.light else "ansi-dark"
        self.room = KeyedRoom(session, link, snapshot, plan)

    def on_mount(self) -> None:
        self.push_screen(self.room)

    async def action_quit(self) -> None:
        """Ctrl+Q, which Textual handles before any screen: it does the same as Ctrl+C."""
        self.room.action_interrupt()
