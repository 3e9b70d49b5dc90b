"""The composition root: the only place that knows which store, log, clock and brains there are."""

import importlib
import logging
import os
import sys
from collections.abc import Callable, Container, Iterable
from functools import cache
from typing import TYPE_CHECKING, Any, cast

import structlog
from msgspec import Struct

from moot.brains import code_row
from moot.brains.code import AgentSpec, Think, never_think
from moot.brains.command import command_line
from moot.brains.demo import DemoBrain, DemoModel
from moot.brains.llm.brain import ModelBrain
from moot.brains.llm.brain_string import make_model
from moot.brains.llm.keys import KeyRing
from moot.brains.llm.retry import Retries
from moot.errors import BadSettings, BadValue, MootError
from moot.host.clock import SystemClock
from moot.host.presence import MachinePresence
from moot.logs.embedded import EmbeddedLog
from moot.logs.kafka.address import is_kafka
from moot.model.event import Commit
from moot.model.hint import Act, Hint, Way
from moot.model.prompt import Offered
from moot.model.query import Query
from moot.ports import Clock, HomeStore, Log, Model, Presence, Reads
from moot.rules.brain_kinds import CODE, DEMO, EXTERNAL, forms, has_model, is_cli, kind_of
from moot.rules.budgets import AgentBudget
from moot.settings import AgentSettings, Home, Settings, SettingsFile, load, read, terms
from moot.settings.values import CliPermissions
from moot.storage import FarLane, Storage
from moot.stores.ids import ConversationIds
from moot.stores.memory import MemoryStore
from moot.stores.postgres.address import Address, address_of, is_postgres
from moot.stores.postgres.storage import PostgresStorage
from moot.stores.readonly import StoreBeside
from moot.stores.runner import Source
from moot.stores.sqlite.file.storage import SqliteStorage
from moot.stores.sqlite.reads import is_current, reads_of
from moot.stores.sqlite.store import SqliteStore
from moot.tools.offer import Offer, offered, program_tools
from moot.tools.text_calls import text_calls

if TYPE_CHECKING:
    from moot.stores.postgres.store import PostgresStore


def storage(home: Home) -> Storage:
    """Where a home keeps its data: whether it is there, and how copies of it are made and put back."""
    try:
        settings = load(home)
    except BadSettings:  # whoever needs them says what is wrong with them
        return SqliteStorage(home.path)
    address = postgres_of(settings)
    return SqliteStorage(home.path) if address is None else PostgresStorage(address)


def postgres_of(settings: Settings) -> Address | None:
    """The database server that is set, if one is."""
    url = settings.store.url
    return address_of(url, unsafe=settings.store.unsafe) if is_postgres(url) else None


class Parts(Struct):
    """What a hub is made of."""

    home: Home
    file: SettingsFile
    """moot.toml as it was last taken in."""
    clock: Clock
    store: HomeStore
    log: Log
    presence: Presence
    source: Source
    far_lane: FarLane | None = None
    """To hubs on other machines, where the store can be reached from there; None where there are none."""

    @property
    def settings(self) -> Settings:
        """Those in force."""
        return self.file.settings

    def adopt(self, file: SettingsFile) -> None:
        """From now on decisions are made under these settings."""
        self.file = file
        self.source.terms = terms(file.settings)


