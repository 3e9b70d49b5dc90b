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
    code = with_hub(session, _code)
    link = link_to(hub["url"], code, page)
    if session.json:
        session.screen.data({"url": link, "participant": code.participant, "expires_at": code.expires_at})
        return
    is_opened = not only_print and _has_browser() and webbrowser.open(link)
    session.screen.say(link)
    how = "opened in your browser" if is_opened else "open it in your browser"
    session.screen.note(f"{how}; it signs in {code.participant}, once, within a minute")


def link_to(url: str, code: shapes.SignInCode, page: str = "") -> str:
    return f"{url}/{page.strip('/')}#code={code.code}"


async def _code(hub: Hub) -> shapes.SignInCode:
    return await hub.agents.sign_in_code(hub.name)


def _hub_of(session: Session, home: Home) -> JsonObject:
    """The running hub; if none runs, one is started in the background."""
    hub = running_hub(home)
    if hub is not None and hub.get("url"):
        return hub
    from moot.hub.process import daemons  # noqa: PLC0415  only where none runs

    home.make()
    hub_started = asyncio.run(daemons.start_hub(home))
    session.screen.note(
        f"hub started on {hub_started['url']} (pid {hub_started['pid']}; stop it with moot stop)"
    )
    return hub_started


def _has_browser() -> bool:
    """Whether a browser could be seen: not over a pipe, and on Linux only with a desktop."""
    if not sys.stdout.isatty():
        return False
    return sys.platform == "darwin" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
