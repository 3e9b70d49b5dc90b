"""What the full-screen chat looks like: bubbles, marks, words, widths; and what becomes of a hub that goes away."""

from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from textual.geometry import Region
from textual.screen import Screen

from moot import Hub, agent
from moot.cli.tui.bubbles import Look, entry_lines, markdown_lines
from moot.cli.tui.chat_room import ChatPlan, TourScript
from moot.cli.tui.chat_state import Doing
from moot.cli.tui.status_words import mark, words
from moot.cli.tui.transcript import Transcript
from moot.client import RemoteHub
from moot.errors import HubAbsent
from moot.rules.palette import COLOURS, colour_index
from moot.settings.home import Home
from tests.doors.tui.room import Gate, chat_with, chatting, echo, settle

TEXT = "Use **server-sent events**:\n\n1. one direction\n2. reconnect\n\n```python\nprint('hi')\n```\n\nDone."


def plain(lines: list[Any]) -> list[str]:
    return ["".join(segment.text for segment in line).rstrip() for line in lines]


# --- bubbles ----------------------------------------------------------------------------------------------


async def test_three_kinds_of_bubbles_each_with_its_mark_and_colour(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        await chat.send("@arya @gendry hello")
        await chat.until_seen("gendry heard", "ended:")
        assert colour_index("arya") == colour_index("gendry")
        first, second = (
            chat.rows[chat.row_of("▲ arya .*forced by you")],
            chat.rows[chat.row_of("■ gendry .*forced")],
        )
        assert first.endswith("· forced by you · 1/3")
        assert second.endswith("· forced by you · 2/3")
        own = chat.rows[chat.row_of("@arya @gendry hello")]
        assert own.rstrip().endswith("@arya @gendry hello ┃")
        assert own.startswith(" " * 40)
        assert chat.rows[chat.row_of("arya heard")].strip().startswith("┃ arya heard")
        entry = next(entry for entry in chat.room.state.entries if entry.sender == "arya")
        coloured = {
            segment.text.strip(): segment.style.color.name
            for line in entry_lines(entry, chat.room.state, Look(), 100)
            for segment in line
            if segment.style is not None and segment.style.color is not None
        }
        rose = COLOURS[colour_index("arya")].dark.text
        assert coloured == {"▲ arya": rose, "┃": rose}


async def test_in_a_direct_conversation_the_answer_stands_free(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], kind="direct") as chat:
        await chat.send("hello")
        await chat.until_seen("arya heard: hello")
        assert chat.rows[chat.row_of("arya heard")] == "  arya heard: hello"


async def test_receipts_go_through_their_three_steps(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec]) as chat:
        await chat.send("@arya go")
        await chat.until_seen("✓queued ✓delivered ·answered")
        gate.go.set()
        await chat.until_seen("✓queued ✓delivered ✓answered")


async def test_a_demo_brain_wears_its_chip_while_it_still_speaks(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec], plan=ChatPlan(chips={"arya": "demo"})) as chat:
        await chat.send("@arya go")
        await chat.until_seen("▲ arya  demo")
        gate.go.set()


def test_markdown_is_drawn_and_a_line_end_is_one() -> None:
    lines = plain(markdown_lines("# Title\n\none\ntwo **bold** `code`\n\n- item", 60, light=False))
    assert "one" in lines
    assert "two bold code" in lines
    assert any("item" in line and "-" not in line for line in lines)


def test_a_text_that_grows_looks_at_each_moment_like_one_that_is_whole() -> None:
    for end in range(1, len(TEXT) + 1):
        growing = plain(markdown_lines(TEXT[:end], 60, light=False, grows=True))
        whole = plain(markdown_lines(TEXT[:end], 60, light=False))
        assert [line for line in growing if line] == [line for line in whole if line]


def test_what_others_write_cannot_move_the_cursor() -> None:
    lines = plain(markdown_lines("a\x1b[2Jb \x07 \u202e", 60, light=False))
    assert not any("\x1b" in line or "\x07" in line or "\u202e" in line for line in lines)


def test_ascii_letters_are_enough() -> None:
    assert Look(ascii=True).fit("● arya │ ┃ ✓queued ⋯ stopped").isascii()


# --- what everybody does ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("doing", "sign", "text"),
    [
        (Doing("offline", "away", "2026-11-17T12:20:00Z"), "✕", "away, last seen 14 min"),
        (Doing("idle", "idle"), "○", "idle"),
        (Doing("idle", "idle", "2026-11-17T12:31:00Z"), "○", "done 3 min ago"),
        (Doing("queued", "waiting (2 queued)"), "○", "waiting (2 queued)"),
        (Doing("thinking", "thinking", "2026-11-17T12:33:54Z"), "●", "◔ thinking 6s"),
        (Doing("tool", "running tests", "2026-11-17T12:33:19Z"), "●", "⚙ running tests 41s"),
        (Doing("streaming", "writing", "2026-11-17T12:33:56Z"), "●", "writing 4s"),
        (
            Doing("thinking", "thinking", "2026-11-17T12:31:55Z"),
            "●",
            "◔ thinking 125s, no progress for 2 min",
        ),
        (Doing("passed", "passed", "2026-11-17T12:33:55Z"), "○", "– passed"),
        (Doing("passed", "passed", "2026-11-17T12:33:45Z"), "○", "idle"),
        (Doing("cooldown", "cooling down"), "○", "◷ cooling down"),
        (Doing("rate_limited", "held"), "○", "⏳ held"),
        (Doing("paused", "paused"), "○", "‖ paused, /continue"),
        (Doing("error", "error: timeout"), "○", "! error: timeout, /retry"),
    ],
)
def test_the_words_of_each_state(doing: Doing, sign: str, text: str) -> None:
    assert (mark("●", doing), words(doing, 1_794_918_840.0)) == (sign, text)


