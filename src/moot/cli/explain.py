"""`moot explain CODE`: what an error or a warning means and who has to act, from their own words."""

import click
from msgspec import Struct, structs

from moot.cli.exits import OK, exit_code
from moot.cli.grammar import leaf
from moot.cli.session import Session
from moot.errors import WARNINGS, MootError, NotFound, tree


class Meaning(Struct, frozen=True):
    code: str
    name: str
    meaning: str
    family: str
    family_meaning: str
    retryable: bool
    exit: int


@leaf("explain", examples=("moot explain E201", "moot explain E303 --json"))
@click.argument("code")
def explain(session: Session, code: str) -> None:
    """What an error code means."""
    known = meanings()
    found = known.get(code.strip("[]").upper()) or next((m for m in known.values() if m.name == code), None)
    if found is None:
        raise NotFound(f'unknown error code "{code}"', detail=f"codes are {', '.join(known)}", ref=code)
    show(session, found)


def meanings() -> dict[str, Meaning]:
    """Every code there is: errors, warnings, and that of a fault inside Moot."""
    kinds: list[type[MootError]] = [MootError, *tree()]
    errors = [_of_error(kind) for kind in kinds]
    warnings = [
        Meaning(*warning, "Warning", "What was asked is done; there is something to know.", False, OK)
        for warning in WARNINGS
    ]
    return {each.code: each for each in sorted((*errors, *warnings), key=lambda each: each.code)}


def _of_error(kind: type[MootError]) -> Meaning:
    family = kind.__mro__[1] if kind is not MootError else MootError
    return Meaning(
        kind.code,
        kind.name,
        _words(kind),
        family.__name__,
        _words(family),
        kind.retryable,
        exit_code(kind("")),
    )


def show(session: Session, found: Meaning) -> None:
    if session.json:
        session.screen.data(structs.asdict(found))
        return
    say = session.screen.say
    say(f"{found.code}  {found.name}")
    say(f"  {found.meaning}")
    if found.family_meaning != found.meaning:
        say(f"  It is one of: {found.family_meaning}")
    say(f"  Exit code {found.exit}." + (" Trying again later can help." if found.retryable else ""))


def _words(kind: type[MootError]) -> str:
    return " ".join((kind.__doc__ or "").split())
