"""What every bridge promises, on every bridge: in once, out as who said it, in order, nothing lost unseen."""

import pytest

from moot.errors import NotFound, NotPermitted
from moot.model.entrance import DoorName
from moot.model.ids import ParticipantId
from moot.model.records.chat_apps.bridge import ChatKind
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, EVE, KARL, Shown
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13", "G-14")


async def test_nobody_wakes_an_agent_from_an_unpaired_chat(stage: Stage) -> None:
    chat = stage.world.add_group(ChatKind.SUPERGROUP)
    await stage.quiet()
    for _ in range(3):
        stage.world.say(chat, KARL, "/ask analyst what now?")
    await stage.quiet()
    assert await stage.hub.conversations.list() == []
    assert await stage.hub.bridges.accounts() == [], "nobody is made a participant by writing to a bot"
    [told] = await stage.shown(chat)
    assert "not paired" in told.text
    assert (await stage.chat(chat)).agents == (tuple(sorted(AGENTS)) if stage.world.has_bots else ())


async def test_a_code_pairs_one_chat_once(stage: Stage) -> None:
    chat = stage.world.add_group(ChatKind.SUPERGROUP)
    private = stage.world.add_private(EVE, "writer")
    await stage.quiet()
    code = (await stage.hub.bridges.code(stage.world.bridge_name)).code
    stage.world.say(chat, KARL, "/pair WRONGCODE1")
    await stage.quiet()
    assert (await stage.chat(chat)).state == "found"
    stage.world.say(private, EVE, f"/pair {code.lower()} writer")
    await stage.quiet()
    assert (await stage.chat(private)).state == "paired"
    other = stage.world.add_private(KARL, "critic")
    stage.world.say(other, KARL, f"/pair {code}")
    await stage.quiet()
    assert (await stage.chat(other)).state == "found"
    assert "was used" in (await stage.shown(other))[-1].text


async def test_one_human_line_is_one_message_and_each_agent_answers_once_through_its_own_bot(
    stage: Stage,
) -> None:
    """In a supergroup, and where message ids differ per account."""
    for kind in stage.world.kinds:
        chat, where = await stage.group(kind)
        before = len(stage.world.posts(chat))
        stage.world.say(chat, KARL, "@analyst @writer @critic two lines on AAPL please")
        shown = await stage.shown(chat, before)
        answers = [(name, f"{name} answers analyst writer critic two lines on AA") for name in AGENTS]
        assert [(post.speaker, post.text) for post in shown] == answers
        said = await stage.said(where)
        assert [sender for sender, _ in said] == ["karl-" + stage.world.bridge_name, *AGENTS]


async def test_repeated_and_reordered_deliveries_enter_once(stage: Stage) -> None:
    for kind in stage.world.kinds:
        chat, where = await stage.group(kind)
        stage.world.say(chat, KARL, "first")
        stage.world.say(chat, KARL, "@writer second")
        await stage.quiet()
        said, shown = await stage.said(where), await stage.shown(chat)
        stage.world.repeat(chat)
        await stage.disconnect()
        await stage.connect()
        stage.world.repeat(chat)
        assert await stage.shown(chat) == shown
        assert await stage.said(where) == said
        await stage.hub.bridges.unpair(stage.world.bridge_name, chat)


async def test_a_restart_in_the_middle_loses_and_doubles_nothing(stage: Stage) -> None:
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    for number in range(4):
        stage.world.say(chat, KARL, f"@writer line {number}")
        await stage.disconnect()
        await stage.connect()
    shown = await stage.shown(chat, before)
    texts = [text for sender, text in await stage.said(where) if sender.startswith("karl")]
    assert texts == [f"@writer line {number}" for number in range(4)]
    sure = {post.text for post in shown}
    unsure = await stage.hub.bridges.posts("unconfirmed")
    assert len(shown) == len(sure), "nothing is out twice"
    said = {text for sender, text in await stage.said(where) if sender == "writer"}
    assert said == sure | {post.text for post in unsure if post.text in said}


async def test_told_to_wait_it_keeps_the_order_and_loses_nothing(stage: Stage) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    stage.world.flood(0.3)
    for agent in AGENTS:  # one that is asked twice in a row may answer both at once
        stage.world.say(chat, KARL, f"@{agent} go on")
    shown = await until(lambda: stage.shown(chat, before), lambda posts: len(posts) == 3)
    assert [post.speaker for post in shown] == list(AGENTS)


