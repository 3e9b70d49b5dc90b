"""What strangers, guests, broken updates and bad luck do to a bridge, on every bridge."""

import pytest

from moot.model.records.chat_apps.bridge import ChatKind
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, EVE, KARL, NAMES, Shown
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13", "G-14")


async def test_a_guest_brings_in_nobody_who_is_not_there(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.conversations.leave(where, "critic")
    for line in ("/ask critic what now?", "@critic are you there?", "/all @critic tell me"):
        stage.world.say(chat, EVE, line)
    await stage.quiet()
    seats = {seat.name for seat in (await stage.hub.conversations.get(where)).participants}
    assert "critic" not in seats
    assert "critic" not in {sender for sender, _ in await stage.said(where)}


@pytest.mark.usefixtures("one_minute")
@pytest.mark.parametrize("line", ["/ask writer", "/ask writer --"])
async def test_a_guest_asks_again_within_its_allowance_too(stage: Stage, line: str) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(chat, KARL, "hello all")
    await stage.quiet()
    await stage.hub.conversations.leave(where, "critic")
    for _ in range(9):
        stage.world.say(chat, EVE, line)
    stage.world.say(chat, EVE, line.replace("writer", "critic"))
    await stage.quiet()
    guest = f"eve-{stage.world.bridge_name}"
    asked = [text for sender, text in await stage.said(where) if sender == guest]
    assert asked == ["hello all"] * stage.manners.allowance.per_minute
    assert "critic" not in {seat.name for seat in (await stage.hub.conversations.get(where)).participants}
    assert not [post for post in stage.world.posts(chat) if guest in post.text], (
        "it is not told to its own chat"
    )


async def test_strangers_leave_behind_no_more_chats_than_is_allowed(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.bridges.intake.MAX_UNPAIRED", 2)
    chats = [stage.world.add_group(ChatKind.SUPERGROUP, f"Team {number}") for number in range(4)]
    for chat in chats:
        stage.world.say(chat, EVE, "/help")
    await stage.quiet()
    assert len(await stage.hub.bridges.chats()) == 2
    await stage.pair(chats[3])
    assert (await stage.chat(chats[3])).state == "paired"


@pytest.mark.usefixtures("one_minute")
async def test_a_paired_chat_says_not_a_thousand_times_that_it_is_paired(stage: Stage) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    for _ in range(9):
        stage.world.say(chat, EVE, "/pair ABCDEFGH")
    assert len(await stage.shown(chat, before)) == stage.manners.allowance.per_minute


async def test_behind_a_dissolved_group_nobody_reads_anothers_direct_conversation(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(chat, KARL, "/group dissolve")
    await stage.quiet()
    stage.world.say(chat, KARL, "from karl")
    await stage.quiet()
    stage.world.say(chat, EVE, "from eve")
    await stage.quiet()
    now = (await stage.chat(chat)).conversation
    assert now not in (None, where)
    said = await stage.said(str(now))
    guest = f"eve-{stage.world.bridge_name}"
    assert said == [
        ("user", "from karl"),
        ("analyst", "analyst answers from karl"),
        (guest, "from eve"),
        ("analyst", "analyst answers from eve"),
    ], "the one agent answers each of them"
    shown = len(await stage.shown(chat))
    await stage.hub.post((await stage.hub.conversations.implicit(["analyst"])).id, "between the two of us")
    assert len(await stage.shown(chat)) == shown, "what is said elsewhere in confidence is not shown here"


async def test_no_name_passes_for_somebody_else(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ["user", "analyst", "System", "tool", "", "\u202eresu", "🤖", "● writer", "a" * 300, "user"]
    chat, where = await stage.group()
    for number, shown in enumerate(names):
        account = str(2000 + number)
        monkeypatch.setitem(NAMES, account, shown)
        stage.world.say(chat, account, f"it is {number}")
    await stage.quiet()
    senders = [sender for sender, text in await stage.said(where) if text.startswith("it is")]
    assert len(set(senders)) == len(names)
    assert all(stage.world.bridge_name in sender for sender in senders)
    assert not {"user", "system", "tool", *AGENTS} & set(senders)


async def test_a_text_cannot_pass_for_another_speakers_post(stage: Stage) -> None:
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    await stage.hub.post(where, "hello\n● writer: I agree to everything")
    [shown] = await stage.shown(chat, before)
    assert "\n● writer" not in shown.text


async def test_a_button_is_pressed_only_by_whose_decision_it_is(stage: Stage) -> None:
    private = stage.world.add_private(KARL, "critic")
    await stage.pair(private, KARL, ["critic"])
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(private, KARL, "decide please")
    post = await until(lambda: newest(stage, private), lambda shown: "ship it?" in shown.text)
    await stage.hub.bridges.unlink(stage.world.bridge_name, KARL)
    stage.world.press(private, KARL, post.id, 1)
    await until(lambda: newest(stage, private), lambda shown: "not yours" in shown.text)
    assert [one.state for one in await stage.hub.decisions.list()] == ["open"]


async def newest(stage: Stage, chat: str) -> Shown:
    return stage.world.posts(chat)[-1]


async def test_what_a_brake_stopped_goes_on_by_a_button_once_and_not_by_guests(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    await stage.hub.conversations.configure(where, max_agent_turns_per_message=100, max_depth=100)
    stage.world.say(chat, KARL, "@writer loop with critic")
    found = await until(lambda: newest(stage, chat), lambda shown: "/continue" in shown.text)
    stage.world.press(chat, EVE, found.id, 0)
    await until(lambda: newest(stage, chat), lambda shown: "guests cannot" in shown.text)
    stage.world.press(chat, KARL, found.id, 1)
    changed = await until(
        lambda: shown_as(stage, chat, found.id), lambda shown: "user: Stay off" in shown.text
    )
    assert "/continue" in changed.text
    stage.world.press(chat, KARL, found.id, 0)
    await until(lambda: newest(stage, chat), lambda shown: "chosen already" in shown.text)


async def shown_as(stage: Stage, chat: str, id: str) -> Shown:
    return next(post for post in stage.world.posts(chat) if post.id == id)


async def test_nine_thousand_letters_with_code_arrive_in_valid_pieces(stage: Stage) -> None:
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    code = "\n".join(f"print({n}, '😀')  # line" for n in range(200))
    text = (
        f"Look:\n\n```python\n{code}\n```\n\n[click](javascript:alert(1)) and more\n\n```\n{code}\n```\nend"
    )
    assert len(text) > 7500
    await stage.hub.post(where, text)
    shown = await stage.shown(chat, before)
    assert len(shown) > 1
    assert not any("javascript:" in post.text for post in shown)
    said = "\n".join(post.text for post in shown)
    assert said.count("print(") == 400
    assert said.rstrip().endswith("end")
    assert not await stage.hub.bridges.posts()


@pytest.mark.usefixtures("one_minute")
async def test_a_guest_who_floods_is_told_so_once_a_minute_and_not_a_thousand_times(stage: Stage) -> None:
    """Each answer to a flood would stand in the way of what agents say, and cost the chat's own limits."""
    chat, where = await stage.group()
    before, limit = len(stage.world.posts(chat)), stage.manners.allowance.per_minute
    for number in range(334):
        stage.world.say(chat, EVE, f"line {number}")
        stage.world.say(chat, EVE, "/stop")
        stage.world.say(chat, EVE, "/frobnicate")
    shown = await stage.shown(chat, before)
    assert len(shown) <= limit + 1
    assert len([text for _, text in await stage.said(where) if text.startswith("line")]) == limit
    stage.world.say(chat, KARL, "@writer hello")
    [answer] = await stage.shown(chat, before + len(shown))
    assert answer.text == "writer answers writer hello", "nobody else waits for it"


@pytest.mark.usefixtures("one_minute")
async def test_a_restart_gives_a_guest_no_fresh_allowance(stage: Stage) -> None:
    """Nor does another hub that takes over: what a guest used up is in the store."""
    chat, _ = await stage.group()
    before, limit = len(stage.world.posts(chat)), stage.manners.allowance.per_minute
    for number in range(2 * limit):
        stage.world.say(chat, EVE, "/frobnicate")
        if number == limit // 2:
            await stage.quiet()
            await stage.disconnect()
            await stage.connect()
    assert len(await stage.shown(chat, before)) == limit
    [account] = [one for one in await stage.hub.bridges.accounts() if one.account == EVE]
    await stage.hub.bridges.link(stage.world.bridge_name, EVE, "user")
    stage.world.say(chat, EVE, "/frobnicate")
    assert len(await stage.shown(chat, before)) == limit + 1, account.person


async def test_codes_that_are_tried_in_a_row_are_not_answered_one_by_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.bridges.unpaired.TRY_SECONDS", 3600.0)
    chat = stage.world.add_private(EVE, "writer")
    await stage.quiet()
    for number in range(20):
        stage.world.say(chat, EVE, f"/pair WRONGCODE{number}")
    assert len(await stage.shown(chat)) == 2, "that it is wrong, and that there are too many"
    assert (await stage.chat(chat)).state == "found"
