"""From a brain string to a model: `anthropic:MODEL`, `openai:MODEL`, `openai:MODEL@URL`.

Above: wiring. Below: keys.py, and the adapters, which are imported with the first request: their libraries take half a
second to load, and most commands need neither.
"""

import asyncio
import importlib
import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Final, Protocol
from urllib.parse import urlsplit

from msgspec import Struct

from moot.brains.llm.endpoint import ModelEndpoint
from moot.brains.llm.keys import ANTHROPIC, OPENAI, KeyRing, as_holder, is_near
from moot.brains.llm.trouble import TroubleKind
from moot.errors import BadValue
from moot.model.hint import Act, Hint
from moot.model.prompt import ModelAnswer, Prompt
from moot.ports import Catalogue, Model
from moot.rules.brain_kinds import has_model

OWN_URLS: Final[Mapping[str, str]] = {
    ANTHROPIC: "https://api.anthropic.com",
    OPENAI: "https://api.openai.com/v1",
}
URL_VARIABLES: Final[Mapping[str, str]] = {ANTHROPIC: "ANTHROPIC_BASE_URL", OPENAI: "OPENAI_BASE_URL"}
ADAPTERS: Final[Mapping[str, tuple[str, str]]] = {
    ANTHROPIC: ("moot.brains.llm.anthropic", "AnthropicModel"),
    OPENAI: ("moot.brains.llm.openai", "OpenAIModel"),
}
IDLE_SECONDS: Final = 60.0
MAX_TOKENS: Final = 16_384

_FORM: Final = re.compile(r"(?P<provider>[a-z0-9]+):(?P<model>\S+?)(?:@(?P<url>https?://\S*))?")


class BrainName(Struct, frozen=True):
    """The parts of a brain string. `url` is empty for the provider's own address."""

    provider: str
    model: str
    url: str = ""

    @property
    def name(self) -> str:
        return f"{self.provider}:{self.model}" + (f"@{self.url}" if self.url else "")

    @property
    def endpoint(self) -> str:
        """Models of one endpoint share its breaker."""
        return self.url or self.provider


def parse_brain(brain: str) -> BrainName:
    match = _FORM.fullmatch(brain.strip())
    if match is None or match["provider"] not in OWN_URLS:
        raise BadValue(
            f'"{_redact(brain)}" does not name a model',
            detail="expected anthropic:MODEL, openai:MODEL or openai:MODEL@URL",
            fix=('brain = "anthropic:claude-haiku-5-5"', 'brain = "openai:llama3@http://127.0.0.1:11434/v1"'),
        )
    return BrainName(match["provider"], match["model"], _check_url(match["url"] or ""))


def is_model_brain(brain: str) -> bool:
    """Whether a brain string names a model."""
    return has_model(brain)


def make_model(
    brain: str,
    *,
    keys: KeyRing,
    environ: Mapping[str, str] | None = None,
    used_by: str = "",
    idle_seconds: float = IDLE_SECONDS,
    max_tokens: int = MAX_TOKENS,
) -> "LateModel":
    """A model; nothing is imported or connected yet.

    `used_by` is named in the error when there is no key. `environ` may change the address of a provider
    (`ANTHROPIC_BASE_URL`, `OPENAI_BASE_URL`). An attempt ends after `idle_seconds` without a byte.
    """
    parsed = parse_brain(brain)
    elsewhere = _check_url((environ or {}).get(URL_VARIABLES[parsed.provider], "").strip())
    url = parsed.url or elsewhere or OWN_URLS[parsed.provider]
    own_host = urlsplit(OWN_URLS[parsed.provider]).netloc
    is_own = urlsplit(url).netloc == own_host
    holder = as_holder(url) if parsed.url and not is_own else parsed.provider
    may_do_without = not is_own and is_near(urlsplit(url).hostname or "")
    found_key = keys.find(holder) if may_do_without else keys.need(holder, used_by)
    return LateModel(
        ModelEndpoint(
            name=parsed.name,
            provider=parsed.provider,
            model=parsed.model,
            url=url,
            holder=holder,
            key=found_key.key if found_key is not None else None,
            is_own=is_own,
            idle_seconds=idle_seconds,
            max_tokens=max_tokens,
        )
    )


class Adapter(Model, Catalogue, Protocol):
    """A provider's library behind both ports."""


class LateModel:
    """Loads the adapter with the first request, in a thread, so that other agents are not delayed."""

    def __init__(self, endpoint: ModelEndpoint) -> None:
        self.name = endpoint.name
        self.endpoint = endpoint
        self._model: Adapter | None = None
        self._making = asyncio.Lock()

    async def complete(self, prompt: Prompt, on_piece: Callable[[str], Awaitable[None]]) -> ModelAnswer:
        return await (await self._real()).complete(prompt, on_piece)

    async def models(self) -> list[str]:
        return await (await self._real()).models()

    async def close(self) -> None:
        if self._model is not None:
            await self._model.close()

    async def _real(self) -> Adapter:
        if self._model is None:
            async with self._making:
                if self._model is None:
                    self._model = await asyncio.to_thread(self._make)
        return self._model

    def _make(self) -> Adapter:
        module, kind = ADAPTERS[self.endpoint.provider]
        try:
            adapter: Adapter = getattr(importlib.import_module(module), kind)(self.endpoint)
        except ImportError as error:
            words = f"its library is not installed ({error.name}): pip install 'moot[llm]'"
            raise self.endpoint.trouble(TroubleKind.NOT_INSTALLED, words) from None
        return adapter


def _check_url(url: str) -> str:
    """A URL with an address and nothing else: it is logged and shown."""
    if not url:
        return ""
    try:
        parts = urlsplit(url)
        fits = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        fits, parts = False, urlsplit("")
    if not fits:
        raise BadValue(
            f'"{_redact(url)}" is not the address of a model server', detail="expected http(s)://HOST/PATH"
        )
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise BadValue(
            f"the address of {parts.hostname} contains more than an address",
            detail="a password or key does not belong there: it would be shown and logged",
            fix=(Hint(Act.SET_KEY, provider=str(parts.hostname)),),
        )
    return url.rstrip("/")


def _redact(text: str) -> str:
    """Shortened, and without a possible password."""
    return re.sub(r"//[^/@\s]*@", "//…@", text)[:80]
