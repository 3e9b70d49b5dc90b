"""Edits another program's settings file: adds our entry, removes it again, and leaves everything else alone.

A JSON file is written again with its own indentation, every text and number as it was; TOML is changed only where the
entry is. A file that is not strict JSON or TOML is left alone, since its comments would be lost.
"""

import re
import tomllib
from collections.abc import Iterable
from copy import deepcopy
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from moot.cli.mcp.clients import verbatim
from moot.cli.mcp.clients.files import Unreadable
from moot.model.json import Json, JsonObject
from moot.settings.toml.edits import literal

INDENT: Final = 2
_INDENTED = re.compile(rb"^([ \t]+)\S", re.MULTILINE)


class Put(Struct, frozen=True, tag="put"):
    """A value under a key."""

    path: tuple[str, ...]
    value: Json


class Add(Struct, frozen=True, tag="add"):
    """One more item in a list."""

    path: tuple[str, ...]
    value: Json


Edit: TypeAlias = Put | Add


def read(path: Path, data: bytes | None) -> JsonObject:
    """What the file says; nothing where it is missing or empty."""
    if data is None or not data.strip():
        return {}
    try:
        text = data.decode("utf-8-sig")
        document = tomllib.loads(text) if path.suffix == ".toml" else verbatim.loads(text)
    except ValueError as error:
        raise Unreadable(f"cannot read {path}: {error}") from None
    if not isinstance(document, dict):
        raise Unreadable(f"{path} does not contain a table of settings")
    return document


def holds(document: JsonObject, edit: Edit) -> bool:
    """Whether the edit is there already."""
    value: Json = document
    for key in edit.path:
        value = value.get(key) if isinstance(value, dict) else None
    return edit.value in value if isinstance(edit, Add) and isinstance(value, list) else value == edit.value


def with_edits(path: Path, data: bytes | None, edits: Iterable[Edit]) -> bytes:
    """The file with all of them in it."""
    document = read(path, data)
    missing = [edit for edit in edits if not holds(document, edit)]
    if path.suffix == ".toml":
        return _toml_with(path, data or b"", missing)
    for edit in missing:
        _put(path, document, edit)
    return _lay_out(document, data)


def without_edits(path: Path, data: bytes, edits: Iterable[Edit], before: bytes | None) -> bytes | None:
    """The file with none of them; None where it then holds nothing and was not there before.

    What was there before comes back byte for byte as soon as it means the same.
    """
    edits = tuple(edits)
    original = read(path, before)
    left = read(path, data)
    for edit in edits:
        _remove(left, edit, original)
    if left == original:
        return before
    if path.suffix == ".toml":
        return _toml_without(path, data, edits, left)
    return _lay_out(left, data)


def _put(path: Path, document: JsonObject, edit: Edit) -> None:
    holder = document
    for key in edit.path[:-1]:
        holder = holder.setdefault(key, {})
        if not isinstance(holder, dict):
            raise Unreadable(f"{key} in {path} is not a table")
    if isinstance(edit, Put):
        holder[edit.path[-1]] = edit.value
        return
    items = holder.setdefault(edit.path[-1], [])
    if not isinstance(items, list):
        raise Unreadable(f"{edit.path[-1]} in {path} is not a list")
    items.append(edit.value)


def _remove(document: JsonObject, edit: Edit, original: JsonObject) -> None:
    """Remove an edit, and the empty tables and lists that only it needed."""
    holders: list[Json] = [document]
    for key in edit.path[:-1]:
        if not isinstance(holders[-1], dict) or key not in holders[-1]:
            return
        holders.append(holders[-1][key])
    last = edit.path[-1]
    if not isinstance(holders[-1], dict) or last not in holders[-1]:
        return
    if isinstance(edit, Put):
        del holders[-1][last]
    elif isinstance(holders[-1][last], list):
        holders[-1][last] = [item for item in holders[-1][last] if item != edit.value]
    for depth in range(len(edit.path), 0, -1):
        holder, key = holders[depth - 1], edit.path[depth - 1]
        if holder.get(key) in ({}, []) and not _is_in(original, edit.path[:depth]):
            del holder[key]


def _is_in(document: Json, path: tuple[str, ...]) -> bool:
    for key in path:
        if not isinstance(document, dict) or key not in document:
            return False
        document = document[key]
    return True


def _lay_out(document: JsonObject, like: bytes | None) -> bytes:
    """As JSON, indented as the file was, with or without its last line end."""
    indentation = _INDENTED.search(like or b"")
    indent: str | int = indentation[1].decode() if indentation else INDENT
    text = verbatim.dumps(document, indent if isinstance(indent, str) else " " * indent)
    ends = not like or like.endswith(b"\n")
    return f"{text}\n".encode() if ends else text.encode()


# --- TOML ------------------------------------------------------------------------------------------------


def toml_table(path: tuple[str, ...], values: JsonObject) -> str:
    rows = [f"{key} = {literal(value)}" for key, value in values.items()]
    return "\n".join([f"[{'.'.join(path)}]", *rows, ""])


def _toml_with(path: Path, data: bytes, edits: list[Edit]) -> bytes:
    """Append a new table, where it cannot change the meaning of anything else."""
    text = data.decode()
    for edit in edits:
        before = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        text += before + toml_table(edit.path, edit.value)
    expected = deepcopy(read(path, data))
    for edit in edits:
        _put(path, expected, edit)
    edited = text.encode()
    if read(path, edited) != expected:
        raise Unreadable(f"cannot add the entry to {path} because of how the file is laid out")
    return edited


def _toml_without(path: Path, data: bytes, edits: tuple[Edit, ...], expected: JsonObject) -> bytes:
    text = data.decode()
    for edit in edits:
        name = re.escape(".".join(edit.path))
        table = rf"^[ \t]*\[{name}(?:\.[^\]\n]+)?\][^\n]*\n(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*"
        text = re.sub(table, "", text, flags=re.MULTILINE)
    edited = text.encode()
    if read(path, edited) != expected:
        raise Unreadable(f"cannot find the entry in {path} because of how the file is laid out")
    return edited
