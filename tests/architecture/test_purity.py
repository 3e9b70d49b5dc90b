"""The model, the rules and the flow decide; they never do. Values go in, values come out."""

import ast
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, modules, pyproject

PURE = ("model", "rules", "flow")
IMPURE_CALLS = {"open", "print", "input", "exec", "eval", "compile", "breakpoint", "__import__"}
CLOCK_READS = {"now", "utcnow", "today", "fromtimestamp"}


def forbidden_modules() -> frozenset[str]:
    """The list import-linter works from, so that there is only one."""
    contracts = pyproject()["tool"]["importlinter"]["contracts"]
    [pure] = [c for c in contracts if set(c.get("source_modules", ())) == {f"moot.{name}" for name in PURE}]
    return frozenset(pure["forbidden_modules"])


def imported(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names=names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(name)):
            return [name]
        case _:
            return []


def impurities(module: Module) -> Iterator[str]:
    """Everything in a module that would make its answer depend on more than its arguments."""
    forbidden = forbidden_modules()
    for node in module.nodes():
        for name in imported(node):
            if name.split(".")[0] in forbidden:
                yield f"{module.path} imports {name}"
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in IMPURE_CALLS:
                yield f"{module.at(node)} calls {name}()"
            case ast.Call(func=ast.Attribute(value=value, attr=name)) if name in CLOCK_READS:
                if ast.unparse(value).split(".")[-1] in {"datetime", "date"}:
                    yield f"{module.at(node)} reads the clock: {ast.unparse(node)}"
            case ast.Global():
                yield f"{module.at(node)} changes a global"
            case _:
                pass


@pytest.mark.parametrize("module", modules(*PURE), ids=lambda m: m.path)
def test_a_pure_module_does_no_io_and_reads_no_clock(module: Module) -> None:
    assert list(impurities(module)) == []


@pytest.mark.parametrize(
    "line",
    [
        "import asyncio",
        "import os.path",
        "from time import monotonic",
        "from random import choice",
        "import secrets, math",
        "def f():\n    import logging",
        "x = datetime.now(UTC)",
        "x = datetime.datetime.utcnow()",
        "x = open('f')",
        "def f():\n    global x\n    x = 1",
    ],
)
def test_impurity_is_seen(line: str) -> None:
    assert list(impurities(Module("flow/sample.py", line)))


def test_arithmetic_on_given_times_is_no_impurity() -> None:
    fine = "from datetime import datetime, timedelta\ndef f(now: datetime):\n    return now + timedelta(1)"
    assert list(impurities(Module("flow/sample.py", fine))) == []


@pytest.mark.parametrize(
    "name", ["asyncio", "apsw", "socket", "os", "time", "random", "logging", "subprocess"]
)
def test_the_import_contract_forbids_the_obvious(name: str) -> None:
    assert name in forbidden_modules()
