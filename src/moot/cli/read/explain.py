"""`moot explain CODE`: what an error or a warning means and who has to act, from their own words."""

import inspect

import click
from msgspec import Struct, structs

from moot.cli.frame.exit_codes import OK, exit_code
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.errors import WARNINGS, MootError, MootWarning, NotFound, tree


class Meaning(Struct, frozen=True):
    code: str
    name: str
    meaning: str
    who_acts: str
    cause: str
    to_do: str
    family: str
    family_meaning: str
    retryable: bool
    exit: int


@leaf("explain", examples=("moot explain E201", "moot explain E303 --json"))
@click.argument("code")
def explain(session: Session, code: str) -> None:
    """Explain an error code."""
    known = meanings()
    found = known.get(code.strip("[]").upper()) or next((m for m in known.values() if m.name == code), None)
    if found is None:
        raise NotFound(f'unknown error code "{code}"', detail=f"codes are {', '.join(known)}", ref=code)
    show(session, found)


def meanings() -> dict[str, Meaning]:
    """Every code there is: errors, warnings, and that of a fault inside Moot."""
    kinds: list[type[MootError]] = [MootError, *tree()]
    errors = [_of_error(kind) for kind in kinds]
    warnings = [_of_warning(kind) for kind in WARNINGS]
    return {each.code: each for each in sorted((*errors, *warnings), key=lambda each: each.code)}


def _of_error(kind: type[MootError]) -> Meaning:
    family = kind.__mro__[1] if kind is not MootError else MootError
    return Meaning(
        kind.code,
        kind.name,
        *_words(kind.__doc__),
        family.__name__,
        _words(family.__doc__)[0],
        kind.retryable,
        exit_code(kind("")),
    )


def _of_warning(kind: type[MootWarning]) -> Meaning:
    noted = _words(MootWarning.__doc__)[0]
    return Meaning(kind.code, kind.name, *_words(kind.__doc__), "Warning", noted, retryable=False, exit=OK)


def show(session: Session, found: Meaning) -> None:
    if session.json:
        session.screen.data(structs.asdict(found))
        return
    say = session.screen.say
    say(f"{found.code}  {found.name}")
    say(f"  {found.meaning}")
    for title, text in (
        ("Who acts", found.who_acts),
        ("Typical cause", found.cause),
        ("What to do", found.to_do),
    ):
        say(f"  {title + ':':<15}{text}")
    if found.family_meaning != found.meaning:
        say(f"  In general: {found.family_meaning}")
    say(f"  Exit code {found.exit}." + (" Retrying later can help." if found.retryable else ""))


def _words(doc: str | None) -> tuple[str, str, str, str]:
    """The meaning, and what stands behind `Who acts:`, `Cause:` and `To do:`; a family has its meaning alone."""
    meaning, _, rest = inspect.cleandoc(doc or "").partition("\n\n")
    paragraphs = dict(line.split(": ", 1) for line in rest.splitlines() if ": " in line)
    who_acts, cause, to_do = (_sentence(paragraphs.get(key, "")) for key in ("Who acts", "Cause", "To do"))
    return " ".join(meaning.split()), who_acts, cause, to_do


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
