"""Every setting by the name people use for it, with its value and the source of the value.

Above: `moot config`. Below: environment.py, which knows what can be set; toml/edits.py, which changes the text.
`hub.port`, `agents.arya.role`, `templates.reviewer.brain`, `bridges.telegram.bots.arya`.
"""

import re
import tomllib
from collections.abc import Mapping
from copy import deepcopy
from enum import Enum
from typing import Final

from msgspec import NODEFAULT, Struct, structs

from moot.errors import BadSettings, BadValue, NotFound
from moot.model.hint import Act, Hint, Way
from moot.model.json import Json, JsonObject
from moot.settings.environment import Tree, overlay, variables
from moot.settings.home import Home
from moot.settings.load import load, parse
from moot.settings.problems import FIX, near
from moot.settings.schema.fields import BRIDGES, LISTS, SECRET_TABLE, TABLES, Fact
from moot.settings.toml import edits, positions
from moot.settings.toml.file import keep, text_of
from moot.settings.values import Section, TemplateSettings

HIDDEN: Final = "…"
_OPTION: Final = re.compile(
    r"(?P<name>[?&][\w.]*(?:password|secret|token|key)[\w.]*=)(?!\$\{)\S+?(?=&[\w.]+=|\s|$)", re.IGNORECASE
)
"""An option of an address that holds a secret, except a reference to a variable."""


class Setting(Struct, frozen=True):
    key: str
    value: object
    """As it is written in the file: references are not filled in."""
    source: str
    """`default`, `file` or `environment`."""
    path: positions.Path
    fact: Fact

    def to_dict(self) -> JsonObject:
        return {"key": self.key, "value": self.value, "source": self.source}


def survey(home: Home, environ: Mapping[str, str]) -> list[Setting]:
    """All settings. A broken file raises what loading raises."""
    load(home, environ)
    raw = tomllib.loads(text_of(home)[0])
    tree = deepcopy(raw)
    origins, _ = overlay(tree, environ)
    return [_setting(path, fact, raw, tree, origins) for _, path, fact in variables(tree)]


def find(settings: list[Setting], key: str) -> Setting:
    for setting in settings:
        if setting.key == key:
            return setting
    close = near(key, [setting.key for setting in settings])
    raise NotFound(f'unknown setting "{key}"', fix=(Hint(Act.LIST_SETTINGS),), suggestions=close, ref=key)


def change(home: Home, environ: Mapping[str, str], key: str, typed: str) -> tuple[object, object]:
    """Set one value in moot.toml; returns the value before and the new one."""
    [result] = change_all(home, environ, {key: typed})
    return result


def change_all(
    home: Home, environ: Mapping[str, str], typed: Mapping[str, str]
) -> list[tuple[object, object]]:
    """Set values in moot.toml, all or none: nothing is written unless the whole file then loads. Returns the value
    before and the new one for each."""
    text, line_end = text_of(home)
    try:
        tree = tomllib.loads(text)
    except ValueError:
        parse(text.encode(), environ, file=str(home.toml), folder=home.path)  # says where and why
        raise
    settable = {_key(path, tree): (path, fact) for _, path, fact in variables(tree)}
    changes: list[tuple[object, object]] = []
    for key, value_text in typed.items():
        if key not in settable:
            raise _unknown(key, list(settable), tree)
        path, fact = settable[key]
        if fact.secret and HIDDEN in value_text:
            raise BadValue(
                f"{key} has {HIDDEN} in place of a secret, as it is shown",
                fix=(f"write it out, or better ${{VARIABLE}}, and set {key} again",),
            )
        value = read_as(key, value_text, fact)
        text = _with_value(home, text, key, path, edits.literal(value, value_text))
        before = _at(tree, path)
        hidden = HIDDEN if fact.secret else None
        changes.append((before if before is None else hidden or before, hidden or value))
    data = text.replace("\n", line_end).encode()
    parse(data, environ, file=str(home.toml), folder=home.path)
    keep(home, data)
    return changes


def _with_value(home: Home, text: str, key: str, path: positions.Path, value_text: str) -> str:
    try:
        return edits.with_value(text, path, value_text)
    except (edits.Unplaced, positions.NotPlaced) as reason:
        raise BadSettings(
            f"cannot set {key} in {home.toml}: {reason}",
            fix=FIX,
            file=str(home.toml),
            line=0,
            column=0,
            key=key,
        ) from None


def read_as(key: str, typed: str, fact: Fact, *, fix: Way | None = None) -> object:
    """The value that a typed text stands for."""
    try:
        value = fact.takes.read(typed)
    except (ValueError, KeyError):
        value = None
    if not fact.takes.fits(value):
        quoted = "the value" if fact.secret else f'"{typed[:60]}"'
        raise BadValue(
            f"{key} cannot be {quoted}",
            detail=f"expected {fact.takes.phrase}",
            fix=(fix or Hint(Act.SHOW_SETTING, setting=key),),
        )
    return value


def _unknown(key: str, keys: list[str], tree: Tree) -> NotFound:
    close = near(key, keys)
    section, _, rest = key.partition(".")
    if section == "agents" and rest and not close:
        names = ", ".join(str(row.get("name")) for row in tree.get("agents", [])) or "none"
        return NotFound(
            f'unknown setting "{key}": moot.toml has no such agent',
            detail=f"agents in moot.toml: {names}",
            fix=FIX,
            ref=key,
        )
    return NotFound(f'unknown setting "{key}"', fix=(Hint(Act.LIST_SETTINGS),), suggestions=close, ref=key)


# --- names and values --------------------------------------------------------------------------------------


def _key(path: positions.Path, tree: Tree) -> str:
    match path:
        case ("agents", int(number), key):
            return f"agents.{tree['agents'][number]['name']}.{key}"
        case _:
            return ".".join(str(part) for part in path)


def _setting(
    path: positions.Path, fact: Fact, raw: Tree, tree: Tree, origins: Mapping[positions.Path, str]
) -> Setting:
    value, source = _at(raw, path), "file"
    if path in origins:
        value, source = _at(tree, path), "environment"
        value = HIDDEN if fact.secret else value
    elif value is None:
        value, source = _default(path), "default"
    elif fact.secret and isinstance(value, str):
        value = conceal(value)
    return Setting(_key(path, tree), value, source, path, fact)


def conceal(address: str) -> str:
    """An address without the passwords that are written in it."""
    scheme, separator, rest = address.partition("://")
    credentials, at, place = rest.rpartition("@")
    user, colon, password = credentials.partition(":")
    if colon and password and not password.startswith("${"):
        credentials = f"{user}:{HIDDEN}"
    return _OPTION.sub(rf"\g<name>{HIDDEN}", f"{scheme}{separator}{credentials}{at}{place}")


def _at(tree: Json, path: positions.Path) -> Json:
    for part in path:
        try:
            tree = tree[part]
        except (KeyError, IndexError, TypeError):
            return None
    return tree


def _default(path: positions.Path) -> object:
    kind = _kind(path)
    if kind is None:
        return ""
    field = next(each for each in structs.fields(kind) if each.encode_name == path[-1])
    value = "" if field.default is NODEFAULT else field.default
    if isinstance(value, Enum):
        return value.value
    return list(value) if isinstance(value, tuple) else value


def _kind(path: positions.Path) -> Section | None:
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
