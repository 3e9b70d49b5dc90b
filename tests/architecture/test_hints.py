"""What can be done is a value below the doors: only a door writes commands, and each hint has the facts of its act."""

import ast
import re
from collections.abc import Iterator
from string import Formatter

import pytest

from moot.cli.commands import COMMANDS as NAMES
from moot.cli.frame.hints import COMMANDS
from moot.doors.http.api.hint_requests import REQUESTS
from moot.model.hint import Act
from tests.architecture.source import Module, called_name, modules

DOORS = ("cli/", "doors/", "bridges/")
COMMAND = re.compile(rf"(?<![\w/.-])moot (?:--\w|(?:{'|'.join(map(re.escape, NAMES))})\b)")
MAY_NAME_COMMANDS = {
    "settings/starter.py": "the comments of a moot.toml that somebody opens in an editor, beside a shell",
}


def documentation(module: Module) -> set[int]:
    """The texts that stand alone: docstrings, which nobody who uses Moot is shown but by `moot explain`."""
    return {
        id(node.value)
        for node in module.nodes()
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def commands_below_the_doors(module: Module) -> Iterator[str]:
    documented = documentation(module)
    for node in module.nodes():
        if not isinstance(node, ast.Constant) or not isinstance(node.value, str) or id(node) in documented:
            continue
        if found := COMMAND.search(node.value):
            yield f"{module.at(node)} writes `{found[0]}`; name an act (model/hint.py), and let the doors say it"


def hints_without_their_facts(module: Module) -> Iterator[str]:
    for node in module.nodes():
        if isinstance(node, ast.Call) and called_name(node) == "Hint":
            act = Act[node.args[0].attr] if isinstance(node.args[0], ast.Attribute) else None
            given = {word.arg for word in node.keywords}
            if act is None or len(node.args) > 1 or given != facts_of(act):
                yield f"{module.at(node)} gives {sorted(map(str, given))}; {act} needs {sorted(facts_of(act))}"


def facts_of(act: Act | None) -> set[str]:
    rows = COMMANDS[act] + REQUESTS[act] if act is not None else ""
    return {name for _, name, _, _ in Formatter().parse(rows) if name}


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.path)
def test_nothing_below_the_doors_writes_commands(module: Module) -> None:
    if not module.path.startswith(DOORS) and module.path not in MAY_NAME_COMMANDS:
        assert [*commands_below_the_doors(module)] == []


@pytest.mark.parametrize("module", modules(), ids=lambda module: module.path)
def test_every_hint_has_the_facts_of_its_act(module: Module) -> None:
    assert [*hints_without_their_facts(module)] == []


def test_every_act_is_named_somewhere() -> None:
    named = {
        node.attr
        for module in modules()
        if not module.path.startswith(DOORS)
        for node in module.nodes()
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "Act"
    }
    assert named == set(Act.__members__)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("moot up", True),
        ("it wants a key: moot keys set ", True),
        ("see `moot conv list`", True),
        ("moot --home DIR up", True),
        ("moot.toml describes it", False),
        ("this moot reads version 1", False),
        ("run/moot up", False),
    ],
)
def test_what_counts_as_a_command(text: str, is_one: bool) -> None:
    told = [*commands_below_the_doors(Module("rules/x.py", f"value = {text!r}"))]
    assert bool(told) is is_one


def test_a_command_in_a_docstring_is_let_be() -> None:
    assert [*commands_below_the_doors(Module("rules/x.py", '"""For `moot up`."""'))] == []


def test_a_hint_that_lacks_a_fact_is_found() -> None:
    assert [*hints_without_their_facts(Module("rules/x.py", "Hint(Act.NEW_AGENT)"))]
    assert [*hints_without_their_facts(Module("rules/x.py", "Hint(Act.NEW_AGENT, turn='1')"))]
    assert not [*hints_without_their_facts(Module("rules/x.py", "Hint(Act.NEW_AGENT, agent='a')"))]
