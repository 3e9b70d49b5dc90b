"""Change one value in a TOML text, or add or remove a row, and leave everything else as it is: comments, order, layout.

Above: `moot config set`, `moot agents new|set|rm`. Below: positions.py says where things are.
Not here: whether the value makes sense; load.py reads the result before it is saved.
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
    """The layout of the text has no place for the value."""


def literal(value: Json, typed: str = "") -> str:
    """A value as TOML; a number keeps the form in which it was typed."""
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


def with_value(text: str, path: Path, value_text: str) -> str:
    """The text with `path` set. Line ends are `\\n`; both texts are valid TOML."""
    return _verified(
        _with_value_text(text, places(text), path, value_text), _expected(text, path, value_text)
    )


def with_key(text: str, path: Path, key: str) -> str:
    """The text with the last part of `path` renamed to `key`; its value stays."""
    place, expected = places(text)[path], deepcopy(tomllib.loads(text))
    holder: Json = expected
    for part in path[:-1]:
        holder = holder[part]
    holder[key] = holder.pop(path[-1])
    before, equals, after = text[place.start : place.value].partition("=")
    prefix, dot, _ = before.rstrip().rpartition(".")
    space = before[len(before.rstrip()) :]
    edited = f"{prefix}{dot}{_key(key)}{space}{equals}{after}"
    return _verified(text[: place.start] + edited + text[place.value :], expected)


def with_row(text: str, table: str, values: Mapping[str, str]) -> str:
    """The text with one more `[[table]]`, after the last one or at the end. `values` are TOML literals."""
    where = places(text)
    rows = [path for path in where if len(path) == _ROW and path[0] == table]
    at = _end_of_row(text, where, rows[-1]) if rows else len(text)
    lines = [f"[[{_key(table)}]]", *(f"{_key(key)} = {value}" for key, value in values.items())]
    before, after = text[:at].rstrip(_END), text[at:].lstrip(_END)
    edited = f"{_END}{_END}".join(part for part in (before, _END.join(lines), after or "") if part)
    expected = deepcopy(tomllib.loads(text))
    expected.setdefault(table, []).append({key: tomllib.loads(f"x = {values[key]}")["x"] for key in values})
    return _verified(edited if after else edited + _END, expected)


def without_row(text: str, table: str, number: int) -> str:
    """The text without one `[[table]]`, counted from 0. Comments above its header stay, and so does what follows
    the first empty line after its last value."""
    where, path = places(text), (table, number)
    begin = text.rfind(_END, 0, where[path].start) + 1
    before, after = text[:begin], text[_end_of_row(text, where, path) :].lstrip(_END)
    expected = deepcopy(tomllib.loads(text))
    del expected[table][number]
    if not expected[table]:
        del expected[table]
    return _verified(before + after if after else f"{before.rstrip(_END)}{_END}", expected)


def _end_of_row(text: str, where: Mapping[Path, TomlSpan], path: Path) -> int:
    """The offset after the last line of a `[[table]]` and the comments that follow it without a gap, unless these are
    right above the next header and so belong to that."""
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


def _verified(edited: str, expected: JsonObject) -> str:
    with suppress(ValueError):
        if tomllib.loads(edited) == expected:
            return edited
    raise Unplaced("there is no place for it because of how the file is laid out")


def _expected(text: str, path: Path, value_text: str) -> JsonObject:
    tree = deepcopy(tomllib.loads(text))
    holder: Json = tree
    for part in path[:-1]:
        if isinstance(part, str):
            holder.setdefault(part, {})
        holder = holder[part]
    holder[path[-1]] = tomllib.loads(f"x = {value_text}")["x"]
    return tree


def _with_value_text(text: str, where: Mapping[Path, TomlSpan], path: Path, value_text: str) -> str:
    there = where.get(path)
    if there is not None:
        return text[: there.value] + value_text + text[there.end :]
    table, key = path[:-1], _key(str(path[-1]))
    place = where.get(table)
    line = f"{key} = {value_text}"
    if place is None:
        return _with_table(text, table, line)
    if place.value == place.start:
        return _with_line(text, _end_of_table(text, where, place), line)
    if text.startswith("{", place.value):
        inside = text[place.value + 1 : place.end - 1].strip()
        return text[: place.end - 1].rstrip() + (", " if inside else " ") + line + " }" + text[place.end :]
    prefix = text[place.start : place.value].partition("=")[0].strip().rpartition(".")[0]
    return _with_line(text, place.end, f"{prefix}.{line}")


def _end_of_table(text: str, where: Mapping[Path, TomlSpan], header: TomlSpan) -> int:
    """The offset after the last value under a header; after the header itself if it has none."""
    heads = [place.start for place in where.values() if place.value == place.start > header.start]
    following = [at for at in heads if _HEADER.match(text, text.rfind(_END, 0, at) + 1)]
    limit = min(following, default=len(text))
    return max([place.end for place in where.values() if header.start <= place.start < limit])


def _with_line(text: str, offset: int, line: str) -> str:
    """The text with a new line after the one that contains the offset, with the same indentation."""
    at = _line_end(text, offset)
    begin = text.rfind(_END, 0, offset) + 1
    current_line = text[begin:at]
    indent = (
        current_line[: len(current_line) - len(current_line.lstrip())]
        if not current_line.lstrip().startswith("[")
        else ""
    )
    return f"{text[:at]}{_END}{indent}{line}{text[at:]}"


def _with_table(text: str, table: Path, line: str) -> str:
    if not table or any(isinstance(part, int) for part in table):
        raise Unplaced("there is no such table")
    head = ".".join(_key(str(part)) for part in table)
    before = f"{text.rstrip()}{_END}{_END}" if text.strip() else ""
    return f"{before}[{head}]{_END}{line}{_END}"


def _key(name: str) -> str:
    return name if _BARE.fullmatch(name) else literal(name)
