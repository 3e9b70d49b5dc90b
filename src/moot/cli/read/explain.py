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
    all_meanings = meanings()
    meaning = all_meanings.get(code.strip("[]").upper()) or next(
        (m for m in all_meanings.values() if m.name == code), None
    )
    if meaning is None:
        raise NotFound(
            f'unknown error code "{code}"', detail=f"codes are {', '.join(all_meanings)}", ref=code
        )
    show(session, meaning)


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
    family_meaning = _words(MootWarning.__doc__)[0]
    return Meaning(
        kind.code, kind.name, *_words(kind.__doc__), "Warning", family_meaning, retryable=False, exit=OK
    )


def show(session: Session, meaning: Meaning) -> None:
    if session.json:
        session.screen.data(structs.asdict(meaning))
        return
    say = session.screen.say
    say(f"{meaning.code}  {meaning.name}")
    say(f"  {meaning.meaning}")
    for title, text in (
        ("Who acts", meaning.who_acts),
        ("Typical cause", meaning.cause),
        ("What to do", meaning.to_do),
    ):
        say(f"  {title + ':':<15}{text}")
    if meaning.family_meaning != meaning.meaning:
        say(f"  In general: {meaning.family_meaning}")
    say(f"  Exit code {meaning.exit}." + (" Retrying later can help." if meaning.retryable else ""))


def _words(doc: str | None) -> tuple[str, str, str, str]:
    """The meaning, and the texts after `Who acts:`, `Cause:` and `To do:`; a family has only its meaning."""
    meaning, _, rest = inspect.cleandoc(doc or "").partition("\n\n")
    paragraphs = dict(line.split(": ", 1) for line in rest.splitlines() if ": " in line)
    who_acts, cause, to_do = (_sentence(paragraphs.get(key, "")) for key in ("Who acts", "Cause", "To do"))
    return " ".join(meaning.split()), who_acts, cause, to_do


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]
