"""The methods of a hub, the same whichever way it is reached."""

import asyncio
from typing import Any

import pytest

from moot import shapes
from moot.client.transport import paging
from moot.errors import (
    BadText,
    BadValue,
    Conflict,
    NotFound,
    NotPermitted,
    Passed,
    Stale,
    TimedOut,
    TurnFailed,
)
from moot.model.answer import Preview, Receipt
from tests.support.postgres import empty_database
from tests.support.waiting import PATIENCE, until

ON_POSTGRES = "in process, on PostgreSQL"


@pytest.fixture(params=["in process", "socket", "http", ON_POSTGRES])
def means(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def way(means: str) -> str:
    """How the hub is reached."""
    return "in process" if means == ON_POSTGRES else means


@pytest.fixture
async def kept_in(means: str) -> str:
    return f'[store]\nurl = "{await empty_database()}"\n' if means == ON_POSTGRES else ""


async def test_a_message_is_posted_answered_and_read_again(hub: Any) -> None:
    made = await hub.conversations.create("room", participants=["arya", "quiet"])
    assert isinstance(made, shapes.Conversation)
    receipt = await hub.post("room", "hello @arya", idempotency_key="k1")
    assert isinstance(receipt, Receipt)
    assert [(d.agent, d.duty) for d in receipt.deliveries] == [("arya", "must"), ("quiet", "may")]
    again = await hub.post("room", "hello @arya", idempotency_key="k1")
    assert (again.id, again.replayed) == (receipt.id, True)
    await hub.settled("room", timeout=40)
    messages = await hub.messages("room")
    assert all(isinstance(message, shapes.Message) for message in messages)
    assert [(m.sender, m.text) for m in messages] == [
        ("user", "hello @arya"),
        ("arya", "arya heard hello arya"),
    ]
    assert [m.id for m in await hub.newest("room", 1)] == [messages[-1].id]
    why = await hub.why(receipt.id)
    assert {row.agent: row.state for row in why.agents} == {"arya": "answered", "quiet": "passed"}
    [turn] = await hub.turns(conversation="room", agent="arya")
    assert turn.state == "said"
    assert (await hub.turn(str(turn.id))).given["messages"]
    assert await hub.inspector.unsettled("room") == []
    assert [hit.message.id for hit in await hub.search("heard")] == [messages[-1].id]


@pytest.mark.req("J-12")
async def test_a_search_takes_words_and_operators(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya"])
    await hub.conversations.create("hall", participants=["arya", "quiet"])
    await hub.post("room", "the plan, @arya: https://example.org")
    await hub.post("hall", "another plan")
    await hub.settled(timeout=40)

    async def found(query: str, **more: Any) -> list[str]:
        return [f"{hit.message.sender}: {hit.message.text}" for hit in await hub.search(query, **more)]

    linked = "user: the plan, @arya: https://example.org"
    assert await found('from:user "the plan"') == [linked]
    assert await found("to:arya has:link kind:human") == [linked]
    assert await found("in:hall plan after:1h", limit=1) == ["arya: arya heard another plan"]
    assert await found("plan before:2020-01-01") == []
    assert await hub.inspector.narrowest("plan before:2020-01-01 kind:group") == shapes.Removed(
        "before:2020-01-01", 4
    )
    assert await hub.inspector.narrowest("unicorn from:arya") is None
    with pytest.raises(NotFound) as missing:
        await hub.search("from:aria plan")
    assert "arya" in missing.value.suggestions
    with pytest.raises(BadValue, match="unknown search operator"):
        await hub.search("author:arya")


async def test_conversations_live_their_life(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya"])
    assert (await hub.conversations.join("room", "quiet")).participants[-1].name == "quiet"
    await hub.conversations.leave("room", "quiet")
    renamed = await hub.conversations.rename("room", "hall")
    assert renamed.name == "hall"
    changed = await hub.conversations.configure("hall", max_agent_turns_per_message=5)
    assert changed.settings["max_agent_turns_per_message"] == 5
    pair = await hub.conversations.implicit(["arya"])
    assert (await hub.conversations.implicit(["arya"])).id == pair.id
    await hub.conversations.archive("hall")
    assert [c.name for c in await hub.conversations.list(archived=True)] == ["hall"]
    await hub.conversations.unarchive(renamed.id)
    assert await hub.conversations.resume("hall") is False
    await hub.conversations.delete("hall")
    with pytest.raises(NotFound):
        await hub.conversations.get("hall")


@pytest.mark.req("P-04")
async def test_a_conversation_that_may_exist_is_made_once_and_found_again(hub: Any) -> None:
    made = await hub.conversations.create("talk", participants=["arya"], exist_ok=True)
    await hub.conversations.configure(made.id, max_depth=4)
    again = await hub.conversations.create(
        "talk", participants=["arya", "quiet"], settings={"max_depth": 1}, exist_ok=True
    )
    assert (again.id, again.settings["max_depth"]) == (made.id, 4)
    assert [seat.name for seat in again.participants] == ["user", "arya", "quiet"]
    assert [m.text for m in await hub.messages("talk")] == ["[quiet joined]"]
    for other in ({}, {"exist_ok": True, "kind": "task"}):
        with pytest.raises(Conflict, match="already exists"):
            await hub.conversations.create("talk", **other)
    with pytest.raises(NotFound):
        await hub.conversations.create("talk", participants=["nobody"], exist_ok=True)
    await hub.conversations.leave("talk", "user")
    with pytest.raises(Conflict):  # whoever is not in it does not come in by this door
        await hub.conversations.create("talk", exist_ok=True)


async def test_a_question_has_a_conversation_of_its_own_and_can_be_asked_again(hub: Any) -> None:
    where = await hub.conversations.ephemeral("arya", "send:arya:k")
    assert (where.kind, where.home) == ("ephemeral", "arya")
    assert (await hub.conversations.ephemeral("arya", "send:arya:k")).id == where.id
    receipt = await hub.post(where.id, "hello", correlation_id="q1")
    await hub.settled(where.id, timeout=40)
    asked, answered = await hub.messages(where.id)
    assert asked.metadata["correlation_id"] == answered.metadata["correlation_id"] == "q1"
    again = await hub.deliveries.ask_again(receipt.id, ["arya"])
    assert isinstance(again, Receipt)
    await hub.settled(where.id, timeout=40)
    assert [m.text for m in await hub.messages(where.id)][2:] == ["hello", "arya heard hello"]


async def test_what_waits_is_read_and_who_speaks_is_stopped(hub: Any) -> None:
    answer = await hub.ask("arya", "hello", timeout=40)
    [waiting] = await hub.inbox(unread=True)
    assert isinstance(waiting, shapes.Received)
    assert (waiting.message.id, waiting.unread) == (answer.id, True)
    never_given = ("nonsense", "nowhere:3", f"{answer.conversation}:0")
    assert [m.id for m in (await hub.mailbox.check(handed=never_given)).messages] == [answer.id]
    await hub.conversations.read(answer.conversation, answer.seq)
    assert await hub.inbox(unread=True) == []
    assert await hub.conversations.stop(answer.conversation) == ()


async def test_a_group_is_bound_to_a_chat_until_it_is_dissolved(hub: Any) -> None:
    made = await hub.conversations.create("room", participants=["arya"], channel=("telegram", "7"))
    found = await hub.conversations.list(channel_type="telegram", channel_group_id="7")
    assert [each.id for each in found] == [made.id]
    await hub.conversations.dissolve("room")
    assert await hub.conversations.list(channel_type="telegram") == []
    assert (await hub.conversations.get(made.id)).archived


async def test_asking_has_four_outcomes(hub: Any) -> None:
    assert (await hub.ask("arya", "you there?", timeout=40)).text == "arya heard you there?"
    with pytest.raises(Passed):
        await hub.ask("quiet", "you there?", timeout=40)
    with pytest.raises(TurnFailed):
        await hub.ask("broken", "you there?", timeout=40)
    await hub.agents.create("away")
    with pytest.raises(TimedOut):
        await hub.ask("away", "you there?", timeout=0.2)


async def test_agents_are_found_renamed_paused(hub: Any) -> None:
    assert {a.name for a in await hub.agents.list()} == {"arya", "quiet", "broken"}
    assert (await hub.agents.get("arya")).role == "engineer"
    assert (await hub.agents.rename("quiet", "silent")).aliases == ("quiet",)
    assert (await hub.agents.pause("arya")).activity["state"] == "paused"
    assert (await hub.agents.resume("arya")).activity["state"] != "paused"
    await hub.agents.interrupt("arya")


async def test_edits_are_optimistic_and_deletes_leave_a_place(hub: Any) -> None:
    await hub.conversations.create("room")
    receipt = await hub.post("room", "helo")
    assert (await hub.edit(receipt.id, "hello", version=1)).version == 2
    with pytest.raises(Conflict) as raised:
        await hub.edit(receipt.id, "hullo", version=1)
    assert raised.value.facts["current_version"] == 2
    assert (await hub.delete(receipt.id, version=2)).metadata["deleted"] is True
    with pytest.raises(Conflict, match="was deleted"):
        await hub.deliveries.ask_again(receipt.id, ["arya"])


async def test_refusals_keep_their_class_and_facts(hub: Any) -> None:
    with pytest.raises(NotFound) as raised:
        await hub.post("nowhere", "hello")
    assert raised.value.code == "E201"
    with pytest.raises(NotFound) as nobody:
        await hub.agents.get("arja")
    assert "arya" in nobody.value.suggestions
    await hub.conversations.create("room")
    with pytest.raises(BadText):
        await hub.post("room", "")
    with pytest.raises((BadValue, TypeError)):
        await hub.post("room", "hello", no_such_option=1)


async def test_a_preview_stores_nothing(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya", "quiet"])
    preview = await hub.preview("room", "@arya?")
    assert isinstance(preview, Preview)
    assert (preview.must, preview.may) == (("arya",), ("quiet",))
    assert await hub.messages("room") == []


async def test_speaking_for_somebody(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya"])
    await hub.acting_as("arya").post("room", "as myself")
    assert [m.sender for m in await hub.messages("room")] == ["arya"]


async def test_events_come_from_any_point_without_a_gap(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya"])
    after = hub.position
    for n in range(3):
        await hub.post("room", f"@arya {n}")
        await hub.settled("room", timeout=40)
    heard: list[str] = []
    async with asyncio.timeout(PATIENCE):
        async for event in hub.events(conversation="room", types=("message.posted",), after=after):
            assert isinstance(event, shapes.Event)
            heard.append(event.body["text"])
            if len(heard) == 6:
                break
    assert [text for text in heard if text.startswith("@")] == ["@arya 0", "@arya 1", "@arya 2"]


async def test_pieces_of_a_reply_are_told_live(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya"])

    async def first() -> str:
        async for event in hub.events(conversation="room", types=("turn.delta",)):
            return str(event.body["text"])
        return ""

    listening = asyncio.create_task(first())

    async def asked() -> bool:
        """Whoever begins to listen while she speaks hears the next time."""
        await hub.post("room", "@arya hello")
        await asyncio.wait([listening], timeout=0.5)
        return listening.done()

    await until(asked, bool)
    assert await listening == "well, "


@pytest.mark.req("M-01")
async def test_deliveries_dead_letters_and_once_more(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya", "quiet", "broken"])
    await hub.agents.create("away")
    await hub.conversations.join("room", "away")
    receipt = await hub.post("room", "@arya @broken @away hello", max_turns=4)
    await hub.settled("room", timeout=40)
    found = {d.agent: d for d in await hub.deliveries.of(receipt.id)}
    states = {name: (d.state, d.reachability) for name, d in found.items()}
    assert states == {
        "arya": ("answered", "live"),
        "quiet": ("passed", "live"),
        "broken": ("failed", "live"),
        "away": ("owed", "away"),
    }
    arya = found["arya"]
    assert arya.stored_at <= arya.started_at <= arya.ended_at
    assert found["away"].started_at is None
    assert "on purpose" in found["broken"].error
    [dead] = await hub.deliveries.dead_letters()
    assert (dead.agent, dead.state) == ("broken", "failed")
    again = await hub.deliveries.redeliver(dead.id)
    await hub.settled("room", timeout=40)
    asked = [m for m in await hub.messages("room") if m.id == again.id]
    assert [(m.text, m.reply_to) for m in asked] == [(f"@broken please answer #{receipt.seq}", receipt.id)]
    assert len(await hub.deliveries.dead_letters(agent="broken")) == 2
    with pytest.raises(Conflict):
        await hub.deliveries.redeliver(arya.turn)
    with pytest.raises(NotFound):
        await hub.deliveries.redeliver("999")


@pytest.mark.req("J-02", "J-05")
async def test_an_outside_agent_is_handed_its_messages_and_answers(hub: Any) -> None:
    await hub.agents.create("x", external=True)
    x = hub.acting_as("x")
    asked = await hub.send("x", "which port?", idempotency_key="k")
    assert (await hub.send("x", "which port?", idempotency_key="k")).id == asked.id
    found = await x.mailbox.wait(timeout=10, handed=())
    assert [message.id for message in found.messages] == [asked.id]
    assert found.must_answer == (asked.id,)
    again = await x.mailbox.check(handed=(), held=found.handed)
    assert again.handed == ()
    assert (await x.mailbox.check(handed=())).handed == found.handed
    receipt = await x.mailbox.reply(asked.id, "5173", idempotency_key="r")
    assert isinstance(receipt, Receipt)
    assert (await x.mailbox.reply(asked.id, "5173", idempotency_key="r")).id == receipt.id
    assert (await hub.message(receipt.id)).reply_to == asked.id
    await hub.send("x", "thanks")
    [silent] = (await x.mailbox.check(handed=())).messages
    assert await x.mailbox.reply(silent.id, "[PASS]") is None
    assert await x.mailbox.reply(silent.id, "[PASS]") is None
    assert [m.text for m in await hub.messages(asked.conversation)] == ["which port?", "5173", "thanks"]


async def test_an_outside_agent_sees_its_turn_and_ends_it(hub: Any) -> None:
    await hub.agents.create("x", external=True)
    await hub.conversations.create("room", participants=["x", "quiet"])
    await hub.post("room", "hello @x", correlation_id="q7")
    x = hub.acting_as("x")
    [turn] = (await x.mailbox.check(handed=())).handed
    seen = await x.mailbox.view(turn)
    assert isinstance(seen, shapes.View)
    assert (seen.turn.id, seen.turn.duty, seen.conversation.name) == (turn, "must", "room")
    assert [message.text for message in seen.new] == [seen.trigger.text] == ["hello @x"]
    [heard] = seen.messages
    assert (heard.role, heard.text) == ("user", "hello @x")
    assert heard.content != heard.text
    await x.mailbox.give_back(turn)
    assert (await x.mailbox.check(handed=())).handed == (turn,)
    ended = await x.mailbox.end(turn, text="hi")
    assert (ended.state, ended.message) == ("said", f"{seen.conversation.id}:2")
    [_, reply] = (await hub.messages("room"))[:2]
    assert reply.metadata["correlation_id"] == "q7"
    with pytest.raises(Stale):
        await x.mailbox.end(turn, text="hi")
    with pytest.raises(Stale):
        await x.mailbox.view(turn)
    with pytest.raises(NotPermitted):
        await hub.mailbox.end(turn, text="not mine")


@pytest.mark.req("G-08")
async def test_an_outside_agent_fails_for_all_to_see(hub: Any) -> None:
    await hub.agents.create("x", external=True)
    await hub.conversations.create("room", participants=["x", "arya"])
    await hub.post("room", "@x @arya?")
    x = hub.acting_as("x")
    [turn] = (await x.mailbox.check(handed=())).handed
    failed = await x.mailbox.end(turn, error="ValueError: on purpose")
    assert (failed.state, failed.error) == ("failed", "ValueError: on purpose")
    await hub.settled("room", timeout=40)
    texts = [message.text for message in await hub.messages("room")]
    assert texts[1:] == ["[x encountered an error]", "arya heard x arya?"] or texts[1:] == [
        "arya heard x arya?",
        "[x encountered an error]",
    ]
    with pytest.raises(BadValue):
        await x.mailbox.end(turn, text="both", error="both")


async def test_what_is_posted_within_a_turn_belongs_to_it(hub: Any, way: str) -> None:
    await hub.agents.create("x", external=True)
    first = await hub.send("x", "one")
    await hub.conversations.create("room", participants=["x"])
    second = await hub.post("room", "@x two")
    x = hub.acting_as("x")
    turns = {
        (await x.mailbox.view(turn)).trigger.id: turn for turn in (await x.mailbox.check(handed=())).handed
    }
    for asked in (first, second):
        inside = x.within(turns[asked.id])
        voice = await inside if way == "in process" else inside
        assert (await voice.send("arya", f"about {asked.seq}")).root == asked.root


async def test_a_question_under_one_key_is_asked_once(hub: Any) -> None:
    first = await hub.ask("arya", "you there?", timeout=40, idempotency_key="q")
    async with asyncio.timeout(PATIENCE):  # it is known: nobody waits until the time is over
        assert (await hub.ask("arya", "you there?", timeout=60, idempotency_key="q")).id == first.id
    assert len(await hub.messages(first.conversation)) == 2


async def test_a_broadcast_under_one_key_is_said_once(hub: Any) -> None:
    told = await hub.broadcast("hello", idempotency_key="b")
    assert sorted(told["delivered_to"]) == ["arya", "broken", "quiet"]
    assert (await hub.broadcast("hello", idempotency_key="b")) == told
    pair = await hub.conversations.implicit(["quiet"])
    assert [message.text for message in await hub.messages(pair.id)] == ["hello"]


async def test_long_histories_come_whole(hub: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paging, "PAGE", 3)
    await hub.conversations.create("room")
    for n in range(8):
        await hub.post("room", str(n))
    seqs = {
        "all": await hub.messages("room"),
        "first": await hub.messages("room", limit=4),
        "between": await hub.messages("room", after=1, before=7),
        "below": await hub.messages("room", before=8, limit=5),
        "newest": await hub.newest("room", 7),
    }
    assert {name: [m.seq for m in found] for name, found in seqs.items()} == {
        "all": [1, 2, 3, 4, 5, 6, 7, 8],
        "first": [1, 2, 3, 4],
        "between": [2, 3, 4, 5, 6],
        "below": [3, 4, 5, 6, 7],
        "newest": [2, 3, 4, 5, 6, 7, 8],
    }
    for n in range(7):
        await hub.conversations.create(f"c{n}")
    names = [one.name for one in await hub.conversations.list()]
    assert names == ["room", *(f"c{n}" for n in range(7))]


async def test_what_is_known_of_turns_and_agents_is_told(hub: Any) -> None:
    await hub.conversations.create("room", participants=["arya"])
    receipt = await hub.post("room", "@arya hello")
    await hub.settled(timeout=40)
    [turn] = await hub.turns(conversation="room", agent="arya")
    assert (await hub.turn(str(turn.id), given=False)).given is None
    assert (await hub.inspector.context("arya", "room"))["agent"] == "arya"
    assert (await hub.inspector.replay("arya")).equal
    assert (await hub.inspector.usage(agent="arya"))["calls"] == 0
    assert (await hub.message(receipt.id)).text == "@arya hello"
    assert "agent.created" in [entry.act for entry in await hub.audit.log()]
    assert [entry.act for entry in await hub.audit.log(agent="arya", acts=["agent.created"])] == [
        "agent.created"
    ]
    assert (await hub.audit.verify()).ok
    assert await hub.inspector.unsettled() == []


async def test_waiting_tells_what_is_still_open(hub: Any) -> None:
    await hub.agents.create("x", external=True)
    sent = await hub.send("x", "hello")
    await hub.acting_as("x").mailbox.check(handed=())
    for where in (sent.conversation, None):
        with pytest.raises(TimedOut) as late:
            await hub.settled(where, timeout=0.05)
        assert [turn["agent"] for turn in late.value.facts["open"]] == ["x"]
        assert late.value.title == "1 turns are still open after 0.05 s"
        assert [turn.agent for turn in await hub.inspector.unsettled(where)] == ["x"]


@pytest.mark.req("P-06")
async def test_tokens_are_shown_once_listed_and_revoked(hub: Any) -> None:
    issued = await hub.agents.issue_token("arya", scopes=["read"])
    assert issued.token.startswith("moot_ag_arya_")
    assert (issued.agent, issued.scopes) == ("arya", ("read",))
    [listed] = await hub.agents.tokens("arya")
    assert (listed.id, listed.scopes, listed.revoked_at) == (issued.id, ("read",), None)
    assert issued.token not in str(listed)
    assert (await hub.agents.revoke_token("arya", issued.id)).revoked_at is not None
    with pytest.raises(NotFound):
        await hub.agents.revoke_token("quiet", issued.id)
    with pytest.raises(BadValue):
        await hub.agents.issue_token("arya", scopes=["everything"])
    with pytest.raises(NotFound):
        await hub.agents.issue_token("nobody")


async def test_what_is_said_of_an_agent_can_be_changed(hub: Any) -> None:
    changed = await hub.agents.change("arya", role="reviewer", project="/srv/site")
    assert (changed.role, changed.project, changed.name) == ("reviewer", "/srv/site", "arya")
    assert (await hub.agents.get("arya")).role == "reviewer"


@pytest.mark.req("S-11")
async def test_links_are_made_changed_and_deleted(hub: Any) -> None:
    made = await hub.links.create("arya", "quiet", relationship="superior")
    assert isinstance(made, shapes.MadeLink)
    assert made.sentence == "arya is superior of quiet. Both may start."
    with pytest.raises(Conflict, match="already linked"):
        await hub.links.create("quiet", "arya")
    told = await hub.links.prompts(made.id)
    assert (told.sentence, [end.agent for end in told.prompts]) == (made.sentence, ["arya", "quiet"])
    assert "quiet reports to you" in told.prompts[0].link
    assert "- arya" in told.prompts[1].organisation
    changed = await hub.links.update(made.id, direction="one_way", enabled=False)
    assert (changed.direction, changed.enabled) == ("one_way", False)
    assert [link.id for link in await hub.links.list(between="arya,quiet")] == [made.id]
    assert await hub.links.get(made.id[:4]) == changed
    assert (await hub.links.delete(made.id)).id == made.id
    with pytest.raises(NotFound):
        await hub.links.get(made.id)


@pytest.mark.req("S-10", "M-05")
async def test_a_task_is_delegated_found_and_called_off(hub: Any) -> None:
    task = await hub.delegate("quiet", "think about it", deadline_seconds=600)
    assert isinstance(task, shapes.Task)
    assert (task.to, task.task) == ("quiet", "think about it")
    assert (await hub.tasks.get(task.id[:8])).id == task.id
    with pytest.raises(BadValue):
        await hub.delegate("quiet", "x", deadline_seconds=-1)
    with pytest.raises(NotFound):
        await hub.tasks.get("t-nothing")
    known = await hub.tasks.list(to="quiet")
    assert [each.id for each in known] == [task.id]
