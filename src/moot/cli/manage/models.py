"""`moot models`: the models that agents can use, read from their providers."""

import asyncio
import os
from collections.abc import Mapping

import click

from moot.brains.llm.catalogue import ANY, endpoint_of, list_models, servers
from moot.brains.llm.default_model import DEFAULTS, LOCAL_URL, local_server_answers
from moot.brains.llm.keys import OPENAI, KeyRing
from moot.brains.llm.prices import price
from moot.cli.frame.exit_codes import FAILED, OK
from moot.cli.frame.hub_access import home_of
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.errors import MootError, NotFound
from moot.model.json import JsonObject
from moot.settings import Settings, load

DEMO = "demo"


@leaf("models", examples=("moot models", "moot models anthropic --json"))
@click.argument("provider", required=False)
def models(session: Session, provider: str | None) -> int:
    """List the models agents can use, from every provider whose key is set.

    PROVIDER is anthropic, openai, or the address of a compatible server.
    """
    home = home_of(session)
    settings = load(home)
    ring = KeyRing(os.environ, home.keys)
    places = endpoints(settings, ring)
    if provider is not None:
        places = [_place_of(provider, places)]
    by_place, troubles = asyncio.run(_model_lists(places, ring))
    rows = [] if provider else [_row(DEMO, DEMO, settings)]
    rows += [
        _row(brain.replace(ANY, name), name, settings) for brain, names in by_place.items() for name in names
    ]
    if session.json:
        session.screen.data(rows)
    else:
        _show(session, rows)
        if not places:
            session.screen.note("no key is set, so no provider was asked: moot keys set anthropic")
    for trouble in troubles:
        session.screen.note(f"! {trouble.title}")
    if provider is not None and troubles:
        raise troubles[0]
    return FAILED if troubles and not by_place else OK


def endpoints(settings: Settings, ring: KeyRing) -> list[str]:
    """The places to ask, as brain strings: providers with a key, servers that agents use, one on this machine."""
    endpoints = [endpoint_of(provider) for provider in DEFAULTS if ring.find(provider) is not None]
    near = [LOCAL_URL] if local_server_answers() else []
    endpoints += [endpoint_of(OPENAI, url) for url in (*servers(row.brain for row in settings.agents), *near)]
    return list(dict.fromkeys(endpoints))


def _place_of(provider: str, places: list[str]) -> str:
    """The place of a named provider, with a key or not: the answer says what is missing."""
    if provider in DEFAULTS:
        return endpoint_of(provider)
    if provider.startswith(("http://", "https://")):
        return endpoint_of(OPENAI, provider.rstrip("/"))
    for place in places:
        if f"//{provider}/" in f"{place}/":
            return place
    raise NotFound(
        f'unknown provider "{provider}"',
        detail=f"expected {', '.join(DEFAULTS)}, the address of a server, or the host of one that an agent uses",
        fix=("moot models", f"moot models https://{provider}/v1"),
        ref=provider,
    )


async def _model_lists(places: list[str], ring: KeyRing) -> tuple[dict[str, list[str]], list[MootError]]:
    """Ask all places at once; one that does not answer does not hold up the others."""
    answers = await asyncio.gather(
        *(list_models(place, ring, os.environ) for place in places), return_exceptions=True
    )
    by_place: dict[str, list[str]] = {}
    troubles: list[MootError] = []
    for place, answer in zip(places, answers, strict=True):
        if isinstance(answer, MootError):
            troubles.append(answer)
        elif isinstance(answer, BaseException):
            raise answer
        else:
            by_place[place] = answer
    return by_place, troubles


def _row(brain: str, model: str, settings: Settings) -> JsonObject:
    costs = price(model)
    return {
        "brain": brain,
        "agents": [row.name for row in settings.agents if row.brain == brain],
        "input_usd": costs.input if costs else None,
        "output_usd": costs.output if costs else None,
    }


def _show(session: Session, rows: list[JsonObject]) -> None:
    with session.screen.paged():
        session.screen.table(
            ("brain", "in $/M", "out $/M", "agents"),
            [
                (row["brain"], _money(row, "input_usd"), _money(row, "output_usd"), ", ".join(row["agents"]))
                for row in rows
            ],
        )


def _money(row: Mapping[str, object], key: str) -> str:
    return "-" if row[key] is None else f"{row[key]:g}"
