"""W11 scale-out: one agent on PostgreSQL and Kafka, run by 1, 2 and 4 processes, with 200 conversations.

Beside it in one run: the embedded mode (SQLite, everything in one process) and a bare loop that produces a record and
consumes it on the same broker. Then how long conversations take to move when one of two workers is killed, and what a
worker with fifty agents holds.
"""

import asyncio
import os
import shutil
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from tempfile import mkdtemp

from confluent_kafka import OFFSET_END, Consumer, Producer, TopicPartition
from msgspec import json

from bench.measure import Table, load, middle_and_late
from bench.worker import names, think
from moot import Hub
from moot.brains.code import AgentSpec
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster
from tools.kafka_broker import KafkaBroker
from tools.postgres_server import PostgresServer

CONVERSATIONS = 200
PARTITIONS = 8
SAMPLES = 100
RECORDS = 2_000
AGENTS = 50
SETTINGS = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
agent_turns_per_hour = 100000000
[host]
lease_seconds = 4.0
"""
number = count(1)


class Servers:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        folder.chmod(0o755)  # the server's user has to come through
        self.postgres = PostgresServer(folder=folder / "postgres").start()
        self.broker = KafkaBroker(folder / "kafka").start()

    def home(self) -> str:
        """The settings of homes that share a store and topics, of their own in this round."""
        one = next(number)
        return (
            f'{SETTINGS}[store]\nurl = "{self.postgres.url()}&schema=w11_{one}"\n'
            f'[log]\nurl = "kafka://{self.broker.address}"\ntopic_prefix = "w11-{one}."\n'
        )

    def folder_with(self, settings: str) -> Path:
        folder = self.folder / f"home-{next(number)}"
        folder.mkdir(mode=0o700)
        (folder / "moot.toml").write_text(settings)
        return folder

    def remove(self) -> None:
        self.broker.remove()
        self.postgres.remove()


class Worker:
    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self.process = process

    async def line(self) -> str:
        assert self.process.stdout is not None
        async with asyncio.timeout(60):
            return (await self.process.stdout.readline()).decode().strip()

    async def held(self) -> dict[str, int]:
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")
        return dict(json.decode(await self.line()))

    async def end(self) -> None:
        if self.process.returncode is None:
            assert self.process.stdin is not None
            self.process.stdin.close()
            await self.process.wait()


@asynccontextmanager
async def workers(servers: Servers, settings: str, many: int, agents: int = 1) -> AsyncIterator[list[Worker]]:
    begun: list[Worker] = []
    try:
        for _ in range(many):
            process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "bench.worker", str(servers.folder_with(settings)),
                str(agents), str(PARTITIONS if agents == 1 else 1),
                stdin=-1, stdout=-1, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
            )  # fmt: skip
            begun.append(Worker(process))
        for worker in begun:
            assert await worker.line() == "ready"
        yield begun
    finally:
        await asyncio.gather(*(worker.end() for worker in begun))


async def rooms_of(hub: Hub) -> list[str]:
    made = [hub.conversations.create(f"room-{one}", participants=names(1)) for one in range(CONVERSATIONS)]
    return [room.id for room in await asyncio.gather(*made)]


async def answered(hub: Hub, rooms: list[str]) -> float:
    """Seconds until a message to each was answered."""
    begun = time.perf_counter()
    await asyncio.gather(*(hub.post(room, f"@{names(1)[0]} now?") for room in rooms))
    await asyncio.gather(*(hub.settled(room, timeout=120) for room in rooms))
    return time.perf_counter() - begun


async def scaled(servers: Servers, many: int, late: dict[int, list[float]]) -> float:
    settings = servers.home()
    async with Hub.open(servers.folder_with(settings)) as hub, workers(servers, settings, many):
        rooms = await rooms_of(hub)
        await answered(hub, rooms)  # the parts are shared out by then
        rate = CONVERSATIONS / await answered(hub, rooms)
        for room in rooms[: SAMPLES // 5]:
            late.setdefault(many, []).append(await answered(hub, [room]))
    return rate


async def embedded(servers: Servers) -> float:
    folder = servers.folder_with(SETTINGS)
    async with Hub.open(folder, agents=[AgentSpec(names(1)[0], think)]) as hub:
        rooms = await rooms_of(hub)
        await answered(hub, rooms)
        return CONVERSATIONS / await answered(hub, rooms)


async def bare(servers: Servers) -> float:
    """Records per second that are produced, acknowledged and consumed, fifty at a time."""
    topic = f"bare-{next(number)}"
    cluster = Cluster(Brokers(servers.broker.address))
    await cluster.make_topics([topic])
    cluster.close()
    return await asyncio.to_thread(_loop, servers.broker.address, topic)


def _loop(address: str, topic: str) -> float:
    common = {"bootstrap.servers": address, "log_level": 0}
    consumer = Consumer({**common, "group.id": "bare", "enable.auto.commit": False, "fetch.wait.max.ms": 100})
    consumer.assign([TopicPartition(topic, 0, OFFSET_END)])
    producer = Producer({**common, "enable.idempotence": True, "acks": "all", "linger.ms": 0})
    producer.produce(topic, b"first")
    producer.flush(10)
    consumer.consume(1, 5)
    begun = time.perf_counter()
    for _ in range(RECORDS // 50):
        for one in range(50):
            producer.produce(topic, b"x" * 400, str(one).encode())
        producer.flush(10)
        got = 0
        while got < 50:
            got += len(consumer.consume(50 - got, 5))
    rate = RECORDS / (time.perf_counter() - begun)
    consumer.close()
    return rate


async def moved(servers: Servers) -> float:
    """Seconds until everything is answered when one of two is killed, in ms."""
    settings = servers.home()
    async with Hub.open(servers.folder_with(settings)) as hub, workers(servers, settings, 2) as both:
        rooms = await rooms_of(hub)
        await answered(hub, rooms)
        both[0].process.kill()
        await both[0].process.wait()
        return await answered(hub, rooms) * 1000


async def fifty(servers: Servers) -> dict[str, int]:
    settings = servers.home()
    async with (
        Hub.open(servers.folder_with(settings)) as hub,
        workers(servers, settings, 1, AGENTS) as [worker],
    ):
        for name in names(AGENTS):
            await hub.ask(name, "are you there?")
        return await worker.held()


async def run(rounds: int = 3) -> list[str]:
    folder = Path(mkdtemp(prefix="moot-bench-w11-", dir="/tmp"))
    servers = Servers(folder)
    late: dict[int, list[float]] = {}
    table = Table("W11 scale-out", "turns/s")
    try:
        await table.run(
            {
                "1 worker": lambda: scaled(servers, 1, late),
                "2 workers": lambda: scaled(servers, 2, late),
                "4 workers": lambda: scaled(servers, 4, late),
                "embedded": lambda: embedded(servers),
                "bare loop (records/s)": lambda: bare(servers),
            },
            rounds,
        )
        table.notes["1 worker over the bare loop"] = table.ratio("1 worker", "bare loop (records/s)")
        table.notes["2 workers over 1"] = table.ratio("2 workers", "1 worker")
        table.notes["1 worker over embedded"] = table.ratio("1 worker", "embedded")
        for many, seconds in late.items():
            middle, last = middle_and_late(seconds)
            table.notes[f"a turn with {many} workers"] = f"p50 {middle:.0f} ms, p99 {last:.0f} ms"
        table.notes["one of two killed, all answered"] = f"{await moved(servers):,.0f} ms"
        held = await fifty(servers)
        table.notes[f"a worker with {AGENTS} agents"] = (
            f"{held['kib'] / 1024:.0f} MiB, {held['threads']} threads, {held['connections']} connections"
        )
    finally:
        servers.remove()
        shutil.rmtree(folder, ignore_errors=True)
    table.save()
    lines = [f"W11: one agent on PostgreSQL and Kafka, {CONVERSATIONS} conversations ({load()})"]
    table.show(lines)
    return lines
