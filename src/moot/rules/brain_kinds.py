"""The kinds of brains there are: how moot.toml names each, and what is true of all of a kind.

One table. The settings check against it, doors and commands ask it, wiring.py has a way to load each kind that runs
here. A new kind is a row here and a loader there.
"""

from msgspec import Struct

_WORD = r"[^\W\d]\w*"
_PATH = rf"{_WORD}(\.{_WORD})*"
_URL = r"https?://[^\s/]\S*"


class BrainKind(Struct, frozen=True):
    """`brain = "PREFIX"` or `brain = "PREFIX:…"`."""

    prefix: str
    forms: tuple[str, ...]
    """How it is written, as people are shown it."""
    pattern: str
    """What the whole string has to match."""
    has_model: bool = False
    """It thinks with a language model: it has tools and tokens, needs a key or an address."""
    is_cli: bool = False
    """It is a program with tools of its own, which works in the agent's project."""
    is_code: bool = False
    """It is a function of the owner, which has to be found and loaded."""
    runs_here: bool = True
    """A host of ours runs it; others come by themselves."""
    is_built: bool = True
    """This version has it. What it has not is understood and said to come later."""


DEMO = BrainKind("demo", ("demo",), "demo")
CODE = BrainKind("code", ("code:module:attr",), rf"code:{_PATH}:{_PATH}", is_code=True)
EXTERNAL = BrainKind("external", ("external",), "external", runs_here=False)
BRAIN_KINDS = {
    kind.prefix: kind
    for kind in (
        DEMO,
        CODE,
        BrainKind("anthropic", ("anthropic:MODEL",), r"anthropic:\S+", has_model=True),
        BrainKind(
            "openai", ("openai:MODEL", "openai:MODEL@URL"), rf"openai:[^\s@]+(@{_URL})?", has_model=True
        ),
        BrainKind(
            "command",
            ("command:claude", "command:codex", "command:TEMPLATE"),
            r"command:\S.*",
            is_cli=True,
        ),
        BrainKind("acp", ("acp:COMMAND",), r"acp:\S.*", is_cli=True),
        BrainKind("a2a", ("a2a:URL",), rf"a2a:{_URL}", is_built=False),
        EXTERNAL,
    )
}


def kind_of(brain: str) -> BrainKind | None:
    """By how it begins; whether the rest makes sense is for the settings and the loader to say."""
    return BRAIN_KINDS.get(brain.partition(":")[0])


def has_model(brain: str) -> bool:
    kind = kind_of(brain)
    return kind is not None and kind.has_model


def is_cli(brain: str) -> bool:
    kind = kind_of(brain)
    return kind is not None and kind.is_cli


def is_built(brain: str) -> bool:
    kind = kind_of(brain)
    return kind is None or kind.is_built


def runs_here(brain: str) -> bool:
    """Whether a host of this version runs it."""
    kind = kind_of(brain)
    return kind is not None and kind.runs_here and kind.is_built


def forms(*, summing: bool = False) -> tuple[str, ...]:
    """All ways to write a brain; those that can sum up a conversation, if only these are asked for."""
    kinds = [kind for kind in BRAIN_KINDS.values() if not summing or kind.has_model or kind is DEMO]
    return tuple(form for kind in kinds for form in kind.forms)
