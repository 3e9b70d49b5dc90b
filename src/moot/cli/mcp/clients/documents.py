"""Somebody else's settings file: one entry goes in, the same entry comes out, everything else stays.

A JSON file is laid out again with its own indentation, every text and number in it as it was written; TOML is touched
only where the entry stands. A file that cannot be read as strict JSON or TOML is left alone: comments in it would be
lost, and so would the user's trust.
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
        found = tomllib.loads(text) if path.suffix == ".toml" else verbatim.loads(text)
    except ValueError as error:
        raise Unreadable(f"cannot read {path}: {error}") from None
    if not isinstance(found, dict):
        raise Unreadable(f"{path} does not contain a table of settings")
    return found


def holds(document: JsonObject, edit: Edit) -> bool:
    """Whether the edit is there already."""
    found: Json = document
    for key in edit.path:
        found = found.get(key) if isinstance(found, dict) else None
    return edit.value in found if isinstance(edit, Add) and isinstance(found, list) else found == edit.value


def with_edits(path: Path, data: bytes | None, edits: Iterable[Edit]) -> bytes:
    """The file with all of them in it."""
    document = read(path, data)
    missing = [edit for edit in edits if not holds(document, edit)]
    if path.suffix == ".toml":
        return _toml_with(path, data or b"", missing)
    for edit in missing:
        _put(path, document, edit)
    return _laid_out(document, data)


def without_edits(path: Path, data: bytes, edits: Iterable[Edit], before: bytes | None) -> bytes | None:
    """The file with none of them; None where it then holds nothing and was not there before.

    What was there before comes back byte for byte as soon as it means the same.
    """
    edits = tuple(edits)
    original = read(path, before)
    left = read(path, data)
    for edit in edits:
        _take(left, edit, original)
    if left == original:
        return before
    if path.suffix == ".toml":
        return _toml_without(path, data, edits, left)
    return _laid_out(left, data)


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


def _take(document: JsonObject, edit: Edit, original: JsonObject) -> None:
    """Take it out, and with it the empty tables and lists that only it needed."""
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


def _laid_out(document: JsonObject, like: bytes | None) -> bytes:
    """As JSON, indented as the file was, with or without its last line end."""
    met = _INDENTED.search(like or b"")
    indent: str | int = met[1].decode() if met else INDENT
    text = verbatim.dumps(document, indent if isinstance(indent, str) else " " * indent)
    ends = not like or like.endswith(b"\n")
    return f"{text}\n".encode() if ends else text.encode()


# --- TOML ------------------------------------------------------------------------------------------------


def toml_table(path: tuple[str, ...], values: JsonObject) -> str:
    rows = [f"{key} = {literal(value)}" for key, value in values.items()]
    return "\n".join([f"[{'.'.join(path)}]", *rows, ""])


def _toml_with(path: Path, data: bytes, edits: list[Edit]) -> bytes:
    """A new table stands at the end, where it can change the meaning of nothing else."""
    text = data.decode()
    for edit in edits:
        before = "" if not text or text.endswith("\n\n") else "\n" if text.endswith("\n") else "\n\n"
        text += before + toml_table(edit.path, edit.value)
    wanted = deepcopy(read(path, data))
    for edit in edits:
        _put(path, wanted, edit)
    made = text.encode()
    if read(path, made) != wanted:
        raise Unreadable(f"cannot add the entry to {path} because of how the file is laid out")
    return made


def _toml_without(path: Path, data: bytes, edits: tuple[Edit, ...], wanted: JsonObject) -> bytes:
    text = data.decode()
    for edit in edits:
        name = re.escape(".".join(edit.path))
        table = rf"^[ \t]*\[{name}(?:\.[^\]\n]+)?\][^\n]*\n(?:(?![ \t]*\[)[^\n]*(?:\n|\Z))*"
        text = re.sub(table, "", text, flags=re.MULTILINE)
    made = text.encode()
    if read(path, made) != wanted:
        raise Unreadable(f"cannot find the entry in {path} because of how the file is laid out")
    return made
