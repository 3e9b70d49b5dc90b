"""Each key of the full-screen chat, and each promise of what it never does to a draft."""

from pathlib import Path

import pytest
from textual import events
from textual.binding import Binding

from moot.cli.tui.chat_state import ChatState
from moot.cli.tui.overlay_texts import KEYS
from moot.cli.tui.room_keys import KeyedRoom
from tests.doors.tui.room import NAMES, Gate, chatting, echo
from tests.support.waiting import until

LINES = "\n".join(f"line {number} of the text" for number in range(1, 201))


def test_every_key_is_tried_here() -> None:
    keys = {key for row in KeyedRoom.BINDINGS if isinstance(row, Binding) for key in row.key.split(",")}
    tried = Path(__file__).read_text(encoding="utf-8")
    assert sorted(key for key in keys if f'"{key}"' not in tried) == []


# --- writing and sending -------------------------------------------------------------------------------------------


async def test_enter_sends_and_three_other_keys_begin_a_new_line(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], kind="direct") as chat:
        await chat.type("one")
        await chat.press("alt+enter")
        await chat.type("two")
        await chat.press("ctrl+j")
        await chat.type("three")
        await chat.press("shift+enter")
        await chat.type("four")
        assert chat.draft == "one\ntwo\nthree\nfour"
        await chat.press("enter")
        await chat.until_seen("arya heard: one")
        assert chat.draft == ""
        assert (await chat.said("direct-arya+user"))[0] == ("user", "one\ntwo\nthree\nfour")


