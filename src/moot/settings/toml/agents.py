"""Adds, changes and removes agents in moot.toml. Nothing is written unless the whole file then loads.

Above: `moot agents new|set|rm`, hub/agents.py (rename). Below: edits.py changes the text, file.py keeps it.
Not here: the registry in the store, where an agent stays known after its row is gone.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import partial
from typing import Final

from moot.errors import BadName, BadSettings, Conflict, NotFound
from moot.model.hint import Act, Hint
from moot.model.json import JsonObject
from moot.rules.words.mentions import nearest
from moot.rules.words.names import NameProblem, check_name
from moot.settings.catalogue import change_all, read_as
from moot.settings.home import Home
from moot.settings.load import load, parse, read
from moot.settings.problems import FIX
from moot.settings.schema.fields import FACTS, Fact
from moot.settings.toml import edits, positions
from moot.settings.toml.file import keep, text_of
from moot.settings.values import AgentSettings

AGENTS: Final = "agents"
LINKS: Final = "links"
BRIDGES: Final = "bridges"
DEFAULT_AGENT: Final = "default_agent"
BOTS: Final = "bots"
FACTS_OF_AN_AGENT: Final[Mapping[str, Fact]] = {
    key: fact for key, fact in FACTS[AgentSettings].items() if key != "name"
}
"""What can be set of an agent, besides its name."""

Environ = Mapping[str, str]


def add_agent(home: Home, environ: Environ, name: str, typed: Mapping[str, str]) -> Callable[[], None]:
    """Add an agent's row; the result is a function that undoes it. `typed` are settings as people type them."""
    settings = load(home, environ)
    existing = [row.name for row in settings.agents]
    if name in existing:
        raise Conflict(
            f"{name} is already in moot.toml",
            fix=(Hint(Act.CHANGE_AGENT, agent=name), Hint(Act.SHOW_AGENT, agent=name)),
            agent=name,
        )
    try:
        check_name(name, taken=existing, human=settings.hub.user)
    except NameProblem as problem:
        raise BadName(
            f'"{name}" cannot be used as an agent name: {problem.reason}',
            detail=f"expected {problem.expected}",
            suggestions=problem.suggestions,
            problem=problem.problem,
        ) from None
    lines = {"name": edits.literal(name)}
    for key, value_text in typed.items():
        value = read_as(key, value_text, FACTS_OF_AN_AGENT[key], fix=Hint(Act.LIST_AGENT_FIELDS))
        lines[key] = edits.literal(value, value_text)
    before = home.toml.read_bytes() if home.toml.exists() else b""
    _rewrite(home, environ, lambda text: edits.with_row(text, AGENTS, lines))
    return partial(keep, home, before)


def change_agents(
    home: Home, environ: Environ, names: Sequence[str], typed: Mapping[str, str]
) -> dict[str, dict[str, tuple[object, object]]]:
    """Set the same values for several agents, all or none. Returns name → key → before and now."""
    values = {(name, key): value for name in names for key, value in typed.items()}
    changed_values = change_all(
        home, environ, {f"{AGENTS}.{name}.{key}": value for (name, key), value in values.items()}
    )
    changes: dict[str, dict[str, tuple[object, object]]] = {}
    for (name, key), change in zip(values, changed_values, strict=True):
        changes.setdefault(name, {})[key] = change
    return changes


def rename_agent(home: Home, environ: Environ, names: Sequence[str], new: str) -> bool:
    """Rename an agent's row, and every link and bridge that names it by one of `names`. False if the file has no such
    agent."""
    described = [row.name for row in load(home, environ).agents if row.name in names]
    if not described:
        return False

    def edit(text: str) -> str:
        for path in list(_references(tomllib.loads(text), {*names} - {new})):
            is_key = path[-2] == BOTS
            change = edits.with_key if is_key else edits.with_value
            text = change(text, path, new if is_key else edits.literal(new))
        return text

    _rewrite(home, environ, edit)
    return True


def _references(tree: JsonObject, names: Collection[str]) -> Iterator[positions.Path]:
    """Where the file names an agent: its row, both ends of links, a bridge's default agent and bots."""
    for table, keys in ((AGENTS, ("name",)), (LINKS, ("from", "to"))):
        for number, row in enumerate(tree.get(table, [])):
            yield from ((table, number, key) for key in keys if row.get(key) in names)
    for bridge, its in tree.get(BRIDGES, {}).items():
        if its.get(DEFAULT_AGENT) in names:
            yield (BRIDGES, bridge, DEFAULT_AGENT)
        yield from ((BRIDGES, bridge, BOTS, name) for name in its.get(BOTS, {}) if name in names)


def remove_agent(home: Home, environ: Environ, name: str, *, also: Sequence[str] = ()) -> Callable[[], None]:
    """Remove an agent's row; the result is a function that undoes it. Refused while the file links the agent, by its
    name or a former one (`also`)."""
    row_of(home, environ, name)
    file = read(home, environ)
    linked = [
        file.place((LINKS, number))
        for number, link in enumerate(file.settings.links)
        if {name, *also} & {link.sender, link.to}
    ]
    if linked:
        raise Conflict(
            f"{name} is linked in {', '.join(linked)}",
            detail="a link needs somebody at both ends; take the link out first",
            fix=FIX,
            agent=name,
        )
    before = home.toml.read_bytes()
    _rewrite(home, environ, lambda text: edits.without_row(text, AGENTS, _number(text, name)))
    return partial(keep, home, before)


def _number(text: str, name: str) -> int:
    return [row.get("name") for row in tomllib.loads(text)[AGENTS]].index(name)


def row_of(home: Home, environ: Environ, name: str) -> AgentSettings:
    """The row of an agent in moot.toml."""
    rows = load(home, environ).agents
    names = [row.name for row in rows]
    if name in names:
        return rows[names.index(name)]
    raise NotFound(
        f'moot.toml has no agent "{name}"',
        what="agent",
        detail=f"agents in moot.toml: {', '.join(names)}" if names else f"{home.toml} has no agents yet",
        suggestions=nearest(name, names),
        fix=(Hint(Act.NEW_AGENT, agent=name), Hint(Act.LIST_AGENTS)),
        ref=name,
    )


def _rewrite(home: Home, environ: Environ, edit: Callable[[str], str]) -> None:
    text, line_end = text_of(home)
    try:
        new_text = edit(text)
    except (edits.Unplaced, positions.NotPlaced) as reason:
        raise BadSettings(
            f"cannot change {home.toml}: {reason}",
            fix=FIX,
            file=str(home.toml),
            line=0,
            column=0,
            key=AGENTS,
        ) from None
    data = new_text.replace("\n", line_end).encode()
    parse(data, environ, file=str(home.toml), folder=home.path)
    keep(home, data)
