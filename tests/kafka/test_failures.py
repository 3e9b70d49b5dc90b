"""The failure table of docs/explanation/kafka.md, row by row, on a broker that is killed, stopped and wiped."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import json
from prometheus_client.parser import text_string_to_metric_families

from moot import Hub
from moot.doors.http.metrics import Meters
from moot.hub.telemetry.vitals import vitals_of
from moot.logs.kafka import relay
from moot.logs.kafka.outlet import Outlet
from moot.logs.kafka.reader import TopicReader
from moot.model.records.dead_letter import DEAD_LETTERS
from tests.kafka.conftest import KafkaHome, homes_on_one_store
from tests.kafka.test_records import answered, echo
from tests.support.beneath import store_of
from tests.support.processes import NIGHTLY
from tests.support.topics import SLOW, all_published, log_of, reading
from tests.support.waiting import until, within
from tools.kafka_broker import KafkaBroker

ROUNDS = range(10 if NIGHTLY else 1)
RETURN_SECONDS = 35.0
"""So long after Kafka's return everything that waited is promised to be told."""


@pytest.fixture(scope="module")
def fragile() -> Iterator[KafkaBroker]:
    """One that may be broken."""
    started = KafkaBroker().start()
    yield started
    started.remove()


@pytest.fixture
def broken_home(tmp_path: Path, fragile: KafkaBroker) -> KafkaHome:
    return KafkaHome(tmp_path, "sqlite:moot.db", fragile.address)


async def say(hub: Hub, count: int) -> str:
    """So many questions, each answered; where."""
    where = ""
    for n in range(count):
        receipt = await hub.send("arya", f"question {n}")
        where = receipt.conversation
        await answered(hub, where, receipt.seq + 1)
    return where


async def published_after_return(hub: Hub) -> None:
    await within(RETURN_SECONDS, lambda: store_of(hub).unpublished(1), lambda rows: not rows)


async def figures(hub: Hub) -> dict[str, float]:
    """What /metrics says of the log, without labels."""
    meters = Meters()
    meters.watch(vitals_of(hub))
    text, _ = meters.render(position=0, live=0, open_turns=0)
    families = text_string_to_metric_families(text.decode())
    return {
        sample.name: sample.value for family in families for sample in family.samples if not sample.labels
    }


async def seqs(home: KafkaHome, where: str) -> list[int]:
    told = [one for _, one in await home.topics.records()]
    return [one["seq"] for one in told if one["conversation_id"] == where and one["seq"]]


@pytest.mark.req("K-15")
@pytest.mark.parametrize("round", ROUNDS)
async def test_row_4_messages_are_taken_and_answered_while_kafka_is_gone_and_told_when_it_is_back(
    broken_home: KafkaHome, fragile: KafkaBroker, round: int
) -> None:
    async with broken_home.hub(echo("arya")) as hub:
        where = await say(hub, 2)
        await all_published(hub)
        fragile.kill()
        await say(hub, 3)
        assert await store_of(hub).unpublished(1)
        behind = await until(lambda: figures(hub), lambda now: now["moot_outbox_rows"] > 0, SLOW)
        assert behind["moot_relay_fence"] == 1
        assert behind["moot_outbox_oldest_seconds"] > 0
        await asyncio.to_thread(fragile.start)
        await published_after_return(hub)
        await until(
            lambda: figures(hub),
            lambda now: (
                (now["moot_outbox_rows"], now["moot_log_unread"], now["moot_relay_held"]) == (0, 0, 1)
            ),
            SLOW,
        )
        assert sorted(set(await seqs(broken_home, where))) == list(range(1, 11))


@pytest.mark.parametrize("round", ROUNDS)
async def test_row_6_a_broker_that_stands_still_may_get_records_twice_and_never_none(
    broken_home: KafkaHome, fragile: KafkaBroker, monkeypatch: pytest.MonkeyPatch, round: int
) -> None:
    monkeypatch.setattr("moot.logs.kafka.outlet.DELIVERY_MS", 2000)
    async with broken_home.hub(echo("arya")) as hub:
        where = await say(hub, 1)
        await all_published(hub)
        fragile.pause()
        try:
            await say(hub, 2)
            await until(lambda: _failing(hub), bool, SLOW)
        finally:
            fragile.go_on()
        await published_after_return(hub)
        assert sorted(set(await seqs(broken_home, where))) == list(range(1, 7))


async def _failing(hub: Hub) -> bool:
    at = log_of(hub).relay
    return at is not None and bool(at.held_back)


@pytest.mark.parametrize("round", ROUNDS)
async def test_row_9_and_10_what_a_wiped_broker_has_lost_costs_nobody_a_message(
    broken_home: KafkaHome, fragile: KafkaBroker, round: int
) -> None:
    async with broken_home.hub(echo("arya")) as hub:
        where = await say(hub, 2)
        await all_published(hub)
        fragile.wipe()
        await asyncio.to_thread(fragile.start)
        await say(hub, 2)
        await published_after_return(hub)
        assert [message.seq for message in await hub.messages(where)] == list(range(1, 9))
        assert set(await seqs(broken_home, where)) == {5, 6, 7, 8}