async def test_a_paste_of_200_lines_is_one_message(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        chat.app.post_message(events.Paste(LINES.replace("\n", "\r\n") + "\r\n"))
        await chat.until(lambda: chat.draft)
        assert chat.draft == LINES
        await chat.press("enter")
        await chat.until(lambda: not chat.draft)
        await chat.until_seen("arya passed")
        assert [text for who, text in await chat.said() if who == "user"] == [LINES]


async def test_lines_that_come_at_once_are_one_message_where_a_terminal_does_not_mark_pastes(
    tmp_path: Path,
) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        for letter in LINES[:300]:
            key = "enter" if letter == "\n" else letter
            chat.app.post_message(events.Key(key, "\r" if letter == "\n" else letter))
        chat.app.post_message(events.Key("enter", "\r"))
        await chat.until_seen("arya passed")
        assert [text for who, text in await chat.said() if who == "user"] == [LINES[:300]]


async def test_a_paste_brings_no_control_characters(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        chat.app.post_message(events.Paste("red\x1b[31m alert\x07"))
        await chat.until(lambda: chat.draft)
        assert chat.draft == "red[31m alert"


async def test_up_and_down_call_back_what_was_sent_and_keep_the_draft(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.send("first")
        await chat.send("second")
        await chat.type("half")
        await chat.press("up")
        assert chat.draft == "second"
        await chat.press("up")
        assert chat.draft == "first"
        await chat.press("up")
        assert chat.draft == "first"
        await chat.press("down", "down")
        assert chat.draft == "half"


async def test_ctrl_k_still_deletes_to_the_end_of_the_line(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.type("keep this")
        await chat.press("left", "left", "left", "left", "ctrl+k")
        assert chat.draft == "keep "


# --- while agents speak ----------------------------------------------------------------------------------------------


async def test_the_input_is_live_while_agents_stream(tmp_path: Path) -> None:
    gates = [Gate("arya", "arya begins"), Gate("gendry", "gendry begins")]
    async with chatting(tmp_path, [gate.spec for gate in gates]) as chat:
        await chat.send("@arya @gendry go")
        await chat.until_seen("arya begins")
        await chat.type("typed meanwhile")
        await chat.until_seen("typed meanwhile")
        assert chat.draft == "typed meanwhile"
        await chat.press("enter")
        await until(chat.said, lambda said: ("user", "typed meanwhile") in said)
        assert chat.draft == ""
        gates[0].go.set()
        await chat.until_seen("arya begins and the rest", "gendry begins")
        assert chat.row_of("arya begins") < chat.row_of("gendry begins")
        gates[1].go.set()
        await chat.until_seen("gendry begins and the rest")


async def test_esc_stops_who_writes_and_keeps_what_was_said(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec]) as chat:
        await chat.press("escape")
        assert chat.hints == "Esc: nobody is writing"
        await chat.send("@arya go")
        await chat.until_seen("first words")
        await chat.type("a draft")
        await chat.press("escape")
        await chat.until_seen("stopped arya", "⋯ stopped")
        assert chat.draft == "a draft"
        assert [text.strip() for who, text in await chat.said() if who == "arya"] == ["first words"]


async def test_esc_twice_stops_everybody(tmp_path: Path) -> None:
    gate, other = Gate("arya"), Gate("gendry", "gendry begins")
    async with chatting(tmp_path, [gate.spec, other.spec]) as chat:
        await chat.send("@arya @gendry go")
        await chat.until_seen("first words")
        await chat.press("escape", "escape")
        await chat.until(lambda: not chat.room.state.running)
        await chat.until_seen("ended:")
        assert await chat.hub.inspector.unsettled() == []


async def test_esc_twice_stops_everybody_also_before_the_next_one_has_begun(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate, other = Gate("arya"), Gate("gendry", "gendry begins")
    async with chatting(tmp_path, [gate.spec, other.spec]) as chat:
        await chat.send("@arya @gendry go")
        await chat.until_seen("first words")
        await chat.press("escape")
        with monkeypatch.context() as between:
            between.setattr(ChatState, "speakers", property(lambda state: []))
            await chat.press("escape")
        await chat.until_seen("ended:")
        await chat.until(lambda: not chat.room.state.running)
        assert await chat.hub.inspector.unsettled() == []


async def test_slash_stop_acts_at_once(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec]) as chat:
        await chat.send("@arya go")
        await chat.until_seen("first words", "Esc stop arya")
        await chat.send("/stop")
        await chat.until_seen("stopped arya", "⋯ stopped")


@pytest.mark.parametrize("key", ["ctrl+c", "ctrl+q"])
async def test_ctrl_c_never_takes_a_draft_away(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.type("precious")
        await chat.press(key)
        assert "your draft is kept" in chat.hints
        assert chat.draft == "precious"
        assert chat.left is None
        await chat.press(key)
        await chat.until(lambda: chat.left == 130)
        assert chat.room.unsent == ["precious"]


async def test_ctrl_c_while_agents_speak_says_first_that_they_go_on(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec]) as chat:
        await chat.send("@arya go")
        await chat.until_seen("first words")
        await chat.press("ctrl+c")
        assert "the agents continue" in chat.hints
        assert chat.left is None
        gate.go.set()


async def test_ctrl_d_leaves_an_empty_draft_and_deletes_in_another(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.type("ab")
        await chat.press("home", "ctrl+d")
        assert chat.draft == "b"
        await chat.press("ctrl+d", "ctrl+d")
        await chat.until(lambda: chat.left == 0)


@pytest.mark.parametrize("word", ["exit", "quit", "/quit"])
async def test_exit_and_quit_leave(tmp_path: Path, word: str) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.type(word)
        await chat.press("escape", "enter")
        await chat.until(lambda: chat.left == 0)
        assert await chat.said() == []


# --- menus ---------------------------------------------------------------------------------------------------------


async def test_at_completes_names_and_shows_role_and_state(tmp_path: Path) -> None:
    agents = [echo("arya", role="backend"), echo("gendry", role="reviewer")]
    async with chatting(tmp_path, agents) as chat:
        await chat.type("ask @")
        await chat.until_seen("arya", "backend  idle", "reviewer  idle", "@all")
        await chat.press("down", "up")
        await chat.type("gd")
        await chat.until(lambda: chat.room.menu.suggestions and len(chat.room.menu.suggestions.rows) == 1)
        await chat.press("tab")
        assert chat.draft == "ask @gendry "
        assert not chat.room.menu.is_open
        await chat.type("mail me@")
        assert not chat.room.menu.is_open


async def test_who_is_not_here_will_be_invited(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.hub.agents.create("genie", role="grants wishes")
        await chat.until(lambda: "genie" in chat.room.state.agents)
        await chat.type("@gen")
        await chat.until_seen("genie", "grants wishes  will be invited")


async def test_slash_completes_commands_their_arguments_and_settings(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        await chat.type("/gr")
        await chat.until_seen("/group create NAME...", "/group config [KEY [VALUE]]")
        await chat.type("oup config max_a")
        await chat.until_seen("max_agent_turns_per_message", "now 3")
        await chat.press("enter")
        assert chat.draft == "/group config max_agent_turns_per_message "
        await chat.type("4")
        await chat.press("enter")
        await chat.until_seen("max_agent_turns_per_message = 4")
        await chat.type("/group config reply_strategy m")
        await chat.until_seen("mention_only")
        await chat.press("escape")
        assert not chat.room.menu.is_open
        assert chat.draft.endswith(" m")


async def test_esc_closes_the_menu_and_stops_nobody(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec]) as chat:
        await chat.send("@arya go")
        await chat.until_seen("first words")
        await chat.type("@")
        await chat.until(lambda: chat.room.menu.is_open)
        await chat.press("escape")
        assert not chat.room.menu.is_open
        assert chat.room.state.speakers == ["arya"]
        gate.go.set()


async def test_keys_that_are_ahead_of_the_menu_lose_nothing(tmp_path: Path) -> None:
    """The menu is drawn a moment later than keys are taken: it must not complete what stood there before."""
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        await chat.type("@a")
        await chat.until(lambda: chat.room.menu.is_open)
        for letter in "rya @gendry go":
            chat.app.post_message(events.Key(NAMES.get(letter, letter), letter))
        chat.app.post_message(events.Key("enter", "\r"))
        await chat.until_seen("arya heard", "gendry heard")
        assert (await chat.said())[0] == ("user", "@arya @gendry go")
        for letter in "@gen":
            chat.app.post_message(events.Key(NAMES.get(letter, letter), letter))
        chat.app.post_message(events.Key("tab", None))
        await chat.until(lambda: chat.draft == "@gendry ")


async def test_an_unknown_command_is_not_sent_and_stays_the_draft(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.type("/compact")
        await chat.press("enter")
        await chat.until_seen("unknown command /compact; nothing was sent")
        assert chat.draft == "/compact"
        assert await chat.said() == []


# --- who will answer -------------------------------------------------------------------------------------------------


async def test_the_wake_preview_follows_what_is_typed(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        await chat.until_seen("will answer: nobody forced · arya, gendry may join · cap 3")
        await chat.type("hey @arya ")
        await chat.until_seen("will answer: arya (forced) · gendry may join · cap 3")
        await chat.type("@nobody ")
        await chat.until_seen('nobody is called "nobody"')
        await chat.press("ctrl+u")
        await chat.type("/why")
        await chat.until_seen("/why [N]: why each agent answered")


# --- the transcript --------------------------------------------------------------------------------------------------


async def test_scrolling_up_keeps_the_place_and_counts_what_is_new(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], size=(80, 24)) as chat:
        for number in range(12):
            await chat.hub.post("work", f"message {number}")
        await chat.until_seen("message 11")
        await chat.press("pageup")
        await chat.until_gone("message 11")
        before = [row[:70].rstrip() for row in chat.rows[1:10]]
        await chat.hub.post("work", "a new one")
        await chat.until_seen("↓ 1 new")
        assert [row[:70].rstrip() for row in chat.rows[1:10]] == before
        await chat.press("ctrl+end")
        await chat.until_seen("a new one")
        await chat.until_gone("↓ 1 new")
        await chat.press("pageup", "pagedown")
        await chat.until_seen("a new one")


async def test_earlier_messages_are_read_when_somebody_scrolls_there(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], size=(80, 24)) as chat:
        for number in range(80):
            await chat.hub.post("work", f"message {number}.")
        await chat.until_seen("message 79.")
        await chat.room.go_to(await chat.hub.conversations.create("other", participants=["arya"]))
        await chat.until_gone("message 79.")
        await chat.room.go_to(await chat.hub.conversations.get("work"))
        await chat.until_seen("message 79.")
        await chat.until(lambda: chat.room.state.has_more)
        for _ in range(30):
            await chat.press("pageup")
            if not chat.room.state.has_more:
                break
        await chat.until(lambda: chat.room.transcript.scroll_y > 0)
        assert "message 20." in chat.seen  # what was looked at stays where it was
        for _ in range(30):
            await chat.press("pageup")
        await chat.until_seen("message 0.")


async def test_f6_goes_into_the_messages_where_letters_are_commands(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.send("@arya one")
        await chat.until_seen("arya heard: arya one", "ended:")
        await chat.type("draft")
        await chat.press("f6")
        await chat.until(lambda: "r reply" in chat.hints)
        chosen = chat.room.transcript.selected
        assert chosen is not None
        assert chosen.sender == "arya"
        await chat.press("up")
        assert (chat.room.transcript.selected or chosen).sender == "user"
        await chat.press("down", "w")
        await chat.until_seen("said in turn 1")
        await chat.press("escape", "t")
        await chat.until_seen("turn 1", "── answered")
        await chat.press("escape", "y")
        assert chat.app.clipboard == "arya heard: arya one"
        await chat.press("r")
        await chat.until_seen("reply to arya #2")
        assert chat.draft == "draft"
        await chat.press("enter")
        await chat.until(lambda: not chat.draft)
        await chat.until_gone("reply to arya")
        said = await until(lambda: chat.hub.newest("work"), lambda said: any(m.text == "draft" for m in said))
        [newest] = [m for m in said if m.text == "draft"]
        assert (newest.reply_to or "").endswith(":2")


async def test_esc_and_shift_tab_lead_back_to_the_draft(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        for key in ("escape", "shift+tab"):
            await chat.press("shift+tab")
            assert chat.focus == "transcript"
            await chat.press(key)
            assert chat.focus == "composer"


# --- overlays -------------------------------------------------------------------------------------------------------


async def test_f1_lists_the_keys(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], size=(100, 40)) as chat:
        await chat.press("f1")
        await chat.until_seen(*(key for key, _ in KEYS))
        await chat.press("escape")
        await chat.until_gone("Alt+Enter, Ctrl+J")


async def test_the_keys_stand_in_two_columns_also_where_a_line_is_broken(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], size=(60, 40)) as chat:
        await chat.press("f1")
        await chat.until_seen("into the messages")
        column = chat.rows[chat.row_of("into the messages")].index("into")
        behind = chat.rows[chat.row_of("into the messages") + 1]
        assert len(behind) - len(behind.lstrip(" │")) >= column - 5, behind


async def test_who_goes_on_typing_has_read_what_was_said_in_place_of_the_keys(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.cli.tui.chat_room.FLASH_SECONDS", 1000.0)
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.press("escape")
        await chat.until(lambda: chat.hints == "Esc: nobody is writing")
        await chat.type("on")
        await chat.until(lambda: "Enter send" in chat.hints)


async def test_the_cursor_stays_in_view_in_a_terminal_of_another_size(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        long = "\n".join(f"line {number} {'word ' * 12}" for number in range(60))
        chat.app.post_message(events.Paste(long + "\nthe end"))
        await chat.until_seen("the end")
        await chat.pilot.resize_terminal(60, 24)
        await chat.until_seen("the end")
        await chat.pilot.resize_terminal(120, 40)
        await chat.until_seen("the end")


async def test_f2_and_slash_why_lie_over_the_conversation_which_does_not_move(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        await chat.send("@arya one")
        await chat.until_seen("ended:")
        await chat.pilot.pause(0.1)
        before = [row for row in chat.rows if "arya heard" in row]
        await chat.press("f2")
        await chat.until_seen("had to · answered · mention", "was offered a turn and could pass")
        await chat.press("escape")
        await chat.until_gone("had to · answered")
        assert [row for row in chat.rows if "arya heard" in row] == before
        await chat.send("/why 1")
        await chat.until_seen("had to · answered · mention")


async def test_f3_lists_turns_and_shows_what_an_agent_was_given(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.send("@arya one")
        await chat.until_seen("ended:")
        await chat.press("f3")
        await chat.until_seen("1  arya", "said  mention")
        await chat.press("enter")
        await chat.until_seen("turn 1", "── answered", "arya heard: arya one")


async def test_f4_shows_the_settings_and_leads_to_the_command_that_changes_one(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.press("f4")
        await chat.until_seen("reply_strategy", '"hybrid"')
        await chat.type("cool")
        await chat.press("enter")
        await chat.until(lambda: chat.draft == "/group config cooldown_seconds ")


async def test_slash_turns_and_keys_show_what_their_keys_show(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], size=(100, 40)) as chat:
        await chat.send("@arya hello")
        await chat.until_seen("arya heard: arya hello")
        await chat.send("/turns")
        await chat.until_seen("type to narrow the list", "said  mention")
        await chat.press("escape")
        await chat.until_gone("type to narrow the list")
        await chat.send("/keys")
        await chat.until_seen("Alt+Enter, Ctrl+J")


async def test_slash_switch_goes_to_another_conversation(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.hub.conversations.create("other", participants=["arya"])
        await chat.send("/switch nowhere")
        await chat.until_seen('no conversation is called "nowhere"')
        await chat.send("/switch #other")
        await chat.until(lambda: chat.room.state.where.name == "other")


async def test_slash_theme_chooses_other_colours_at_once(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        dark = chat.room.plan.look.style("arya")
        await chat.send("/theme light")
        await chat.until(lambda: chat.room.plan.look.light)
        assert chat.room.plan.look.style("arya") != dark
        assert chat.room.transcript.look is chat.room.plan.look


async def test_slash_export_writes_the_conversation_and_never_over_a_file(tmp_path: Path) -> None:
    target = tmp_path / "out.md"
    async with chatting(tmp_path / "home", [echo("arya")], size=(160, 30)) as chat:
        chat.room.talk._session.home_option = str(tmp_path / "home")
        await chat.send("@arya hello")
        await chat.until_seen("arya heard: arya hello")
        await chat.send(f"/export {target}")
        await chat.until_seen("2 messages")
        assert "arya heard: arya hello" in target.read_text()
        await chat.send(f"/export {target}")
        await chat.until_seen("error[E205]", "choose another name")


async def test_f4_says_why_it_does_nothing_in_a_direct_conversation(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")], kind="direct") as chat:
        await chat.press("f4")
        assert "only groups" in chat.hints


async def test_ctrl_g_goes_to_another_conversation_and_drafts_stay_where_they_are(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.hub.conversations.create("other", participants=["arya"])
        await chat.type("for work")
        await chat.press("ctrl+g")
        await chat.until_seen("#other", "#work")
        await chat.type("oth")
        await chat.press("enter")
        await chat.until(lambda: chat.room.state.where.name == "other")
        assert chat.draft == ""
        await chat.send("hello other")
        await chat.until_seen("hello other")
        await chat.press("ctrl+g")
        await chat.until_seen("go to", "#work")
        await chat.type("work")
        await chat.press("enter")
        await chat.until(lambda: chat.room.state.where.name == "work")
        assert chat.draft == "for work"
        await chat.until_gone("hello other")


@pytest.mark.parametrize("key", ["alt+n", "alt+p", "alt+shift+down", "alt+shift+up"])
async def test_unread_is_counted_and_one_key_away(tmp_path: Path, key: str) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.press(key)
        assert "nothing is unread elsewhere" in chat.hints
        await chat.hub.conversations.create("other", participants=["arya"])
        await chat.hub.post("other", "@arya hello")
        await chat.until_seen("unread: 1")
        await chat.press(key)
        await chat.until_seen("arya heard: arya hello")
        await chat.until_gone("unread: 1")
        await chat.until(lambda: not chat.room.state.unread)


async def test_ctrl_r_searches_here_and_goes_to_what_was_found(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya")]) as chat:
        await chat.hub.post("work", "the needle is here")
        for number in range(12):
            await chat.hub.post("work", f"hay {number}")
        await chat.until_seen("hay 11")
        await chat.press("ctrl+r")
        await chat.until_seen("search here")
        await chat.type("needle")
        await chat.until_seen("#1 user")
        await chat.press("enter")
        await chat.until(lambda: chat.room.transcript.selected is not None)
        assert chat.room.transcript.selected is not None
        assert chat.room.transcript.selected.seq == 1
        await chat.until_seen("the needle is here")


async def test_what_takes_something_away_asks_first(tmp_path: Path) -> None:
    async with chatting(tmp_path, [echo("arya"), echo("gendry")]) as chat:
        await chat.send("/group remove gendry")
        await chat.until_seen("Remove them from #work?")
        await chat.press("n")
        await chat.until_gone("Remove them")
        await chat.send("/group remove gendry")
        await chat.until_seen("Remove them from #work?")
        await chat.press("y")
        await chat.until(lambda: [seat.name for seat in chat.room.state.members] == ["arya"])


async def test_the_hints_show_the_keys_that_work_now(tmp_path: Path) -> None:
    gate = Gate("arya")
    async with chatting(tmp_path, [gate.spec], size=(160, 30)) as chat:
        await chat.until_seen("Enter send", "Alt+Enter newline", "F1 keys", "Esc: nobody is writing")
        await chat.send("@arya go")
        await chat.until(lambda: "Esc stop arya" in chat.hints)
        gate.go.set()
