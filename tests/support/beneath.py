"""Under the SDK: the store and the log of an open hub, for tests that break them or look where no caller can."""

from typing import Any

from moot import Hub
from moot.stores.runner import Source


def store_of(hub: Hub) -> Any:
    """Untyped on purpose: tests replace methods of it, and hand it what a caller would not."""
    return hub._core.parts.store


def source_of(hub: Hub) -> Source:
    """Where the decisions of a hub get their moment and terms from."""
    return hub._core.parts.source
