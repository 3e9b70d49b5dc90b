"""`moot keys`: give, show, try and take away the keys of model providers. None is ever an argument, or shown."""

import asyncio
import os
import re
import sys

import click

from moot.brains.llm.catalogue import endpoint_of, list_models, servers
from moot.brains.llm.default_model import DEFAULTS
from moot.brains.llm.keys import OPENAI, FoundKey, KeyRing, as_holder, variables
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session
from moot.errors import BadValue, ModelUnavailable, NotFound
from moot.rules.words.mentions import nearest
from moot.settings.home import Home, find_home
from moot.settings.load import load

_BARE = re.compile(r"[\w-]+")


@click.group(
    "keys",
    cls=Branch,
    examples=("moot keys set anthropic", "moot keys list"),
    short_help="Manage the keys of model providers.",
    aliases={"rm": "remove"},
)
def keys() -> None:
    """Manage the keys of model providers."""


def home_of(session: Session) -> Home:
    """Without the hub, which this command does not need."""
    return Home(find_home(session.home_option, os.environ))


def ring(session: Session) -> KeyRing:
    return KeyRing(os.environ, home_of(session).keys)


@keys.command("set", examples=("moot keys set anthropic", "moot keys set openrouter.ai < key.txt"))
@click.argument("provider")
@click.option(
    "--test/--no-test",
    default=None,
    help="Check the key with the provider first, and store it only if accepted (default when typed).",
)
@click.pass_obj
def set_(session: Session, provider: str, test: bool | None) -> None:
    """Store a key, typed without echo or read from standard input.

    PROVIDER is anthropic, openai, or the host of a compatible server, such as openrouter.ai.
    """
    holder = _provider(session, provider)
    value = _read_key(session, holder)
    if not value.strip():
        raise BadValue(
            "no key was given", fix=(f"moot keys set {holder} < key.txt", f"moot keys set {holder}")
        )
    home = home_of(session)
    is_tested = sys.stdin.isatty() if test is None else test
    test_words = _test_key(session, holder, value.strip()) if is_tested else ""
    home.make()
    entry = ring(session).store(holder, value)
    if session.json:
        session.screen.data(key_to_dict(entry))
        return
    if test_words:
        session.screen.say(test_words)
    session.screen.say(f"✓ {holder} key {entry.key.ending} stored in {ring(session).path}, mode 600")
    entry_in_use = ring(session).find(holder)
    if entry_in_use is not None and entry_in_use.source == "environment":
        session.screen.note(f"{entry_in_use.variable} is also set, and takes precedence")
    demo = [row.name for row in load(home).agents if row.brain == "demo"]
    if demo and holder in DEFAULTS:
        session.screen.note(
            f"still on the demo brain: {', '.join(demo)}. Switch them: moot agents set --all --model auto"
        )


def _provider(session: Session, typed: str) -> str:
    """The provider a key is for. A bare word is a host in the local network only if an agent uses it."""
    holder = as_holder(typed)
    if holder in DEFAULTS or not _BARE.fullmatch(holder) or holder == "localhost":
        return holder
    if holder in {as_holder(there) for there in servers(row.brain for row in load(home_of(session)).agents)}:
        return holder
    near = nearest(holder, tuple(DEFAULTS))
    raise NotFound(
        f"unknown provider {holder}",
        detail="expected anthropic, openai, or the host of a compatible server, such as openrouter.ai",
        fix=(f"moot keys set {near[0] if near else 'anthropic'}",),
        suggestions=near,
        what="provider",
        ref=holder,
    )


def _test_key(session: Session, holder: str, value: str) -> str:
    """Try a key: a refused one is not stored; one that cannot be tried now is."""
    try:
        place = _endpoint(session, holder, None)
        asyncio.run(
            list_models(place, KeyRing({variables(holder)[0]: value}, home_of(session).keys), os.environ)
        )
    except (NotFound, ModelUnavailable) as reason:
        return f"! the key was not checked: {reason.title}"
    return "✓ key accepted (asked the provider for its model list, no tokens used)"