def quiet_logs() -> None:
    """In a program that has not set up its logging: warnings and worse, on stderr."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        )


SQLITE_URL = "sqlite:moot.db"


def check_places(settings: Settings, home: Home) -> None:
    """What is set for store and log must be what is used: nothing may be kept elsewhere than the file says."""
    if postgres_of(settings) is None and settings.store.url != SQLITE_URL:
        raise _unsupported("store.url", f'"{SQLITE_URL}" or "postgresql://…"', SQLITE_URL, home)
    if settings.log.url != "embedded:" and not is_kafka(settings.log.url):
        raise _unsupported("log.url", '"embedded:" or "kafka://…"', "embedded:", home)


def _unsupported(key: str, expected: str, built: str, home: Home) -> BadValue:
    return BadValue(
        f"{key} in {home.toml} has a value that this version does not support",
        detail=f"expected {expected}; others come with a later version",
        fix=(f'set {key} = "{built}", or leave it out',),
    )


async def _open_store(
    home: Home,
    settings: Settings,
    source: Source,
    on_commit: Callable[[Commit], None] = lambda commit: None,
    on_growth: Callable[[], None] = lambda: None,
) -> HomeStore:
    """The store that is set. `on_growth`: another hub may have written; on SQLite the hubs' sockets tell it."""
    address = postgres_of(settings)
    if address is None:
        return await SqliteStore.open(home.path, source, on_commit)
    store: type[PostgresStore] = from_postgres("store").PostgresStore
    return await store.open(address, source, on_commit, on_growth)


def from_postgres(module: str) -> Any:
    """Imported only where a home says so: most have no server, and need no driver for one."""
    title = "store.url names a PostgreSQL server, and the driver for it is not installed"
    return _from_extra(f"moot.stores.postgres.{module}", "asyncpg", "postgres", title)


def _from_extra(module: str, needs: str, extra: str, title: str) -> Any:
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as missing:
        if missing.name != needs:
            raise
        raise BadValue(title, fix=(f"pip install 'moot[{extra}]'",)) from missing


def _log_over(store: HomeStore, clock: Clock, settings: Settings) -> EmbeddedLog:
    if not is_kafka(settings.log.url):
        return EmbeddedLog(store)
    return cast(EmbeddedLog, from_kafka("log").kafka_log(store, clock, settings.log))


def from_kafka(module: str) -> Any:
    title = "log.url names Kafka brokers, and the client for them is not installed"
    return _from_extra(f"moot.logs.kafka.{module}", "confluent_kafka", "kafka", title)


def _source(clock: Clock, settings: Settings) -> Source:
    ids = ConversationIds(clock.now)
    return Source(clock.now, terms(settings), ids, has_outbox=is_kafka(settings.log.url))


async def assemble(home: Home, clock: Clock | None, on_commit: Callable[[Commit], None]) -> Parts:
    """Open the home: settings, store, log. `on_commit` gets every commit of this process."""
    quiet_logs()
    file = read(home)
    check_places(file.settings, home)
    home.make()
    clock = clock or SystemClock()
    source = _source(clock, file.settings)
    logs: list[EmbeddedLog] = []

    def committed(commit: Commit) -> None:
        on_commit(commit)
        for log in logs:
            log.committed(commit)

    def grown() -> None:
        for log in logs:
            log.hinted()

    store = await _open_store(home, file.settings, source, committed, grown)
    log = _log_over(store, clock, file.settings)
    await log.start()
    logs.append(log)
    far_lane: FarLane | None = getattr(store, "far_lane", None)
    return Parts(home, file, clock, store, log, MachinePresence(), source, far_lane)


async def store_alone(home: Home) -> HomeStore:
    """The database whatever moot.toml says: with a broken one it is opened as if there were none."""
    try:
        settings = load(home)
    except BadSettings:
        settings = Settings()
    home.make()
    clock = SystemClock()
    return await _open_store(home, settings, _source(clock, settings))


def reading(home: Home) -> Reads:
    """The read ports of a home alone, beside whatever hub may run on it."""
    address = postgres_of(load(home))
    if address is None:
        return reads_of(home.path)
    found: Reads = from_postgres("reads").reads_of(address)
    return found


