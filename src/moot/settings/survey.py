"""Every setting by the name people use for it, with its value and where that comes from.

Above: `moot config`. Below: variables.py, which knows what can be set; editing.py, which changes the text.
`hub.port`, `agents.arya.role`, `templates.reviewer.brain`, `bridges.telegram.bots.arya`.
"""

import os
import tomllib
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from enum import Enum
from typing import Any, Final

from msgspec import NODEFAULT, Struct, structs

from moot.errors import BadSettings, BadValue, NotFound
from moot.settings import editing, places
from moot.settings.home import Home
from moot.settings.loading import load, parse
from moot.settings.meanings import BRIDGES, LISTS, SECRET_TABLE, TABLES, Fact
from moot.settings.problems import FIX, near
from moot.settings.sections import Section, TemplateSettings
from moot.settings.variables import Tree, overlay, variables

HIDDEN: Final = "…"
PRIVATE: Final = 0o600
_BOM = "\ufeff"


class Setting(Struct, frozen=True):
    key: str
    value: Any
    """As it is written in the file: references are not filled in."""
    source: str
    """`default`, `file` or `environment`."""
    path: places.Path
    fact: Fact

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "value": self.value, "source": self.source}


def survey(home: Home, environ: Mapping[str, str]) -> list[Setting]:
    """All there are. Raises what loading raises where the file is broken."""
    load(home, environ)
    written = tomllib.loads(_text(home)[0])
    tree = deepcopy(written)
    origins, _ = overlay(tree, environ)
    return [_setting(path, fact, written, tree, origins) for _, path, fact in variables(tree)]


def find(settings: list[Setting], key: str) -> Setting:
    for setting in settings:
        if setting.key == key:
            return setting
    close = near(key, [setting.key for setting in settings])
    raise NotFound(f'"{key}" is no setting', fix=("moot config list",), suggestions=close, ref=key)


def change(home: Home, environ: Mapping[str, str], key: str, typed: str) -> tuple[Any, Any]:
    """Set one value in moot.toml; answers with what was there before and what is now. Nothing is written
    unless the whole file then loads."""
    text, line_end = _text(home)
    try:
        tree = tomllib.loads(text)
    except ValueError:
        parse(text.encode(), environ, file=str(home.toml), folder=home.path)  # says where and why
        raise
    known = {_key(path, tree): (path, fact) for _, path, fact in variables(tree)}
    if key not in known:
        raise _unknown(key, list(known), tree)
    path, fact = known[key]
    value = _read(key, typed, fact)
    try:
        changed = editing.with_value(text, path, editing.literal(value, typed))
    except (editing.Unplaced, places.Lost) as reason:
        raise BadSettings(
            f"{key} cannot be set in {home.toml}: {reason}",
            fix=FIX,
            file=str(home.toml),
            line=0,
            column=0,
            key=key,
        ) from None
    data = changed.replace("\n", line_end).encode()
    parse(data, environ, file=str(home.toml), folder=home.path)
    before = _at(tree, path)
    _keep(home, data)
    return (HIDDEN if fact.secret and before is not None else before), (HIDDEN if fact.secret else value)


def _read(key: str, typed: str, fact: Fact) -> Any:
    try:
        value = fact.takes.read(typed)
    except (ValueError, KeyError):
        value = None
    if not fact.takes.fits(value):
        told = "the value" if fact.secret else f'"{typed[:60]}"'
        raise BadValue(
            f"{key} cannot be {told}", detail=f"expected {fact.takes.phrase}", fix=(f"moot config get {key}",)
        )
    return value


def _unknown(key: str, known: list[str], tree: Tree) -> NotFound:
    close = near(key, known)
    section, _, rest = key.partition(".")
    if section == "agents" and rest and not close:
        names = ", ".join(str(row.get("name")) for row in tree.get("agents", [])) or "none"
        return NotFound(
            f'"{key}" is no setting: moot.toml has no such agent',
            detail=f"agents in it: {names}",
            fix=FIX,
            ref=key,
        )
    return NotFound(f'"{key}" is no setting', fix=("moot config list",), suggestions=close, ref=key)


# --- names and values --------------------------------------------------------------------------------------


def _key(path: places.Path, tree: Tree) -> str:
    match path:
        case ("agents", int(number), key):
            return f"agents.{tree['agents'][number]['name']}.{key}"
        case _:
            return ".".join(str(part) for part in path)


def _setting(
    path: places.Path, fact: Fact, written: Tree, tree: Tree, origins: Mapping[places.Path, str]
) -> Setting:
    value, source = _at(written, path), "file"
    if path in origins:
        value, source = _at(tree, path), "environment"
        value = HIDDEN if fact.secret else value
    elif value is None:
        value, source = _default(path), "default"
    return Setting(_key(path, tree), value, source, path, fact)


def _at(tree: Any, path: places.Path) -> Any:
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _default(path: places.Path) -> Any:
    kind = _kind(path)
    if kind is None:
        return ""
    field = next(each for each in structs.fields(kind) if each.encode_name == path[-1])
    value = "" if field.default is NODEFAULT else field.default
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _kind(path: places.Path) -> Section | None:
    """None for a secret by name, which has no default."""
    match path:
        case ("bridges", str(bridge), str(key)) if key != SECRET_TABLE:
            return BRIDGES[bridge]
        case ("templates", _, _):
            return TemplateSettings
        case (str(section), int(), _):
            return LISTS[section]
        case (str(section), _) if section in TABLES:
            return TABLES[section]
        case _:
            return None


# --- the file ----------------------------------------------------------------------------------------------


def _text(home: Home) -> tuple[str, str]:
    """The text with plain line ends, and the line end it has."""
    try:
        text = home.toml.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return "", "\n"
    except (OSError, UnicodeDecodeError):
        load(home)  # says what is wrong with it
        raise
    line_end = "\r\n" if "\r\n" in text else "\n"
    return text.removeprefix(_BOM).replace("\r\n", "\n"), line_end


def _keep(home: Home, data: bytes) -> None:
    """Whole or not at all; a link stays a link, and who may read it stays who may."""
    home.make()
    target = home.toml.resolve()
    draft = target.with_name(f".{target.name}.{os.getpid()}.new")
    mode = target.stat().st_mode & 0o777 if target.exists() else PRIVATE
    try:
        file = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE)
        try:
            os.write(file, data)
            os.fchmod(file, mode)
            os.fsync(file)
        finally:
            os.close(file)
        draft.replace(target)
    except OSError as error:
        raise BadSettings(
            f"{home.toml} cannot be written: {error.strerror}", file=str(home.toml), line=0, column=0, key=""
        ) from error
    finally:
        with suppress(FileNotFoundError):
            draft.unlink()
