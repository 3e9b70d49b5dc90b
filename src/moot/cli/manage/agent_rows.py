"""`moot agents new|set|rm`: the agents in moot.toml. Messages stay when an agent is removed."""

from __future__ import annotations

import asyncio
import os
import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click
from msgspec import structs

from moot import shapes
from moot.brains.command.installed_clis import installed
from moot.brains.llm.default_model import DEFAULTS, first_with_key
from moot.brains.llm.keys import KeyRing
from moot.cli.frame import resolve
from moot.cli.frame.confirm import ask_first
from moot.cli.frame.hints import first
from moot.cli.frame.hub_access import home_of, with_hub, with_reading
from moot.cli.frame.session import Session
from moot.cli.run.spawned import agents
from moot.cli.run.welcome import tilde_path
from moot.errors import BadName, BadSettings, Conflict, MootError, NotFound
from moot.hub.process import daemons
from moot.hub.process.hub_lock import running_hub
from moot.model.json import JsonObject
from moot.rules.brain_kinds import has_model, is_cli
from moot.settings import Home, load
from moot.settings.schema.fields import Fact
from moot.settings.starter import StarterAgent, write_workspace
from moot.settings.toml.agents import (
    FACTS_OF_AN_AGENT,
    add_agent,
    change_agents,
    remove_agent,
    row_of,
)
from moot.settings.toml.edits import literal
from moot.wiring import concerns

if TYPE_CHECKING:
    from moot.hub import Hub

METAVARS = {
    "color": "COLOUR",
    "project": "DIR",
    "tools": "A;B",
    **dict.fromkeys(("context_messages", "context_tokens", "concurrency", "partitions"), "N"),
}
AUTO = "auto"
DEMO = "demo"
PROSE = ("role", "display")
"""Settings whose `${` is only text."""


def _settings(command: Callable[..., object]) -> Callable[..., object]:
    """An option for everything that can be set of an agent."""
    for key, fact in reversed(list(FACTS_OF_AN_AGENT.items())):
        command = _option(key, fact)(command)
    return command


def _option(key: str, fact: Fact) -> Callable[[Callable[..., object]], Callable[..., object]]:
    help = f"{fact.meaning.replace('`', '')}."
    flag = key.replace("_", "-")
    if key == "brain":
        text = f"{help[:-1]}; auto picks the first provider with a key."
        return click.option("--model", "--brain", "brain", metavar="BRAIN", help=text)
    if key == "autostart":
        return click.option("--autostart/--no-autostart", default=None, help=help)
    if fact.takes.choices and not fact.takes.fits(""):
        return click.option(f"--{flag}", type=click.Choice(fact.takes.choices), help=help)
    return click.option(f"--{flag}", metavar=METAVARS.get(key, "TEXT"), help=help)


@agents.command(
    "new",
    examples=(
        'moot agents new fin --role "reads filings"',
        "moot agents new fin --model anthropic:claude-haiku-5-5 --json",
    ),
)
@click.argument("name")
@_settings
@click.pass_obj
def new(session: Session, /, name: str, **options: Any) -> None:
    """Add a new agent to moot.toml and create its workspace."""
    home, name = home_of(session), name.lstrip("@")
    typed = {"role": "", "brain": DEMO, **_typed_values(session, home, options)}
    if is_cli(str(typed["brain"])) and not typed.get("project"):
        typed["project"] = os.getcwd()  # a coding CLI works in a folder: by default the current one
    _check_against_the_registry(session, name)
    take_back = add_agent(home, os.environ, name, typed)

    async def work(hub: Hub) -> shapes.Agent:
        await hub.reload()
        agent_made = await hub.agents.get(name)
        return await hub.agents.resume(name) if agent_made.activity["state"] == "paused" else agent_made

    try:
        agent_made = with_hub(session, work)
    except MootError:  # the registry has a reason of its own: no command would open such a home again
        take_back()
        raise
    files = write_workspace(
        home.agents / agent_made.id,
        StarterAgent(name, options["role"] or "", agent_made.brain),
        load(home).hub.user,
    )
    offers = _offers(name) if typed["brain"] == DEMO else []
    result = {
        **agent_made.to_dict(),
        "files": [str(path) for path in files],
        "next": _to_run(home, name),
        "offers": offers,
    }
    if session.json:
        session.screen.data(result)
        return
    say = session.screen.say
    say(f"✓ added {session.screen.name(name)} (brain: {agent_made.brain}) to {tilde_path(home.toml)}")
    if files:
        say(f"✓ its identity is in {tilde_path(files[0].parent)}/*.md")
    broken = _tell_concerns(session, home, [name])
    steps = ["moot doctor"] if broken else [*_to_run(home, name), f"moot chat {name}"]
    for number, line in enumerate(steps):
        session.screen.note(f"{'Next:' if number == 0 else '     '} {session.screen.command(line)}")
    for number, line in enumerate(offers):
        words = "coding agents are installed here: " if number == 0 else " " * 34
        session.screen.note(f"{words}{session.screen.command(line)}")


