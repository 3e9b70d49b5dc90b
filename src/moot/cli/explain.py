"""`moot explain CODE`: what an error means and who has to act, from the errors' own words."""

import click

from moot.cli.exits import EXITS
from moot.cli.grammar import leaf
from moot.cli.session import Session
from moot.errors import MootError, NotFound, tree


@leaf("explain", examples=("moot explain E201", "moot explain E303 --json"))
@click.argument("code")
def explain(session: Session, code: str) -> None:
    """What an error code means."""
    kinds = {kind.code: kind for kind in tree()}
    found = kinds.get(code.strip("[]").upper()) or next((k for k in kinds.values() if k.name == code), None)
    if found is None:
        raise NotFound(
            f'no error has the code "{code}"', detail=f"codes are {', '.join(sorted(kinds))}", ref=code
        )
    show(session, found)


def show(session: Session, kind: type[MootError]) -> None:
    family = kind.__mro__[1]
    told = {
        "code": kind.code,
        "name": kind.name,
        "meaning": _words(kind),
        "family": family.__name__,
        "family_meaning": _words(family),
        "retryable": kind.retryable,
        "exit": EXITS[kind],
    }
    if session.json:
        session.screen.data(told)
        return
    say = session.screen.say
    say(f"{kind.code}  {kind.name}")
    say(f"  {told['meaning']}")
    say(f"  It is one of: {told['family_meaning']}")
    say(f"  Exit code {told['exit']}." + (" Trying again later can help." if kind.retryable else ""))


def _words(kind: type[MootError]) -> str:
    return " ".join((kind.__doc__ or "").split())
