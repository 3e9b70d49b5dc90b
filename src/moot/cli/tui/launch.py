"""Whether the chat can have the whole terminal, and if so: run it there.

Above: chat, demo and open. Below: chat_app.py, imported only when it is run, as Textual takes a moment to load.
"""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Awaitable, Callable, Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

from moot import shapes
from moot.cli.frame.session import Session

if TYPE_CHECKING:
    from moot.cli.tui.bubbles import Look
    from moot.cli.tui.chat_room import ChatPlan
    from moot.hub import Hub

LEAST_COLUMNS: Final = 50
LEAST_ROWS: Final = 15
EXTRA: Final = "pip install 'moot[tui]'"
INTERRUPTED: Final = 130
MAX_PICTURES: Final = "250"
"""A second, of what has changed since the last one. With Textual's 60, a key pressed right behind a picture waits 17 ms
for the next one, and 33 ms where that one is late."""
LIGHT: Final = (7, 15)
"""White, as terminals number their sixteen colours in COLORFGBG."""


def why_not(session: Session, *, plain: bool) -> str | None:
    """None where the chat can have the whole terminal; else why it cannot, empty where nobody has to be told."""
    if plain or session.json or session.screen.plain or not session.is_terminal:
        return ""
    size = os.get_terminal_size(sys.stdout.fileno())
    if not size.columns or not size.lines:
        return ""  # a terminal that does not know its size
    if size.columns < LEAST_COLUMNS or size.lines < LEAST_ROWS:
        return (
            f"the full-screen chat needs {LEAST_COLUMNS} columns and {LEAST_ROWS} rows; this is the plain one"
        )
    if find_spec("textual") is None:
        return f"this is the plain chat; for the full-screen one: {EXTRA}"
    return None


def look(session: Session) -> Look:
    from moot.cli.tui.bubbles import Look  # noqa: PLC0415  heavy

    screen = session.screen
    return Look(light=is_light(os.environ), ascii=screen.ascii, wishes=dict(screen.wishes))


def is_light(environ: Mapping[str, str]) -> bool:
    """Whether the terminal's background is light, as far as it says so; most are dark."""
    chosen = environ.get("MOOT_THEME", "").lower()
    if chosen in ("light", "dark"):
        return chosen == "light"
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return background.isdigit() and int(background) in LIGHT


async def run(
    session: Session,
    hub: Hub,
    where: shapes.Conversation,
    plan: ChatPlan,
    reopen: Callable[[], Awaitable[Hub]] | None = None,
) -> bool:
    """Until the person leaves; True where they did so by Ctrl+C. What they wrote and did not send is printed then."""
    os.environ.setdefault("TEXTUAL_FPS", MAX_PICTURES)  # Textual reads it when it is loaded
    from moot.cli.tui.chat_app import ChatApp  # noqa: PLC0415  heavy
    from moot.cli.tui.hub_link import HubLink  # noqa: PLC0415  as above
    from moot.cli.tui.remark_screen import RemarkScreen  # noqa: PLC0415  as above

    link = HubLink(hub, reopen)
    app = ChatApp(session, link, await link.snapshot(where.id, plan.many), plan)
    before: Any = session.screen
    session.screen = RemarkScreen(app.room.remark, home=before.home)
    gc.collect()
    gc.freeze()  # what is loaded by now stays: looking through it again and again would make keys wait
    try:
        code = await app.run_async()
    finally:
        gc.unfreeze()
        session.screen = before
        await app.room.talk.close()
        for text in app.room.unsent:
            before.give_back(text)
    if app.return_code:
        raise RuntimeError("the full-screen chat broke; moot chat --plain works without it")
    await app.room.read_all()
    return code == INTERRUPTED
