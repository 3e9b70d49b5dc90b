"""The order of the house: rooms that one can take in at a glance, names that occur once, verbs in one style."""

import ast
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from pathlib import PurePosixPath

import pytest

from tests.architecture.source import Module, modules

MAX_MODULES = 18
"""In a folder; flow/ lists the verbs, as many as there are."""
ENDS_IN_ING = frozenset({"brain_string", "housekeeping", "paging", "tuning", "wiring"})
"""A module is a noun or a verb of the product, not an activity. These are nouns: a string, and words that have no
other."""
ANY_PER_1000_LINES = 7.6
"""Lines that say `Any`. It only goes down."""
ASKS_WHICH_FLOOR = frozenset({"flow/steps/address.py"})
"""Whom a message is for is read from its words in a group, and from who is there in a direct conversation."""


def stem(module: Module) -> str:
    return PurePosixPath(module.path).stem


def rooms(sources: Iterable[Module]) -> Counter[str]:
    """Folder → modules in it, its docstring not counted."""
    return Counter(str(PurePosixPath(m.path).parent) for m in sources if stem(m) != "__init__")


def crowded(sources: Iterable[Module]) -> Iterator[str]:
    for room, count in rooms(sources).items():
        if count > MAX_MODULES and room != "flow":
            yield f"{room}/ holds {count} modules; {MAX_MODULES} are the most"


ADAPTERS = ("stores/postgres/", "stores/sqlite/", "bridges/discord/", "bridges/telegram/")
"""Those that do the same for another database or chat app, and never import each other: each is a layer of its own
here. Whoever knows the one finds their way in the other, because its rooms have the same names."""


def layer(module: Module) -> str:
    adapter = [folder for folder in ADAPTERS if module.path.startswith(folder)]
    return adapter[0] if adapter else module.path.split("/")[0]


def named_twice(sources: Iterable[Module]) -> Iterator[str]:
    """Within a layer, which is a folder of src/moot or an adapter, a name says which module is meant."""
    known: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in sources:
        if "/" in module.path and stem(module) != "__init__":
            known[layer(module), stem(module)].append(module.path)
    yield from (" and ".join(paths) for paths in known.values() if len(paths) > 1)


def activities(sources: Iterable[Module]) -> Iterator[str]:
    for module in sources:
        if stem(module).endswith("ing") and stem(module) not in ENDS_IN_ING:
            yield f"{module.path} is named for an activity"


def is_verb(module: Module) -> bool:
    return module.path.startswith("flow/") and module.path.count("/") == 1 and stem(module) != "__init__"


def without_style(module: Module) -> Iterator[str]:
    """A verb is a module with a command, `scope` and `decide`, both of which take it."""
    functions = {node.name: node for node in module.tree.body if isinstance(node, ast.FunctionDef)}
    classes = {node.name for node in module.tree.body if isinstance(node, ast.ClassDef)}
    for name, takes in (("scope", ["command"]), ("decide", ["command", "seen", "at"])):
        found = functions.get(name)
        if found is None:
            yield f"{module.path} has no {name}"
            continue
        if [argument.arg for argument in found.args.args] != takes:
            yield f"{module.path}: {name} takes {', '.join(takes)}"
        command = found.args.args[0].annotation if found.args.args else None
        if not isinstance(command, ast.Name) or command.id not in classes:
            yield f"{module.path}: {name} takes no command of this module"


def test_a_folder_can_be_taken_in_at_a_glance() -> None:
    assert list(crowded(modules())) == []


def test_a_name_occurs_once_in_a_layer() -> None:
    assert list(named_twice(modules())) == []


def test_modules_are_things_or_verbs() -> None:
    assert list(activities(modules())) == []
    assert {stem(module) for module in modules()} >= ENDS_IN_ING, "what is gone leaves the list"


@pytest.mark.parametrize("module", [m for m in modules("flow") if is_verb(m)], ids=lambda m: m.path)
def test_a_verb_is_a_command_a_scope_and_a_decision(module: Module) -> None:
    assert list(without_style(module)) == []


@pytest.mark.parametrize("module", modules("flow"), ids=lambda m: m.path)
def test_a_verb_asks_the_floor_and_not_which_one_it_is(module: Module) -> None:
    asks = any(isinstance(node, ast.Attribute) and node.attr == "takes_rounds" for node in module.nodes())
    assert asks is (module.path in ASKS_WHICH_FLOOR)


def test_what_is_not_typed_gets_less() -> None:
    lines = [line for module in modules() for line in module.text.splitlines()]
    untyped = sum(re.search(r"\bAny\b", line) is not None for line in lines)
    assert untyped * 1000 / len(lines) <= ANY_PER_1000_LINES


@pytest.mark.parametrize(
    ("check", "paths", "complains"),
    [
        (crowded, [f"hub/a{n}.py" for n in range(MAX_MODULES)] + ["hub/__init__.py"], False),
        (crowded, [f"hub/a{n}.py" for n in range(MAX_MODULES + 1)], True),
        (crowded, [f"flow/a{n}.py" for n in range(MAX_MODULES + 1)], False),
        (named_twice, ["hub/turns.py", "hub/queries/turns.py"], True),
        (
            named_twice,
            ["hub/turns.py", "doors/turns.py", "hub/__init__.py", "hub/queries/__init__.py"],
            False,
        ),
        (activities, ["hub/handing.py"], True),
        (activities, ["hub/process/housekeeping.py", "hub/turns.py"], False),
    ],
)
def test_the_order_is_noticed_where_it_is_broken(
    check: Callable[[Iterable[Module]], Iterator[str]], paths: list[str], complains: bool
) -> None:
    assert bool(list(check([Module(path, "") for path in paths]))) is complains


@pytest.mark.parametrize(
    ("text", "complains"),
    [
        ("class A: ...\ndef scope(command: A): ...\ndef decide(command: A, seen, at): ...\n", False),
        ("class A: ...\ndef scope(command: A): ...\n", True),
        ("def scope(command: A): ...\ndef decide(command: A, seen, at): ...\n", True),
        ("class A: ...\nclass Doing:\n    def scope(self, command: A): ...\n", True),
        ("class A: ...\ndef scope(command: A): ...\ndef decide(command: A, at): ...\n", True),
    ],
)
def test_a_verb_in_another_style_is_noticed(text: str, complains: bool) -> None:
    assert bool(list(without_style(Module("flow/x.py", text)))) is complains