def _offers(name: str) -> list[str]:
    """How it becomes a coding agent, with each CLI that is installed."""
    return [
        f"moot agents set {name} --model {shlex.quote(brain)} --project DIR"
        for brain in installed(os.environ).values()
    ]


@agents.command(
    "set",
    examples=('moot agents set arya --role "backend engineer"', "moot agents set --all --model auto --yes"),
)
@click.argument("names", nargs=-1, metavar="NAME...")
@click.option("--all", "everyone", is_flag=True, help="Every agent in moot.toml.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation (only --all asks).")
@_settings
@click.pass_obj
def set_(session: Session, /, names: tuple[str, ...], everyone: bool, yes: bool, **options: object) -> None:
    """Change agents in moot.toml; comments and layout stay as they are.

    With --all, --model applies only to agents that use a model or the demo brain.
    """
    home = home_of(session)
    typed = _typed_values(session, home, options)
    if not typed:
        raise click.UsageError("nothing to set; give an option such as --role, --model or --color")
    if everyone == bool(names):
        raise click.UsageError("no agent given; use moot agents set NAME..., or --all")
    current_names = _names(session)
    rows = (
        _everyone(session, home, typed, yes=yes)
        if everyone
        else [_row_name(home, current_names, n) for n in names]
    )
    changes_by_row = change_agents(home, os.environ, rows, typed)
    with_hub(session, lambda hub: hub.reload())
    if session.json:
        session.screen.data(
            [
                _change(home, current_names.get(row, row), row, changes)
                for row, changes in changes_by_row.items()
            ]
        )
        return
    for row, changes in changes_by_row.items():
        for key, (before, now) in changes.items():
            was = "" if before is None else f" (was {literal(before)})"
            shown_name = session.screen.name(current_names.get(row, row))
            session.screen.say(f"✓ {shown_name}  {key} = {literal(now)}{was}")
    _tell_concerns(session, home, rows)
    for line in dict.fromkeys(line for name in rows for line in _to_take_effect(home, name)):
        session.screen.note(line)


@agents.command(
    "rename", examples=("moot agents rename arya brienne", "moot agents rename arya brienne --json")
)
@click.argument("name")
@click.argument("new")
@click.pass_obj
def rename(session: Session, name: str, new: str) -> None:
    """Rename an agent, also in moot.toml; the old name stays as an alias."""
    home = home_of(session)

    async def work(hub: Hub) -> tuple[shapes.Agent, shapes.Agent]:
        before = await hub.agents.get(await resolve.agent(hub, name))
        return before, await hub.agents.rename(before.name, new)

    before, renamed = with_hub(session, work)
    notes = [*_left_in_file(home, renamed), *_former_name_notes(home, renamed)]
    if session.json:
        session.screen.data(renamed.to_dict())
        return
    session.screen.say(f"{before.name} is now called {renamed.name}")
    for line in notes:
        session.screen.note(line)


def _left_in_file(home: Home, agent: shapes.Agent) -> list[str]:
    """Where moot.toml could not be changed, it calls an agent by a former name."""
    try:
        left = [row.name for row in load(home).agents if row.name in agent.aliases]
    except BadSettings as problem:
        return [f"moot.toml was not changed: {problem.title}"]
    return [f"moot.toml still calls it {name}, which works" for name in left]


def _former_name_notes(home: Home, agent: shapes.Agent) -> list[str]:
    return [
        f"its daemon still runs as {name}: moot agent stop {name}, then moot agent start {agent.name}"
        for name in agent.aliases
        if daemons.running(home, name) is not None
    ]


@agents.command("rm", examples=("moot agents rm fin", "moot agents rm fin --yes --json"))
@click.argument("name")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@click.pass_obj
def rm(session: Session, name: str, yes: bool) -> None:
    """Remove an agent from moot.toml and from all lists. Its messages stay.

    A running hub stops running it, and anybody who writes to it is told that it was removed. A new agent with the same
    name continues where this one left off.
    """
    home = home_of(session)
    ask_first(yes=yes, what="removing an agent")
    current_names = _names(session)
    row, described = _one_to_remove(home, current_names, name.lstrip("@"))
    current_name = current_names.get(row, row)
    also = [other for other, current in current_names.items() if current == current_name]
    pid = next((pid for one in (row, *also) if (pid := daemons.running(home, one)) is not None), None)
    if not yes:
        daemon = f" Its daemon (pid {pid}) will be stopped." if pid else ""
        out = f" from {tilde_path(home.toml)}" if described else ""
        click.confirm(f"Remove {current_name}{out}? Its messages stay.{daemon}", abort=True, err=True)
    take_back = remove_agent(home, os.environ, row, also=also) if described else lambda: None
    try:
        with_hub(session, lambda hub: _remove_from_registry(hub, row, described=described), here=True)
    except MootError:  # a refusal changes nothing
        take_back()
        raise
    for one in dict.fromkeys((row, *also)):
        if daemons.running(home, one) is not None:
            asyncio.run(daemons.stop(home, one))
    if session.json:
        session.screen.data({"removed": current_name, "stopped": pid, "next": []})
        return
    where_words = f"was removed from {tilde_path(home.toml)}" if described else "was removed"
    session.screen.say(f"✓ {current_name} {where_words}; its messages stay")