async def assemble_to_read(home: Home) -> Parts | None:
    """A home for looking only: no folder is made, no writer opened. None where a writer must come first."""
    quiet_logs()
    file = read(home)
    check_places(file.settings, home)
    clock = SystemClock()
    source = _source(clock, file.settings)
    memory = MemoryStore(source)
    presence = MachinePresence()
    store: HomeStore = memory
    address = postgres_of(file.settings)
    if address is not None:
        reads = await from_postgres("reads").current_reads_of(address)
        if reads is None:
            return None
        store = await StoreBeside.on(reads, memory, _nothing_to_catch_up, presence)
    elif (kept := SqliteStorage(home.path)).is_remnant():
        return None
    elif kept.exists():
        beside = await _beside_sqlite(home, source, memory, presence)
        if beside is None:
            return None
        store = beside
    log = EmbeddedLog(store)
    await log.start()
    return Parts(home, file, clock, store, log, presence, source)


async def _nothing_to_catch_up() -> None:
    """What is stored there can be searched."""


async def _beside_sqlite(
    home: Home, source: Source, memory: MemoryStore, presence: Presence
) -> HomeStore | None:
    """None where the database has to be brought up to date first."""
    if not is_current(home.path):
        return None
    reads = reads_of(home.path)

    async def catch_up() -> None:
        if reads.index_is_behind():
            writer = await SqliteStore.open(home.path, source)
            await writer.count(Query(), 1)
            await writer.close()

    return await StoreBeside.on(reads, memory, catch_up, presence)


def configured_agents(settings: Settings, home: Home, *, fast: bool = False) -> list[AgentSpec]:
    """The agents of moot.toml that are to be started, each with its brain."""
    return [
        spec(row, home, fast=fast)
        for row in settings.agents
        if row.autostart and kind_of(row.brain) is not EXTERNAL
    ]


def loaded(rows: Iterable[AgentSettings], home: Home) -> "tuple[list[AgentSpec], list[Concern]]":
    """The agents that can be run, and what keeps the others from it: one that is broken stops nobody else."""
    specs: list[AgentSpec] = []
    broken: list[Concern] = []
    for row in rows:
        try:
            specs.append(spec(row, home))
        except MootError as trouble:
            broken.append(_concern(row, trouble))
    return specs, broken


def spec(row: AgentSettings, home: Home, *, fast: bool = False) -> AgentSpec:
    """An agent of moot.toml with its brain."""
    kind = kind_of(row.brain)
    if row.watches and kind is not CODE:
        raise BadValue(
            f"agent {row.name} watches, so its brain must be a function",
            detail=f'it has the brain "{row.brain}"; expected code:MODULE:FUNCTION',
            fix=("set its brain to code:MODULE:FUNCTION", "leave watches out"),
        )
    if kind is not None and kind.prefix in LOADERS:
        return LOADERS[kind.prefix](row, home, fast)
    raise BadValue(
        f'agent {row.name} has the brain "{row.brain}", which this version cannot run',
        detail=f"expected one of {', '.join(forms())}",
        fix=(Hint(Act.USE_DEMO, agent=row.name),),
    )


def _demo(row: AgentSettings, home: Home, fast: bool) -> AgentSpec:
    demo = DemoBrain(seed=int(os.environ.get("MOOT_DEMO_SEED", "1")), fast=fast)
    return _spec(row, demo.think, brain=demo.name)


def _code(row: AgentSettings, home: Home, fast: bool) -> AgentSpec:
    if row.watches:
        return _spec(row, never_think, watches=row.watches, watch=code_row.watch_of(row, home))
    return _spec(row, code_row.function_of(row, home))


def _spec(row: AgentSettings, think: Think, **more: Any) -> AgentSpec:
    """What a row says of an agent, with what it thinks with."""
    return AgentSpec(
        name=row.name,
        think=think,
        role=row.role,
        display=row.display,
        context_messages=row.context_messages,
        context_tokens=row.context_tokens,
        concurrency=row.concurrency,
        partitions=row.partitions,
        on_busy=row.on_busy,
        project=row.project,
        **more,
    )


class Concern(Struct, frozen=True):
    """What keeps an agent of moot.toml from doing what it is set up for."""

    agent: str
    text: str
    fix: tuple[Way, ...] = ()
    silent: bool = True
    """It cannot answer at all; else it merely can do less."""


