"""`moot kafka` and what `moot doctor` says of Kafka, on a home that tells a real broker."""

import asyncio
import re

import pytest
from msgspec import json

from moot import Hub
from moot.cli.app import run
from moot.cli.data.kafka_health import kafka as doctor_lines
from moot.errors import BadValue, NotFound
from moot.log_outside import kafka_rebuild, kafka_report
from moot.logs.kafka.outlet import Outlet
from moot.logs.kafka.report import KafkaReport
from moot.settings import Home
from tests.kafka.conftest import KafkaHome
from tests.kafka.test_records import answered, echo
from tests.support.beneath import store_of
from tests.support.kafka import fresh_prefix
from tests.support.topics import SLOW, all_published, once
from tests.support.waiting import until


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Brokers are given up on when they are gone, not when the machine is busy."""
    for module in ("cluster", "report"):
        monkeypatch.setattr(f"moot.logs.kafka.{module}.SECONDS", SLOW)


async def talked(home: KafkaHome) -> None:
    async with home.hub(echo("arya"), echo("bob")) as hub:
        receipt = await hub.send("arya", "hello")
        await answered(hub, receipt.conversation, 2)
        await all_published(hub)


async def report_of(home: KafkaHome) -> KafkaReport:
    """As the brokers tell it, once they answer in time."""
    report: KafkaReport = await until(
        lambda: kafka_report(Home(home.folder)), lambda found: not found.trouble, SLOW
    )
    return report


async def test_the_status_counts_what_waits_and_what_each_topic_has(home: KafkaHome) -> None:
    await talked(home)
    found = await report_of(home)
    assert (found.trouble, found.outbox, found.lost, found.repartitioned) == ("", 0, (), ())
    assert [topic.topic for topic in found.topics] == [
        f"{home.prefix}agent-{name}" for name in ("arya", "bob")
    ]
    arya, bob = found.topics
    assert arya.records is not None
    assert arya.records >= 4
    assert bob.records == 0
    assert not bob.lag
    [line] = await doctor_lines(Home(home.folder))
    assert (line.state, "2 topics" in line.text) == ("ok", True)


async def test_a_rebuild_begins_an_epoch_and_tells_everything_again_in_order(home: KafkaHome) -> None:
    await talked(home)
    rebuilt = await kafka_rebuild(Home(home.folder), "arya")
    begun, count = rebuilt.topics, rebuilt.records
    assert [(topic.name, topic.epoch) for topic in begun] == [(f"{home.prefix}agent-arya-e2", 2)]
    async with home.hub(echo("arya"), echo("bob")) as hub:
        await all_published(hub)
        told = once(one for topic, one in await home.topics.records() if topic.endswith("arya-e2"))
        assert [one["action"] for one in told[:count]] == ["create", "append", "append"]
        assert [one["seq"] for one in told[:count]] == [0, 1, 2]
        assert {one["epoch"] for one in told} == {2}
        receipt = await hub.send("arya", "and again")
        await answered(hub, receipt.conversation, 4)
        await all_published(hub)
    new = [one for topic, one in await home.topics.records() if topic.endswith("arya-e2")]
    assert {one["seq"] for one in new} >= {3, 4}


async def test_an_agent_that_is_not_there_has_no_topic_to_rebuild(home: KafkaHome) -> None:
    await talked(home)
    with pytest.raises(NotFound, match="nobody"):
        await kafka_rebuild(Home(home.folder), "nobody")


async def test_a_home_without_kafka_says_what_to_set(tmp_path_factory: pytest.TempPathFactory) -> None:
    folder = tmp_path_factory.mktemp("plain")
    with pytest.raises(BadValue, match="does not use Kafka"):
        await kafka_report(Home(folder))
    assert await doctor_lines(Home(folder)) == []


async def test_brokers_that_do_not_answer_are_said_to_with_what_is_done_meanwhile(
    home: KafkaHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    await talked(home)
    monkeypatch.setattr("moot.logs.kafka.cluster.SECONDS", 1.0)
    toml = home.folder / "moot.toml"
    text = toml.read_text()
    toml.write_text(re.sub(r"kafka://[^\"]+", "kafka://127.0.0.1:1", text))
    found = await kafka_report(Home(home.folder))
    assert found.trouble
    [line, *_] = await doctor_lines(Home(home.folder))
    assert (line.state, "sweep" in line.text) == ("bad", True)


def test_the_command_tells_it_to_people_and_programs(
    home: KafkaHome, capsys: pytest.CaptureFixture[str]
) -> None:
    asyncio.run(talked(home))
    here = ["--home", str(home.folder), "kafka"]
    assert run([*here, "status"]) == 0
    assert f"{home.prefix}agent-arya" in capsys.readouterr().out
    assert run([*here, "status", "--json"]) == 0
    assert json.decode(capsys.readouterr().out)["trouble"] == ""
    assert run([*here, "rebuild"]) == 2
    assert "--yes" in capsys.readouterr().err


async def test_rebuilding_without_brokers_says_so(home: KafkaHome, monkeypatch: pytest.MonkeyPatch) -> None:
    await talked(home)
    monkeypatch.setattr("moot.logs.kafka.cluster.SECONDS", 1.0)
    toml = home.folder / "moot.toml"
    toml.write_text(re.sub(r"kafka://[^\"]+", "kafka://127.0.0.1:1", toml.read_text()))
    with pytest.raises(BadValue, match="do not answer, so no topics can be made"):
        await kafka_rebuild(Home(home.folder), None)


@pytest.mark.req("K-15")
async def test_row_18_a_second_home_with_the_same_topics_is_refused_and_told_what_to_set(
    home: KafkaHome, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await talked(home)
    second = tmp_path_factory.mktemp("second")
    toml = (home.folder / "moot.toml").read_text()
    (second / "moot.toml").write_text(toml)
    with pytest.raises(BadValue, match=r"another home writes to .*agent-arya.*log\.topic_prefix"):
        async with Hub.open(second, agents=[echo("arya")]):
            pass
    (second / "moot.toml").write_text(toml.replace(home.prefix, fresh_prefix()))
    async with Hub.open(second, agents=[echo("arya")]) as hub:
        receipt = await hub.send("arya", "hello")
        await answered(hub, receipt.conversation, 2)
        await all_published(hub)
    assert (await report_of(home)).taken == ()


async def test_a_home_that_shares_its_topics_since_is_told_so(home: KafkaHome) -> None:
    await talked(home)
    [*_, (topic, last)] = await home.topics.records()
    outlet = Outlet(home.topics._brokers)
    assert await outlet.publish([(topic, "c", json.encode({**last, "instance": "another"}))]) == [None]
    await outlet.close()
    assert (await report_of(home)).taken == (topic,)
    lines = await doctor_lines(Home(home.folder))
    assert [line.state for line in lines if topic in line.text] == ["bad"]


@pytest.mark.req("K-15")
async def test_an_agent_made_later_whose_topic_is_another_homes_stops_nobody_else(
    home: KafkaHome, tmp_path_factory: pytest.TempPathFactory
) -> None:
    await talked(home)
    second = tmp_path_factory.mktemp("second")
    toml = (home.folder / "moot.toml").read_text()
    (second / "moot.toml").write_text(toml)
    async with Hub.open(second, agents=[echo("cersei")]) as hub:
        await hub.agents.create("arya")
        await hub.conversations.create("hers", participants=["arya"])
        await hub.send("arya", "nobody publishes this")
        receipt = await hub.send("cersei", "and this?")
        await answered(hub, receipt.conversation, 2)

        async def waiting() -> set[str]:
            return {row.topic for row in await store_of(hub).unpublished(100)}

        await until(waiting, lambda found: found == {"arya"}, SLOW)
    report = await until(
        lambda: kafka_report(Home(second)), lambda found: not found.trouble and found.taken, SLOW
    )
    assert report.taken == (f"{home.prefix}agent-arya",)
