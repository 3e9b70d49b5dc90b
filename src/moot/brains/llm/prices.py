"""What tokens cost, in US dollars per million, as the makers' price pages said on the day below.

Above: the adapters put it into `Usage`. Below: nothing.
Not here: discounts, batch, priority and regional rates. A model that is not listed has no price; a guess would be worse
than none. Local servers have no price either.
"""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from moot.model.prompt import Usage

WRITTEN: Final = "2026-11-16"
_MILLION: Final = 1_000_000
_DATED: Final = re.compile(r"-(\d{8}|\d{4}-\d{2}-\d{2})$")


class Price(Struct, frozen=True):
    input: float
    cached: float
    """Input that was read from the provider's cache."""
    written: float
    """Input that was written into it; Anthropic's five-minute cache."""
    output: float


class LongPrice(Struct, frozen=True):
    """Another price for the whole request once the prompt is longer than this."""

    above: int
    price: Price


def _openai_long(price: Price) -> LongPrice:
    """Input costs twice as much, output one and a half times."""
    doubled = Price(price.input * 2, price.cached * 2, price.written * 2, price.output * 1.5)
    return LongPrice(272_000, doubled)


_OPUS = Price(5.0, 0.50, 6.25, 25.0)
_SONNET_4 = Price(3.0, 0.30, 3.75, 15.0)
_SONNET_5 = Price(2.0, 0.20, 2.50, 10.0)
_GPT_5 = Price(1.25, 0.125, 1.25, 10.0)

PRICES: Final[Mapping[str, Price]] = {
    "claude-fable-5-1": Price(10.0, 0.25, 12.50, 50.0),
    "claude-fable-5": Price(10.0, 1.00, 12.50, 50.0),
    "claude-opus-5-5": Price(4.0, 0.20, 5.00, 20.0),
    "claude-opus-5": _OPUS,
    "claude-opus-4-8": _OPUS,
    "claude-opus-4-7": _OPUS,
    "claude-opus-4-6": _OPUS,
    "claude-opus-4-5": _OPUS,
    "claude-sonnet-5-5": _SONNET_5,
    "claude-sonnet-5": _SONNET_5,
    "claude-sonnet-4-6": _SONNET_4,
    "claude-sonnet-4-5": _SONNET_4,
    "claude-haiku-5-5": Price(0.10, 0.01, 0.125, 0.50),
    "claude-haiku-4-5": Price(1.0, 0.10, 1.25, 5.0),
    "gpt-6.1-sol": Price(2.0, 0.10, 2.50, 10.0),
    "gpt-6.1-terra": Price(1.0, 0.05, 1.25, 5.0),
    "gpt-6-astra": Price(10.0, 1.00, 12.50, 50.0),
    "gpt-6-sol": Price(2.0, 0.20, 2.50, 10.0),
    "gpt-6-luna": Price(0.10, 0.01, 0.125, 0.50),
    "gpt-5.4": Price(2.50, 0.25, 2.50, 15.0),
    "gpt-5.4-mini": Price(0.75, 0.075, 0.75, 4.50),
    "gpt-5.2": Price(1.75, 0.175, 1.75, 14.0),
    "gpt-5.1": _GPT_5,
    "gpt-5": _GPT_5,
    "gpt-5-mini": Price(0.25, 0.025, 0.25, 2.0),
    "gpt-5-nano": Price(0.05, 0.005, 0.05, 0.40),
    "gpt-4.1": Price(2.0, 0.50, 2.0, 8.0),
    "gpt-4.1-mini": Price(0.40, 0.10, 0.40, 1.60),
    "gpt-4o": Price(2.50, 1.25, 2.50, 10.0),
    "gpt-4o-mini": Price(0.15, 0.075, 0.15, 0.60),
}
LONG: Final[Mapping[str, LongPrice]] = {
    "claude-haiku-5-5": LongPrice(100_000, Price(0.50, 0.05, 0.625, 2.50)),
    **{name: _openai_long(PRICES[name]) for name in PRICES if name.startswith("gpt-6")},
}


def price(model: str, prompt_tokens: int = 0) -> Price | None:
    """A dated name (`claude-haiku-4-5-20251001`) has the price of the undated one."""
    name = _DATED.sub("", model)
    long = LONG.get(name)
    return long.price if long is not None and prompt_tokens > long.above else PRICES.get(name)


def cost(usage: Usage, model: str) -> float | None:
    """The cost of one answer, in dollars; None if the price is unknown."""
    found = price(model, usage.input_tokens)
    if found is None:
        return None
    plain = max(0, usage.input_tokens - usage.cached_tokens - usage.written_tokens)
    parts = (
        plain * found.input,
        usage.cached_tokens * found.cached,
        usage.written_tokens * found.written,
        usage.output_tokens * found.output,
    )
    return sum(parts) / _MILLION
