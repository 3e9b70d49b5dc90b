"""Change one value in a TOML text, or add or take out a row, and leave everything else as its owner wrote it:
comments, order, layout.

Above: `moot config set`, `moot agents new|set|rm`. Below: positions.py says where things stand.
Not here: whether the value makes sense; load.py reads the result before it is kept.
"""

import json
import re
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Final

from moot.model.json import Json, JsonObject
from moot.settings.toml.positions import Path, TomlSpan, places

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)
_END: Final = "\n"
_ROW: Final = 2
"""Parts of the path of a row: its table and its number."""


class Unplaced(ValueError):
    """The text is laid out in a way that has no place for the value."""


def literal(value: Json, typed: str = "") -> str:
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


def _reads_as(typed: str, value: Json) -> bool:
    try:
        return bool(tomllib.loads(f"x = {typed.strip()}")["x"] == value)
    except ValueError:
        return False


def with_value(text: str, path: Path, written: str) -> str:
    """The text with `path` set. Line ends are `\\n`; the text is valid TOML before, and the answer is."""
    return _if_it_says(_changed(text, places(text), path, written), _expected(text, path, written))


def with_key(text: str, path: Path, key: str) -> str:
    """The text with the last part of `path` called `key`; what it holds stays."""
    place, expected = places(text)[path], deepcopy(tomllib.loads(text))
    holder: Json = expected
    for part in path[:-1]:
        holder = holder[part]
    holder[key] = holder.pop(path[-1])
    before, equals, after = text[place.start : place.value].partition("=")
    prefix, dot, _ = before.rstrip().rpartition(".")
    space = before[len(before.rstrip()) :]
    made = f"{prefix}{dot}{_key(key)}{space}{equals}{after}"
    return _if_it_says(text[: place.start] + made + text[place.value :], expected)


def with_row(text: str, table: str, values: Mapping[str, str]) -> str:
    """The text with one more `[[table]]`, behind the last one or at the end. `values` are written as TOML."""
    where = places(text)
    rows = [path for path in where if len(path) == _ROW and path[0] == table]
    at = _end_of_row(text, where, rows[-1]) if rows else len(text)
    lines = [f"[[{_key(table)}]]", *(f"{_key(key)} = {value}" for key, value in values.items())]
    before, after = text[:at].rstrip(_END), text[at:].lstrip(_END)
    made = f"{_END}{_END}".join(part for part in (before, _END.join(lines), after or "") if part)
    expected = deepcopy(tomllib.loads(text))
    expected.setdefault(table, []).append({key: tomllib.loads(f"x = {values[key]}")["x"] for key in values})
    return _if_it_says(made if after else made + _END, expected)


def without_row(text: str, table: str, number: int) -> str:
    """The text without one `[[table]]`, counted from 0. Comments above its header stay, and so does what stands
    behind the first empty line after its last value."""
    where, path = places(text), (table, number)
    begin = text.rfind(_END, 0, where[path].start) + 1
    before, after = text[:begin], text[_end_of_row(text, where, path) :].lstrip(_END)
    expected = deepcopy(tomllib.loads(text))
    del expected[table][number]
    if not expected[table]:
        del expected[table]
    return _if_it_says(before + after if after else f"{before.rstrip(_END)}{_END}", expected)


def _end_of_row(text: str, where: Mapping[Path, TomlSpan], path: Path) -> int:
    """Behind the last line of a `[[table]]` and the comments that follow it without a gap, unless these stand right
    above the next header and so belong to that."""
    header = where[path]
    if header.value != header.start:
        raise Unplaced("its rows are not written as [[…]]")
    last = at = _line_end(text, _end_of_table(text, where, header))
    while text[at + 1 :].lstrip(" \t").startswith("#"):
        at = _line_end(text, at + 1)
    return last if _HEADER.match(text, at + 1) else at


def _line_end(text: str, offset: int) -> int:
    newline = text.find(_END, offset)
    return len(text) if newline < 0 else newline


def _if_it_says(made: str, expected: JsonObject) -> str:
    with suppress(ValueError):
        if tomllib.loads(made) == expected:
            return made
    raise Unplaced("there is no place for it because of how the file is laid out")


def _expected(text: str, path: Path, written: str) -> JsonObject:
    tree = deepcopy(tomllib.loads(text))
    holder: Json = tree
    for part in path[:-1]:
        if isinstance(part, str):
            holder.setdefault(part, {})
        holder = holder[part]
    holder[path[-1]] = tomllib.loads(f"x = {written}")["x"]
    return tree


def _changed(text: str, where: Mapping[Path, TomlSpan], path: Path, written: str) -> str:
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


def _end_of_table(text: str, where: Mapping[Path, TomlSpan], header: TomlSpan) -> int:
    """Behind the last value under the header, before the next one; behind the header where there is none."""
    heads = [place.start for place in where.values() if place.value == place.start > header.start]
    following = [at for at in heads if _HEADER.match(text, text.rfind(_END, 0, at) + 1)]
    limit = min(following, default=len(text))
    return max([place.end for place in where.values() if header.start <= place.start < limit])


def _inserted(text: str, offset: int, line: str) -> str:
    """A new line behind the one that holds the offset, with whatever comment stands there; indented alike."""
    at = _line_end(text, offset)
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
