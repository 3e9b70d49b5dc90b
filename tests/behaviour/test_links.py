"""Links from the outside: made, changed and deleted, and what they let through on every way in."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadValue, Conflict, MootError, NotFound, NotPermitted
from tests.support.waiting import until


def quiet(name: str, answer: str = "[PASS]") -> Any:
    @agent(name)
    async def think(turn: Any) -> str:
        return answer

    return think


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    async with Hub.open(tmp_path, agents=[quiet(name) for name in ("a", "b", "c", "d")]) as hub:
        yield hub


async def conversations(hub: Hub) -> list[str]:
    return sorted(each.name for each in await hub.conversations.list())


@pytest.mark.req("S-01", "S-02")
async def test_a_link_has_a_channel_that_both_ends_are_in(hub: Hub) -> None:
    made = await hub.links.create("a", "b", relationship="superior")
    assert made.sentence == "a is superior of b. Both may start."
    assert made.cuts_off == {"a": ("c", "d"), "b": ("c", "d")}
    channel = await hub.conversations.get(made.channel)
    assert (channel.id, channel.kind) == (f"link:{made.id}", "link")
    assert [seat.name for seat in channel.participants] == ["a", "b"]
    assert [link.id for link in await hub.links.list(between="b,a")] == [made.id]


@pytest.mark.req("S-01")
async def test_there_is_one_link_per_pair_whichever_way_round(hub: Hub) -> None:
    first = await hub.links.create("a", "b")
    for ends in (("a", "b"), ("b", "a")):
        with pytest.raises(Conflict, match="already linked") as refused:
            await hub.links.create(*ends)
        assert refused.value.facts["link"] == first.id
        assert first.sentence in refused.value.detail
    with pytest.raises(Conflict, match="with itself"):
        await hub.links.create("a", "a")
    with pytest.raises(NotFound):
        await hub.links.create("a", "nobody")
    assert len(await hub.links.list()) == 1


@pytest.mark.req("S-01")
async def test_superiors_never_form_a_ring(hub: Hub) -> None:
    await hub.links.create("a", "b", relationship="superior")
    await hub.links.create("b", "c", relationship="superior")
    with pytest.raises(Conflict, match="its own superior") as refused:
        await hub.links.create("c", "a", relationship="superior")
    assert refused.value.facts["ring"] == ["a", "b", "c", "a"]
    third = await hub.links.create("c", "a")
    with pytest.raises(Conflict, match="its own superior"):
        await hub.links.update(third.id, relationship="superior")
    assert (await hub.links.get(third.id)).relationship == "peer"


@pytest.mark.req("S-04", "S-06")
async def test_a_send_goes_into_the_channel_with_what_the_sender_is_to_the_receiver(hub: Hub) -> None:
    link = await hub.links.create("a", "b", relationship="superior")
    down = await hub.acting_as("a").send("b", "status?")
    up = await hub.acting_as("b").send("a", "two open")
    assert down.conversation == up.conversation == link.channel
    stamped = [message.metadata for message in await hub.messages(link.channel)]
    assert stamped[0] == {
        "type": "inter-agent",
        "sender": "a",
        "source": "internal",
        "link_id": link.id,
        "from_agent_id": "a",
        "relationship": "superior",
        "spoken_by": "user",
    }
    assert stamped[1]["relationship"] == "subordinate"


WAYS: dict[str, Callable[[Hub, str, str], Awaitable[object]]] = {
    "send": lambda hub, sender, to: hub.acting_as(sender).send(to, "hello"),
    "ask": lambda hub, sender, to: hub.acting_as(sender).ask(to, "hello?", timeout=5),
}


@pytest.mark.req("S-04", "S-05")
@pytest.mark.parametrize("way", WAYS)
async def test_a_refused_send_leaves_nothing_behind(hub: Hub, way: str) -> None:
    await hub.links.create("a", "b")
    before = await conversations(hub)
    for sender, to, title in (("a", "c", "a is bound"), ("c", "a", "a is bound")):
        with pytest.raises(NotPermitted, match=title) as refused:
            await WAYS[way](hub, sender, to)
        assert refused.value.facts["rule"] == "link"
    assert await conversations(hub) == before
    await hub.acting_as("c").send("d", "the unlinked talk freely")


async def test_a_reply_that_is_refused_counts_for_nothing(tmp_path: Path) -> None:
    go_on = asyncio.Event()

    @agent("asks")
    async def asks(turn: Any) -> str:
        if turn.trigger.kind == "human":
            await turn.hub.send("answers", "a question")
            return "sent"
        return "[PASS]"

    @agent("answers")
    async def answers(turn: Any) -> str:
        await go_on.wait()
        return "too late"

    async with Hub.open(tmp_path, agents=[asks, answers]) as hub:
        link = await hub.links.create("asks", "answers")
        await hub.send("asks", "go")
        await until(lambda: hub.turns(agent="answers"), bool)
        await hub.links.update(link.id, enabled=False)
        go_on.set()
        await until(
            lambda: hub.turns(agent="answers"), lambda turns: [turn.state for turn in turns] == ["failed"]
        )
        pairs = (await hub.limits()).to_dict()["pairs"]
        assert [(pair["from"], pair["to"]) for pair in pairs] == [("asks", "answers")]


async def test_a_refusal_says_what_would_be_allowed(hub: Hub) -> None:
    await hub.links.create("a", "b")
    with pytest.raises(NotPermitted) as refused:
        await hub.acting_as("a").send("c", "hello")
    assert refused.value.facts["allowed"] == ["b"]
    assert "a may write to b" in refused.value.detail
    assert [hint.agents for hint in refused.value.fix] == [("a", "c")]  # type: ignore[union-attr]


@pytest.mark.req("S-05")
async def test_a_broadcast_reaches_those_it_may_and_names_the_others(hub: Hub) -> None:
    await hub.links.create("a", "b")
    sent = await hub.acting_as("a").broadcast("to all")
    assert sent["delivered_to"] == ["b"]
    assert {each["agent"] for each in sent["failed"]} == {"c", "d"}


@pytest.mark.req("S-03")
async def test_of_a_one_way_link_only_one_end_starts_and_the_other_answers(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[quiet("manager"), quiet("support", "two open")]) as hub:
        link = await hub.links.create("manager", "support", direction="one_way", relationship="superior")
        with pytest.raises(NotPermitted, match="only manager may start"):
            await hub.acting_as("support").send("manager", "hello?")
        asked = await hub.acting_as("manager").send("support", "how many?")
        await hub.settled(link.channel)
        assert [message.text for message in await hub.messages(link.channel)] == ["how many?", "two open"]
        await hub.acting_as("support").post(link.channel, "and one more", reply_to=asked.id)
        with pytest.raises(NotPermitted, match="only manager may start"):
            await hub.acting_as("support").post(link.channel, "by the way")


@pytest.mark.req("S-03")
async def test_a_link_that_is_off_lets_nobody_through(hub: Hub) -> None:
    link = await hub.links.create("a", "b")
    assert (await hub.links.update(link.id, enabled=False)).sentence == "a and b are peers. The link is off."
    for sender, to in (("a", "b"), ("b", "a")):
        with pytest.raises(NotPermitted, match="is off"):
            await hub.acting_as(sender).send(to, "hello")
    await hub.links.update(link.id, enabled=True)
    await hub.acting_as("a").send("b", "hello")


@pytest.mark.req("S-05")
async def test_people_are_not_bound(hub: Hub) -> None:
    link = await hub.links.create("a", "b", direction="one_way")
    for name in ("a", "b", "c"):
        await hub.send(name, "a person writes to whom they like")
    await hub.post(link.channel, "and into the channel of any link")
    await hub.settled(timeout=40)


@pytest.mark.req("S-05")
async def test_in_a_group_membership_is_enough_unless_links_bind(hub: Hub) -> None:
    await hub.links.create("a", "b")
    for name, binds in (("free", False), ("bound", True)):
        await hub.conversations.create(name, participants=["a", "b", "c"], settings={"links_bind": binds})
        receipt = await hub.acting_as("a").post(name, "@b and @c, please")
        rules = {each.agent: (each.duty, each.rule) for each in receipt.deliveries}
        assert rules["b"] == ("must", "mention")
        assert rules["c"] == (("blocked", "link") if binds else ("must", "mention"))


@pytest.mark.req("S-02")
async def test_deleting_a_link_archives_its_channel_and_purging_erases_it(hub: Hub) -> None:
    for purge in (False, True):
        link = await hub.links.create("a", "b")
        await hub.acting_as("a").send("b", "remember this")
        with pytest.raises(Conflict, match="stays open as long as"):
            await hub.conversations.archive(link.channel)
        await hub.links.delete(link.id, purge=purge)
        kept = [each.id for each in await hub.conversations.list(archived=True)]
        assert (link.channel in kept) is not purge
        if not purge:
            assert [message.text for message in await hub.messages(link.channel)] == ["remember this"]
            with pytest.raises(Conflict, match="was deleted"):
                await hub.conversations.unarchive(link.channel)
    assert await hub.links.list() == []


async def test_agents_do_not_change_links(hub: Hub) -> None:
    link = await hub.links.create("a", "b")
    other = hub.acting_as("a")
    for attempt in (
        other.links.create("a", "c"),
        other.links.update(link.id, enabled=False),
        other.links.delete(link.id),
    ):
        with pytest.raises(NotPermitted, match="may not change links"):
            await attempt
    assert [each.sentence for each in await hub.links.list()] == ["a and b are peers. Both may start."]


@pytest.mark.req("S-05")
async def test_a_link_cut_while_a_turn_waits_ends_it(tmp_path: Path) -> None:
    """Nobody hosts b: its turn waits until it comes, and by then the link is gone."""
    async with Hub.open(tmp_path, agents=[quiet("a")]) as hub:
        await hub.agents.create("b")
        link = await hub.links.create("a", "b")
        await hub.acting_as("a").send("b", "when you are there")
        assert [turn.state for turn in await hub.turns(agent="b")] == ["owed"]
        await hub.links.update(link.id, enabled=False)
        assert [(turn.state, turn.rule) for turn in await hub.turns(agent="b")] == [("cancelled", "link")]


@pytest.mark.req("S-05")
async def test_where_links_bind_a_group_asks_the_graph_again_when_a_turn_begins(tmp_path: Path) -> None:
    """a calls b and c, which nobody hosts yet; by the time they come, the link to b is off."""
    ran: list[str] = []

    def noting(name: str) -> Any:
        @agent(name)
        async def think(turn: Any) -> str:
            ran.append(f"{name}: {turn.text}")
            return "[PASS]"

        return think

    async with Hub.open(tmp_path, agents=[quiet("a")]) as hub:
        for name in ("b", "c"):
            await hub.agents.create(name)
            await hub.links.create("a", name)
        await hub.conversations.create("room", participants=["a", "b", "c"], settings={"links_bind": True})
        sent = await hub.acting_as("a").post("room", "@b and @c, please")
        [link] = await hub.links.list(between="a,b")
        await hub.links.update(link.id, enabled=False)
        await hub.host([noting("b"), noting("c")])
        await until(lambda: hub.turns(agent="b"), _is_cut)
        await hub.settled(timeout=40)
        assert ran == ["c: @b and @c, please"]
        parts = {part.agent: (part.duty, part.rule, part.reason) for part in (await hub.why(sent.id)).agents}
        assert parts["b"] == ("blocked", "link", "b got no turn: no link that is on joins it with the sender")
        assert parts["c"][:2] == ("must", "mention")


@pytest.mark.req("S-05")
async def test_a_person_who_calls_too_keeps_the_turn_of_a_group_whose_link_was_cut(tmp_path: Path) -> None:
    heard: list[str] = []

    @agent("b")
    async def think(turn: Any) -> str:
        heard.append(turn.trigger.sender)
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[quiet("a")]) as hub:
        await hub.agents.create("b")
        link = await hub.links.create("a", "b")
        await hub.conversations.create("room", participants=["a", "b"], settings={"links_bind": True})
        await hub.post("room", "@b, are you there?")
        await hub.acting_as("a").post("room", "@b, I ask too")
        await hub.links.update(link.id, enabled=False)
        await hub.host([think])
        await until(lambda: hub.turns(agent="b", state="passed"), bool)
        assert heard == [hub.name]


@pytest.mark.req("S-05")
async def test_where_no_link_binds_turning_one_off_ends_nothing(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[hub]\npolicy = "open"\n')
    async with Hub.open(tmp_path, agents=[quiet("a")]) as hub:
        await hub.agents.create("b")
        link = await hub.links.create("a", "b")
        await hub.acting_as("a").send("b", "when you are there")
        await hub.links.update(link.id, enabled=False)
        assert [turn.state for turn in await hub.turns(agent="b")] == ["owed"]
        await hub.host([quiet("b", "I am here")])
        await until(lambda: hub.turns(agent="b", state="said"), bool)


@pytest.mark.req("S-05")
async def test_a_policy_that_became_stricter_holds_when_the_turn_would_begin(tmp_path: Path) -> None:
    """The graph is asked again when the turn begins: in between a link came that binds the receiver."""
    ran: list[str] = []

    @agent("b")
    async def think(turn: Any) -> str:
        ran.append(turn.text)
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[quiet("a"), quiet("c")]) as hub:
        await hub.agents.create("b")
        await hub.acting_as("a").send("b", "freely sent")
        await hub.links.create("b", "c")
        await hub.host([think])
        await until(lambda: hub.turns(agent="b"), _is_cut)
        assert ran == []


def _is_cut(turns: list[Any]) -> bool:
    return [(turn.state, turn.rule) for turn in turns] == [("cancelled", "link")]


async def test_links_survive_a_restart(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[quiet("a"), quiet("b"), quiet("c")]) as hub:
        made = await hub.links.create("a", "b", relationship="superior", direction="one_way")
    async with Hub.open(tmp_path, agents=[quiet("a"), quiet("b"), quiet("c")]) as hub:
        assert [link.id for link in await hub.links.list()] == [made.id]
        with pytest.raises(NotPermitted):
            await hub.acting_as("b").send("c", "hello")


async def test_two_at_once_make_one_link(hub: Hub) -> None:
    results = await asyncio.gather(
        hub.links.create("a", "b"), hub.links.create("b", "a"), return_exceptions=True
    )
    assert sorted(isinstance(each, MootError) for each in results) == [False, True]
    assert len(await hub.links.list()) == 1


@pytest.mark.req("S-05")
async def test_what_an_outside_agent_is_handed_was_let_through_when_it_asks(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[quiet("a"), quiet("c")]) as hub:
        await hub.agents.create("b", external=True)
        await hub.acting_as("a").send("b", "freely sent")
        await hub.links.create("b", "c")
        assert (await hub.acting_as("b").mailbox.check()).messages == ()
        assert _is_cut(await hub.turns(agent="b"))


@pytest.mark.req("S-01")
async def test_a_link_is_made_whatever_other_conversations_are_called(hub: Hub) -> None:
    await hub.conversations.create("link-a+b", participants=["c"])
    made = await hub.links.create("b", "a")
    name = (await hub.conversations.get(made.channel)).name
    assert name.startswith("link-a+b-")
    await hub.conversations.create("link-c+d")
    renamed = await hub.agents.rename("d", "dee")
    made = await hub.links.create("c", renamed.name)  # its id is what it was called at first
    assert (await hub.conversations.get(made.channel)).name.startswith("link-c+d-")


@pytest.mark.req("S-01")
async def test_agents_with_long_names_are_linked_like_others(hub: Hub) -> None:
    long = ["z" * 60, "y" * 60 + "1", "y" * 60 + "2"]
    for name in long:
        await hub.agents.create(name, external=True)
    made = [await hub.links.create(long[0], other) for other in long[1:]]
    assert len({(await hub.conversations.get(link.channel)).name for link in made}) == 2


@pytest.mark.req("S-12")
async def test_a_row_of_the_file_is_linked_whatever_other_conversations_are_called(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[quiet("a"), quiet("b")]) as hub:
        await hub.conversations.create("link-a+b")
    (tmp_path / "moot.toml").write_text('[[links]]\nfrom = "a"\nto = "b"\n')
    async with Hub.open(tmp_path) as hub:
        [link] = await hub.links.list()
        assert (await hub.conversations.get(link.channel)).name.startswith("link-a+b-")


async def test_part_of_an_id_is_enough_to_look_and_not_to_change(hub: Hub) -> None:
    link = await hub.links.create("a", "b", relationship="superior")
    task = await hub.acting_as("a").delegate("b", "long work", deadline_seconds=600)
    for id in (link.id, f"link:{link.id}", link.id[:6]):
        assert (await hub.links.get(id)).id == link.id
    assert (await hub.tasks.get(task.id[:-2])).id == task.id
    ways: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: hub.links.get(link.id[:3]),
        lambda: hub.links.delete(link.id[:-1]),
        lambda: hub.links.update(link.id[:-1], enabled=False),
        lambda: hub.tasks.update(task.id[:-1], "cancelled"),
    )
    for way in ways:
        with pytest.raises(NotFound):
            await way()
    assert [each.enabled for each in await hub.links.list()] == [True]


@pytest.mark.req("S-04")
async def test_whoever_is_written_to_asked_or_given_work_may_be_named_by_what_it_is_shown_as(
    tmp_path: Path,
) -> None:
    async with Hub.open(tmp_path, agents=[quiet("b", "here")]) as hub:
        for name in ("a", "c", "d"):
            await hub.agents.create(name)
        await hub.agents.change("b", display="Support Agent")
        for name in ("c", "d"):
            await hub.agents.change(name, display="One of two")
        link = await hub.links.create("a", "b", relationship="superior")
        voice = hub.acting_as("a")
        for shown in ("Support Agent", " support agent"):
            assert (await voice.send(shown, "hello")).conversation == link.channel
        assert (await hub.ask("Support Agent", "are you there?")).text == "here"
        assert (await voice.delegate("Support Agent", "look into it")).to == "b"
        with pytest.raises(BadValue, match="several agents are shown as") as refused:
            await hub.send("One of two", "hello")
        assert "c, d" in refused.value.detail
        with pytest.raises(NotFound, match='no agent is called "Nobody"'):
            await hub.send("Nobody", "hello")
        await hub.agents.create("e", display="Backend")
        await hub.agents.create("backend")
        assert (await hub.send("backend", "a name wins")).deliveries[0].agent == "backend"
