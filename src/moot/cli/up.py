"""`moot up`: the hub in the foreground, with the agents of moot.toml, until it is told to stop."""

import asyncio
import logging
import signal
from uuid import uuid4

import click

from moot.cli.grammar import leaf
from moot.cli.opening import can_run, home_of, set_up_logs
from moot.cli.screen import hollow
from moot.cli.session import Session
from moot.cli.start import shown
from moot.hub import Hub
from moot.hub.running import HubLock
from moot.hub.tuned import tune_process
from moot.rules.palette import MARKS
from moot.settings import Home, Settings, load, not_yet
from moot.wiring import concerns, spec

DRAIN_SECONDS = 20.0


@leaf("up", examples=("moot up", "moot --home ./team up --json"))
@click.option("--drain", type=click.FloatRange(min=0), default=DRAIN_SECONDS, hidden=True)
def up(session: Session, drain: float) -> None:
    """Run the agents of moot.toml until stopped (Ctrl+C or SIGTERM; a second one stops at once)."""
    set_up_logs(session, logging.WARNING)
    home = home_of(session)
    tune_process()
    with HubLock(home) as lock:
        asyncio.run(hosting(session, home, lock, drain))


async def hosting(session: Session, home: Home, lock: HubLock, drain: float) -> None:
    settings = load(home)
    specs = [spec(row, home) for row in settings.agents if row.autostart and can_run(row)]
    stop = asyncio.Event()
    screen = session.screen
    async with Hub.open(home.path, agents=specs, socket=home.hub_sock, drain=drain) as hub:
        _listen_for_signals(stop, hub)
        told = lock.announce(f"i{uuid4().hex[:12]}")
        if session.json:
            screen.data(told)
        else:
            _tell(session, home, settings, [spec.name for spec in specs])
        await stop.wait()
        screen.note("stopping: running turns may end; a second signal stops at once")
    screen.note("stopped")


def _listen_for_signals(stop: asyncio.Event, hub: Hub) -> None:
    """A terminal that is closed (SIGHUP) ends it in good order too."""

    def told() -> None:
        if stop.is_set():
            hub.hurry()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, told)


def _tell(session: Session, home: Home, settings: Settings, hosted: list[str]) -> None:
    screen = session.screen
    names = "   ".join(screen.name(name, hollow(MARKS[0])) for name in hosted)
    screen.say(f"hub up on {shown(home.path)}")
    screen.say(f"  hosts  {names}" if hosted else "  hosts nobody: moot.toml has no agent to start")
    for key in not_yet(settings):
        screen.note(f"  note   {key} is accepted, but this version does nothing with it yet")
    for concern in concerns(settings, home):
        screen.note(f"  note   {concern}")
    screen.say("  talk   moot chat NAME, in another terminal        stop   Ctrl+C")
