"""What a terminal shows of a talk, told event by event."""

from types import SimpleNamespace
from typing import Any

from moot.cli.views import Streaming


class Foot:
    """What stands below everything that is said."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def wait_for(self, lines: list[str]) -> None:
        self.lines = lines


def test_who_has_ended_is_not_shown_thinking_below_what_is_said_next() -> None:
    foot = Foot()
    screen: Any = SimpleNamespace(
        foot=foot, quiet=False, fit=str, dim=str, name=lambda agent, mark: f"{mark} {agent}", say=print
    )
    hub: Any = None
    view = Streaming(screen, hub, {}, {}, after=0.0)
    view.started("critic", "asked")
    view.started("writer", "asked")
    assert foot.lines == ["● critic  thinking…", "● writer  thinking…"]
    view.ended("critic", "passed")
    assert foot.lines == ["● writer  thinking…"]
    view.ended("writer", "owed")
    assert foot.lines == []