async def test_a_post_without_an_answer_is_unconfirmed_and_sent_again_only_by_a_person(stage: Stage) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    stage.world.break_off(is_there=False)
    stage.world.say(chat, KARL, "@critic are you there?")
    await stage.quiet()
    [post] = await stage.hub.bridges.posts()
    assert (post.state, post.speaker) == ("unconfirmed", "critic")
    await stage.disconnect()
    await stage.connect()
    assert await stage.shown(chat, before) == [], "it is not sent again by itself"
    await stage.hub.bridges.resend(post.id)
    [shown] = await stage.shown(chat, before)
    assert shown.text == "critic answers critic are you there?"
    assert await stage.hub.bridges.posts() == []


async def test_what_is_refused_five_times_is_laid_aside(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.bridges.dispatch.RETRY_SECONDS", 0.001)
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    stage.world.refuse_for_good()
    stage.world.say(chat, KARL, "@critic one")
    stage.world.say(chat, KARL, "@writer two")
    shown = await stage.shown(chat, before)
    assert [post.text[-3:] for post in shown] == ["two"]
    [dead] = await stage.hub.bridges.posts()
    assert dead.state == "dead"
    assert dead.error
    await stage.hub.bridges.drop(dead.id)
    assert await stage.hub.bridges.posts() == []


async def test_a_loop_of_a_hundred_posts_by_bots_enters_not_once(stage: Stage) -> None:
    chat, where = await stage.group()
    said = await stage.said(where)
    for number in range(100):
        stage.world.say_as_bot(chat, AGENTS[number % 3], f"@writer ping {number}")
    await stage.quiet()
    assert await stage.said(where) == said


@pytest.mark.usefixtures("one_minute")
async def test_guests_talk_within_an_allowance_and_give_no_orders(stage: Stage) -> None:
    chat, where = await stage.group()
    stage.world.say(chat, EVE, "@writer hello")
    await stage.quiet()
    guest = f"eve-{stage.world.bridge_name}"
    assert (guest, "@writer hello") in await stage.said(where)
    for line in ("/continue", "/stop", "/group add critic", "/group config max_depth 9", "/group dissolve"):
        before = len(stage.world.posts(chat))
        stage.world.say(chat, EVE, line)
        [answer] = await stage.shown(chat, before)
        assert "Guests cannot use" in answer.text
    for number in range(8):
        stage.world.say(chat, EVE, f"more {number}")
    await stage.quiet()
    mine = [text for sender, text in await stage.said(where) if sender == guest]
    assert len(mine) == stage.manners.allowance.per_minute, "commands that were refused cost nothing"
    assert "guests may send 6 messages a minute" in (await stage.shown(chat))[-1].text


async def test_a_linked_account_speaks_as_its_person_and_the_owner_may_everything(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    before = len(stage.world.posts(chat))
    stage.world.say(chat, KARL, "/group config max_depth 1")
    [answer] = await stage.shown(chat, before)
    assert answer.text == "max_depth = 1"
    stage.world.say(chat, KARL, "noted")
    await stage.quiet()
    assert (await stage.said(where))[-1] == ("user", "noted")
    stage.world.say(chat, KARL, "/group dissolve")
    await stage.quiet()
    now = await stage.chat(chat)
    assert now.conversation != where
    assert now.conversation is not None
    alone = await stage.hub.conversations.get(now.conversation)
    assert {seat.name for seat in alone.participants} == {"user", "analyst"}
    before = len(stage.world.posts(chat))
    stage.world.say(chat, KARL, "still there?")
    [shown] = await stage.shown(chat, before)
    assert (shown.speaker, shown.text) == ("analyst", "analyst answers still there?")


async def test_a_private_chat_is_with_the_bots_agent(stage: Stage) -> None:
    chat = stage.world.add_private(EVE, "writer")
    await stage.pair(chat, EVE, ["writer"])
    before = len(stage.world.posts(chat))
    stage.world.say(chat, EVE, "hello")
    [shown] = await stage.shown(chat, before)
    assert (shown.speaker, shown.text) == ("writer", "writer answers hello")


async def test_a_reply_to_an_agents_post_asks_that_agent(stage: Stage) -> None:
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    stage.world.say(chat, KARL, "@writer draft it")
    [draft] = await stage.shown(chat, before)
    stage.world.say(chat, KARL, "shorter please", reply_to=draft.id)
    shown = await stage.shown(chat, before + 1)
    assert [(post.speaker, post.text) for post in shown] == [("writer", "writer answers shorter please")]
    newest = (await stage.hub.messages(where))[-2]
    assert newest.reply_to is not None
    stage.world.say(chat, KARL, "/why", reply_to=draft.id)
    [why] = await stage.shown(chat, before + 2)
    assert "critic" in why.text


async def test_what_is_said_elsewhere_is_shown_with_its_author(stage: Stage) -> None:
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    await stage.hub.post(where, "from the terminal")
    [shown] = await stage.shown(chat, before)
    assert (shown.speaker, shown.text) == ("", "● user: from the terminal")


async def test_a_decision_is_taken_by_a_button_and_only_by_whose_it_is(stage: Stage) -> None:
    private = stage.world.add_private(KARL, "critic")
    await stage.pair(private, KARL, ["critic"])
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(private, KARL, "decide please")
    asked = await until(lambda: stage.hub.decisions.list(state="open"), bool)
    assert await until(lambda: typed(stage, private), bool), "typing is shown while somebody thinks"
    post = await until(lambda: latest(stage, private), lambda text: "ship it?" in text.text)
    stage.world.press(private, KARL, post.id, 0)
    await stage.quiet()
    [decision] = await stage.hub.decisions.list()
    assert (decision.id, decision.answer) == (asked[0].id, "yes")
    assert any("critic goes with yes" in post.text for post in stage.world.posts(private))


async def test_a_decision_is_asked_for_where_its_person_set_it_off(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.conversations.configure(where, reply_strategy="mention_only")
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(chat, KARL, "@critic decide please")
    post = await until(lambda: latest(stage, chat), lambda shown: "ship it?" in shown.text)
    assert post.speaker == "critic"
    stage.world.press(chat, EVE, post.id, 0)
    await until(lambda: latest(stage, chat), lambda shown: "not yours" in shown.text)
    stage.world.press(chat, KARL, post.id, 1)
    await until(lambda: latest(stage, chat), lambda shown: shown.text == "critic goes with no")
    [decision] = await stage.hub.decisions.list()
    assert decision.answer == "no"
    asked = [shown for shown in stage.world.posts(chat) if "ship it?" in shown.text]
    assert [shown.text.splitlines()[-1] for shown in asked] == ["user: no"], (
        "who chose what stands in their place"
    )


async def test_a_decision_that_somebody_elses_message_set_off_is_asked_for_in_private_alone(
    stage: Stage,
) -> None:
    chat, where = await stage.group()
    await stage.hub.conversations.configure(where, reply_strategy="mention_only")
    stage.world.say(chat, EVE, "@critic decide please")
    asked = await until(lambda: stage.hub.decisions.list(state="open"), bool)
    assert not [shown for shown in stage.world.posts(chat) if "ship it?" in shown.text]
    await stage.hub.decisions.answer(asked[0].id, "yes")
    await stage.quiet()


async def typed(stage: Stage, chat: str) -> list[str]:
    return stage.world.typed(chat)


async def latest(stage: Stage, chat: str) -> Shown:
    return stage.world.posts(chat)[-1]


async def test_the_owner_lets_a_chat_continue_a_conversation_that_exists(stage: Stage) -> None:
    hub, name = stage.hub, stage.world.bridge_name
    build = await hub.conversations.create("build", participants=["writer", "critic"])
    await hub.post("build", "said before, in the terminal")
    chat = stage.world.add_group(ChatKind.SUPERGROUP)
    stage.world.say(chat, KARL, "/help")  # a channel is known once somebody wants something there
    await stage.quiet()
    with pytest.raises(NotFound, match='no conversation is called "built"'):
        await hub.bridges.bind(name, chat, "built")
    before = len(stage.world.posts(chat))
    await hub.bridges.bind(name, chat, "build")
    stage.world.say(chat, KARL, "@writer go on here")
    shown = await stage.shown(chat, before)
    assert [post.text for post in shown] == [
        "This chat now continues build, with user, writer, critic.",
        "writer answers writer go on here",
    ]
    assert (await stage.said(build.id))[0] == ("user", "said before, in the terminal")
    guest = hub.voice_of(ParticipantId((await hub.bridges.accounts())[0].person), DoorName.CLI)
    with pytest.raises(NotPermitted):
        await guest.bridges.bind(name, chat, "build")
    await hub.conversations.create("other", participants=["analyst"])
    await hub.bridges.bind(name, chat, "other")
    await hub.post("build", "no longer shown there")
    assert [post.text for post in await stage.shown(chat, before + 2)] == [
        "This chat now continues other, with user, analyst."
    ]
