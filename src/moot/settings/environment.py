"""Settings from the environment: `MOOT_SECTION__KEY` over the file, and `${NAME}` inside its values.

Above: load.py, between parsing and checking. Below: schema/fields.py says which settings there are.
Not here: `MOOT_HOME` and other names without a double underscore, which are read where they are used.

Secrets are in the environment or in a file of their own, never in moot.toml: a token written there in plain text is
refused, and errors show … in its place.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path as FilePath
from typing import Any, Final

from moot.model.json import Json, JsonObject
from moot.settings.problems import FIX, SettingProblem, as_toml, did_you_mean, label, near
from moot.settings.schema import constraints
from moot.settings.schema.fields import BRIDGES, FACTS, LISTS, SECRET_TABLE, TABLES, Fact
from moot.settings.toml.positions import Path
from moot.settings.values import AgentSettings, TemplateSettings

Tree = JsonObject

_PREFIX: Final = "MOOT_"
_APART: Final = "__"
_REFERENCE = re.compile(r"\$(\$?)\{([^{}]*)(\}?)")
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_FILE: Final = "file:"
_MAX_FILE_BYTES: Final = 64 * 1024
_MAX_DEPTH: Final = 32


class Unfilled(ValueError):
    """A reference that cannot be resolved; the text says which, and what to do."""


class Unset(Unfilled):
    """A reference to a variable that the environment does not have."""


def overlay(tree: Tree, environ: Mapping[str, str]) -> tuple[dict[Path, str], list[SettingProblem]]:
    """Write every `MOOT_SECTION__KEY` into the tree. Returns path → variable, and the problems."""
    origins: dict[Path, str] = {}
    problems: list[SettingProblem] = []
    for variable in sorted(environ):
        if not variable.startswith(_PREFIX) or _APART not in variable.removeprefix(_PREFIX):
            continue
        matching = [(path, fact) for name, path, fact in variables(tree) if name == variable]
        if len(matching) != 1:
            problems.append(_ambiguous(variable) if matching else _unknown(variable, tree))
            continue
        path, fact = matching[0]
        value_text = environ[variable]
        try:
            value = fact.takes.read(value_text)
        except (ValueError, KeyError):
            value = None
        if not fact.takes.fits(value):
            quoted = "the value given" if fact.secret else as_toml(value_text)
            words = f"{variable} = {quoted} is not {fact.takes.phrase}"
            problems.append(SettingProblem(path, words, variable=variable, fix=(f"unset {variable}",)))
        elif _put(tree, path, value):
            origins[path] = variable
    return origins, problems


def expand(
    tree: Tree, origins: Mapping[Path, str], environ: Mapping[str, str], folder: FilePath
) -> list[SettingProblem]:
    """Fill in `${NAME}` and `${file:PATH}` in every text of the file, in place; `$${` stays a plain `${`."""
    problems: list[SettingProblem] = []
    for holder, key, path in _texts(tree):
        if path in origins:
            continue
        text = holder[key]
        if _is_secret(path) and text and not _refers(text):
            problems.append(_plain_secret(path))
            continue
        try:
            holder[key] = _REFERENCE.sub(lambda match: _fill(match, environ, folder), text)
        except Unfilled as reason:
            if isinstance(reason, Unset) and _is_secret(path):
                holder[key] = ""  # only the hub needs it: every other command works without it
                continue
            words = f"{label(path)} = {as_toml(text)} refers to {reason}"
            problems.append(SettingProblem(path, words))
    return problems


def variables(tree: Tree) -> Iterator[tuple[str, Path, Fact]]:
    """Every variable that sets one of these settings."""
    for section, kind in TABLES.items():
        yield from _fields((section,), FACTS[kind].items())
    for number, agent in enumerate(_rows(tree.get("agents"))):
        if isinstance(name := agent.get("name"), str):
            yield from _fields(("agents", number), FACTS[AgentSettings].items(), last_word=name)
    for name in _table(tree.get("templates")):
        yield from _fields(("templates", name), FACTS[TemplateSettings].items())
    for bridge, kind in BRIDGES.items():
        plain = [(key, fact) for key, fact in FACTS[kind].items() if key != SECRET_TABLE]
        yield from _fields(("bridges", bridge), plain)
        agents = [row["name"] for row in _rows(tree.get("agents")) if isinstance(row.get("name"), str)]
        bots = _table(_table(_table(tree.get("bridges")).get(bridge)).get(SECRET_TABLE))
        for name in dict.fromkeys([*agents, *bots]):
            yield from _fields(("bridges", bridge, SECRET_TABLE), [(name, FACTS[kind][SECRET_TABLE])])


def _fields(at: Path, facts: Any, last_word: str = "") -> Iterator[tuple[str, Path, Fact]]:
    words = [str(part) for part in at[:-1]] + [last_word or str(at[-1])]
    for key, fact in facts:
        yield _PREFIX + _APART.join(_in_capitals(word) for word in [*words, key]), (*at, key), fact


def _in_capitals(word: str) -> str:
    """A variable has no dash and no dot."""
    return word.upper().replace("-", "_").replace(".", "_")


def _ambiguous(variable: str) -> SettingProblem:
    words = f"{variable} is ambiguous: in a variable, names that differ only in - _ and . look the same"
    return SettingProblem((), words, fix=(f"unset {variable}", *FIX), variable=variable)


def _unknown(variable: str, tree: Tree) -> SettingProblem:
    close = near(variable, (name.lower() for name, _, _ in variables(tree)))
    suggestions = tuple(name.upper() for name in close)
    section = variable.removeprefix(_PREFIX).split(_APART)[0].lower()
    detail = "links are set in moot.toml" if section == "links" else ""
    if section in TABLES:
        detail = f"[{section}] has {', '.join(FACTS[TABLES[section]])}"
    elif section not in LISTS and section not in ("templates", "bridges"):
        detail = f"sections are {', '.join([*TABLES, *LISTS, 'templates', 'bridges'])}"
    words = f"{variable[:100]} is not a setting{did_you_mean(suggestions)}"
    return SettingProblem((), words, detail, suggestions, (f"unset {variable[:100]}",), variable=variable)


def _put(tree: Tree, path: Path, value: Json) -> bool:
    """Put a value into the tree; False if something on the path is not a table, which is a problem of its own."""
    holder: Json = tree
    for part in path[:-1]:
        if isinstance(part, str):
            if not isinstance(holder, dict):
                return False
            holder.setdefault(part, {})
        holder = holder[part]
    if not isinstance(holder, dict):
        return False
    holder[path[-1]] = value
    return True


def _texts(tree: Tree) -> Iterator[tuple[Json, Json, Path]]:
    """Every text with its container; tables and lists come before their contents."""
    waiting: list[tuple[Json, Path]] = [(tree, ())]
    while waiting:
        holder, path = waiting.pop()
        if len(path) > _MAX_DEPTH:
            continue  # no setting is that deep: the checks refuse an outer key
        for key, value in list(holder.items() if isinstance(holder, dict) else enumerate(holder)):
            if isinstance(value, str):
                yield holder, key, (*path, key)
            elif isinstance(value, dict | list):
                waiting.append((value, (*path, key)))


def _fill(match: re.Match[str], environ: Mapping[str, str], folder: FilePath) -> str:
    plain, name, closed = match.groups()
    if plain:
        return match.group()[1:]
    if not closed:
        raise Unfilled('"${" without "}"; write $${ for a plain ${')
    if name.startswith(_FILE):
        return _contents(name.removeprefix(_FILE), environ, folder)
    if not _VARIABLE.fullmatch(name):
        raise Unfilled(f"{as_toml(name)}, which cannot be a variable's name; write $${{ for a plain ${{")
    if name not in environ:
        close = did_you_mean(near(name, [each for each in environ if each.isupper()]))
        raise Unset(f"the environment variable {name}, which is not set{close}")
    return environ[name]


def _contents(name: str, environ: Mapping[str, str], folder: FilePath) -> str:
    home = environ.get("HOME", "~")
    path = folder / (home + name[1:] if name.startswith("~/") else name)
    try:
        with path.open("rb") as file:
            data = file.read(_MAX_FILE_BYTES + 1)
        if len(data) > _MAX_FILE_BYTES:
            raise Unfilled(f"the file {as_toml(name)}, which is longer than {_MAX_FILE_BYTES} bytes")
        return data.decode("utf-8").strip()
    except UnicodeDecodeError:
        raise Unfilled(f"the file {as_toml(name)}, which is not UTF-8 text") from None
    except (OSError, ValueError) as error:
        if isinstance(error, Unfilled):
            raise
        reason = getattr(error, "strerror", None) or "not a file name"
        raise Unfilled(f"the file {as_toml(name)}, which cannot be read: {reason}") from None


def _is_secret(path: Path) -> bool:
    match path:
        case ("bridges", str(bridge), str(key), *_) if bridge in BRIDGES:
            fact = FACTS[BRIDGES[bridge]].get(key)
            return fact is not None and fact.takes is constraints.SECRET
        case _:
            return False


def _refers(text: str) -> bool:
    return any(not match[1] for match in _REFERENCE.finditer(text))


def _plain_secret(path: Path) -> SettingProblem:
    name = "_".join(_in_capitals(str(part)) for part in path[1:] if part != SECRET_TABLE)
    if not _VARIABLE.fullmatch(name):
        name = "NAME"
    words = f"{label(path)} contains a secret in plain text; expected {constraints.SECRET.phrase}"
    return SettingProblem(path, words, f'write "${{{name}}}" here and set {name}', secret=True)


def _rows(value: Json) -> list[Tree]:
    return [row if isinstance(row, dict) else {} for row in value] if isinstance(value, list) else []


def _table(value: Json) -> Tree:
    return value if isinstance(value, dict) else {}
