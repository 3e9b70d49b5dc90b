"""moot.toml and the environment become one `Settings`, or one error that says where the file is broken.

Above: the command line and the hub read settings once and again on reload; when that raises, the last good
ones stay in force. Below: environment.py, schema/checks.py, toml/positions.py.
Not here: watching the file, writing it.

`read` also returns the file with the position of everything in it, for problems that are found later.
"""

import os
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from hashlib import sha256
from pathlib import Path
from typing import Final

import msgspec

from moot.errors import BadSettings
from moot.model.hint import Act, Hint, Way
from moot.model.limits import SpawnLimits, Terms
from moot.rules.brain_kinds import is_built, is_cli
from moot.settings.environment import Tree, expand, overlay
from moot.settings.home import Home
from moot.settings.problems import Document, SettingProblem, refusal
from moot.settings.schema.checks import check
from moot.settings.schema.projects import overlapping
from moot.settings.toml import positions
from moot.settings.values import Settings

MAX_FILE_BYTES: Final = 1024 * 1024
_POSITION = re.compile(r" \(at (?:line (\d+), column (\d+)|end of document)\)$")
_LONG_NUMBER = re.compile(r"[0-9][0-9_]{4000,}")
_VALUES: Final = 'expected a text in quotes, such as "arya", a number, true, false, a [list] or a {table}'


class SettingsFile(msgspec.Struct, frozen=True):
    """moot.toml as it was read: its settings, and their positions."""

    settings: Settings
    document: Document = Document("moot.toml")
    where: Mapping[positions.Path, positions.TomlSpan] = {}
    digest: str = ""
    """Of its bytes: the same while nothing was written into it."""

    def place(self, path: positions.Path) -> str:
        """File and line, as people write it: `moot.toml:14`."""
        span = self.where.get(path)
        if span is None:
            return self.document.short
        line, _ = positions.line_and_column(self.document.text, span.start)
        return f"{self.document.short}:{line}"

    def refusal(self, problem: SettingProblem) -> BadSettings:
        """The error for a problem that was found outside this module."""
        return refusal(_with_places([problem], self.where, {}), self.document)


def load(home: Home, environ: Mapping[str, str] = os.environ) -> Settings:
    """The settings of a home. No file, or an empty one, means the defaults."""
    return read(home, environ).settings


def read(home: Home, environ: Mapping[str, str] = os.environ) -> SettingsFile:
    """The same, with the file they were read from."""
    return parse_file(data_of(home), environ, file=str(home.toml), folder=home.path)


def data_of(home: Home) -> bytes:
    """The bytes of moot.toml, up to just above the limit."""
    file = str(home.toml)
    try:
        if home.toml.is_fifo():  # opening a pipe would wait for a writer
            raise _unreadable(file, "is a pipe; expected a file", (f"rm {file}",))
        with home.toml.open("rb") as file_object:
            return file_object.read(MAX_FILE_BYTES + 1)
    except FileNotFoundError:
        if home.toml.is_symlink():
            raise _unreadable(file, "is a link to a file that does not exist", (f"rm {file}",)) from None
        return b""
    except IsADirectoryError:
        raise _unreadable(file, "is a directory; expected a file", (f"mv {file} {file}.old",)) from None
    except PermissionError:
        raise _unreadable(file, "cannot be read by this user", (f"chmod u+r {file}",)) from None
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "not a file name"
        raise _unreadable(file, f"cannot be read: {reason}", (Hint(Act.RUN_DOCTOR),)) from None


def parse(
    data: bytes, environ: Mapping[str, str], *, file: str = "moot.toml", folder: Path = Path()
) -> Settings:
    """The settings that a file's bytes say. `folder` is where `${file:…}` begins to look."""
    return parse_file(data, environ, file=file, folder=folder).settings


def parse_file(data: bytes, environ: Mapping[str, str], *, file: str, folder: Path) -> SettingsFile:
    document = Document(file, _text(data, file))
    try:
        tree = _tree(document)
        where = _places(document.text)
        origins, problems = overlay(tree, environ)
        raw = deepcopy(tree)
        problems += expand(tree, origins, environ, folder)
        problems += check(tree, raw)
    except RecursionError:
        words = "is nested too deeply; expected tables of plain values"
        raise refusal([SettingProblem((), words, place=_deepest(document.text))], document) from None
    if not problems:
        problems += overlapping(tree, Home(folder))
    if problems:
        raise refusal(_with_places(problems, where, origins), document)
    _command_brains_do_one_thing_at_a_time(tree)
    try:
        settings = msgspec.convert(tree, Settings)
    except msgspec.ValidationError as error:  # schema/checks.py has missed something: report it, if less well
        raise refusal([SettingProblem((), f"is broken: {error}", place=_START)], document) from error
    return SettingsFile(settings, document, where, sha256(data).hexdigest())


