"""The full-screen chat under test: a key that is pressed twice counts as such, however slow the machine is, and what is
said in place of the keys stands there until it was looked for."""

import pytest


@pytest.fixture(autouse=True)
def slow_fingers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.cli.tui.room_keys.TWICE_SECONDS", 600.0)
    monkeypatch.setattr("moot.cli.tui.chat_room.FLASH_SECONDS", 600.0)
