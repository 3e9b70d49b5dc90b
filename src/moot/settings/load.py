"""moot.toml and the environment become one `Settings`, or one error that says where the file is broken.

Above: the command line and the hub read settings once and again on reload; when that raises, the last good
ones stay in force. Below: environment.py, schema/checks.py, toml/positions.py.
Not here: watching the file, writing it.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from pathlib import Path
from typing import Final

import msgspec

from moot.errors import BadSettings
from moot.model.hint import Act, Hint, Way
from moot.model.limits import Terms
from moot.rules.brain_kinds import is_built
from moot.settings.environment import Tree, expand, overlay
from moot.settings.home import Home
from moot.settings.problems import Document, Problem, refusal
from moot.settings.schema.checks import check
from moot.settings.schema.projects import overlapping
from moot.settings.schema.tools import toolbox
from moot.settings.toml import positions
from moot.settings.values import BridgeSettings, Policy, Settings, SpawnSettings

LONGEST_FILE: Final = 1024 * 1024
_AT = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_LONG_NUMBER = re.compile(r"[0-9][0-9_]{4000,}")
_VALUES: Final = 'expected a text in quotes, such as "arya", a number, true, false, a [list] or a {table}'


def load(home: Home, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a home. No file, or an empty one, means the defaults."""
    file = str(home.toml)
    try:
        if home.toml.is_fifo():  # opening one waits for a writer who may never come
            raise _unreadable(file, "is a pipe; expected a file", (f"rm {file}",))
        with home.toml.open("rb") as opened:
            data = opened.read(LONGEST_FILE + 1)
    except FileNotFoundError:
        if home.toml.is_symlink():
            raise _unreadable(file, "is a link to a file that is not there", (f"rm {file}",)) from None
        data = b""
    except IsADirectoryError:
        raise _unreadable(file, "is a directory; expected a file", (f"mv {file} {file}.old",)) from None
    except PermissionError:
        raise _unreadable(file, "may not be read by this user", (f"chmod u+r {file}",)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise _unreadable(file, f"cannot be read: {reason}", (Hint(Act.RUN_DOCTOR),)) from None
    return parse(data, environ, file=file, folder=home.path)


def parse(
    data: bytes, environ: Mapping[str, str], *, file: str = "moot.toml", folder: Path = Path()
) -> Settings:
    """The settings that a file's bytes say. `folder` is where `${file:…}` begins to look."""
    document = Document(file, _text(data, file))
    try:
        tree = _tree(document)
        where = _places(document.text)
        origins, problems = overlay(tree, environ)
        written = deepcopy(tree)
        problems += expand(tree, origins, environ, folder)
        problems += check(tree, written)
    except RecursionError:
        words = "is nested too deeply; settings are tables of plain values"
        raise refusal([Problem((), words, place=_deepest(document.text))], document) from None
    if not problems:
        problems += overlapping(tree, Home(folder))
    if problems:
        raise refusal(_placed(problems, where, origins), document)
    _command_brains_do_one_thing_at_a_time(tree)
    try:
        return msgspec.convert(tree, Settings)
    except (
        msgspec.ValidationError
    ) as error:  # schema/checks.py has missed something: still say it, if less well
        raise refusal([Problem((), f"is broken: {error}", place=_START)], document) from error


def terms(settings: Settings) -> Terms:
    """What the verbs may ask about."""
    return Terms(
        groups=settings.groups,
        limits=settings.limits,
        lease_seconds=settings.host.lease_seconds,
        user=settings.hub.user,
    )


def not_yet(settings: Settings) -> list[str]:
    """What is set and checked but does nothing in this version, for `doctor` and `up` to say.

    Whoever builds a feature takes its line out of here.
    """
    given = {
        "hub.policy": settings.hub.policy is Policy.LINKS,
        "store.url": not settings.store.url.startswith("sqlite:"),
        "log.url": settings.log.url != "embedded:",
        "log.topic_prefix": settings.log.topic_prefix != "",
        "links": bool(settings.links),
        "templates": bool(settings.templates),
        "spawn": settings.spawn != SpawnSettings(),
        "bridges": settings.bridges != BridgeSettings(),
        "groups.links_bind": settings.groups.links_bind,
    }
    for agent in settings.agents:
        given[f"agents.{agent.name}.brain"] = not is_built(agent.brain)
        given[f"agents.{agent.name}.tools"] = bool(toolbox(agent.tools).not_built)
    return [key for key, unused in given.items() if unused]


_START = positions.Place(0, 0, 0)


def _text(data: bytes, file: str) -> str:
    if len(data) > LONGEST_FILE:
        raise _unreadable(
            file, f"is longer than {LONGEST_FILE} bytes; expected a few kilobytes", (Hint(Act.RUN_DOCTOR),)
        )
    try:
        text, wrong = data.decode("utf-8-sig"), ""
        at = text.find("\0")
    except UnicodeDecodeError as error:
        text, at = data.decode("utf-8-sig", "replace"), len(data[: error.start].decode("utf-8-sig"))
        wrong = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
    if at >= 0:
        words = wrong or "there is a NUL byte; expected a text file in UTF-8"
        raise refusal([Problem((), words, place=positions.Place(at, at, at + 1))], Document(file, text))
    return text.replace("\r\n", "\n")


def _tree(document: Document) -> Tree:
    try:
        return tomllib.loads(document.text)
    except ValueError as error:  # not only TOMLDecodeError: a number of 5,000 digits is Python's own refusal
        message = str(error)
        words = f"is not TOML: {message[:1].lower()}{_AT.sub('', message)[1:]}"
        at = _syntax_error_at(message, document.text)
        detail = _VALUES if message.startswith("Invalid value") else ""
        raise refusal([Problem((), words, detail, place=positions.Place(at, at, at + 1))], document) from None


def _syntax_error_at(message: str, text: str) -> int:
    met = _AT.search(message)
    if met is None:
        long_number = _LONG_NUMBER.search(text)
        return long_number.start() if long_number else 0
    return positions.offset_of(text, int(met[1]), int(met[2])) if met[1] else len(text.rstrip("\n"))


def _places(text: str) -> dict[positions.Path, positions.Place]:
    try:
        return positions.places(text)
    except (
        positions.Lost
    ):  # a dialect of TOML newer than this walk: the error stays right, its place is coarse
        return {}


def _placed(
    problems: list[Problem],
    where: Mapping[positions.Path, positions.Place],
    origins: Mapping[positions.Path, str],
) -> list[Problem]:
    """Each problem with where it stands; one problem for each place is enough."""
    found: dict[object, Problem] = {}
    for problem in problems:
        variable = problem.variable or origins.get(problem.path, "")
        if variable:
            words = problem.words if problem.variable else f"{variable}: {problem.words}"
            fix = problem.fix if problem.variable else (f"unset {variable}",)
            put = msgspec.structs.replace(problem, words=words, variable=variable, fix=fix)
        else:
            put = msgspec.structs.replace(problem, place=_nearest(problem.path, where))
        found.setdefault(variable or problem.path, put)
    return list(found.values())


def _nearest(path: positions.Path, where: Mapping[positions.Path, positions.Place]) -> positions.Place:
    """The place of the key or, where the walk knows none, of what it is in."""
    return next((where[path[:depth]] for depth in range(len(path), 0, -1) if path[:depth] in where), _START)


def _deepest(text: str) -> positions.Place:
    """Python says only that it is too deep: the line with the most brackets and dots is where to look."""
    lines = text.split("\n")
    worst = max(range(len(lines)), key=lambda number: sum(lines[number].count(mark) for mark in "[{."))
    at = positions.offset_of(text, worst + 1, 1)
    return positions.Place(at, at, at + len(lines[worst]))


def _command_brains_do_one_thing_at_a_time(tree: Tree) -> None:
    for agent in [*tree.get("agents", []), *tree.get("templates", {}).values()]:
        if agent.get("brain", "").startswith("command:"):
            agent.setdefault("concurrency", 1)


def _unreadable(file: str, words: str, fix: tuple[Way, ...]) -> BadSettings:
    name = Document(file).short
    return BadSettings(f"{name} {words}", detail=file, fix=fix, file=file, line=0, column=0, key="", more=0)
