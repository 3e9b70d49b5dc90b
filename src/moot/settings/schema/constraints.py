"""Which values a setting takes: a phrase that completes "is not …", a test, and how a variable is read.

Above: fields.py gives every field one of these. Below: nothing.
Not here: what needs more than the value itself, such as names that are taken (checks.py).
"""

import re
from collections.abc import Callable
from enum import StrEnum
from typing import Final

from msgspec import Struct

from moot.model.json import Json, JsonObject
from moot.rules.brain_kinds import BRAIN_KINDS, DEMO, forms, has_model
from moot.rules.palette import COLOUR_NAMES
from moot.rules.words.names import NAME_EXPECTED, NameProblem, check_display, is_name
from moot.rules.words.text import unfit_letter

_MAX_INTEGER: Final = 1_000_000_000
_MAX_SECONDS: Final = 365 * 24 * 3600
_MAX_CHARACTERS: Final = 4096
_MAX_LINE_CHARACTERS: Final = 500
_FLAGS: Final = {
    **dict.fromkeys(("true", "1", "yes", "on"), True),
    **dict.fromkeys(("false", "0", "no", "off"), False),
}
_BRAIN: Final = re.compile("|".join(kind.pattern for kind in BRAIN_KINDS.values()))
_HOST: Final = re.compile(r"[A-Za-z0-9_.:%\[\]-]{1,255}")
_PREFIX: Final = re.compile(r"[A-Za-z0-9._-]{0,100}")
_KAFKA_HOSTS: Final = re.compile(r"kafka://[^\s,/@?]+(,[^\s,/@?]+)*/?(\?\S*)?")


class Takes(Struct, frozen=True):
    phrase: str
    fits: Callable[[Json], bool]
    """Whether a TOML value, of any type, is allowed."""
    read: Callable[[str], Json] = str
    """The value an environment variable stands for; a ValueError or a value that does not fit is refused."""
    choices: tuple[str, ...] = ()
    schema: JsonObject = {}
    """The same as JSON Schema, for settings that a program may set too."""


def _is_number(value: Json) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_text(value: Json) -> bool:
    return isinstance(value, str) and len(value) <= _MAX_CHARACTERS and "\0" not in value


def whole(minimum: int, maximum: int = _MAX_INTEGER) -> Takes:
    def fits(value: Json) -> bool:
        return isinstance(value, int) and not isinstance(value, bool) and minimum <= value <= maximum

    schema = {"type": "integer", "minimum": minimum, "maximum": maximum}
    return Takes(f"a whole number from {minimum} to {maximum}", fits, int, schema=schema)


def seconds(*, zero: bool = False) -> Takes:
    def fits(value: Json) -> bool:
        return _is_number(value) and (value > 0 or (zero and value == 0)) and value <= _MAX_SECONDS

    phrase = "0 or more" if zero else "more than 0"
    schema = {"type": "number", "minimum" if zero else "exclusiveMinimum": 0, "maximum": _MAX_SECONDS}
    return Takes(f"a number of seconds, {phrase} and at most a year", fits, float, schema=schema)


def rate() -> Takes:
    def fits(value: Json) -> bool:
        return _is_number(value) and 0 < value <= _MAX_INTEGER

    return Takes(f"a number above 0, at most {_MAX_INTEGER}", fits, float)


def amount() -> Takes:
    def fits(value: Json) -> bool:
        return _is_number(value) and 0 <= value <= _MAX_INTEGER

    schema = {"type": "number", "minimum": 0, "maximum": _MAX_INTEGER}
    return Takes(f"a number from 0 to {_MAX_INTEGER}", fits, float, schema=schema)


def flag() -> Takes:
    return Takes(
        "true or false",
        lambda value: isinstance(value, bool),
        lambda text: _FLAGS[text.lower()],
        schema={"type": "boolean"},
    )


def one_of(choices: type[StrEnum]) -> Takes:
    words = tuple(choice.value for choice in choices)
    return Takes(
        f"one of {', '.join(words)}",
        lambda value: isinstance(value, str) and value in words,
        str,
        words,
        {"enum": list(words)},
    )


def text(phrase: str, fits: Callable[[str], bool] = lambda _: True) -> Takes:
    return Takes(phrase, lambda value: _is_text(value) and fits(value))


