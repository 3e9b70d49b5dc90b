"""Fakes that ship, under the same contract suites as the real things: a clock, a store, a scripted brain.

And checks of how a team behaves, for tests of your own."""

from moot.stores.async_memory import AsyncMemoryStore
from moot.stores.memory import MemoryStore
from moot.stores.memory_engine import SteppedEngine
from moot.testing.clock import ManualClock
from moot.testing.scripted import Script
from moot.testing.team import Finding, check_team

__all__ = [
    "AsyncMemoryStore",
    "Finding",
    "ManualClock",
    "MemoryStore",
    "Script",
    "SteppedEngine",
    "check_team",
]
