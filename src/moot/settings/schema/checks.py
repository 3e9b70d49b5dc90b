"""Checks what was read: keys that exist, values they take, names and links that fit together.

Above: load.py. Below: fields.py (what is allowed), rules/words/names.py (what an agent may be called).
Not here: where in the file a problem is; load.py knows that. All problems are found, not only the first.
"""

from collections.abc import Iterator, Mapping
from itertools import pairwise
from typing import Final

from msgspec import NODEFAULT, structs

from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.json import Json, JsonObject
from moot.model.records.link import Link, LinkId, Relationship
from moot.rules.graph import NO_LINKS, Graph
from moot.rules.words.names import NAME_EXPECTED, NameProblem, check_display, check_name, is_name
from moot.rules.words.redact import bare_brain
from moot.settings.problems import FIX, SettingProblem, as_toml, did_you_mean, dotted, label, near
from moot.settings.schema import constraints
from moot.settings.schema.fields import BRIDGES, FACTS, LISTS, SECRET_TABLE, TABLES, Fact
from moot.settings.schema.tools import ToolName, troubles
from moot.settings.toml.positions import Path
from moot.settings.values import HubSettings, Section, Settings, TemplateSettings

Tree = JsonObject

_HUMAN: Final = "human"  # reserved anyway, so that it adds nothing when the human's own name is checked


def check(tree: Tree, raw: Tree) -> list[SettingProblem]:
    """All problems of a tree; `raw` is the tree before `${…}` was filled in, for showing values."""
    return list(_Check(raw).settings(tree))


