"""Fixtures of the tests with coding CLIs as agents."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.coding.workshop import Workshop


@pytest.fixture
def workshop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Workshop]:
    made = Workshop(tmp_path)
    made.enter(monkeypatch)
    yield made
    assert made.processes() == [], "a test left processes behind"
