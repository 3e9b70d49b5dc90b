"""`moot agent start|stop|restart|status|logs|ping`: agents as processes of their own."""

import asyncio
import logging
import os

import click

from moot.cli.frame import resolve
from moot.cli.frame.errors import text as error_text
from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.hub_access import can_run, home_of, set_up_logs, with_hub, with_reading
from moot.cli.frame.params import SECONDS
from moot.cli.frame.session import Session
from moot.cli.manage.agents import agents, mark
from moot.cli.read.logs import SHOWN_LINES
from moot.cli.read.logs import show as show_log
from moot.cli.run.signals import end_of
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import ago
from moot.cli.terminal.watch import watch
from moot.errors import BadValue, MootError, NotFound
from moot.hub import Hub
from moot.hub.process import daemons
from moot.hub.process.tuning import run, tune_process
from moot.model.json import JsonObject
from moot.settings import AgentSettings, Home, load
from moot.settings.toml.agents import row_of
from moot.wiring import spec


def _row(home: Home, name: str) -> AgentSettings:
    row = row_of(home, os.environ, name)
    if not can_run(row):
        raise BadValue(
            f'{name} has the brain "{row.brain}", which this version cannot run',
            fix=(f"moot agents set {name} --model demo",),
        )
    return row


def _names_of(home: Home, names: tuple[str, ...], everyone: bool) -> list[str]:
    if everyone:
        return [row.name for row in load(home).agents if row.autostart and can_run(row)]
    if not names:
        raise click.UsageError("no agent given; use moot agent start NAME, or --all")
    return [_row(home, name.lstrip("@")).name for name in names]


@agents.command("start", examples=("moot agent start arya", "moot agent start --all"))
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everyone", is_flag=True, help="Every agent in moot.toml with autostart.")
@click.option("--foreground", is_flag=True, help="Run in the foreground and log to the terminal.")
@click.pass_obj
def start(session: Session, names: tuple[str, ...], everyone: bool, foreground: bool) -> int:
    """Run agents in processes of their own (daemons). With --all, one that fails to start does not stop the others."""
    home = home_of(session)
    agents_named = _names_of(home, names, everyone)
    if foreground:
        if len(agents_named) != 1:
            raise click.UsageError("--foreground takes exactly one agent")
        _serve(session, home, agents_named[0])
        return OK
    running: list[daemons.Daemon] = []
    refusals: list[MootError] = []
    for name in agents_named:
        try:
            running.append(asyncio.run(daemons.start(home, name)))
        except MootError as trouble:
            if not everyone:
                raise
            refusals.append(trouble)
    _tell_started(session, home, running, everyone=everyone)
    for refusal in refusals:
        session.screen.note(error_text(refusal, ()))
    return FAILED if refusals else OK


def _tell_started(session: Session, home: Home, running: list[daemons.Daemon], *, everyone: bool) -> None:
    if session.json:
        daemons_started = [{"name": one.name, "pid": one.pid, "socket": one.socket} for one in running]
        session.screen.data(
            daemons_started[0] if len(daemons_started) == 1 and not everyone else daemons_started
        )
        return
    for one in running:
        session.screen.say(
            f"{session.screen.name(one.name)} is running (pid {one.pid}), log {tilde_path(home.log_of(one.name))}"
        )
    if not running:
        session.screen.note("no daemon is running")


def _serve(session: Session, home: Home, name: str) -> None:
    """Run as the daemon: a hub with one agent."""
    set_up_logs(session, logging.WARNING)
    home.make()
    tune_process()
    with daemons.PidFile(home.pid_of(name), name):
        run(_host_agent(home, name))


async def _host_agent(home: Home, name: str) -> None:
    hosted = [spec(_row(home, name), home)]
    async with Hub.open(home.path, agents=hosted, socket=home.socket_of(name), drain=20.0) as hub:
        await end_of(hub).wait()


@agents.command("stop", examples=("moot agent stop arya", "moot agent stop --all"))
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everyone", is_flag=True, help="Every daemon of this home.")
@click.pass_obj
def stop(session: Session, names: tuple[str, ...], everyone: bool) -> None:
    """Stop daemons, after letting running turns finish."""
    home = home_of(session)
    agents_named = list(daemons.all_running(home)) if everyone else [name.lstrip("@") for name in names]
    if not agents_named and not everyone:
        raise click.UsageError("no agent given; use moot agent stop NAME, or --all")
    results = [{"name": name, "pid": asyncio.run(daemons.stop(home, name))} for name in agents_named]
    if session.json:
        session.screen.data(results)
    for one in results:
        session.screen.say(f"{one['name']} stopped (pid {one['pid']})")
    if not results:
        session.screen.note("no daemon is running")


@agents.command("restart", examples=("moot agent restart arya", "moot agent restart --all --json"))
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everyone", is_flag=True, help="Every daemon of this home.")
@click.pass_obj
def restart(session: Session, names: tuple[str, ...], everyone: bool) -> None:
    """Restart daemons; those that are not running are started."""
    home = home_of(session)
    if not names and not everyone:
        raise click.UsageError("no agent given; use moot agent restart NAME, or --all")
    agents_named = list(daemons.all_running(home)) if everyone else _names_of(home, names, everyone=False)

    async def work() -> list[daemons.Daemon]:
        running: list[daemons.Daemon] = []
        for name in agents_named:
            if daemons.running(home, name) is not None:
                await daemons.stop(home, name)
            running.append(await daemons.start(home, name))
        return running

    _tell_started(session, home, asyncio.run(work()), everyone=everyone)