def texts(phrase: str, fits: Callable[[str], bool]) -> Takes:
    """A list; from a variable, `a;b`: the items themselves may have commas in them."""

    def all_fit(value: Json) -> bool:
        return (
            isinstance(value, list)
            and len(value) <= _MAX_CHARACTERS
            and all(_is_text(v) and fits(v) for v in value)
        )

    return Takes(phrase, all_fit, lambda t: [item.strip() for item in t.split(";") if item.strip()])


def _is_display(value: str) -> bool:
    try:
        return value == "" or bool(check_display(value))
    except NameProblem:
        return False


def _is_store(url: str) -> bool:
    scheme, _, rest = url.partition(":")
    if scheme == "sqlite":
        return bool(rest.strip()) and not rest.startswith("//")
    return scheme in ("postgresql", "postgres") and re.fullmatch(r"//[^\s/]\S*", rest) is not None


def _is_log(url: str) -> bool:
    return url == "embedded:" or _KAFKA_HOSTS.fullmatch(url) is not None


SECRET: Final = text('"${NAME}" for an environment variable or "${file:PATH}" for the contents of a file')
NAME: Final = text(f"a name: {NAME_EXPECTED}")  # names.check_name says the rest, with what is taken
NAME_OR_NOTHING: Final = text(
    f"empty, or a name: {NAME_EXPECTED}", lambda value: value == "" or is_name(value)
)
PARTICIPANT: Final = text(f"a name: {NAME_EXPECTED}", is_name)
LINE: Final = text(
    f"one line of text, at most {_MAX_LINE_CHARACTERS} characters",
    lambda value: len(value) <= _MAX_LINE_CHARACTERS and not _unfit(value),
)
PLAIN: Final = text("one line of text", lambda value: not _unfit(value))
DISPLAY: Final = text("a display name: up to 128 visible characters", _is_display)
FOLDER: Final = text("a path", lambda value: value.strip() != "" and not _unfit(value))
COLOUR: Final = Takes(
    f"empty, or one of {', '.join(COLOUR_NAMES)}",
    lambda value: isinstance(value, str) and value in ("", *COLOUR_NAMES),
    str,
    COLOUR_NAMES,
)
HOST: Final = text(
    "a host name or an address, such as 127.0.0.1", lambda value: _HOST.fullmatch(value) is not None
)
PREFIX: Final = text(
    "up to 100 of A-Z a-z 0-9 . _ -, or empty", lambda value: _PREFIX.fullmatch(value) is not None
)
STORE: Final = text("sqlite:FILE or postgresql://USER:PASSWORD@HOST/DATABASE", _is_store)
LOG: Final = text("embedded: or kafka://HOST:PORT,HOST:PORT, with ?OPTION=VALUE of the connection", _is_log)
COLLECTOR: Final = text(
    "http://HOST:PORT or https://HOST, or nothing",
    lambda url: url == "" or re.fullmatch(r"https?://[^\s/@]+(/\S*)?", url) is not None,
)
BRAIN: Final = Takes(
    f"one of {', '.join(forms())}",
    lambda value: _is_text(value) and _BRAIN.fullmatch(value) is not None,
    str,
    forms(),
)
SUMMING: Final = text(
    f"empty for none, or one of {', '.join(forms(summing=True))}",
    lambda value: value in ("", DEMO.prefix) or (has_model(value) and _BRAIN.fullmatch(value) is not None),
)
TOOLS: Final = texts(  # toolbox.troubles says the rest, entry by entry
    'a list of tools, such as ["shell:git,ls", "notes", "tasks"]', lambda value: not _unfit(value)
)
PATH_OR_NOTHING: Final = text("a path, or empty", lambda value: not _unfit(value))
HOSTS: Final = texts("a list of host names or addresses", lambda value: bool(_HOST.fullmatch(value)))
EVERY_TEMPLATE: Final = "*"
TEMPLATES: Final = texts(
    'a list of template names, or ["*"]', lambda value: value == EVERY_TEMPLATE or is_name(value)
)
WATCHED_AGENTS: Final = texts(
    'a list of names of agents, or ["*"]', lambda value: value == "*" or is_name(value)
)
VARIABLES: Final = texts(
    "a list of names of environment variables",
    lambda value: re.fullmatch(r"[A-Za-z_]\w{0,199}", value) is not None,
)
ARGV: Final = texts("a program and its arguments", lambda value: not _unfit(value))
FOLDERS: Final = texts("a list of paths", lambda value: value.strip() != "" and not _unfit(value))


def _unfit(value: str) -> bool:
    return unfit_letter(value) != ""
