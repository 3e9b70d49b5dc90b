"""`moot up`: the hub in the foreground, with the agents of moot.toml, until it is told to stop."""

import asyncio
import logging
import os
import time
from uuid import uuid4

import click
import structlog
from msgspec import convert

from moot import shapes
from moot.cli.frame.hints import first
from moot.cli.frame.hub_access import can_run, home_of, set_up_logs
from moot.cli.frame.params import PORT, SECONDS, leaf
from moot.cli.frame.session import Session
from moot.cli.run.doctor_bridge import not_started
from moot.cli.run.examples import claude_line, curl_line
from moot.cli.run.reload import tell as tell_changes
from moot.cli.run.signals import end_of
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import hollow
from moot.hub import Hub
from moot.hub.process import daemons
from moot.hub.process.hub_lock import HubLock, running_hub
from moot.hub.process.tuning import run, tune_process
from moot.model.event import EventType
from moot.rules.palette import MARKS
from moot.settings import Home, Settings, load, not_yet
from moot.shapes import when
from moot.wiring import concerns, loaded

log = structlog.get_logger("moot.up")

DRAIN_SECONDS = 20.0


@leaf("up", examples=("moot up", "moot --home ./team up --json"))
@click.option("--detach", is_flag=True, help="Run in the background; `moot stop` stops it.")
@click.option("--host", metavar="ADDRESS", help="Address to listen on (default: hub.host in moot.toml).")
@click.option("--port", metavar="N", type=PORT, help="Port to listen on; 0 picks a free one.")
@click.option(
    "--without-tls", is_flag=True, help="Allow a network address without TLS; tokens can be intercepted."
)
@click.option("--drain", type=SECONDS, default=DRAIN_SECONDS, hidden=True)
def up(
    session: Session, *, detach: bool, host: str | None, port: int | None, without_tls: bool, drain: float
) -> None:
    """Run the hub and the agents in moot.toml until stopped (Ctrl+C or SIGTERM; a second one stops at once)."""
    set_up_logs(session, logging.WARNING)
    overrides = {"MOOT_HUB__HOST": host, "MOOT_HUB__PORT": port}
    os.environ.update({name: str(value) for name, value in overrides.items() if value is not None})
    home = home_of(session)
    if detach:
        _start_detached(session, home, ["--without-tls"] if without_tls else [])
        return
    tune_process()
    with HubLock(home) as lock:
        run(hosting(session, home, lock, drain=drain, openly=without_tls))


def _start_detached(session: Session, home: Home, flags: list[str]) -> None:
    """Start the hub as a process of its own."""
    settings = load(
        home
    )  # a broken moot.toml is named here, with its line, not by the log of what did not start
    with HubLock(home):
        pass  # refuses at once if a hub runs
    announcement = asyncio.run(daemons.start_hub(home, flags))
    if session.json:
        session.screen.data(announcement)
        return
    say = session.screen.say
    say(f"hub up on {tilde_path(home.path)} (pid {announcement['pid']})")
    say(f"  page   {announcement['url']}        sign in   {session.screen.command('moot open')}")
    say(f"  try    {curl_line(home, announcement['url'])}")
    _tell_concerns(session, home, settings)
    say(f"  log    {tilde_path(home.logs / 'hub.log')}        stop   {session.screen.command('moot stop')}")


@leaf("stop", examples=("moot stop", "moot stop --all"))
@click.option("--all", "everyone", is_flag=True, help="Also stop all daemons.")
def stop(session: Session, everyone: bool) -> None:
    """Stop the hub, after letting running turns finish."""
    home = home_of(session)
    hub = running_hub(home)
    pids: list[int] = []
    if hub is not None and hub.get("pid"):
        pids.append(int(hub["pid"]))
        asyncio.run(daemons.ended(pids[0], lambda: running_hub(home) is None, "the hub"))
    if everyone:
        pids += [asyncio.run(daemons.stop(home, name)) for name in daemons.all_running(home)]
    if session.json:
        session.screen.data({"stopped": pids})
    elif pids:
        session.screen.say(f"stopped {', '.join(f'pid {pid}' for pid in pids)}")
    else:
        session.screen.say("nothing is running")


async def hosting(session: Session, home: Home, lock: HubLock, *, drain: float, openly: bool) -> None:
    from moot.cli.run.doors import open_doors  # noqa: PLC0415  heavy, and only a hub needs it

    settings = load(home)
    alive = daemons.all_running(home)
    rows = [row for row in settings.agents if row.autostart and can_run(row) and row.name not in alive]
    specs, broken = loaded(rows, home)
    screen = session.screen
    instance = f"i{uuid4().hex[:12]}"
    facts = {"instance": instance, "started_at": when(time.time())}
    async with Hub.open(home.path, agents=specs, socket=home.hub_sock, drain=drain) as hub:
        end = end_of(hub)
        async with open_doors(hub, home, facts, openly=openly) as at:
            announcement = lock.announce(instance, (at.host, at.port, at.url))
            if session.json:
                screen.data(announcement)
                for one in broken:  # not a note, which --quiet would hide
                    log.warning(one.text, action="agent_unloadable", agent=one.agent)
            else:
                _tell(session, home, settings, [spec.name for spec in specs])
                screen.say(f"  page   {at.url}        sign in   {screen.command('moot open')}")
                screen.say(f"  try    {curl_line(home, at.url)}")
                screen.say(f"  agents {claude_line(home)}")
                for name, pid in alive.items():
                    screen.note(f"  note   {name} already runs as a daemon (pid {pid}) and is left alone")
            telling = asyncio.ensure_future(_tell_reloads(session, hub))
            try:
                await end.wait()
            finally:
                telling.cancel()
            screen.note("stopping after running turns finish; a second signal stops at once")
    screen.note("stopped")


async def _tell_reloads(session: Session, hub: Hub) -> None:
    """Report changes to moot.toml that were applied; a broken file is in the log."""
    async for event in hub.events(types=(EventType.CONFIG_RELOADED,)):
        session.screen.note("moot.toml was read again")
        tell_changes(session.screen, convert(event.body, shapes.Reloaded))


def _tell(session: Session, home: Home, settings: Settings, hosted: list[str]) -> None:
    screen = session.screen
    names = "   ".join(screen.name(name, hollow(MARKS[0])) for name in hosted)
    screen.say(f"hub up on {tilde_path(home.path)}")
    nobody = "none of its agents can be started" if settings.agents else "moot.toml has no agents"
    screen.say(f"  hosts  {names}" if hosted else f"  hosts  nobody: {nobody}")
    for key in not_yet(settings):
        screen.note(f"  note   {key} is accepted, but has no effect in this version yet")
    _tell_concerns(session, home, settings)
    screen.say(f"  talk   {screen.command('moot chat NAME')}, in another terminal        stop   Ctrl+C")


def _tell_concerns(session: Session, home: Home, settings: Settings) -> None:
    for concern in concerns(settings, home):
        session.screen.note(f"  note   {concern.text}")
        if concern.fix and concern.silent:
            session.screen.note(f"         fix: {session.screen.command(first(concern.fix))}")
    for bridge, problem in not_started(settings):
        session.screen.note(f"  note   the {bridge} bridge: {problem}")
        session.screen.note(f"         fix: {session.screen.command(f'moot bridge {bridge} setup')}")
