"""`moot keys`: give, show and take away the keys of model providers. A key is never an argument, and never shown."""

import os
import sys

import click

from moot.brains.llm.keys import Held, KeyRing, as_holder
from moot.cli.grammar import Branch
from moot.cli.session import Session
from moot.errors import BadValue, NotFound
from moot.settings.home import Home, find_home


@click.group(
    "keys",
    cls=Branch,
    examples=("moot keys set anthropic", "moot keys list"),
    short_help="Keys of model providers.",
    aliases={"rm": "remove"},
)
def keys() -> None:
    """Keys of model providers."""


def home_of(session: Session) -> Home:
    """Without the hub, which this command does not need."""
    return Home(find_home(session.home_option, os.environ))


def ring(session: Session) -> KeyRing:
    return KeyRing(os.environ, home_of(session).keys)


@keys.command("set", examples=("moot keys set anthropic", "moot keys set openrouter.ai < key.txt"))
@click.argument("provider")
@click.pass_obj
def set_(session: Session, provider: str) -> None:
    """Keep a key: typed without echo, or read from standard input.

    PROVIDER is anthropic, openai, or the host of a compatible server, such as openrouter.ai.
    """
    holder = as_holder(provider)
    value = _typed(session, holder)
    home_of(session).make()
    kept = ring(session).store(holder, value)
    if session.json:
        session.screen.data(told(kept))
        return
    session.screen.say(f"✓ key {kept.key.ending} of {holder} kept in {ring(session).path}, mode 600")
    used = ring(session).find(holder)
    if used is not None and used.source == "environment":
        session.screen.note(f"{used.variable} is set, and wins over it")


@keys.command("list", examples=("moot keys list", "moot keys list --json"))
@click.pass_obj
def list_(session: Session) -> None:
    """Every key that is set: provider, where it is from, and its last four characters."""
    found = ring(session).all()
    if session.json:
        session.screen.data([told(held) for held in found])
    elif not found:
        session.screen.say("no keys. Set one: moot keys set anthropic")
    else:
        rows = [(held.holder, held.variable or held.source, held.key.ending) for held in found]
        session.screen.table(("provider", "from", "key"), rows)


@keys.command("remove", examples=("moot keys remove anthropic", "moot keys remove openrouter.ai --json"))
@click.argument("provider")
@click.pass_obj
def remove(session: Session, provider: str) -> None:
    """Forget a key that Moot keeps."""
    holder = as_holder(provider)
    if not ring(session).remove(holder):
        raise _nothing_kept(session, holder)
    if session.json:
        session.screen.data({"provider": holder, "removed": True})
    else:
        session.screen.say(f"✓ the key of {holder} is gone from {ring(session).path}")


def told(held: Held) -> dict[str, str]:
    return {
        "provider": held.holder,
        "source": held.source,
        "variable": held.variable,
        "ending": held.key.ending,
    }


def _typed(session: Session, holder: str) -> str:
    """Whatever comes by standard input, or one line without echo."""
    if not sys.stdin.isatty():
        return sys.stdin.read(1 << 16)
    if session.json:
        raise BadValue(
            "a key would have to be typed, and --json asks nothing",
            fix=(f"moot keys set {holder} --json < key.txt",),
        )
    typed: str = click.prompt("Key (hidden)", hide_input=True, err=True)
    return typed


def _nothing_kept(session: Session, holder: str) -> NotFound:
    found = ring(session).find(holder)
    kept = [held.holder for held in ring(session).all() if held.source == "keys.json"]
    if found is not None:
        return NotFound(
            f"the key of {holder} is not kept by Moot: it comes from {found.variable}",
            fix=(f"unset {found.variable}",),
            ref=holder,
        )
    return NotFound(
        f"no key of {holder} is kept",
        detail=f"kept are: {', '.join(kept)}" if kept else f"it would be in {ring(session).path}",
        fix=("moot keys list", f"moot keys set {holder}"),
        ref=holder,
    )