async def test_header_and_activity_say_who_does_what_and_who_needs_the_person(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec, echo("gendry")]) as chat:
        await chat.until_seen("△ arya idle · □ gendry idle")
        await chat.send("@arya go")
        await chat.until(lambda: "▲ arya writing" in chat.rows[0])
        await chat.until(lambda: any(row.startswith(" ▲ arya writing") for row in chat.rows[1:]))
        gate.go.set()
        await chat.until_seen("ended:")


# --- widths -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 100, 200])
async def test_it_fits_and_reflows_at_every_width(tmp_path: Path, width: int) -> None:
    long = "word " * 30

    @agent("arya")
    async def arya(turn: Any) -> str:
        return long

    async with chatting(tmp_path, [arya, echo("gendry")], size=(120, 30)) as chat:
        await chat.send(f"@arya {long}")
        await chat.until_seen("ended:")
        await chat.pilot.resize_terminal(width, 24)
        await chat.until(lambda: len(chat.room.transcript._lines) and chat.room.size.width == width)
        await chat.until_seen("you ▸", "will answer:", "Enter send", "ended:")
        await chat.until(lambda: all(len(row) <= width for row in chat.rows))
        entry = next(entry for entry in chat.room.state.entries if entry.sender == "arya")
        drawn_words = " ".join(plain(entry_lines(entry, chat.room.state, Look(), width))).count("word")
        assert drawn_words == 30
        if width < 80:
            await chat.until_seen("✓✓✓")
            await chat.until(lambda: "idle" not in chat.rows[0])


# --- a hub that goes away ---------------------------------------------------------------------------------


async def test_a_hub_that_goes_away_is_told_healed_and_loses_nothing(tmp_path: Path) -> None:
    settle(tmp_path)
    home = Home(tmp_path)

    async def found() -> RemoteHub:
        if (hub := await RemoteHub.find(home)) is None:
            raise HubAbsent("nobody is there")
        return hub

    def serving() -> AbstractAsyncContextManager[Hub]:
        return Hub.open(tmp_path, agents=[echo("arya")], socket=home.hub_sock)

    async with AsyncExitStack() as first:
        hub = await first.enter_async_context(serving())
        where = await hub.conversations.create("work", participants=["arya"])
        async with chat_with(await found(), where.id, reopen=found) as chat:
            await chat.send("@arya one")
            await chat.until_seen("arya heard: arya one", "ended:")
            await first.aclose()
            await chat.until_seen("the hub stopped; all messages are kept", "hub away")
            await chat.send("@arya two")
            await chat.until_seen("your message is sent as soon as it is back")
            await chat.type("a draft meanwhile")
            async with serving() as again:
                await chat.until_seen("connected again", "arya heard: arya two")
                assert chat.draft == "a draft meanwhile"
                await chat.until(lambda: "hub away" not in chat.rows[0])
                said = [message.text for message in await again.newest("work") if message.kind == "human"]
                assert said == ["@arya one", "@arya two"]


async def test_a_message_that_is_refused_is_the_draft_again(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.hub.conversations.archive("work")
        await chat.type("too late")
        await chat.press("enter")
        await chat.until_seen("work is archived: it can be read, but not written to")
        await chat.until(lambda: chat.draft == "too late")


async def test_a_tour_speaks_first_and_says_what_was_to_be_seen(tmp_path: Path) -> None:
    script = TourScript(("DEMO",), "@arya begin", ("You saw it.",))
    async with chatting(tmp_path, [echo("arya")], plan=ChatPlan(note="0 model calls", tour=script)) as chat:
        await chat.until_seen("DEMO", "arya heard: arya begin", "You saw it.", "0 model calls")


async def test_a_preview_that_comes_when_the_chat_is_being_left_is_dropped(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.room.query_one("#preview").remove()
        await chat.room._preview()


async def test_a_line_more_lays_nothing_out_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Laying the screen out takes longer than a key may wait, and agents write many lines."""
    gate = Gate("arya", first="first\n" * 40)
    laid_out: list[object] = []
    async with chatting(tmp_path, [gate.spec]) as chat:
        await chat.send("@arya go")
        await chat.until_seen("first")
        before = Screen._refresh_layout

        def counted(screen: Screen[object], *args: Any, **more: Any) -> None:
            laid_out.append(screen)
            before(screen, *args, **more)

        monkeypatch.setattr(Screen, "_refresh_layout", counted)
        room = chat.room
        for number in range(30):
            room.remark(f"remark {number}")
            room._frame()
            await chat.pilot.pause()
        await chat.until_seen("remark 29")
        assert len(laid_out) < 5
        assert room.transcript.at_bottom
        gate.go.set()


async def test_only_rows_that_show_something_else_are_drawn_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with chatting(tmp_path, [echo("arya")], size=(80, 40)) as chat:
        for number in range(5):
            chat.room.remark(f"remark {number}")
        await chat.until_seen("remark 4")
        rows: list[int] = []
        before = Transcript.refresh

        def counted(widget: Transcript, *regions: Region, **more: Any) -> Transcript:
            rows.extend(y for region in regions for y in region.line_range)
            return before(widget, *regions, **more)

        monkeypatch.setattr(Transcript, "refresh", counted)
        chat.room.remark("one more")
        await chat.until_seen("one more")
        assert rows == [chat.row_of("one more") - 1], (
            "the row of the transcript, which begins below the header"
        )
