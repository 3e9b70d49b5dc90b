"""Providers of models: which have a key, which agents think with them, and whether one takes its key.

Above: `hub.operator.providers`, which the page shows. Below: the key ring, and the list of models of a provider, which
costs no tokens. A key itself never leaves it: people tell keys apart by their last four characters.
"""

import os
from typing import Final

from msgspec import Struct

from moot import shapes
from moot.brains.llm.brain_string import is_model_brain, parse_brain
from moot.brains.llm.catalogue import endpoint_of, list_models
from moot.brains.llm.default_model import DEFAULTS
from moot.brains.llm.keys import KeyRing, as_holder
from moot.errors import KeyRefused, ModelUnavailable, NoKey, NotFound
from moot.hub.core import Core

UNUSED: Final = "no agent uses it, so its address is not known"


class _Use(Struct):
    """Where a provider answers, and who thinks with it."""

    endpoint: str
    agents: list[str]


def listed(core: Core) -> list[shapes.ModelProvider]:
    ring, uses = _ring(core), _uses(core)
    providers = []
    for name in dict.fromkeys([*uses, *(held.holder for held in ring.all())]):
        held, use = ring.find(name), uses.get(name)
        providers.append(
            shapes.ModelProvider(
                name=name,
                agents=tuple(use.agents) if use is not None else (),
                source=held.source if held is not None else None,
                variable=(held.variable or None) if held is not None else None,
                ending=held.key.ending if held is not None else None,
                brain=DEFAULTS.get(name),
            )
        )
    return providers


async def tried(core: Core, name: str) -> shapes.TriedProvider:
    """That it does not answer is an outcome, not an error."""
    names = {one.name for one in listed(core)}
    if name not in names:
        raise NotFound(
            f"unknown provider {name}",
            detail=f"providers are {', '.join(sorted(names))}",
            what="provider",
            ref=name,
        )
    use = _uses(core).get(name)
    if use is None:
        return shapes.TriedProvider(name, answers=False, problem=UNUSED)
    try:
        models = await list_models(use.endpoint, _ring(core), os.environ)
    except (NoKey, KeyRefused, ModelUnavailable) as trouble:
        return shapes.TriedProvider(name, answers=False, problem=trouble.title)
    return shapes.TriedProvider(name, answers=True, models=len(models))


def _ring(core: Core) -> KeyRing:
    return KeyRing(os.environ, core.parts.home.keys)


def _uses(core: Core) -> dict[str, _Use]:
    uses = {name: _Use(endpoint_of(name), []) for name in DEFAULTS}
    for row in core.parts.settings.agents:
        if is_model_brain(row.brain):
            brain = parse_brain(row.brain)
            holder = as_holder(brain.url) if brain.url else brain.provider
            use = uses.setdefault(holder, _Use(endpoint_of(brain.provider, brain.url), []))
            use.agents.append(row.name)
    return uses
