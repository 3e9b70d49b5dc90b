"""Names that say nothing are refused, and every module says what it is for."""

import ast
import re
from collections.abc import Iterator

import pytest

from tests.architecture.source import Module, modules

EMPTY_WORDS = frozenset(
    [
        "base",
        "common",
        "engine",
        "handler",
        "helper",
        "impl",
        "manager",
        "misc",
        "orchestrator",
        "processor",
        "service",
        "util",
    ]
)
# An adapter of the store is its engine: there the word is the concept's name.
ENGINE_ROOM = ("ports.py", "stores/")


def words(name: str) -> Iterator[str]:
    """`TurnManager`, `turn_managers` → turn, manager."""
    for word in re.findall(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+", name):
        yield word.lower()
        yield word.lower().removesuffix("s")


def empty_words(module: Module) -> Iterator[str]:
    allowed = {"engine"} if module.path.startswith(ENGINE_ROOM) else set()
    names = module.path.removesuffix(".py").split("/")
    names += [node.name for node in module.nodes() if isinstance(node, ast.ClassDef)]
    for name in names:
        for word in (EMPTY_WORDS - allowed) & set(words(name)):
            yield f"{module.path}: {name} says {word!r}, which says nothing"


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.path)
def test_modules_and_classes_have_names_that_mean_something(module: Module) -> None:
    assert list(empty_words(module)) == []


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.path)
def test_every_module_says_what_it_is_for(module: Module) -> None:
    assert (ast.get_docstring(module.tree) or "").strip(), f"{module.path} has no docstring"


@pytest.mark.parametrize(
    ("path", "text", "refused"),
    [
        ("host/x.py", "class TurnManager: ...", True),
        ("host/x.py", "class HTTPService: ...", True),
        ("host/x.py", "class BaseStore: ...", True),
        ("host/utils.py", "", True),
        ("common/x.py", "", True),
        ("host/engine.py", "", True),
        ("stores/sqlite/engine.py", "class SqliteEngine: ...", False),
        ("ports.py", "class Engine: ...", False),
        ("host/x.py", "class Database: ...", False),
        ("host/x.py", "class Turn: ...", False),
    ],
)
def test_empty_words_are_seen(path: str, text: str, refused: bool) -> None:
    assert bool(list(empty_words(Module(path, text)))) is refused
