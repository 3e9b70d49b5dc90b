"""Moot: AI agents and people talk with each other, durably, under policy, and so that anyone can see why."""

from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from moot.brains.code import agent, supervisor
    from moot.errors import MootError, Passed, RateLimited, TimedOut, TurnFailed
    from moot.hub import Hub
    from moot.rules.words.silence import PASS

_WHERE = {
    "Hub": "moot.hub",
    "agent": "moot.brains.code",
    "supervisor": "moot.brains.code",
    "PASS": "moot.rules.words.silence",
    "MootError": "moot.errors",
    "TimedOut": "moot.errors",
    "RateLimited": "moot.errors",
    "Passed": "moot.errors",
    "TurnFailed": "moot.errors",
}

__all__ = [
    "PASS",
    "Hub",
    "MootError",
    "Passed",
    "RateLimited",
    "TimedOut",
    "TurnFailed",
    "__version__",
    "agent",
    "supervisor",
]


def __getattr__(name: str) -> Any:
    """Names are imported when they are first used, so that `import moot` stays light."""
    if name not in _WHERE:
        raise AttributeError(f"module moot has no attribute {name}")
    from importlib import import_module  # noqa: PLC0415  light until used

    return getattr(import_module(_WHERE[name]), name)
