"""Names that say nothing are refused, one class has one name, and every module says what it is for."""

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator

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

TOO_MANY_MEANINGS = frozenset({"told"})
"""Words that stood for half a dozen things: a result, a notice, addressees, a listener. Say which it is."""
VAGUE_ALONE = frozenset({"who"})
"""Names that stood for a participant, its id, its name, a caller, a sender. Say which it is."""
SUPERLATIVES = frozenset({"most", "longest", "biggest", "largest", "shortest", "fewest"})
"""A limit is `MAX_…` or `MIN_…`, and says of what: `MAX_RECORD_BYTES`."""
SHAPE = "what is stored, and its shape for the outside: the same noun on both sides of a door"
SAME_NOUN: dict[str, tuple[frozenset[str], str]] = {
    "AuditEntry": (frozenset({"model/records/audit.py", "shapes/audit.py"}), SHAPE),
    "AuditReport": (frozenset({"ports.py", "shapes/audit.py"}), SHAPE),
    "Conversation": (frozenset({"model/conversation.py", "shapes/talk.py"}), SHAPE),
    "Event": (frozenset({"model/event.py", "shapes/talk.py"}), SHAPE),
    "Link": (frozenset({"model/records/link.py", "shapes/links.py"}), SHAPE),
    "Message": (frozenset({"model/message.py", "shapes/talk.py"}), SHAPE),
    "PersonsDecision": (frozenset({"model/records/decision.py", "shapes/decisions.py"}), SHAPE),
    "Task": (frozenset({"model/records/task.py", "shapes/tasks.py"}), SHAPE),
    "Token": (frozenset({"model/records/token.py", "shapes/talk.py"}), SHAPE),
    "Turn": (frozenset({"model/turn.py", "shapes/talk.py"}), SHAPE),
}
"""Class names that occur twice, where, and why. The list only shrinks: give a class a name of its own instead."""


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


def identifiers(module: Module) -> Iterator[tuple[int, str]]:
    """Line and name of everything that is named: variables, arguments, attributes, functions, classes, imports."""
    for node in module.nodes():
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name):
                yield node.lineno, name
            case ast.arg(arg=name) | ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield node.lineno, name
            case ast.ClassDef(name=name):
                yield node.lineno, name
            case ast.keyword(arg=str(name)):
                yield node.value.lineno, name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield node.lineno, name
            case ast.ExceptHandler(name=str(name)) | ast.alias(asname=str(name)):
                yield node.lineno, name
            case ast.MatchClass(kwd_attrs=names):
                yield from ((node.lineno, name) for name in names)
            case _:
                pass


def ambiguous(module: Module) -> Iterator[str]:
    for line, name in identifiers(module):
        for word in TOO_MANY_MEANINGS & set(words(name)):
            yield f"{module.path}:{line}: {name} says {word!r}, which has too many meanings"
        if name.strip("_") in VAGUE_ALONE:
            yield f"{module.path}:{line}: {name} may be anybody: participant, caller, sender …"


def superlatives(module: Module) -> Iterator[str]:
    for line, name in identifiers(module):
        if name.isupper() and SUPERLATIVES & set(words(name)):
            yield f"{module.path}:{line}: {name} is a limit: MAX_… or MIN_…, with its unit"


def named_twice(sources: Iterable[Module]) -> dict[str, frozenset[str]]:
    """Class name → the modules that have one, where these are several; private ones and inner ones count too."""
    found: dict[str, list[str]] = defaultdict(list)
    for module in sources:
        for node in module.nodes():
            if isinstance(node, ast.ClassDef):
                found[node.name].append(module.path)
    return {name: frozenset(paths) for name, paths in found.items() if len(paths) > 1}


@pytest.mark.parametrize("module", modules(), ids=lambda m: m.path)
def test_modules_and_classes_have_names_that_mean_something(module: Module) -> None:
    assert list(empty_words(module)) == []


def test_no_name_has_a_word_of_too_many_meanings() -> None:
    assert [complaint for module in modules() for complaint in ambiguous(module)] == []


def test_limits_are_called_max_or_min() -> None:
    assert [complaint for module in modules() for complaint in superlatives(module)] == []


def test_a_limit_of_another_name_is_seen() -> None:
    assert list(superlatives(Module("host/x.py", "_MOST_BYTES = 1")))
    assert list(superlatives(Module("host/x.py", "LONGEST: Final = 1")))
    assert not list(superlatives(Module("host/x.py", "MAX_BYTES = 1\nlongest = max(1, 2)")))


def test_a_class_name_occurs_once_or_twice_for_a_reason() -> None:
    assert named_twice(modules()) == {name: places for name, (places, _) in SAME_NOUN.items()}


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


@pytest.mark.parametrize(
    "text",
    [
        "told = 1",
        "def told(): ...",
        "def f(told): ...",
        "f(told=1)",
        "x.told",
        "def f(): return [told for told in x]",
        "class A:\n    told: str",
        "LONGEST_TOLD = 40",
        "def f(who): ...",
        "self._who = 1",
        "def _told_of(x): ...",
        "from a import b as told",
        "try: ...\nexcept E as told: ...",
        "match x:\n    case A(error=told): ...",
        "match x:\n    case A(told=error): ...",
    ],
)
def test_a_word_of_too_many_meanings_is_seen(text: str) -> None:
    assert list(ambiguous(Module("host/x.py", text)))


def test_a_word_of_too_many_meanings_may_stand_in_a_sentence() -> None:
    text = '"""The sender is told."""\nuntold = "what was told"  # told at once\nwho_acts = "who"'
    assert list(ambiguous(Module("host/x.py", text))) == []


def test_a_class_name_that_occurs_twice_is_seen() -> None:
    sources = [Module("a.py", "class X: ...\nclass _Y: ..."), Module("b/c.py", "def f():\n    class _Y: ...")]
    assert named_twice(sources) == {"_Y": frozenset({"a.py", "b/c.py"})}
    assert named_twice([Module("a.py", "class X: ...\nclass X: ...")]) == {"X": frozenset({"a.py"})}
