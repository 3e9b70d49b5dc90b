"""What `moot` alone prints: the state of things, and what to type next."""

import os
from pathlib import Path

from moot import __version__
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import Screen

MOTTO = "A place where agents, and you, talk."
FIRST = {
    "moot demo": "watch three offline demo agents talk (no key, 40 s)",
    "moot init": "make your own agents (three questions)",
    "moot mcp install": "connect Claude Code, Codex or Gemini CLI",
}
USUAL = {
    "moot chat NAME": "chat with an agent",
    "moot open": "open the page in your browser",
    "moot status": "see what needs you and who is working",
    "moot agents list": "list the agents",
    "moot conv list": "list the conversations",
    "moot up": "run the agents until you stop them",
}


def tell(session: Session) -> None:
    home = session.home_folder()
    screen = session.screen
    is_set_up = (home / "moot.toml").exists()
    if session.json:
        screen.data({"version": __version__, "home": str(home), "set_up": is_set_up})
        return
    screen.say(f"moot {__version__}. {MOTTO}\n")
    if is_set_up:
        _set_up(session, home)
    else:
        _nothing_yet(session, home)


def _nothing_yet(session: Session, home: Path) -> None:
    screen = session.screen
    screen.say("Nothing is set up yet. Pick one:")
    _list(screen, FIRST)
    from moot.peek import is_there  # noqa: PLC0415  help and version do without it

    written_words = "" if is_there(home) else " (nothing written yet)"
    screen.say(f"Data would live in {tilde_path(home)}{written_words}.    More: moot --help")


def _set_up(session: Session, home: Path) -> None:
    screen = session.screen
    _list(screen, USUAL)
    screen.say(f"Data lives in {tilde_path(home)}.    More: moot --help")


def _list(screen: Screen, commands: dict[str, str]) -> None:
    meanings = {screen.command(way): meaning for way, meaning in commands.items()}
    width = max(map(len, meanings))
    screen.say("\n".join(f"  {way:<{width}}     {meaning}" for way, meaning in meanings.items()) + "\n")


def tilde_path(path: Path | str) -> str:
    """A path with ~ for the person's home; an address is unchanged."""
    mine = os.path.expanduser("~")
    text = str(path)
    return f"~{text[len(mine) :]}" if mine != "/" and text.startswith(f"{mine}/") else text