async def _remove_from_registry(hub: Hub, name: str, *, described: bool) -> None:
    try:
        await hub.agents.remove(name)
    except NotFound:  # it is in moot.toml, and the home was not used since
        if not described:
            raise


# --- what is meant -------------------------------------------------------------------------------------------


def _typed_values(session: Session, home: Home, options: Mapping[str, object]) -> dict[str, str]:
    """What was given, as it would be typed for `moot config set`."""
    given_options = {key: value for key, value in options.items() if value is not None}
    typed = {
        key: str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in given_options.items()
    }
    for key in PROSE:
        if key in typed:
            typed[key] = typed[key].replace("${", "$${")
    if "brain" in typed:
        typed["brain"] = _brain(session, home, typed["brain"])
    return typed


def _brain(session: Session, home: Home, wish: str) -> str:
    """`auto` and a provider's bare name stand for a model; which one is said."""
    if wish != AUTO:
        return DEFAULTS.get(wish, wish)
    brain, key_entry = first_with_key(KeyRing(os.environ, home.keys))
    session.screen.note(f"auto: chose {brain}, with the {key_entry.holder} key {key_entry.key.ending}")
    return brain


def _names(session: Session) -> dict[str, str]:
    """Every name and alias of the agents → the current name."""
    agents_listed = with_reading(session, lambda hub: hub.agents.list())
    return {name: agent.name for agent in agents_listed for name in (*agent.aliases, agent.name)}


def _row_name(home: Home, current_names: Mapping[str, str], name: str) -> str:
    """The name of an agent's row; a renamed agent may have its row under a former name."""
    name = name.lstrip("@")
    rows = [row.name for row in load(home).agents]
    if name not in rows and name in current_names:
        name = next((row for row in rows if current_names.get(row) == current_names[name]), name)
    return row_of(home, os.environ, name).name


def _one_to_remove(home: Home, current_names: Mapping[str, str], name: str) -> tuple[str, bool]:
    """The agent that is meant, and whether it is in moot.toml: programs and coding CLIs bring agents of their own."""
    try:
        return _row_name(home, current_names, name), True
    except NotFound:
        if name not in current_names:
            raise
        return current_names[name], False


def _everyone(session: Session, home: Home, typed: Mapping[str, str], *, yes: bool) -> list[str]:
    rows = load(home).agents
    unchanged = [row.name for row in rows if "brain" in typed and not _is_switchable(row.brain)]
    names = [row.name for row in rows if row.name not in unchanged]
    if not names:
        raise NotFound(f"{home.toml} has no agent to set", fix=('moot agents new NAME --role "…"',))
    if unchanged:
        session.screen.note(f"unchanged: {', '.join(unchanged)} (they run their own code)")
    ask_first(yes=yes, what="changing all agents")
    if not yes:
        assignments = ", ".join(f"{key} = {value}" for key, value in typed.items())
        click.confirm(f"Set {assignments} for {', '.join(names)}?", default=True, abort=True, err=True)
    return names


def _is_switchable(brain: str) -> bool:
    return brain == DEMO or has_model(brain)


def _check_against_the_registry(session: Session, name: str) -> None:
    """Refuse a name that is or was in use, except for an agent that was removed: it comes back."""
    for agent in with_reading(session, lambda hub: hub.agents.list()):
        if name in agent.aliases:
            raise BadName(
                f'a new agent cannot be called "{name}": that is a former name of {agent.name}',
                detail="former names stay reserved, so that old messages keep their author",
                problem="taken",
            )
        if agent.name == name and agent.kind != "agent":
            raise Conflict(
                f"{name} already exists, as {agent.kind}", fix=(f"moot agents show {name}",), agent=name
            )


# --- what is told --------------------------------------------------------------------------------------------


def _change(home: Home, agent: str, row: str, changes: Mapping[str, tuple[object, object]]) -> JsonObject:
    fields = {key: {"previous": before, "value": now} for key, (before, now) in changes.items()}
    return {"agent": agent, "changes": fields, "next": _to_take_effect(home, row)}


def _to_run(home: Home, name: str) -> list[str]:
    """A running hub starts what moot.toml lets start by itself."""
    waits = running_hub(home) is not None and not row_of(home, os.environ, name).autostart
    return [f"moot agent start {name}"] if waits else []


def _to_take_effect(home: Home, name: str) -> list[str]:
    if daemons.running(home, name) is not None:
        return [f"{name} still runs as a daemon with its old settings: moot agent restart {name}"]
    return []


def _tell_concerns(session: Session, home: Home, names: Sequence[str]) -> bool:
    """Say what keeps agents from working as set up; whether one of them cannot answer at all."""
    settings = load(home)
    rows = tuple(row for row in settings.agents if row.name in names)
    broken = False
    for concern in concerns(structs.replace(settings, agents=rows), home):
        if not names or concern.agent in names:
            session.screen.note(f"! {concern.text}")
            broken = broken or concern.silent
            if concern.silent and concern.fix:
                session.screen.note(f"  fix   {session.screen.command(first(concern.fix))}")
    return broken


__all__ = ["agents"]
