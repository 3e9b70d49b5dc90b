"""What a terminal shows of a talk, told event by event."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from moot.cli.terminal import footer as feet
from moot.cli.terminal.line_editor import LineEditor
from moot.cli.terminal.progress import InPlace
from moot.cli.terminal.views import Streaming


@pytest.fixture
def columns(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Makes the terminal as wide as is said."""
    return lambda wide: monkeypatch.setenv("COLUMNS", str(wide))


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


def test_a_reply_breaks_at_the_width_that_the_terminal_has_when_it_is_drawn(
    columns: Callable[[int], None],
) -> None:
    columns(80)
    said: list[str] = []
    screen: Any = SimpleNamespace(
        foot=Foot(),
        quiet=False,
        fit=str,
        dim=str,
        bar=lambda _: "│",
        name=lambda *_: "",
        say=print,
        grow=said.append,
    )
    hub: Any = None
    view = Streaming(screen, hub, {}, {})
    view.delta("writer", "one two three four five six seven\n")
    columns(20)
    view.delta("writer", "one two three four five six seven\n")
    columns(80)
    view.delta("writer", "one two three four five six seven")
    assert "".join(said).split("\n") == [
        "│ one two three four five six seven",
        "│ one two three four",
        "│ five six seven",
        "│ one two three four five six seven",
    ]


def test_what_a_narrower_terminal_has_wrapped_is_taken_away_whole(
    columns: Callable[[int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    columns(80)
    draft = LineEditor()
    draft.insert("x" * 50)
    foot = feet.Foot(draft, moves=True, fit=str, colour=False)
    foot.prompt = "you ▸ "
    foot.wait_for(["● critic  thinking… and this takes a while by now"])
    capsys.readouterr()
    columns(30)  # 49 columns are two rows now, 56 too, and the cursor is in the second
    foot.on_resized()
    taken_away, _, drawn = capsys.readouterr().out.partition("\x1b[J")
    assert taken_away == "\r\x1b[3A"
    assert [feet.width(row) for row in drawn.split("\n")] == [29, 28]
    columns(80)
    foot.on_resized()
    assert capsys.readouterr().out.startswith(
        "\r\x1b[1A\x1b[J● critic  thinking… and this takes a while by now\n"
    )


@pytest.mark.parametrize(("moves", "wiped"), [(True, "\x1b[J"), (False, " " * 19 + "\r")])
def test_what_passes_is_wiped_without_wrapping_in_a_narrower_terminal(
    columns: Callable[[int], None], capsys: pytest.CaptureFixture[str], moves: bool, wiped: str
) -> None:
    columns(80)
    screen: Any = SimpleNamespace(foot=None, fit=str, moves=moves)
    passing = InPlace(screen)
    passing.draw(["critic thinking for quite some time"])
    capsys.readouterr()
    columns(20)
    passing.clear()
    passing.clear()
    assert capsys.readouterr().err == wiped
