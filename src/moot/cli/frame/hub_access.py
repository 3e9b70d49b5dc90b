"""How a command gets a hub: opened on the home, with quiet logs and the agents that nobody else hosts.

A command that goes through a running hub imports no store, no brain and no log library: those come in when needed.
"""

from __future__ import annotations

import asyncio
import logging
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, TypeVar, cast

from moot.cli.frame.session import Session
from moot.client import RemoteHub
from moot.errors import BadSettings
from moot.model.entrance import DoorName
from moot.rules.brain_kinds import runs_here
from moot.settings.home import Home, find_home

if TYPE_CHECKING:
    from moot.hub import Hub
    from moot.settings import AgentSettings
    from moot.wiring import Concern

T = TypeVar("T")


def home_of(session: Session) -> Home:
    return Home(find_home(session.home_option, os.environ))


def with_hub(session: Session, work: Callable[[Hub], Awaitable[T]], *, here: bool = False) -> T:
    """Run a piece of work with a hub that hosts nobody; `here` if it needs the store in this process."""

    async def run() -> T:
        async with open_hub(session, here=here) as hub:
            return await work(hub)

    return asyncio.run(run())


def with_reading(session: Session, work: Callable[[Hub], Awaitable[T]]) -> T:
    """Run a piece of work that only looks: nothing is written, and no home is made."""

    async def run() -> T:
        async with reading_hub(session) as hub:
            return await work(hub)

    return asyncio.run(run())


def with_links(session: Session, work: Callable[[Hub], Awaitable[T]]) -> T:
    """Run a piece of work that looks at links. A running hub has taken in those of moot.toml; where none runs they are
    taken in first, so that what is shown is what the file says."""
    from moot.hub.process.hub_lock import running_hub  # noqa: PLC0415  only these commands need it
    from moot.settings import load  # noqa: PLC0415  as above

    home = home_of(session)
    is_behind = running_hub(home) is None and (home.db.exists() or bool(load(home).links))
    return (with_hub if is_behind else with_reading)(session, work)


@asynccontextmanager
async def reading_hub(session: Session) -> AsyncIterator[Hub]:
    """The store, opened for reading. While moot.toml is broken, the running hub is used instead: it continues with the
    settings it read last."""
    set_up_logs(session)
    async with AsyncExitStack() as stack:
        try:
            hub = await stack.enter_async_context(_hub().reading(home_of(session).path))
        except BadSettings as broken:
            running = await RemoteHub.find(home_of(session), door="cli")
            if running is None:
                raise
            stack.push_async_callback(running.close)
            if session.broken_settings is None:
                session.screen.note(f"{broken.title}. The hub goes on with what it read before.")
            session.broken_settings = broken
            yield cast("Hub", running)
            return
        _read_colours(session, hub)
        yield hub


def _hub() -> Any:
    from moot.hub import Hub  # noqa: PLC0415

    return Hub


@asynccontextmanager
async def open_hub(
    session: Session, *, here: bool = False, door: DoorName = DoorName.CLI
) -> AsyncIterator[Hub]:
    """The hub that runs on the home, over its socket; if none runs, or with `here`, one in this process."""
    home = home_of(session)
    running = None if here else await RemoteHub.find(home, door=door)
    if running is None:
        set_up_logs(session)
        async with _hub().open(home.path) as hub:
            _read_colours(session, hub)
            yield hub.through(door)
        return
    try:
        _read_colours(session, cast("Hub", running))
        yield cast("Hub", running)
    finally:
        await running.close()


def _read_colours(session: Session, hub: Hub) -> None:
    """Read the agents' colours, only if colours are drawn: reading settings takes time."""
    if session.screen.colour:
        session.screen.wishes = {row.name: row.color for row in hub.settings.agents if row.color}


def set_up_logs(session: Session, level: int = logging.CRITICAL) -> None:
    """Logs go to stderr: everything with --debug, else only what the command asks for."""
    import structlog  # noqa: PLC0415

    pretty = sys.stderr.isatty()
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso"),
            structlog.dev.ConsoleRenderer(colors=False) if pretty else structlog.processors.JSONRenderer(),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if session.debug else level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )


def can_run(row: AgentSettings) -> bool:
    """Whether this version has a brain for it."""
    return runs_here(row.brain)


async def host_the_absent(hub: Hub, session: Session, names: Iterable[str] | None = None) -> list[Concern]:
    """Host the agents of moot.toml that nobody hosts, or only `names` of them. Returns those that cannot be run."""
    if not hasattr(hub, "host"):
        return []  # a running hub hosts autostarting agents, and daemons the others
    chosen_names = None if names is None else set(names)
    rows = {row.name: row for row in hub.settings.agents}
    absent = [
        agent
        for agent in await hub.agents.list()
        if agent.reachability != "live"
        and (chosen_names is None or not chosen_names.isdisjoint((agent.name, *agent.aliases)))
    ]
    home = home_of(session)
    from moot.wiring import loaded  # noqa: PLC0415

    described = {
        agent.name: rows[name]
        for agent in absent
        for name in (agent.name, *agent.aliases)
        if name in rows and can_run(rows[name])
    }
    specs, broken = loaded(described.values(), home)
    await hub.host(specs)
    return broken
