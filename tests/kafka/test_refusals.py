"""One topic with an error of its own stops its own agent's records and nobody else's: a real broker denies rights."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient
from confluent_kafka.admin._acl import AclBinding, AclBindingFilter, AclOperation, AclPermissionType
from confluent_kafka.admin._config import AlterConfigOpType, ConfigEntry, ConfigResource
from confluent_kafka.admin._resource import ResourcePatternType, ResourceType

from moot import Hub
from moot.cli.app import run
from moot.cli.data.kafka_health import kafka as doctor_lines
from moot.log_outside import kafka_rebuild, kafka_report
from moot.model.records.topic import TOPIC_TROUBLES, TopicTrouble
from moot.settings import Home
from tests.kafka.conftest import KafkaHome
from tests.kafka.test_failures import figures
from tests.kafka.test_records import answered, echo
from tests.support.beneath import store_of
from tests.support.topics import SLOW, all_published, log_of, reading
from tests.support.waiting import until
from tools.kafka_broker import USER, KafkaBroker

NO_RIGHTS = "authorization failed"


@pytest.fixture(scope="module")
def guarded() -> Iterator[KafkaBroker]:
    started = KafkaBroker(guarded=True).start()
    yield started
    started.remove()


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is tried again now and then is tried again soon."""
    monkeypatch.setattr("moot.logs.kafka.relay.STOPPED_CHECK_SECONDS", 1.0)
    monkeypatch.setattr("moot.logs.kafka.relay.TRIAL_SECONDS", 0.5)
    monkeypatch.setattr("moot.logs.kafka.wakes.AROUND_SECONDS", 1.0)
    monkeypatch.setattr("moot.logs.kafka.wakes.REFUSED_SECONDS", 1.0)


class Guard:
    """A home whose broker can be told to refuse it something."""

    def __init__(self, folder: Path, broker: KafkaBroker) -> None:
        self.home = KafkaHome(folder, "sqlite:moot.db", broker.address)
        toml = folder / "moot.toml"
        toml.write_text(toml.read_text().replace(f"kafka://{broker.address}", broker.guarded_url))
        self._admin = AdminClient({"bootstrap.servers": broker.address, "log_level": 0})

    def topic(self, agent: str) -> str:
        return f"{self.home.prefix}agent-{agent}"

    @asynccontextmanager
    async def denied(
        self, operation: AclOperation, name: str, kind: ResourceType = ResourceType.TOPIC
    ) -> AsyncIterator[None]:
        who = (kind, name, ResourcePatternType.LITERAL, f"User:{USER}", "*", operation)
        rule = AclBinding(*who, AclPermissionType.DENY)
        await asyncio.to_thread(
            lambda: [made.result(SLOW) for made in self._admin.create_acls([rule]).values()]
        )
        yield
        no_more = AclBindingFilter(*who, AclPermissionType.DENY)
        await asyncio.to_thread(
            lambda: [gone.result(SLOW) for gone in self._admin.delete_acls([no_more]).values()]
        )

    async def limit_records(self, topic: str, size: int) -> None:
        entry = ConfigEntry("max.message.bytes", str(size), incremental_operation=AlterConfigOpType.SET)
        resource = ConfigResource(ConfigResource.Type.TOPIC, topic, incremental_configs=[entry])
        done = self._admin.incremental_alter_configs([resource])
        await asyncio.to_thread(lambda: [one.result(SLOW) for one in done.values()])


@pytest.fixture
def guard(tmp_path: Path, guarded: KafkaBroker) -> Guard:
    return Guard(tmp_path, guarded)


async def ask(hub: Hub, name: str) -> None:
    """A question to an agent is answered, whatever becomes of its records."""
    receipt = await hub.send(name, "hello")
    await answered(hub, receipt.conversation, receipt.seq + 1)


async def waiting_for(hub: Hub, *agents: str) -> None:
    """Rows wait for these, and for nobody else."""

    async def waiting() -> set[str]:
        return {row.topic for row in await store_of(hub).unpublished(1000)}

    await until(waiting, lambda found: found == set(agents), SLOW)


async def trouble_of(hub: Hub, agent: str, kind: str) -> TopicTrouble:
    async def troubles() -> list[TopicTrouble]:
        found: list[TopicTrouble] = await store_of(hub).records(TOPIC_TROUBLES.all())
        return found

    [trouble] = await until(troubles, lambda found: [one.kind for one in found] == [kind], SLOW)
    assert trouble.agent == agent
    return trouble


async def is_told(guard: Guard, reason: str) -> None:
    """`moot kafka status` and `moot doctor` name the topic, and why."""
    home, topic = Home(guard.home.folder), guard.topic("arya")
    report = await until(lambda: kafka_report(home), lambda found: not found.trouble, SLOW)
    assert [(one.topic, reason in one.reason) for one in report.refused] == [(topic, True)]
    lines = [line for line in await doctor_lines(home) if topic in line.text]
    assert [(line.state, reason in line.text, "sweep" in line.text) for line in lines] == [
        ("bad", True, True)
    ]


