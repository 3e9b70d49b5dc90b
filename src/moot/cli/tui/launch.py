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

MIN_COLUMNS: Final = 50
MIN_ROWS: Final = 15
EXTRA: Final = "pip install 'moot[tui]'"
INTERRUPTED: Final = 130
MAX_FRAMES: Final = "250"
"""Per second; a frame draws only what has changed. With Textual's 60, a key pressed right after a frame waits 17 ms for
the next one, and 33 ms if that one is late."""
LIGHT: Final = (7, 15)
"""White, as terminals number their sixteen colours in COLORFGBG."""


def why_not(session: Session, *, plain: bool) -> str | None:
    """None if the chat can have the whole terminal; else the reason, empty if the person need not be told."""
    if plain or session.json or session.screen.plain or not session.is_terminal:
        return ""
    size = os.get_terminal_size(sys.stdout.fileno())
    if not size.columns or not size.lines:
        return ""  # a terminal that does not know its size
    if size.columns < MIN_COLUMNS or size.lines < MIN_ROWS:
        return f"the full-screen chat needs {MIN_COLUMNS} columns and {MIN_ROWS} rows; this is the plain one"
    if find_spec("textual") is None:
        return f"this is the plain chat; for the full-screen one: {EXTRA}"
    return None


def look(session: Session) -> Look:
    from moot.cli.tui.bubbles import Look  # noqa: PLC0415  heavy

    screen = session.screen
    return Look(light=is_light(os.environ), ascii=screen.ascii, wishes=dict(screen.wishes))


def is_light(environ: Mapping[str, str]) -> bool:
    """Whether the terminal's background is light, as far as it says so; most are dark."""
    theme = environ.get("MOOT_THEME", "").lower()
    if theme in ("light", "dark"):
        return theme == "light"
    background = environ.get("COLORFGBG", "").rpartition(";")[2]
    return background.isdigit() and int(background) in LIGHT


async def run(
    session: Session,
    hub: Hub,
    where: shapes.Conversation,
    plan: ChatPlan,
    reopen: Callable[[], Awaitable[Hub]] | None = None,
) -> bool:
    """Run until the person leaves; True if they left with Ctrl+C. Unsent texts are printed then."""
    os.environ.setdefault("TEXTUAL_FPS", MAX_FRAMES)  # Textual reads it when it is loaded
    from moot.cli.tui.chat_app import ChatApp  # noqa: PLC0415  heavy
    from moot.cli.tui.hub_link import HubLink  # noqa: PLC0415  as above
    from moot.cli.tui.remark_screen import RemarkScreen  # noqa: PLC0415  as above

    link = HubLink(hub, reopen)
    app = ChatApp(session, link, await link.snapshot(where.id, plan.many), plan)
    before: Any = session.screen
    session.screen = RemarkScreen(app.room.remark, home=before.home)
    gc.collect()
    gc.freeze()  # what is loaded by now stays loaded: collecting it again and again would delay keys
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
