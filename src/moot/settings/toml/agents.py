"""The agents of moot.toml: one more, one changed, one less. Nothing is written unless the whole file then loads.

Above: `moot agents new|set|rm`. Below: edits.py changes the text, file.py keeps it.
Not here: the registry in the store, where an agent stays known after its row is gone.
"""

import tomllib
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from moot.errors import BadName, BadSettings, Conflict, NotFound
from moot.model.hint import Act, Hint
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
FACTS_OF_AN_AGENT: Final[Mapping[str, Fact]] = {
    key: fact for key, fact in FACTS[AgentSettings].items() if key != "name"
}
"""What can be set of an agent, besides its name."""

Environ = Mapping[str, str]


def add_agent(home: Home, environ: Environ, name: str, typed: Mapping[str, str]) -> Callable[[], None]:
    """Describe one more agent; the answer takes it back. `typed` are settings as people type them."""
    settings = load(home, environ)
    there = [row.name for row in settings.agents]
    if name in there:
        raise Conflict(
            f"{name} is already in moot.toml",
            fix=(Hint(Act.CHANGE_AGENT, agent=name), Hint(Act.SHOW_AGENT, agent=name)),
            agent=name,
        )
    try:
        check_name(name, taken=there, human=settings.hub.user)
    except NameProblem as problem:
        raise BadName(
            f'"{name}" cannot be used as an agent name: {problem.reason}',
            detail=f"expected {problem.expected}",
            suggestions=problem.suggestions,
            problem=problem.problem,
        ) from None
    lines = {"name": edits.literal(name)}
    for key, wanted in typed.items():
        value = read_as(key, wanted, FACTS_OF_AN_AGENT[key], fix=Hint(Act.LIST_AGENT_FIELDS))
        lines[key] = edits.literal(value, wanted)
    before = home.toml.read_bytes() if home.toml.exists() else b""
    _rewrite(home, environ, lambda text: edits.with_row(text, AGENTS, lines))
    return partial(keep, home, before)


def change_agents(
    home: Home, environ: Environ, names: Sequence[str], typed: Mapping[str, str]
) -> dict[str, dict[str, tuple[object, object]]]:
    """Set the same for several agents, all or none: name → key → before and now."""
    wanted = {(name, key): value for name in names for key, value in typed.items()}
    done = change_all(
        home, environ, {f"{AGENTS}.{name}.{key}": value for (name, key), value in wanted.items()}
    )
    changes: dict[str, dict[str, tuple[object, object]]] = {}
    for (name, key), change in zip(wanted, done, strict=True):
        changes.setdefault(name, {})[key] = change
    return changes


def rename_agent(home: Home, environ: Environ, name: str, new: str) -> None:
    """The same row under another name."""
    _rewrite(
        home,
        environ,
        lambda text: edits.with_value(text, (AGENTS, _number(text, name), "name"), edits.literal(new)),
    )


def remove_agent(home: Home, environ: Environ, name: str) -> None:
    """Take an agent's description out; not while the file links it with somebody."""
    row_of(home, environ, name)
    file = read(home, environ)
    linked = [
        file.place(("links", number))
        for number, link in enumerate(file.settings.links)
        if name in (link.sender, link.to)
    ]
    if linked:
        raise Conflict(
            f"{name} is linked in {', '.join(linked)}",
            detail="a link needs somebody at both ends; take the link out first",
            fix=FIX,
            agent=name,
        )
    _rewrite(home, environ, lambda text: edits.without_row(text, AGENTS, _number(text, name)))


def _number(text: str, name: str) -> int:
    return [row.get("name") for row in tomllib.loads(text)[AGENTS]].index(name)


def row_of(home: Home, environ: Environ, name: str) -> AgentSettings:
    """The agent that moot.toml describes under this name."""
    rows = load(home, environ).agents
    known = [row.name for row in rows]
    if name in known:
        return rows[known.index(name)]
    raise NotFound(
        f'moot.toml has no agent "{name}"',
        what="agent",
        detail=f"agents in moot.toml: {', '.join(known)}" if known else f"{home.toml} has no agents yet",
        suggestions=nearest(name, known),
        fix=(Hint(Act.NEW_AGENT, agent=name), Hint(Act.LIST_AGENTS)),
        ref=name,
    )


def _rewrite(home: Home, environ: Environ, edit: Callable[[str], str]) -> None:
    text, line_end = text_of(home)
    try:
        changed = edit(text)
    except (edits.Unplaced, positions.Lost) as reason:
        raise BadSettings(
            f"cannot change {home.toml}: {reason}",
            fix=FIX,
            file=str(home.toml),
            line=0,
            column=0,
            key=AGENTS,
        ) from None
    data = changed.replace("\n", line_end).encode()
    parse(data, environ, file=str(home.toml), folder=home.path)
    keep(home, data)