class _Check:
    def __init__(self, raw: Tree) -> None:
        self.raw = raw

    def settings(self, tree: Tree) -> Iterator[SettingProblem]:
        sections = [field.encode_name for field in structs.fields(Settings)]
        for name, value in tree.items():
            if name in TABLES:
                yield from self.table((name,), value, TABLES[name])
            elif name in LISTS:
                yield from self.rows((name,), value, LISTS[name])
            elif name == "templates":
                yield from self.templates(value)
            elif name == "bridges":
                yield from self.bridges(value)
            else:
                yield _unknown((name,), sections, "a section")
        yield from self.names(tree)
        yield from self.links(_rows(tree, "links"))
        yield from self.rings(_rows(tree, "links"))
        yield from self.backoff(tree.get("limits"))

    def table(self, path: Path, value: object, kind: Section) -> Iterator[SettingProblem]:
        if not isinstance(value, dict):
            yield SettingProblem(
                path, f"{label(path)} = {as_toml(value)} is not a table; write [{dotted(path)}]"
            )
            return
        facts = FACTS[kind]
        for key, inner in value.items():
            if key not in facts:
                yield _unknown((*path, key), list(facts), f"a setting of {_title(path)}")
            elif key == SECRET_TABLE:
                yield from self.secrets((*path, key), inner, facts[key])
            elif not facts[key].takes.fits(inner):
                yield self.misfit((*path, key), inner, facts[key])
            else:
                yield from self.closer_checks((*path, key), inner, facts[key])
        for field in structs.fields(kind):
            required = field.default is NODEFAULT and field.default_factory is NODEFAULT
            if required and field.encode_name not in value:
                phrase = facts[field.encode_name].takes.phrase
                yield SettingProblem(path, f"{_title(path)} has no {field.encode_name}; expected {phrase}")

    def closer_checks(self, path: Path, inner: Json, fact: Fact) -> Iterator[SettingProblem]:
        """Checks beyond the form of a value."""
        if fact.takes is constraints.TOOLS:
            yield from self.tools(path, inner)
        elif fact.takes is constraints.TEMPLATES:
            yield from self.spawns(path, inner)
        elif fact.takes in (constraints.BRAIN, constraints.SUMMING) and has_secret(inner):
            yield _secret_in_brain(path, inner)

    def spawns(self, path: Path, names: list[str]) -> Iterator[SettingProblem]:
        templates = self.raw.get("templates")
        templates_known = list(templates) if isinstance(templates, dict) else []
        for number, name in enumerate(names):
            if name not in (*templates_known, constraints.EVERY_TEMPLATE):
                at = (*path, number)
                words = (
                    f"{label(at)} = {as_toml(name)} is no template; expected the NAME of a [templates.NAME]"
                )
                yield SettingProblem(at, words, suggestions=near(name, templates_known))

    def tools(self, path: Path, tools: list[str]) -> Iterator[SettingProblem]:
        for number, words in troubles(tools):
            at = (*path, number)
            raw = self.raw_value(at, tools[number])
            close = near(tools[number].split(":")[0], list(ToolName)) if "is not a tool" in words else ()
            text = f"{label(at)} = {as_toml(raw)} {words}"
            yield SettingProblem(at, text, _filled_in_note(tools[number], raw), close)

    def rows(self, path: Path, value: object, kind: Section) -> Iterator[SettingProblem]:
        if not isinstance(value, list):
            words = (
                "is one table" if isinstance(value, dict) else f"= {as_toml(value)} is not a list of tables"
            )
            yield SettingProblem(path, f"{label(path)} {words}; write [[{dotted(path)}]] above each")
            return
        for number, row in enumerate(value):
            if isinstance(row, dict):
                yield from self.table((*path, number), row, kind)
            else:
                yield SettingProblem(
                    (*path, number), f"{dotted((*path, number))} = {as_toml(row)} is not a table"
                )

    def templates(self, value: object) -> Iterator[SettingProblem]:
        if not isinstance(value, dict):
            yield SettingProblem(
                ("templates",), f"templates = {as_toml(value)} is not a table; write [templates.NAME]"
            )
            return
        for name, template in value.items():
            if not is_name(name):
                words = f"{as_toml(name)} cannot be used as a template name; expected {NAME_EXPECTED}"
                yield SettingProblem(("templates", name), words)
            yield from self.table(("templates", name), template, TemplateSettings)

    def bridges(self, value: object) -> Iterator[SettingProblem]:
        if not isinstance(value, dict):
            yield SettingProblem(
                ("bridges",), f"bridges = {as_toml(value)} is not a table; write [bridges.NAME]"
            )
            return
        for name, bridge in value.items():
            if name in BRIDGES:
                yield from self.table(("bridges", name), bridge, BRIDGES[name])
            else:
                yield _unknown(("bridges", name), list(BRIDGES), "a bridge")

    def secrets(self, path: Path, value: object, fact: Fact) -> Iterator[SettingProblem]:
        if not isinstance(value, dict):
            yield SettingProblem(path, f"{label(path)} is not a table of agent names and tokens", secret=True)
            return
        for name, secret in value.items():
            if not is_name(name):
                words = f"{as_toml(name)} is not an agent's name; expected {NAME_EXPECTED}"
                yield SettingProblem((*path, name), words, secret=True)
            elif not fact.takes.fits(secret):
                yield self.misfit((*path, name), secret, fact)

    def misfit(self, path: Path, value: object, fact: Fact) -> SettingProblem:
        raw = self.raw_value(path, value)
        secret = fact.secret and (fact.takes is constraints.SECRET or "@" in str(raw))
        close = near(str(raw).split(":")[0], fact.takes.choices) if fact.takes.choices else ()
        words = f"{label(path)} = {'…' if secret else as_toml(raw)} is not {fact.takes.phrase}"
        return SettingProblem(path, words, _filled_in_note(value, raw), close, secret=secret)

    def names(self, tree: Tree) -> Iterator[SettingProblem]:
        """The human's name first: agents may not have it."""
        hub = tree.get("hub")
        human = hub.get("user", HubSettings().user) if isinstance(hub, dict) else HubSettings().user
        if not isinstance(human, str):
            return
        yield from self.name(("hub", "user"), human, (), _HUMAN)
        used_names: list[str] = []
        for number, agent in enumerate(_rows(tree, "agents")):
            name = agent.get("name")
            if isinstance(name, str):
                yield from self.name(("agents", number, "name"), name, used_names, human)
                used_names.append(name)
        yield from self.displays(_rows(tree, "agents"), [human, *used_names])

    def displays(self, rows: list[Tree], used_names: list[str]) -> Iterator[SettingProblem]:
        """No agent may be displayed under another's name. Text that is not a display name at all is refused by its own
        setting."""
        for number, row in enumerate(rows):
            display = row.get("display")
            if not constraints.DISPLAY.fits(display) or not display:
                continue
            try:
                check_display(display, taken=[name for name in used_names if name != row.get("name")])
            except NameProblem as reason:
                path = ("agents", number, "display")
                words = f"{label(path)} = {as_toml(self.raw_value(path, display))} looks like a name"
                yield SettingProblem(path, f"{words}; expected {reason.expected}")

    def name(
        self, path: Path, name: str, used_names: list[str] | tuple[()], human: str
    ) -> Iterator[SettingProblem]:
        try:
            check_name(name, taken=used_names, human=human)
        except NameProblem as reason:
            raw = self.raw_value(path, name)
            words = f"{label(path)} = {as_toml(raw)} is {_name_problem(reason)}; expected {reason.expected}"
            yield SettingProblem(path, words, _filled_in_note(name, raw), reason.suggestions)

    def links(self, rows: list[Tree]) -> Iterator[SettingProblem]:
        """One link per pair, whichever way round it is written."""
        first: dict[frozenset[str], int] = {}
        for number, row in enumerate(rows):
            sender, to = row.get("from"), row.get("to")
            if not isinstance(sender, str) or not isinstance(to, str):
                continue
            pair = frozenset((sender, to))
            if len(pair) == 1:
                words = f"to = {as_toml(to)} links {as_toml(sender)} with itself; expected another agent"
                yield SettingProblem(("links", number, "to"), words)
            elif pair in first:
                words = (
                    f"{as_toml(sender)} and {as_toml(to)} already have a link, links[{first[pair]}]; "
                    "expected one for each pair"
                )
                yield SettingProblem(("links", number), words)
            first.setdefault(pair, number)

    def rings(self, rows: list[Tree]) -> Iterator[SettingProblem]:
        """No agent may be its own superior, directly or through others."""
        graph = NO_LINKS
        for number, row in enumerate(rows):
            link = _link(number, row)
            if link is None or graph.between(*link.ends) is not None:
                continue
            ring, graph = graph.ring_with(link), graph.with_link(link)
            if ring:
                named_rows = [
                    f"{as_toml(above)} is superior of {as_toml(below)} ({_row(graph, above, below)})"
                    for above, below in pairwise(ring)
                ]
                words = f"superiors may not form a ring; expected one of these to be a peer: {', '.join(named_rows)}"
                yield SettingProblem(("links", number), words)
                graph = graph.without(link.id)

    def backoff(self, limits: object) -> Iterator[SettingProblem]:
        if not isinstance(limits, dict):
            return
        shortest, longest = (
            limits.get("pair_backoff_seconds", 2.0),
            limits.get("pair_backoff_max_seconds", 30.0),
        )
        if isinstance(shortest, int | float) and isinstance(longest, int | float) and 0 <= longest < shortest:
            key = max(("pair_backoff_seconds", "pair_backoff_max_seconds"), key=lambda each: each in limits)
            words = (
                f"pair_backoff_max_seconds = {as_toml(longest)} is less than "
                f"pair_backoff_seconds = {as_toml(shortest)}"
            )
            yield SettingProblem(("limits", key), f"{words}; expected it to be at least as long")

    def raw_value(self, path: Path, value: Json) -> Json:
        holder: Json = self.raw
        try:
            for part in path:
                holder = holder[part]
        except (KeyError, IndexError, TypeError):
            return value
        return holder


