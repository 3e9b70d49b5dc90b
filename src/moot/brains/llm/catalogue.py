"""The models that an endpoint offers. Listing them costs no tokens, so it also serves to test a key.

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
"""In place of a model's name: the brain string means the endpoint alone."""
LOOK_SECONDS: Final = 10.0


def endpoint_of(provider: str, url: str = "") -> str:
    """The brain string of an endpoint."""
    return f"{provider}:{ANY}" + (f"@{url}" if url else "")


def servers(brains: Iterable[str]) -> list[str]:
    """The addresses of compatible servers among brain strings, each once."""
    urls = (parse_brain(brain).url for brain in brains if is_model_brain(brain))
    return list(dict.fromkeys(url for url in urls if url))


async def list_models(brain: str, keys: KeyRing, environ: Mapping[str, str]) -> list[str]:
    """The names of its models, sorted. Raises `NoKey`, `KeyRefused` or `ModelUnavailable`."""
    model = make_model(brain, keys=keys, environ=environ, idle_seconds=LOOK_SECONDS)
    try:
        return sorted(await model.models())
    except ModelTrouble as trouble:
        error = _error(model, trouble)
    finally:
        await model.close()
    raise error


def _error(model: LateModel, trouble: ModelTrouble) -> MootError:
    endpoint = model.endpoint
    if trouble.kind is TroubleKind.AUTH and endpoint.key is not None:
        return KeyRefused(
            f"{endpoint.holder} refused the key ending {endpoint.key.ending} (HTTP {trouble.status})",
            fix=(Hint(Act.SET_KEY, provider=endpoint.holder),),
            holder=endpoint.holder,
        )
    return ModelUnavailable(trouble.sentence, fix=(Hint(Act.CHECK_PROVIDERS),), holder=endpoint.holder)
