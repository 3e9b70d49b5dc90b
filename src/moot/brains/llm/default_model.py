"""The model to begin with if none is named: of the first provider that has a key.

Above: `moot init`, `moot agents new|set --model auto`. Below: keys.py.
"""

import socket
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

from moot.brains.llm.keys import ANTHROPIC, OPENAI, FoundKey, KeyRing
from moot.errors import NoKey
from moot.model.hint import Act, Hint

DEFAULTS: Final[Mapping[str, str]] = {
    ANTHROPIC: "anthropic:claude-haiku-5-5",
    OPENAI: "openai:gpt-6.1-terra",
}
"""The first choice for each provider; every agent can have another."""
LOCAL: Final = ("127.0.0.1", 11434)
LOCAL_URL: Final = f"http://{LOCAL[0]}:{LOCAL[1]}/v1"
"""Where a model server on this machine usually is."""
LOOK_SECONDS: Final = 0.2


def local_server_answers() -> bool:
    with suppress(OSError), socket.create_connection(LOCAL, timeout=LOOK_SECONDS):
        return True
    return False


def with_keys(keys: KeyRing) -> dict[str, FoundKey]:
    """The brains that have a key, first choice first."""
    found = {brain: keys.find(provider) for provider, brain in DEFAULTS.items()}
    return {brain: held for brain, held in found.items() if held is not None}


def first_with_key(keys: KeyRing) -> tuple[str, FoundKey]:
    """The brain that `auto` stands for, with its key."""
    for brain, held in with_keys(keys).items():
        return brain, held
    raise NoKey(
        "no key is set, so there is no model to choose",
        detail=f"looked for keys of {' and '.join(DEFAULTS)} in the environment and in {keys.path}",
        fix=tuple(Hint(Act.SET_KEY, provider=provider) for provider in DEFAULTS),
    )