@pytest.mark.req("K-15")
@pytest.mark.parametrize("operation", [AclOperation.ALL, AclOperation.CREATE])
async def test_who_may_not_make_a_topic_is_woken_by_the_sweep_and_nobody_else_is_stopped(
    guard: Guard, operation: AclOperation
) -> None:
    async with guard.denied(operation, guard.topic("arya")):
        async with guard.home.hub(echo("arya"), echo("bob")) as hub:
            await ask(hub, "arya")
            await ask(hub, "bob")
            await waiting_for(hub, "arya")
            await reading(hub, guard.topic("bob"))
            trouble = await trouble_of(hub, "arya", "refused")
            assert NO_RIGHTS in trouble.reason
            assert (await figures(hub))["moot_topics_stopped"] == 1
        await is_told(guard, NO_RIGHTS)
    async with guard.home.hub(echo("arya"), echo("bob")) as hub:
        await all_published(hub)
        await reading(hub, guard.topic("arya"))
        assert (await figures(hub))["moot_topics_stopped"] == 0


@pytest.mark.req("K-15")
async def test_a_topic_that_loses_its_rights_is_used_again_when_it_has_them_back(guard: Guard) -> None:
    async with guard.home.hub(echo("arya"), echo("bob")) as hub:
        await ask(hub, "arya")
        await ask(hub, "bob")
        await all_published(hub)
        async with guard.denied(AclOperation.WRITE, guard.topic("arya")):
            await ask(hub, "arya")
            trouble = await trouble_of(hub, "arya", "unwritable")
            assert NO_RIGHTS in trouble.reason
            await ask(hub, "bob")
            await waiting_for(hub, "arya")
            await is_told(guard, NO_RIGHTS)
            assert log_of(hub).relay is not None
        await all_published(hub)
        await until(lambda: figures(hub), lambda now: now["moot_topics_stopped"] == 0, SLOW)
    told = [one["seq"] for topic, one in await guard.home.topics.records() if topic == guard.topic("arya")]
    assert set(told) >= {1, 2, 3, 4}


@pytest.mark.req("K-15")
async def test_a_topic_that_is_set_up_wrongly_says_so_and_delays_nobody(guard: Guard) -> None:
    async with guard.home.hub(echo("arya"), echo("bob")) as hub:
        await ask(hub, "arya")
        await ask(hub, "bob")
        await all_published(hub)
        await guard.limit_records(guard.topic("arya"), 10)
        await ask(hub, "arya")
        trouble = await trouble_of(hub, "arya", "unwritable")
        assert "too large" in trouble.reason
        await ask(hub, "bob")
        await waiting_for(hub, "arya")
        await is_told(guard, "too large")
        await guard.limit_records(guard.topic("arya"), 1_000_000)
        await all_published(hub)


async def test_a_topic_that_may_not_be_read_is_counted_until_it_may(guard: Guard) -> None:
    async with guard.home.hub(echo("arya"), echo("bob")) as hub:
        await reading(hub, guard.topic("arya"), guard.topic("bob"))
        async with guard.denied(AclOperation.READ, guard.topic("arya")):
            await until(lambda: figures(hub), lambda now: now["moot_topics_stopped"] == 1, SLOW)
            wakes = log_of(hub).wakes
            assert wakes is not None
            assert list(wakes.refused) == [guard.topic("arya")]
            await ask(hub, "arya")
            await ask(hub, "bob")
            await until(lambda: _read(hub, guard.topic("bob")), bool, SLOW)
        await until(lambda: figures(hub), lambda now: now["moot_topics_stopped"] == 0, SLOW)
        await until(lambda: _read(hub, guard.topic("arya")), bool, SLOW)


async def _read(hub: Hub, topic: str) -> int:
    wakes = log_of(hub).wakes
    return 0 if wakes is None else wakes.reached.get((topic, 0), 0)


async def test_a_group_whose_offsets_are_refused_keeps_nobody_elses_from_being_stored(guard: Guard) -> None:
    async with guard.home.hub(echo("arya"), echo("bob")) as hub:
        await reading(hub, guard.topic("arya"), guard.topic("bob"))
        async with guard.denied(AclOperation.READ, "agent-arya", ResourceType.GROUP):
            await ask(hub, "arya")
            await ask(hub, "bob")
            place = (guard.topic("bob"), 0)
            await until(lambda: guard.home.topics.noted("bob", place), bool, SLOW)
        place = (guard.topic("arya"), 0)
        await until(lambda: guard.home.topics.noted("arya", place), bool, SLOW)


async def test_a_rebuild_renews_the_topics_it_may_and_names_the_others(
    guard: Guard, capsys: pytest.CaptureFixture[str]
) -> None:
    async with guard.home.hub(echo("arya"), echo("bob")) as hub:
        await ask(hub, "arya")
        await ask(hub, "bob")
        await all_published(hub)
    here = ["--home", str(guard.home.folder), "kafka"]
    async with guard.denied(AclOperation.CREATE, f"{guard.topic('arya')}-e2"):
        with pytest.raises(SystemExit, match="1"):
            await asyncio.to_thread(run, [*here, "rebuild", "--yes"])
        said = capsys.readouterr().out
        assert f"✓ {guard.topic('bob')}-e2" in said
        assert f"✗ {guard.topic('arya')}-e2" in said
    rebuilt = await kafka_rebuild(Home(guard.home.folder), "arya")
    assert [topic.name for topic in rebuilt.topics] == [f"{guard.topic('arya')}-e2"]