@keys.command("test", examples=("moot keys test anthropic", "moot keys test openrouter.ai --json"))
@click.argument("provider")
@click.option("--url", metavar="URL", help="Address of a compatible server that no agent uses yet.")
@click.pass_obj
def test(session: Session, provider: str, url: str | None) -> None:
    """Check a key by asking the provider for its model list, which uses no tokens."""
    holder = as_holder(provider)
    entry = ring(session).need(holder)
    models = asyncio.run(list_models(_endpoint(session, holder, url), ring(session), os.environ))
    if session.json:
        session.screen.data({**key_to_dict(entry), "accepted": True, "models": len(models)})
    else:
        session.screen.say(f"✓ {holder} accepts the key {entry.key.ending} and offers {len(models)} models")


def _endpoint(session: Session, holder: str, url: str | None) -> str:
    """Where the holder of a key answers."""
    if holder in DEFAULTS:
        return endpoint_of(holder)
    if url is not None:
        if as_holder(url) != holder:
            raise BadValue(f"{url} does not belong to {holder}; a key is only ever sent to its own provider")
        return endpoint_of(OPENAI, url.rstrip("/"))
    for there in servers(row.brain for row in load(home_of(session)).agents):
        if as_holder(there) == holder:
            return endpoint_of(OPENAI, there)
    raise NotFound(
        f"the address of {holder} is not known: no agent uses it",
        fix=(f"moot keys test {holder} --url https://{holder}/v1",),
        ref=holder,
    )


@keys.command("list", examples=("moot keys list", "moot keys list --json"))
@click.pass_obj
def list_(session: Session) -> None:
    """List the keys that are set: provider, source and last four characters."""
    entries = ring(session).all()
    if session.json:
        session.screen.data([key_to_dict(entry) for entry in entries])
    elif not entries:
        session.screen.say("no keys. Set one: moot keys set anthropic")
    else:
        rows = [(entry.holder, entry.variable or entry.source, entry.key.ending) for entry in entries]
        session.screen.table(("provider", "from", "key"), rows)


@keys.command("remove", examples=("moot keys remove anthropic", "moot keys remove openrouter.ai --json"))
@click.argument("provider")
@click.pass_obj
def remove(session: Session, provider: str) -> None:
    """Remove a stored key."""
    holder = as_holder(provider)
    if not ring(session).remove(holder):
        raise _no_stored_key(session, holder)
    if session.json:
        session.screen.data({"provider": holder, "removed": True})
    else:
        session.screen.say(f"✓ removed the {holder} key from {ring(session).path}")


def key_to_dict(entry: FoundKey) -> dict[str, str]:
    return {
        "provider": entry.holder,
        "source": entry.source,
        "variable": entry.variable,
        "ending": entry.key.ending,
    }


def _read_key(session: Session, holder: str) -> str:
    """Read the key from standard input, or as one line without echo."""
    if not sys.stdin.isatty():
        return sys.stdin.read(1 << 16)
    if session.json:
        raise BadValue(
            "the key would have to be typed, and --json does not prompt",
            fix=(f"moot keys set {holder} --json < key.txt",),
        )
    typed: str = click.prompt("Key (hidden)", hide_input=True, err=True)
    return typed


def _no_stored_key(session: Session, holder: str) -> NotFound:
    entry = ring(session).find(holder)
    holders = [held.holder for held in ring(session).all() if held.source == "keys.json"]
    if entry is not None:
        return NotFound(
            f"the {holder} key is not stored by Moot: it comes from {entry.variable}",
            fix=(f"unset {entry.variable}",),
            ref=holder,
        )
    return NotFound(
        f"no {holder} key is stored",
        detail=f"stored keys: {', '.join(holders)}" if holders else f"it would be in {ring(session).path}",
        fix=("moot keys list", f"moot keys set {holder}"),
        ref=holder,
    )
