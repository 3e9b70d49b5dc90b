"""Which models an endpoint offers. Asking costs no tokens, so it is also how a key is tried.

Above: `moot models`, `moot keys test`, `moot doctor net`. Below: brain_string.py.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from moot.brains.llm.brain_string import LateModel, is_model_brain, make_model, parse_brain
from moot.brains.llm.keys import KeyRing
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.errors import KeyRefused, ModelUnavailable, MootError
from moot.model.hint import Act, Hint

ANY: Final = "*"
"""Stands where a brain string names its model: the endpoint alone is meant."""
LOOK_SECONDS: Final = 10.0


def endpoint_of(provider: str, url: str = "") -> str:
    """The brain string of an endpoint."""
    return f"{provider}:{ANY}" + (f"@{url}" if url else "")


def servers(brains: Iterable[str]) -> list[str]:
    """The addresses of compatible servers among brain strings, each once."""
    urls = (parse_brain(brain).url for brain in brains if is_model_brain(brain))
    return list(dict.fromkeys(url for url in urls if url))


async def offered(brain: str, keys: KeyRing, environ: Mapping[str, str]) -> list[str]:
    """The names of its models, sorted. `NoKey`, `KeyRefused` or `ModelUnavailable` where there is no answer."""
    model = make_model(brain, keys=keys, environ=environ, idle_seconds=LOOK_SECONDS)
    try:
        return sorted(await model.models())
    except ModelTrouble as trouble:
        refusal = _refusal(model, trouble)
    finally:
        await model.close()
    raise refusal


def _refusal(model: LateModel, trouble: ModelTrouble) -> MootError:
    endpoint = model.endpoint
    if trouble.kind is TroubleKind.AUTH and endpoint.key is not None:
        return KeyRefused(
            f"{endpoint.holder} refused the key ending {endpoint.key.ending} (HTTP {trouble.status})",
            fix=(Hint(Act.SET_KEY, provider=endpoint.holder),),
            holder=endpoint.holder,
        )
    return ModelUnavailable(trouble.sentence, fix=(Hint(Act.CHECK_PROVIDERS),), holder=endpoint.holder)
