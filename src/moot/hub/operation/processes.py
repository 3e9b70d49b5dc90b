"""Agents of moot.toml, started and stopped by an operator; and whether one can be reached.

An agent runs inside the hub, or as a daemon, a process of its own. One that the hub runs stays stopped until it is
started again, whatever happens to moot.toml meanwhile, or until the hub itself is. Not here: agents that some program
hosts, and outside agents, which are somebody else's to start.
"""

import os
import time
from pathlib import Path

from moot import shapes
from moot.errors import Conflict, NotFound, NotPermitted
from moot.host.pings import ask
from moot.hub.agents import names_of
from moot.hub.core import Core
from moot.hub.process import daemons
from moot.model.hint import Act, Hint
from moot.model.participant import Kind, Participant
from moot.rules.brain_kinds import runs_here
from moot.settings import AgentSettings

PING_SECONDS = 5.0


async def start(core: Core, name: str) -> None:
    participant = await core.directory.addressee(name)
    row = _row(core, participant)
    if participant.present(core.parts.clock.now()):
        raise Conflict(
            f"{participant.name} is already running", fix=(Hint(Act.STOP_AGENT, agent=participant.name),)
        )
    if core.hosted_rows is None or not await core.hosted_rows.resume(row, participant):
        await daemons.start(core.parts.home, row.name)
    await core.parts.log.catch_up()


async def stop(core: Core, name: str) -> None:
    participant = await core.directory.participant(name)
    home = core.parts.home
    for called in names_of(participant):
        if daemons.running(home, called) is not None:
            await daemons.stop(home, called)
            await core.parts.log.catch_up()
            return
    if core.hosted_rows is not None and await core.hosted_rows.stop(participant.id):
        return
    if participant.present(core.parts.clock.now()):
        raise NotPermitted(
            f"{participant.name} is run by another program",
            detail="only agents of moot.toml can be stopped from here",
            fix=("end that program",),
        )
    raise NotFound(
        f"{participant.name} is not running",
        fix=(Hint(Act.START_AGENT, agent=participant.name),),
        ref=participant.name,
    )


def _row(core: Core, participant: Participant) -> AgentSettings:
    row = next((row for row in core.parts.settings.agents if row.name in names_of(participant)), None)
    if row is None:
        raise NotPermitted(
            f"{participant.name} is not in moot.toml",
            detail="agents that a program hosts, and outside agents, are started by their own programs",
            fix=("start the program that runs it",),
        )
    if not runs_here(row.brain):
        raise NotPermitted(f'{participant.name} has the brain "{row.brain}", which this hub cannot run')
    return row


async def ping(core: Core, name: str) -> shapes.PingedAgent:
    participant = await core.directory.participant(name)
    now = core.parts.clock.now()
    hosts = await core.parts.store.hosts()
    socket = next(
        (host.socket for host in hosts if host.id == participant.host and host.lease_until > now), ""
    )
    started = time.perf_counter()
    pong = await ask(Path(socket), {"ping": os.getpid()}, PING_SECONDS) if socket else None
    reach = participant.reachable(now).value
    is_external = participant.kind is Kind.EXTERNAL
    return shapes.PingedAgent(
        agent=participant.name,
        known=True,
        reachability=reach,
        kind=participant.kind.value,
        woken=reach == "live"
        if is_external
        else pong is not None and participant.name in pong.get("agents", ()),
        pid=pong.get("pid") if pong else None,
        milliseconds=round((time.perf_counter() - started) * 1000, 2) if pong else None,
    )
