"""The composition root: the only place that knows which store, log, clock and brains there are."""

import importlib
import logging
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import structlog
from msgspec import Struct

from moot.brains.code import AgentSpec
from moot.brains.demo import DemoBrain, DemoModel
from moot.errors import BadValue
from moot.host.clock import SystemClock
from moot.logs.embedded import EmbeddedLog
from moot.model.event import Event
from moot.ports import Clock, Model
from moot.settings import AgentSettings, Home, Settings, load, terms
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore


class Parts(Struct):
    """What a hub is made of."""

    home: Home
    settings: Settings
    clock: Clock
    store: Any
    log: EmbeddedLog


def quiet_logs() -> None:
    """In a program that has not set up its logging: warnings and worse, on stderr."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING),
            logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        )


def check_places(settings: Settings, home: Home) -> None:
    """What is set for store and log must be what is used: nothing may be kept elsewhere than the file says."""
    for key, found, built in (
        ("store.url", settings.store.url, "sqlite:moot.db"),
        ("log.url", settings.log.url, "embedded:"),
    ):
        if found != built:
            raise BadValue(
                f"{key} in {home.toml} asks for something this version cannot use",
                detail=f'it takes "{built}"; other stores and logs come with a later version',
                fix=(f'set {key} = "{built}", or leave it out',),
            )


async def assemble(home: Home, clock: Clock | None, grown: Callable[[], None]) -> Parts:
    """Open the home: settings, store, log. `grown` is called after every commit of this process."""
    quiet_logs()
    settings = load(home)
    check_places(settings, home)
    home.make()
    clock = clock or SystemClock()
    source = Source(clock.now, terms(settings), ConversationIds(clock.now))
    logs: list[EmbeddedLog] = []

    def committed(events: list[Event]) -> None:
        for log in logs:
            log.committed(events)
        grown()

    store = await SqliteStore.open(home.path, source, committed)
    log = EmbeddedLog(store)
    await log.start()
    logs.append(log)
    return Parts(home=home, settings=settings, clock=clock, store=store, log=log)


def configured_agents(settings: Settings, home: Home, *, fast: bool = False) -> list[AgentSpec]:
    """The agents of moot.toml that are to be started, each with its brain."""
    return [
        spec(row, home, fast=fast) for row in settings.agents if row.autostart and row.brain != "external"
    ]


def spec(row: AgentSettings, home: Home, *, fast: bool = False) -> AgentSpec:
    think, mark = brain(row, home, fast=fast)
    return AgentSpec(
        name=row.name,
        think=think,
        role=row.role,
        display=row.display,
        context_messages=row.context_messages,
        context_tokens=row.context_tokens,
        concurrency=row.concurrency,
        on_busy=row.on_busy,
        project=row.project,
        brain=mark,
    )


def summing_model(settings: Settings, home: Home) -> Model | None:
    """What sums up long conversations, if anything is set for it."""
    return model(settings.context.summary_brain, home) if settings.context.summary_brain else None


def model(brain: str, home: Home) -> Model:
    if brain == "demo":
        return DemoModel()
    raise BadValue(f'"{brain}" is no model')


def brain(row: AgentSettings, home: Home, *, fast: bool) -> tuple[Callable[[Any], Any], str]:
    """The function that thinks for an agent of moot.toml, and the mark its messages wear."""
    kind, _, rest = row.brain.partition(":")
    if kind == "demo":
        demo = DemoBrain(seed=int(os.environ.get("MOOT_DEMO_SEED", "1")), fast=fast)
        return demo.think, demo.name
    if kind == "code":
        return _function(row, rest, home), ""
    raise BadValue(
        f'agent {row.name} has the brain "{row.brain}", which this version cannot run',
        detail="it runs demo and code:module:attr; models and coding CLIs come with a later version",
        fix=(f'set brain = "demo" for {row.name} in {home.toml}',),
    )


def _function(row: AgentSettings, where: str, home: Home) -> Callable[[Any], Any]:
    """`module:attr`, looked up in the agent's project, then on the import path."""
    module_name, _, attribute = where.partition(":")
    project = (home.path / row.project).resolve() if row.project else Path.cwd()
    before = list(sys.path)
    sys.path.insert(0, str(project))
    try:
        found = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise BadValue(
            f"agent {row.name}: {row.brain} cannot be loaded: {error}",
            detail=f"looked in {project}, then on the import path",
            fix=(f"check module and attribute of brain in {home.toml}",),
        ) from error
    finally:
        sys.path[:] = before
    think = found.think if isinstance(found, AgentSpec) else found
    if not callable(think):
        raise BadValue(
            f"agent {row.name}: {row.brain} is not a function", fix=("make it an async def f(turn)",)
        )
    return think
