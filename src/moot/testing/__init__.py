"""Fakes that ship, under the same contract suites as the real things: a clock, a store, a scripted brain."""

from moot.stores.async_memory import AsyncMemoryStore
from moot.stores.memory import MemoryStore
from moot.stores.stepped_engine import SteppedEngine
from moot.testing.clock import ManualClock

__all__ = ["AsyncMemoryStore", "ManualClock", "MemoryStore", "SteppedEngine"]
