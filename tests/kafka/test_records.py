"""What is found in Kafka while people and agents talk: topics, records, groups."""

import asyncio

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from tests.kafka.conftest import KafkaHome
from tests.support.topics import SLOW, all_published, once
from tests.support.waiting import until


def echo(name: str) -> AgentSpec:
    @agent(name=name)
    async def think(turn: object) -> str:
        return f"{name} has heard"

    return think


async def answered(hub: Hub, where: str, count: int) -> None:
    async def heard() -> int:
        return len(await hub.messages(where))

    await until(heard, lambda found: found >= count, SLOW)


@pytest.mark.req("K-01")
async def test_ten_agents_with_a_thousand_conversations_have_ten_topics(home: KafkaHome) -> None:
    names = [f"a{n}" for n in range(10)]
    async with home.hub(*map(echo, names)) as hub:
        for begin in range(0, 1000, 100):
            rooms = [
                hub.conversations.create(f"room-{n}", participants=[names[n % 10], names[(n + 3) % 10]])
                for n in range(begin, begin + 100)
            ]
            await asyncio.gather(*rooms)
        await all_published(hub)
    assert await home.topics.names() == sorted(f"{home.prefix}agent-{name}" for name in names)
    told = await home.topics.records()
    created = [record for _, record in told if record["action"] == "create"]
    assert len({record["conversation_id"] for record in created}) == 1000


@pytest.mark.req("K-09", "K-02")
async def test_five_agents_in_a_conversation_read_and_write_on_its_home_in_one_order(
    any_home: KafkaHome,
) -> None:
    names = ["arya", "bob", "cersei", "dany", "edd"]
    async with any_home.hub(*map(echo, names)) as hub:
        room = await hub.conversations.create("room", participants=names)
        await hub.post(room.id, " ".join(f"@{name}" for name in names))
        await answered(hub, room.id, 4)
        said = [(message.sender, message.seq) for message in await hub.messages(room.id)]
        await all_published(hub)
    told = await any_home.topics.records()
    here = [(topic, one) for topic, one in told if one["conversation_id"] == room.id and one["seq"]]
    assert {topic for topic, _ in here} == {f"{any_home.prefix}agent-arya"}
    assert [(one["agent_id"], one["seq"]) for _, one in once(here)][: len(said)] == said
    assert all("heard" not in str(one) for _, one in told)


@pytest.mark.req("K-13")
async def test_a_question_and_its_answer_carry_one_correlation(home: KafkaHome) -> None:
    async with home.hub(echo("arya")) as hub:
        await hub.ask("arya", "what is it?")
        await all_published(hub)
    told = once(one for _, one in await home.topics.records() if one.get("correlation_id"))
    assert [one["agent_id"] for one in told] == ["user", "arya"]
    assert len({one["correlation_id"] for one in told}) == 1


@pytest.mark.req("K-08")
async def test_an_agent_notes_how_far_it_has_come_in_its_own_group_and_goes_on_from_there(
    home: KafkaHome,
) -> None:
    place = (f"{home.prefix}agent-arya", 0)
    reached = []
    for _ in range(2):
        async with home.hub(echo("arya")) as hub:
            receipt = await hub.send("arya", "hello")
            await answered(hub, receipt.conversation, 2)
            await all_published(hub)
            end = await home.topics.end(place)

            # the broker makes its topic of offsets with the first group, which takes its time
            await until(lambda: home.topics.noted("arya", place), lambda found, end=end: found == end, SLOW)  # type: ignore[misc]
            reached.append(end)
    assert reached[1] > reached[0] > 0


async def test_row_19_an_edit_and_a_delete_are_records_that_point_at_their_message(home: KafkaHome) -> None:
    async with home.hub(echo("arya")) as hub:
        room = await hub.conversations.create("room", participants=["arya"])
        said = await hub.post(room.id, "nobody in particular")
        await hub.edit(said.id, "somebody", version=1)
        await hub.delete(said.id, version=2)
        await all_published(hub)
    told = [one for _, one in await home.topics.records() if one["seq"] == said.seq]
    assert [one["action"] for one in told][:1] == ["append"]
    assert {"edit", "delete"} <= {one["action"] for one in told}
    assert {one["node_id"] for one in told} == {said.id}