def concerns(settings: Settings, home: Home, *, loads: Container[str] | None = None) -> list[Concern]:
    """What is wrong with the agents, as far as this machine can tell: for `doctor`, `up` and `status`.

    With `loads` no code of others than these is run: their modules are looked at, and not imported.
    """
    found: list[Concern] = []
    for row in settings.agents:
        try:
            kind = kind_of(row.brain)
            if kind is CODE and loads is not None and row.name not in loads:
                code_row.look_for_function(row, home)
            elif has_model(row.brain):
                model(row.brain, home, used_by=row.name)
            elif kind is not EXTERNAL:
                spec(row, home)
            if is_cli(row.brain):
                command_line.check_program(row)
        except MootError as trouble:
            found.append(_concern(row, trouble))
        if has_model(row.brain):
            off = _offer(row, home).off
            found += [Concern(row.name, f"{row.name}: {reason}", silent=False) for reason in off]
    return [*found, *_summing_concerns(settings, home)]


def _concern(row: AgentSettings, trouble: MootError) -> Concern:
    return Concern(row.name, trouble.title, trouble.fix)


def _summing_concerns(settings: Settings, home: Home) -> list[Concern]:
    try:
        summing_model(settings, home)
    except MootError as trouble:
        return [Concern("", trouble.title, trouble.fix)]
    return []


def _prompted(row: AgentSettings, home: Home, fast: bool) -> AgentSpec:
    """Thinks with a model. The model is made when it is first asked: a missing key is one turn's failure."""
    offer = _offer(row, home)
    thinking = ModelBrain(
        lambda: model(row.brain, home, used_by=row.name),
        _retries(),
        {tool.spec.name: tool for tool in offer.tools},
        (lambda text: text_calls(text).calls) if offer.text_form else None,
    )
    offered = Offered(tuple(tool.spec for tool in offer.tools), offer.off, offer.text_form)
    return _spec(
        row,
        thinking.think,
        prompted=True,
        offered=offered,
        close=thinking.close,
        budget=_budget(row),
    )


def _cli(row: AgentSettings, home: Home, fast: bool) -> AgentSpec:
    """A coding CLI. Its program is looked for when it is first needed: a missing one is one turn's failure."""
    brain, offered = command_line.brain_of(row, home, program_tools(spawns=bool(row.spawns)))
    return _spec(
        row,
        brain.think,
        prompted=True,
        offered=offered,
        close=brain.close,
        budget=_budget(row),
        # two turns of one that writes would be in each other's way: they share its folder
        one_at_a_time=row.permissions is not CliPermissions.READ,
    )


def _budget(row: AgentSettings) -> AgentBudget:
    return AgentBudget(row.budget_usd, row.budget_tokens)


LOADERS: dict[str, Callable[[AgentSettings, Home, bool], AgentSpec]] = {
    "demo": _demo,
    "code": _code,
    "anthropic": _prompted,
    "openai": _prompted,
    "command": _cli,
    "acp": _cli,
}
"""By kind of brain (rules/brain_kinds.py): an agent with its brain; fast where a demo shall not take its time."""


def _offer(row: AgentSettings, home: Home) -> Offer:
    return offered(row.tools, home.folder(row.project), home.path, spawns=bool(row.spawns))


@cache
def _retries() -> Retries:
    """One for the process: it remembers which endpoints are in trouble."""
    return Retries(SystemClock())


def model(brain: str, home: Home, *, used_by: str = "") -> Model:
    """What a brain string of moot.toml names. Its key is looked for now, its library when it is first asked."""
    if kind_of(brain) is DEMO:
        return DemoModel()
    return make_model(brain, keys=KeyRing(os.environ, home.keys), environ=os.environ, used_by=used_by)


def summing_model(settings: Settings, home: Home) -> Model | None:
    """What sums up long conversations, if anything is set for it."""
    brain = settings.context.summary_brain
    return model(brain, home, used_by="context.summary_brain") if brain else None
