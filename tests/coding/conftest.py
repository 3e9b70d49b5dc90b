"""Fixtures of the tests with coding CLIs as agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.coding.workshop import Workshop

LIMIT = 180
"""Seconds for a test: each starts several programs, one after the other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT))


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    made = Workshop(tmp_path)
    made.enter(monkeypatch)
    yield made
    assert made.processes() == [], "a test left processes behind"