def terms(settings: Settings) -> Terms:
    """The settings as far as the verbs need them."""
    return Terms(
        groups=settings.groups,
        limits=settings.limits,
        lease_seconds=settings.host.lease_seconds,
        user=settings.hub.user,
        policy=settings.hub.policy,
        spawn=SpawnLimits(*(getattr(settings.spawn, name) for name in SpawnLimits.__struct_fields__)),
    )


def not_yet(settings: Settings) -> list[str]:
    """Settings that are checked but do nothing in this version, for `doctor` and `up` to say.

    Remove a line when its feature is built.
    """
    without_effect: dict[str, bool] = {}
    for agent in settings.agents:
        without_effect[f"agents.{agent.name}.brain"] = not is_built(agent.brain)
    return [key for key, unused in without_effect.items() if unused]


_START = positions.TomlSpan(0, 0, 0)


def _text(data: bytes, file: str) -> str:
    if len(data) > MAX_FILE_BYTES:
        raise _unreadable(
            file, f"is longer than {MAX_FILE_BYTES} bytes; expected a few kilobytes", (Hint(Act.RUN_DOCTOR),)
        )
    try:
        text, wrong = data.decode("utf-8-sig"), ""
        at = text.find("\0")
    except UnicodeDecodeError as error:
        text, at = data.decode("utf-8-sig", "replace"), len(data[: error.start].decode("utf-8-sig"))
        wrong = f"byte 0x{data[error.start]:02x} is not UTF-8; save the file as UTF-8"
    if at >= 0:
        words = wrong or "there is a NUL byte; expected a text file in UTF-8"
        raise refusal(
            [SettingProblem((), words, place=positions.TomlSpan(at, at, at + 1))], Document(file, text)
        )
    return text.replace("\r\n", "\n")


def _tree(document: Document) -> Tree:
    try:
        return tomllib.loads(document.text)
    except ValueError as error:  # not only TOMLDecodeError: a number of 5,000 digits is Python's own refusal
        message = str(error)
        words = f"is not TOML: {message[:1].lower()}{_POSITION.sub('', message)[1:]}"
        at = _syntax_error_at(message, document.text)
        detail = _VALUES if message.startswith("Invalid value") else ""
        raise refusal(
            [SettingProblem((), words, detail, place=positions.TomlSpan(at, at, at + 1))], document
        ) from None


def _syntax_error_at(message: str, text: str) -> int:
    match = _POSITION.search(message)
    if match is None:
        long_number = _LONG_NUMBER.search(text)
        return long_number.start() if long_number else 0
    return positions.offset_of(text, int(match[1]), int(match[2])) if match[1] else len(text.rstrip("\n"))


def _places(text: str) -> dict[positions.Path, positions.TomlSpan]:
    try:
        return positions.places(text)
    except (
        positions.NotPlaced
    ):  # a dialect of TOML newer than this walk: the error stays right, its place is coarse
        return {}


def _with_places(
    problems: list[SettingProblem],
    where: Mapping[positions.Path, positions.TomlSpan],
    origins: Mapping[positions.Path, str],
) -> list[SettingProblem]:
    """The problems with their places, one for each place."""
    by_place: dict[object, SettingProblem] = {}
    for problem in problems:
        variable = problem.variable or origins.get(problem.path, "")
        if variable:
            words = problem.words if problem.variable else f"{variable}: {problem.words}"
            fix = problem.fix if problem.variable else (f"unset {variable}",)
            placed = msgspec.structs.replace(problem, words=words, variable=variable, fix=fix)
        else:
            placed = msgspec.structs.replace(problem, place=_nearest(problem.path, where))
        by_place.setdefault(variable or problem.path, placed)
    return list(by_place.values())


def _nearest(path: positions.Path, where: Mapping[positions.Path, positions.TomlSpan]) -> positions.TomlSpan:
    """The place of a key or, if it has none, of the table it is in."""
    return next((where[path[:depth]] for depth in range(len(path), 0, -1) if path[:depth] in where), _START)


def _deepest(text: str) -> positions.TomlSpan:
    """The line with the most brackets and dots: Python says only that the nesting is too deep, not where."""
    lines = text.split("\n")
    worst = max(range(len(lines)), key=lambda number: sum(lines[number].count(mark) for mark in "[{."))
    at = positions.offset_of(text, worst + 1, 1)
    return positions.TomlSpan(at, at, at + len(lines[worst]))


def _command_brains_do_one_thing_at_a_time(tree: Tree) -> None:
    for agent in [*tree.get("agents", []), *tree.get("templates", {}).values()]:
        if is_cli(agent.get("brain", "")):
            agent.setdefault("concurrency", 1)


def _unreadable(file: str, words: str, fix: tuple[Way, ...]) -> BadSettings:
    name = Document(file).short
    return BadSettings(f"{name} {words}", detail=file, fix=fix, file=file, line=0, column=0, key="", more=0)
