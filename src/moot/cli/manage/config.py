"""`moot config`: read and change moot.toml without losing what its owner wrote into it."""

import os
import sys

import click

from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.errors import BadValue
from moot.hub.process.hub_lock import running_hub
from moot.settings.catalogue import Setting, change, find, survey
from moot.settings.changes import needs_restart
from moot.settings.home import Home, find_home
from moot.settings.load import load
from moot.settings.toml.edits import literal


@click.group(
    "config",
    cls=Branch,
    examples=("moot config get hub.port", "moot config set groups.max_depth 4"),
    short_help="Show and change the settings in moot.toml.",
)
def config() -> None:
    """Show and change the settings in moot.toml."""


def home_of(session: Session) -> Home:
    """Without the hub, which this command does not need."""
    return Home(find_home(session.home_option, os.environ))


@config.command("path", examples=("moot config path", "moot config path --json"))
@click.pass_obj
def path(session: Session) -> None:
    """Print the path of moot.toml, whether it exists or not."""
    file = home_of(session).toml
    if session.json:
        session.screen.data({"path": str(file), "exists": file.exists()})
    else:
        session.screen.say(str(file))


@config.command("list", examples=("moot config list", "moot config list --set --json"))
@click.option("--set", "only_set", is_flag=True, help="Only settings that differ from their defaults.")
@click.pass_obj
def list_(session: Session, only_set: bool) -> None:
    """List every setting, its value and where the value comes from."""
    settings = survey(home_of(session), os.environ)
    settings = [setting for setting in settings if not only_set or setting.source != "default"]
    if session.json:
        session.screen.data([setting.to_dict() for setting in settings])
    elif not settings:
        session.screen.note("nothing is set; the defaults apply")
    else:
        rows = [(setting.key, as_toml(setting.value), setting.source) for setting in settings]
        session.screen.table(("setting", "value", "from"), rows)


@config.command("get", examples=("moot config get hub.port", "moot config get agents.arya.brain --json"))
@click.argument("key")
@click.pass_obj
def get(session: Session, key: str) -> None:
    """Show one setting."""
    setting: Setting = find(survey(home_of(session), os.environ), key)
    if session.json:
        description = {"meaning": setting.fact.meaning, "takes": setting.fact.takes.phrase}
        session.screen.data({**setting.to_dict(), **description})
        return
    session.screen.say(setting.value if isinstance(setting.value, str) else as_toml(setting.value))
    session.screen.note(
        f"from {setting.source}. {setting.fact.meaning}. Expects {setting.fact.takes.phrase}."
    )


@config.command(
    "set", examples=("moot config set hub.port 8421", 'moot config set agents.arya.role "backend engineer"')
)
@click.argument("key")
@click.argument("value")
@click.pass_obj
def set_(session: Session, key: str, value: str) -> None:
    """Set a value in moot.toml; comments and layout stay as they are. Invalid values are refused.

    Write a list as a;b. A running hub takes the change in; moot reload says what needs a restart.
    """
    home = home_of(session)
    before, now = change(home, os.environ, key, value)
    setting = find(survey(home, os.environ), key)
    if session.json:
        session.screen.data({"key": key, "value": now, "previous": before, "path": str(home.toml)})
        return
    was = "" if before is None else f" (was {as_toml(before)})"
    session.screen.say(f"✓ {key} = {as_toml(now)}{was} in {tilde_path(home.toml)}")
    if setting.source == "environment":
        session.screen.note("the environment also sets it, and takes precedence")
    elif running_hub(home) is not None and needs_restart(key):
        session.screen.note("it takes effect when the hub starts again: moot stop, then moot up")


@config.command("edit", examples=("moot config edit", "moot --home ./team config edit"))
@click.pass_obj
def edit(session: Session) -> None:
    """Open moot.toml in your editor, then check it."""
    home = home_of(session)
    if session.json or not sys.stdin.isatty():
        raise BadValue("an editor needs a terminal", fix=("moot config set KEY VALUE",))
    home.make()
    home.toml.touch(mode=0o600)
    click.edit(filename=str(home.toml))
    load(home)
    session.screen.say(f"✓ {tilde_path(home.toml)} is valid")


def as_toml(value: object) -> str:
    """A value as it is written in the file."""
    return literal(value) if value is not None else '""'