def _link(number: int, row: Tree) -> Link | None:
    """A row as a link, to look for rings; its names serve as ids. None if the row is wrong otherwise."""
    source, target, relationship = row.get("from"), row.get("to"), row.get("relationship", Relationship.PEER)
    if not isinstance(source, str) or not isinstance(target, str) or source == target:
        return None
    if relationship not in list(Relationship):
        return None
    return Link(
        id=LinkId(f"links[{number}]"),
        source=ParticipantId(source),
        target=ParticipantId(target),
        relationship=Relationship(relationship),
    )


def _row(graph: Graph, above: ParticipantId, below: ParticipantId) -> str:
    link = graph.between(above, below)
    return "" if link is None else link.id


def _unknown(path: Path, allowed: list[str], what: str) -> SettingProblem:
    key = str(path[-1])
    close = near(key, allowed)
    homes = [f"[{name}]" for name, kind in TABLES.items() if key in FACTS[kind]]
    homes += [f"[[{name}]]" for name, kind in LISTS.items() if key in FACTS[kind]]
    elsewhere = f"{key} is a setting of {' and '.join(homes)}" if homes else ""
    words = f"{as_toml(key)[1:-1]} is not {what}{did_you_mean(close)}"
    detail = "\n".join(part for part in (elsewhere, f"expected one of {', '.join(allowed)}") if part)
    return SettingProblem(path, words, detail, close)


def has_secret(brain: str) -> bool:
    return not brain.startswith(("command:", "acp:")) and bare_brain(brain) != brain


def _secret_in_brain(path: Path, brain: str) -> SettingProblem:
    """A secret in the name of a brain would be stored, shown and backed up with it."""
    bare = bare_brain(brain)
    host = bare.partition("://")[2].partition("/")[0]
    words = "has a user, a password or a query in its address; expected the bare address"
    detail = f"write {as_toml(bare)[1:-1]}, and set the key for {as_toml(host)[1:-1]} separately"
    fix = (*FIX, Hint(Act.SET_KEY, provider=as_toml(host)[1:-1]))
    return SettingProblem(path, f"{label(path)} {words}", detail, secret=True, fix=fix)


def _name_problem(reason: NameProblem) -> str:
    match reason.problem:
        case "shape":
            return "not a name"
        case "reserved":
            return "a reserved name"
        case "taken":
            return "a name that is taken"
        case "confusable":
            return f"a name that looks like {reason.clashes_with!r}"


def _filled_in_note(value: object, raw: object) -> str:
    return "" if value == raw else "this is the value after ${…} was filled in"


def _title(path: Path) -> str:
    return f"[[{path[0]}]]" if isinstance(path[-1], int) else f"[{dotted(path)}]"


def _rows(tree: Mapping[str, object], name: str) -> list[Tree]:
    """The rows of a list; what is not a table counts as an empty one, so that the numbers stay right."""
    value = tree.get(name)
    return [row if isinstance(row, dict) else {} for row in value] if isinstance(value, list) else []