@agents.command("status", examples=("moot agent status", "moot agent status arya --json"))
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--watch", "watched", is_flag=True, help="Keep it on screen and update it until interrupted.")
@click.pass_obj
def status(session: Session, names: tuple[str, ...], watched: bool) -> None:
    """Show what agents are doing and where they run."""
    home = home_of(session)

    async def work(hub: Hub) -> list[JsonObject]:
        named_agents = [await hub.agents.get(name) for name in await resolve.agents(hub, names)]
        agents_shown = named_agents or await hub.agents.list()
        alive = daemons.all_running(home)
        return [{**agent.to_dict(), "host": await _host(hub, agent.name, alive)} for agent in agents_shown]

    def look() -> list[JsonObject]:
        return with_reading(session, work)

    def tell(rows: list[JsonObject]) -> None:
        heads = ("  agent", "state", "reachable", "queue", "runs in", "last active")
        session.screen.table(heads, [_status_row(agent) for agent in rows])

    if watched:
        watch(session, look, tell, list)
    elif session.json:
        session.screen.data(look())
    else:
        tell(look())


async def _host(hub: Hub, name: str, alive: dict[str, int]) -> JsonObject:
    """Where an agent runs; a daemon that is just starting is found by its pid file."""
    where = await hub.agents.where(name)
    return {**where, "daemon": name in alive, **({"pid": alive[name]} if name in alive else {})}


def _status_row(agent: JsonObject) -> tuple[str, ...]:
    return (
        f"  {mark(agent['status'])} {agent['name']}",
        str(agent["activity"]["label"]),
        agent["reachability"],
        str(agent["queue"]),
        _place(agent["host"]),
        ago(agent["last_active"]),
    )


def _place(host: JsonObject) -> str:
    if host["daemon"]:
        return f"daemon {host['pid']}"
    return f"process {host['pid']}" if host.get("pid") else "-"


@agents.command("logs", examples=("moot agent logs arya", "moot agent logs arya -f"))
@click.argument("name")
@click.option("-f", "--follow", is_flag=True, help="Follow until interrupted.")
@click.pass_obj
def logs(session: Session, name: str, follow: bool) -> None:
    """Show the log of an agent's daemon."""
    path = home_of(session).log_of(name.lstrip("@"))
    if not path.exists():
        raise NotFound(
            f"{name} has no log: it has never run as a daemon", fix=(f"moot agent start {name}",), ref=name
        )
    show_log(session, path, SHOWN_LINES, follow=follow)


@agents.command("ping", examples=("moot agent ping arya", "moot agent ping arya --think"))
@click.argument("name")
@click.option("--think", is_flag=True, help="Also send a real message and wait for the reply.")
@click.option(
    "--timeout",
    type=SECONDS,
    metavar="SECS",
    default=30.0,
    help="Seconds to wait for the reply (default 30).",
)
@click.pass_obj
def ping(session: Session, name: str, think: bool, timeout: float) -> int:
    """Test in three steps whether an agent can be reached: known, woken, answered."""

    async def work(hub: Hub) -> JsonObject:
        pinged = await hub.operator.ping(await resolve.agent(hub, name))
        steps: JsonObject = {**pinged.to_dict(), "answered": "not asked"}
        if think and (pinged.woken or pinged.kind == "external"):
            steps["answered"] = await _answer(hub, pinged.agent, timeout)
        return steps

    steps = with_hub(session, work)
    if session.json:
        session.screen.data(steps)
    else:
        _tell_ping(session, steps, thinks=think)
    reached = steps["woken"] or (steps["kind"] == "external" and steps["reachability"] != "away")
    return OK if reached and not str(steps["answered"]).startswith("failed") else FAILED


OUTSIDE = {
    "live": "it is waiting for messages and reads them at once",
    "next-turn": "its hooks deliver messages when its next turn ends or begins",
    "on-demand": (
        "its session is connected and reads messages on demand; moot mcp install --wake delivers sooner"
    ),
    "away": "it has no session; messages wait",
}
"""Reachability of an outside agent, in words."""


async def _answer(hub: Hub, name: str, timeout: float) -> str:  # noqa: ASYNC109  the option's own name
    try:
        await hub.ask(name, "This is a test message. Please answer with one word.", timeout=timeout)
    except TimeoutError:
        return "pending"
    except MootError as outcome:
        return "yes" if outcome.name == "passed" else f"failed: {outcome.title}"
    return "yes"


def _tell_ping(session: Session, steps: JsonObject, *, thinks: bool) -> None:
    say = session.screen.say
    start = session.screen.command(f"moot agent start {steps['agent']}")
    say(f"{session.screen.name(steps['agent'])}")
    say(f"  ✓ known       {steps['reachability']}")
    if steps["kind"] == "external":
        say(f"  {'✓' if steps['woken'] else '·'} woken       {OUTSIDE[steps['reachability']]}")
    elif steps["woken"]:
        say(f"  ✓ woken       its process ({steps['pid']}) answered in {steps['milliseconds']} ms")
    else:
        say(f"  ✗ woken       no process answered; messages wait.  {start}")
    signs = {"yes": "✓", "pending": "·", "not asked": "·"}
    words = {
        "pending": "delivered yes, answer pending",
        "not asked": "not asked: no process to answer" if thinks else "not asked (--think does)",
        "yes": "yes",
    }
    answer_state = str(steps["answered"])
    say(f"  {signs.get(answer_state, '✗')} answered    {words.get(answer_state, answer_state)}")


__all__ = ["agents"]
