"""How far agents have read is kept beside everything else: a coordinator that never answers holds up nobody."""

from concurrent.futures import Future
from typing import Any

import pytest
from confluent_kafka.admin import AdminClient

from moot.logs.kafka import offsets
from tests.kafka.conftest import KafkaHome
from tests.kafka.test_records import answered, echo
from tests.support.topics import SLOW, all_published
from tests.support.waiting import until


class Coordinator:
    """Silent for as long as it is told to be, and then the real one."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_silent = True
        self.asked: list[AdminClient] = []
        real = AdminClient.alter_consumer_group_offsets

        def ask(client: AdminClient, requests: list[Any], **options: Any) -> dict[str, Future[Any]]:
            if not self.is_silent:
                return real(client, requests, **options)
            self.asked.append(client)
            return {request.group_id: Future() for request in requests}

        monkeypatch.setattr(AdminClient, "alter_consumer_group_offsets", ask)


async def noted(home: KafkaHome, agent: str) -> bool:
    """Whether all there is in its topic is noted as read."""
    place = (f"{home.prefix}agent-{agent}", 0)
    return await home.topics.noted(agent, place) == await home.topics.end(place)


@pytest.mark.req("K-08", "K-15")
async def test_publishing_goes_on_while_nobody_takes_offsets_and_they_are_taken_again_afterwards(
    home: KafkaHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    coordinator = Coordinator(monkeypatch)
    monkeypatch.setattr(offsets, "WRITE_SECONDS", 0.5)
    async with home.hub(echo("arya"), echo("bob")) as hub:
        first = await hub.send("arya", "hello")
        await answered(hub, first.conversation, 2)

        async def clients() -> int:
            return len(set(coordinator.asked))

        await until(clients, lambda count: count >= 2, SLOW)  # one goes with its request, and another comes
        await hub.agents.create("cersei")  # a topic that is not there yet
        room = await hub.conversations.create("room", participants=["cersei", "bob"])
        await hub.post(room.id, "@bob hello")
        await answered(hub, room.id, 2)
        await all_published(hub)
        coordinator.is_silent = False
        await until(lambda: noted(home, "arya"), bool, SLOW)


@pytest.mark.req("K-08")
async def test_who_begins_at_the_end_of_a_topic_notes_that_it_has_come_so_far(
    home: KafkaHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    coordinator = Coordinator(monkeypatch)
    monkeypatch.setattr(offsets, "WRITE_SECONDS", 0.5)
    async with home.hub(echo("arya")) as hub:
        first = await hub.send("arya", "hello")
        await answered(hub, first.conversation, 2)
        await all_published(hub)
    coordinator.is_silent = False
    assert not await noted(home, "arya")
    async with home.hub(echo("arya")) as hub:
        await until(lambda: noted(home, "arya"), bool, SLOW)
