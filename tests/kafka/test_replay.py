"""Replaying an agent from the first record of its topics: the views come out as the store has them, without a model."""

import pytest
from msgspec import json

from moot import Hub
from moot.errors import BadValue
from moot.logs.kafka.outlet import Outlet
from tests.kafka.conftest import KafkaHome
from tests.kafka.test_records import answered, echo
from tests.support.topics import all_published


async def lived(home: KafkaHome, hub: Hub) -> str:
    """Something was said, answered, edited and deleted, in a group whose home is another's."""
    room = await hub.conversations.create("room", participants=["arya", "bob"])
    first = await hub.post(room.id, "@bob what now?")
    await answered(hub, room.id, 2)
    await hub.edit(first.id, "@bob what then?", version=1)
    await hub.post(room.id, "@bob once more")
    await answered(hub, room.id, 4)
    await all_published(hub)
    return str(room.id)


@pytest.mark.req("K-07")
async def test_a_replay_from_the_first_record_is_equal(any_home: KafkaHome) -> None:
    async with any_home.hub(echo("arya"), echo("bob")) as hub:
        await lived(any_home, hub)
        found = await hub.inspector.replay("bob")
        assert (found.equal, found.gaps) == (True, 0)
        assert found.turns >= 2


@pytest.mark.req("K-07")
async def test_records_doubled_lost_and_in_disorder_are_noticed_and_the_view_is_equal(
    home: KafkaHome,
) -> None:
    async with home.hub(echo("arya"), echo("bob")) as hub:
        where = await lived(home, hub)
        told = [one for _, one in await home.topics.records() if one["conversation_id"] == where]
        outlet = Outlet(home.topics._brokers)
        topic = f"{home.prefix}agent-arya"
        values = [json.encode(one) for one in reversed(told)]
        assert set(await outlet.publish([(topic, where, value) for value in values])) == {None}
        await outlet.close()
        found = await hub.inspector.replay("bob")
        assert found.equal
        assert found.repeats >= 4
        await home.topics.cluster.drop_topics([topic])
        await home.topics.cluster.make_topics([topic])
        outlet = Outlet(home.topics._brokers)
        assert await outlet.publish([(topic, where, json.encode(told[-1]))]) == [None]
        await outlet.close()
        lost = await hub.inspector.replay("bob")
        assert lost.equal
        assert lost.gaps


async def test_a_replay_without_its_brokers_says_so(home: KafkaHome, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.logs.kafka.history.SECONDS", 1.0)
    async with home.hub(echo("arya"), echo("bob")) as hub:
        await lived(home, hub)
    toml = home.folder / "moot.toml"
    url = next(line for line in toml.read_text().splitlines() if "kafka://" in line)
    toml.write_text(toml.read_text().replace(url, 'url = "kafka://127.0.0.1:1"'))
    async with Hub.reading(home.folder) as looking:
        with pytest.raises(BadValue, match="do not answer"):
            await looking.inspector.replay("bob")
