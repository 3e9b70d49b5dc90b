"""Files and functions stay short enough to be read in one sitting."""

import ast
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.architecture.source import Module, modules

FUNCTION_LINES = 50
FILE_LINES = 450
EXCEPTIONS = Path(__file__).with_name("exceptions.toml")


def file_sizes(sources: Iterable[Module]) -> dict[str, int]:
    return {module.path: len(module.text.splitlines()) for module in sources}


def function_sizes(sources: Iterable[Module]) -> dict[str, int]:
    """Qualified name → lines, the longest where a name occurs twice (overloads, properties)."""
    sizes: dict[str, int] = {}
    for module in sources:
        for name, lines in functions(module.tree):
            key = f"{module.path}::{name}"
            sizes[key] = max(lines, sizes.get(key, 0))
    return sizes


def functions(scope: ast.AST, prefix: str = "") -> Iterator[tuple[str, int]]:
    for node in ast.iter_child_nodes(scope):
        name = prefix
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            name = f"{prefix}{node.name}."
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield name[:-1], (node.end_lineno or node.lineno) - node.lineno + 1
        yield from functions(node, name)


def complaints(sizes: Mapping[str, int], limit: int, excepted: Mapping[str, int]) -> Iterator[str]:
    for name, lines in sizes.items():
        if lines > excepted.get(name, limit):
            yield f"{name} has {lines} lines; allowed are {excepted.get(name, limit)}"
    for name, allowed in excepted.items():
        lines = sizes.get(name, 0)
        if lines <= limit:
            yield f"{name} fits now (or is gone): take it out of {EXCEPTIONS.name}"
        elif lines < allowed:
            yield f"{name} shrank to {lines}: lower its number in {EXCEPTIONS.name}"


def test_files_and_functions_stay_readable() -> None:
    excepted = tomllib.loads(EXCEPTIONS.read_text(encoding="utf-8"))
    assert set(excepted) == {"files", "functions"}
    found = [
        *complaints(file_sizes(modules()), FILE_LINES, excepted["files"]),
        *complaints(function_sizes(modules()), FUNCTION_LINES, excepted["functions"]),
    ]
    assert found == []


@pytest.mark.parametrize(
    ("lines", "excepted", "complains"),
    [
        (10, {}, False),
        (11, {}, True),
        (12, {"f": 12}, False),
        (13, {"f": 12}, True),
        (11, {"f": 12}, True),
        (10, {"f": 12}, True),
        (10, {"gone": 12}, True),
    ],
)
def test_the_list_of_exceptions_only_shrinks(lines: int, excepted: dict[str, int], complains: bool) -> None:
    assert bool(list(complaints({"f": lines}, 10, excepted))) is complains


def test_methods_and_nested_functions_are_measured() -> None:
    text = "class A:\n    async def b(self):\n        def c():\n            pass\n        return c\n"
    assert function_sizes([Module("x.py", text)]) == {"x.py::A.b": 4, "x.py::A.b.c": 2}
