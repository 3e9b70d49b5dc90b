"""Each key of what lies over the conversation: it leads back, and takes nothing away."""

from pathlib import Path
from typing import Any

from textual.binding import Binding
from textual.widgets import OptionList

from moot.cli.tui.overlays import ListOverlay, QuestionOverlay, TextOverlay
from tests.doors.tui.room import chatting, echo


def keys_of(overlay: type[Any], action: str) -> list[str]:
    """The keys that do this, from the table that the screen itself follows."""
    rows = [row for row in overlay.BINDINGS if isinstance(row, Binding) and row.action.startswith(action)]
    return [key for row in rows for key in row.key.split(",")]


async def test_each_key_that_leads_back_from_a_text_does_and_keeps_the_draft(tmp_path: Path) -> None:
    keys = keys_of(TextOverlay, "dismiss")
    assert sorted(keys) == ["ctrl+c", "ctrl+d", "enter", "escape", "f1", "f2", "q"]
    async with chatting(tmp_path, [echo("arya")], size=(100, 40)) as chat:
        await chat.type("a draft")
        for key in keys:
            await chat.press("f1")
            await chat.until(lambda: isinstance(chat.app.screen, TextOverlay))
            await chat.press(key)
            await chat.until(lambda: not isinstance(chat.app.screen, TextOverlay))
            assert chat.draft == "a draft", key
        assert await chat.hub.messages("work") == []


async def test_each_key_of_a_list_moves_or_leads_back(tmp_path: Path) -> None:
    assert sorted(keys_of(ListOverlay, "leave")) == ["ctrl+c", "ctrl+d", "escape"]
    async with chatting(tmp_path, [echo("arya")]) as chat:
        for name in ("one", "two"):
            await chat.hub.conversations.create(name, participants=["arya"])
        await chat.type("a draft")
        for key in keys_of(ListOverlay, "leave"):
            await chat.press("ctrl+g")
            await chat.until(
                lambda: isinstance(chat.app.screen, ListOverlay) and len(chat.app.screen.rows) == 3
            )
            options = chat.app.screen.query_one(OptionList)
            places = []
            for move in ("down", "down", "down", "up"):
                await chat.press(move)
                places.append(options.highlighted)
            assert places == [1, 2, 0, 2], "and round at the ends"
            await chat.press(key)
            await chat.until(lambda: not isinstance(chat.app.screen, ListOverlay))
            assert (chat.room.state.where.name, chat.draft) == ("work", "a draft"), key


async def test_each_key_but_one_answers_no(tmp_path: Path) -> None:
    keys = [key for key in keys_of(QuestionOverlay, "answer") if key != "y"]
    assert sorted(keys) == ["ctrl+c", "ctrl+d", "enter", "escape", "n"]
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        for key in keys:
            await chat.send("/group remove gendry")
            await chat.until(lambda: isinstance(chat.app.screen, QuestionOverlay))
            await chat.press(key)
            await chat.until(lambda: not isinstance(chat.app.screen, QuestionOverlay))
            where = await chat.hub.conversations.get("work")
            assert "gendry" in {seat.name for seat in where.participants}, key
