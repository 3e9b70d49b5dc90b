"""What `moot doctor` says of agents' brains: whether the providers they think with answer, and which turns failed.

Above: doctor_checks.py puts it beside the rest. Below: the catalogue of models, which costs no tokens, and the store's
reads. Not here: what is known without asking anybody (wiring.concerns).
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Mapping, Sequence
from typing import Final

from moot.brains.llm.brain_string import is_model_brain, parse_brain
from moot.brains.llm.catalogue import endpoint_of, list_models
from moot.brains.llm.keys import KeyRing
from moot.cli.frame.hints import first
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.errors import KeyRefused, MootError, NoKey
from moot.model.hint import Act, Hint
from moot.model.turn import Turn, TurnState
from moot.settings import Home, Settings, load
from moot.wiring import reading, storage

DAY_SECONDS: Final = 86_400
ENDED_STATES: Final = (TurnState.SAID, TurnState.PASSED, TurnState.FAILED, TurnState.EXPIRED)
FAILED_STATES: Final = (TurnState.FAILED, TurnState.EXPIRED)
MAX_TURNS: Final = 1000
Thinkers = dict[str, dict[str, list[str]]]
"""Endpoint → model → the agents that think with it."""


def thinkers(settings: Settings) -> Thinkers:
    by_endpoint: Thinkers = {}
    for row in settings.agents:
        if is_model_brain(row.brain):
            brain = parse_brain(row.brain)
            models = by_endpoint.setdefault(endpoint_of(brain.provider, brain.url), {})
            models.setdefault(brain.model, []).append(row.name)
    return by_endpoint


async def brains(home: Home) -> list[DoctorLine]:
    """The providers that agents of moot.toml think with, and no others."""
    try:
        settings = load(home)
        used = thinkers(settings)
        return await ask_providers(list(used), used, KeyRing(os.environ, home.keys))
    except MootError:
        return []  # reported with the settings and the keys


async def ask_providers(places: Sequence[str], used: Thinkers, ring: KeyRing) -> list[DoctorLine]:
    """Ask all providers at once. A silent one is an error if agents need it, and otherwise only a note."""
    checks_by_place = await asyncio.gather(*(_provider(place, used.get(place, {}), ring) for place in places))
    return [check for checks in checks_by_place for check in checks]


async def _provider(place: str, models: Mapping[str, Sequence[str]], ring: KeyRing) -> list[DoctorLine]:
    name = place.replace(":*", "").replace("openai@", "")
    agents = [agent for names in models.values() for agent in names]
    whose = f" ({', '.join(agents)} cannot answer)" if agents else ""
    try:
        there = await list_models(place, ring, os.environ)
    except NoKey:
        return []  # reported with the agents
    except MootError as error:
        state = BAD if agents or isinstance(error, KeyRefused) else WARN
        fix = first(way for way in error.fix if way != Hint(Act.CHECK_PROVIDERS))
        return [DoctorLine("models", state, f"{error.title}{whose}", fix)]
    checks = [DoctorLine("models", OK, f"{name} answers and offers {len(there)} models")]
    for model, names in models.items():
        if not any(each == model or each.startswith(f"{model}:") for each in there):
            text = f"{name} does not list {model}, the model of {', '.join(names)}"
            checks.append(DoctorLine("models", WARN, text, "moot models"))
    return checks


async def failed_turns(home: Home) -> list[DoctorLine]:
    """Agents whose newest turn anywhere failed, today."""
    if not storage(home).exists():
        return []
    try:
        reads = reading(home)
    except MootError:
        return []  # reported with the database
    try:
        ended_turns: list[Turn] = await reads.turns(states=ENDED_STATES, limit=MAX_TURNS)
        names = {participant.id: participant.name for participant in await reads.participants()}
    except MootError:
        return []
    finally:
        await reads.close()
    newest = {turn.agent: turn for turn in sorted(ended_turns, key=lambda turn: turn.ended_at)}
    since = time.time() - DAY_SECONDS
    return [
        DoctorLine("turns", WARN, f"the last turn of {names[agent]} failed: {turn.error}", "moot status")
        for agent, turn in newest.items()
        if turn.state in FAILED_STATES and turn.ended_at > since
    ]
