"""`moot open`: the page in a browser, signed in by a link that is good once."""

from __future__ import annotations

import asyncio
import os
import sys
import webbrowser
from typing import TYPE_CHECKING

import click

from moot import shapes
from moot.cli.frame.hub_access import home_of, with_hub
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.hub.process.hub_lock import running_hub
from moot.model.json import JsonObject
from moot.settings.home import Home

if TYPE_CHECKING:
    from moot.hub import Hub


@leaf("open", examples=("moot open", "moot open topology --print", "moot open --tui"))
@click.argument("page", required=False, default="")
@click.option("--print", "only_print", is_flag=True, help="Print the link and do not open a browser.")
@click.option("--tui", is_flag=True, help="Open the chat in this terminal instead; PAGE is a conversation.")
def open_(session: Session, page: str, only_print: bool, tui: bool) -> None:
    """Open the page in your browser, signed in by a link that works once, within a minute."""
    if tui:
        if only_print:
            raise click.UsageError("--tui opens no link, so there is none to print")
        from moot.cli.talk.chat import open_newest  # noqa: PLC0415  heavy

        open_newest(session, page)
        return
    home = home_of(session)
    hub = _hub_of(session, home)
    made = with_hub(session, _code)
    link = link_to(hub["url"], made, page)
    if session.json:
        session.screen.data({"url": link, "participant": made.participant, "expires_at": made.expires_at})
        return
    opened = not only_print and _has_browser() and webbrowser.open(link)
    session.screen.say(link)
    how = "opened in your browser" if opened else "open it in your browser"
    session.screen.note(f"{how}; it signs in {made.participant}, once, within a minute")


def link_to(url: str, made: shapes.SignInCode, page: str = "") -> str:
    return f"{url}/{page.strip('/')}#code={made.code}"


async def _code(hub: Hub) -> shapes.SignInCode:
    return await hub.agents.sign_in_code(hub.name)


def _hub_of(session: Session, home: Home) -> JsonObject:
    """The running hub; where none runs, one is started in the background."""
    found = running_hub(home)
    if found is not None and found.get("url"):
        return found
    from moot.hub.process import daemons  # noqa: PLC0415  only where none runs

    home.make()
    started = asyncio.run(daemons.start_hub(home))
    session.screen.note(f"hub started on {started['url']} (pid {started['pid']}; stop it with moot stop)")
    return started


def _has_browser() -> bool:
    """Whether a browser could be seen: not over a pipe, and on Linux only with a desktop."""
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
