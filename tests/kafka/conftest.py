"""Hubs on a real broker; each test has topics and groups of its own."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot import Hub
from moot.brains.code import AgentSpec
from tests.support.kafka import broker, fresh_prefix
from tests.support.postgres import empty_database
from tests.support.topics import SLOW, Topics

SETTINGS = """
[groups]
cooldown_seconds = 0.0
[store]
url = "{store}"
[log]
url = "kafka://{broker}"
topic_prefix = "{prefix}"
[limits]
agent_turns_per_hour = 100000
"""

LIMIT = 300
"""Seconds for a test: several waits of a slow broker may follow each other."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT))


class KafkaHome:
    """A home whose log is Kafka, and the topics it has there."""

    def __init__(self, folder: Path, store: str, address: str) -> None:
        self.folder = folder
        self.prefix = fresh_prefix()
        self.topics = Topics(address, self.prefix)
        text = SETTINGS.format(store=store, broker=address, prefix=self.prefix)
        (folder / "moot.toml").write_text(text)

    @asynccontextmanager
    async def hub(self, *agents: AgentSpec) -> AsyncIterator[Hub]:
        async with Hub.open(self.folder, agents=list(agents)) as hub:
            yield hub


async def homes_on_one_store(folder: Path, *names: str) -> list[KafkaHome]:
    """Homes of several machines: one PostgreSQL, the same topics."""
    store = await empty_database()
    homes = []
    for name in names:
        (folder / name).mkdir(mode=0o700)
        homes.append(KafkaHome(folder / name, store, broker().address))
        (folder / name / "moot.toml").write_text((folder / names[0] / "moot.toml").read_text())
    return homes


@pytest.fixture(autouse=True)
def patient_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("moot.logs.kafka.history.SECONDS", SLOW)


@pytest.fixture
def home(tmp_path: Path) -> KafkaHome:
    return KafkaHome(tmp_path, "sqlite:moot.db", broker().address)


@pytest.fixture(params=["sqlite", "postgresql"])
async def any_home(request: pytest.FixtureRequest, tmp_path: Path) -> KafkaHome:
    store = "sqlite:moot.db" if request.param == "sqlite" else await empty_database()
    return KafkaHome(tmp_path, store, broker().address)
