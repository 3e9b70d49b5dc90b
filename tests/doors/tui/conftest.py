"""The full-screen chat under test: a key that is pressed twice counts as such, however slow the machine is."""

import pytest


@pytest.fixture(autouse=True)
def slow_fingers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.cli.tui.room_keys.TWICE_SECONDS", 600.0)