async def test_kafka_may_be_gone_when_a_hub_starts(broken_home: KafkaHome, fragile: KafkaBroker) -> None:
    fragile.kill()
    try:
        async with broken_home.hub(echo("arya")) as hub:
            await say(hub, 1)
            await asyncio.to_thread(fragile.start)
            await published_after_return(hub)
    finally:
        if not fragile.is_started:
            fragile.start()


@pytest.mark.req("K-15")
async def test_row_5_a_relay_that_dies_between_record_and_mark_is_followed_by_one_that_tells_it_again(
    home: KafkaHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    died: list[str] = []

    def die_once(point: str) -> None:
        if point == "relay.produced" and not died:
            died.append(point)
            raise OSError("gone between the two")

    async with home.hub(echo("arya")) as hub:
        where = await say(hub, 1)
        await all_published(hub)
        monkeypatch.setattr(relay, "failpoint", die_once)
        await say(hub, 1)
        await all_published(hub)
    told = await seqs(home, where)
    assert died
    assert len(told) > len(set(told))
    assert sorted(set(told)) == [1, 2, 3, 4]


async def test_row_14_and_16_records_that_make_no_sense_are_put_aside_and_stop_nobody(
    home: KafkaHome,
) -> None:
    async with home.hub(echo("arya")) as hub:
        await say(hub, 1)
        await all_published(hub)
        await _forge(home, hub, b"", b"no json", b"[1,2]", json.encode({"version": "9.0.0"}), b"x" * 5000)
        look = lambda: store_of(hub).records(DEAD_LETTERS.all())  # noqa: E731
        letters = await until(look, lambda found: len(found) == 5, SLOW)
        assert {letter.topic for letter in letters} == {f"{home.prefix}agent-arya"}
        await say(hub, 1)


async def test_row_17_and_18_records_of_another_home_or_an_earlier_epoch_wake_nobody(home: KafkaHome) -> None:
    async with home.hub(echo("arya")) as hub:
        await say(hub, 1)
        await all_published(hub)
        [*_, (_, last)] = await home.topics.records()
        wakes = log_of(hub).wakes
        assert wakes is not None
        before = wakes.foreign
        await _forge(
            home, hub, json.encode({**last, "instance": "another"}), json.encode({**last, "epoch": 0})
        )

        async def foreign() -> int:
            return wakes.foreign

        await until(foreign, lambda count: count == before + 2, SLOW)


async def _forge(home: KafkaHome, hub: Hub, *values: bytes) -> None:
    """Put records into the topic of arya, which the hub reads by now: it begins at the end of a topic."""
    await reading(hub, f"{home.prefix}agent-arya")
    outlet = Outlet(home.topics._brokers)
    sent = await outlet.publish([(f"{home.prefix}agent-arya", "c", value) for value in values])
    await outlet.close()
    assert set(sent) == {None}


async def test_row_8_and_11_records_doubled_reordered_and_replayed_make_no_turn(home: KafkaHome) -> None:
    async with home.hub(echo("arya")) as hub:
        where = await say(hub, 2)
        await all_published(hub)
        told: list[Any] = [one for _, one in await home.topics.records()]
        await _forge(home, hub, *[json.encode(one) for one in [*told, *reversed(told)]])
        await say(hub, 1)
        assert [message.seq for message in await hub.messages(where)] == [1, 2, 3, 4, 5, 6]


@pytest.mark.req("K-08", "K-15")
async def test_row_12_a_reader_that_dies_with_a_record_in_hand_is_followed_by_one_that_reads_it_again(
    home: KafkaHome,
) -> None:
    brokers, place = home.topics._brokers, (f"{home.prefix}agent-arya", 0)
    async with home.hub(echo("arya")) as hub:
        await say(hub, 1)
        await all_published(hub)
    began = await home.topics.end(place)
    taken: list[list[int]] = [[], []]
    for life in taken:
        reader = TopicReader(
            brokers,
            lambda batch, life=life: life.extend(record.place for record in batch),  # type: ignore[misc]
            lambda places: None,
            lambda: None,
        )
        reader.read({place: began})  # what the one before has noted: it died before it noted more
        if life is taken[0]:
            async with home.hub(echo("arya")) as hub:
                await say(hub, 1)
                await all_published(hub)
        end = await home.topics.end(place)

        async def reached(life: list[int] = life) -> int:
            return len(life)

        await until(reached, lambda count, end=end: count == end - began, SLOW)  # type: ignore[misc]
        await reader.close()
    assert taken[0] == taken[1] != []


@pytest.mark.req("K-12", "K-15")
async def test_row_13_two_processes_that_read_the_same_answer_everything_once(tmp_path: Path) -> None:
    homes = await homes_on_one_store(tmp_path, "one", "two")
    async with homes[0].hub(echo("arya")) as one, homes[1].hub(echo("arya")) as two:
        rooms = [await one.conversations.create(f"room-{n}", participants=["arya"]) for n in range(10)]
        for n, room in enumerate(rooms):
            await (one, two)[n % 2].post(room.id, "@arya hello")
        await asyncio.gather(*(one.settled(room.id, timeout=SLOW) for room in rooms))
        for room in rooms:
            assert [message.kind for message in await two.messages(room.id)] == ["human", "agent"]
