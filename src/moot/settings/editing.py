"""Change one value in a TOML text and leave everything else as its owner wrote it: comments, order, layout.

Above: `moot config set`. Below: places.py says where things stand.
Not here: whether the value makes sense; loading.py reads the result before it is kept.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from typing import Any, Final

from moot.settings.places import Path, Place, places

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_END: Final = "\n"


class Unplaced(ValueError):
    """The text is laid out in a way that has no place for the value."""


def literal(value: Any, typed: str = "") -> str:
    """A value as TOML; a number as it was typed."""
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case int() | float():
            return typed.strip() if _reads_as(typed, value) else repr(value)
        case list() | tuple():
            return "[" + ", ".join(literal(item) for item in value) + "]"
        case _:
            raise Unplaced(f"{value!r} cannot be written as a setting")


def _reads_as(typed: str, value: Any) -> bool:
    try:
        return bool(tomllib.loads(f"x = {typed.strip()}")["x"] == value)
    except ValueError:
        return False


def with_value(text: str, path: Path, written: str) -> str:
    """The text with `path` set. Line ends are `\\n`; the text is valid TOML before, and the answer is."""
    where = places(text)
    made = _changed(text, where, path, written)
    try:
        if tomllib.loads(made) == _expected(text, path, written):
            return made
    except ValueError:
        pass
    raise Unplaced("the file is laid out in a way that has no place for it")


def _expected(text: str, path: Path, written: str) -> dict[str, Any]:
    tree = deepcopy(tomllib.loads(text))
    holder: Any = tree
    for part in path[:-1]:
        if isinstance(part, str):
            holder.setdefault(part, {})
        holder = holder[part]
    holder[path[-1]] = tomllib.loads(f"x = {written}")["x"]
    return tree


def _changed(text: str, where: Mapping[Path, Place], path: Path, written: str) -> str:
    there = where.get(path)
    if there is not None:
        return text[: there.value] + written + text[there.end :]
    table, key = path[:-1], _key(str(path[-1]))
    place = where.get(table)
    line = f"{key} = {written}"
    if place is None:
        return _with_table(text, table, line)
    if place.value == place.start:
        return _inserted(text, _end_of_table(text, where, place), line)
    if text.startswith("{", place.value):
        inside = text[place.value + 1 : place.end - 1].strip()
        return text[: place.end - 1].rstrip() + (", " if inside else " ") + line + " }" + text[place.end :]
    prefix = text[place.start : place.value].partition("=")[0].strip().rpartition(".")[0]
    return _inserted(text, place.end, f"{prefix}.{line}")


def _end_of_table(text: str, where: Mapping[Path, Place], header: Place) -> int:
    """Behind the last value under the header, before the next one; behind the header where there is none."""
    heads = [place.start for place in where.values() if place.value == place.start > header.start]
    following = [at for at in heads if _HEADER.match(text, text.rfind(_END, 0, at) + 1)]
    limit = min(following, default=len(text))
    return max([place.end for place in where.values() if header.start <= place.start < limit])


def _inserted(text: str, offset: int, line: str) -> str:
    """A new line behind the one that holds the offset, with whatever comment stands there; indented alike."""
    newline = text.find(_END, offset)
    at = len(text) if newline < 0 else newline
    begin = text.rfind(_END, 0, offset) + 1
    held = text[begin:at]
    indent = held[: len(held) - len(held.lstrip())] if not held.lstrip().startswith("[") else ""
    return f"{text[:at]}{_END}{indent}{line}{text[at:]}"


def _with_table(text: str, table: Path, line: str) -> str:
    if not table or any(isinstance(part, int) for part in table):
        raise Unplaced("there is no such table")
    head = ".".join(_key(str(part)) for part in table)
    before = f"{text.rstrip()}{_END}{_END}" if text.strip() else ""
    return f"{before}[{head}]{_END}{line}{_END}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else literal(name)
