"""What CLIs say of tokens, as the values that every brain uses.

Above: the drivers, and command_brain.py for the price. Below: the price table of models.
"""

from typing import Any

from msgspec import structs

from moot.brains.llm.prices import cost
from moot.model.json import JsonObject
from moot.model.prompt import Usage


def claude_usage(counts: JsonObject, model: str, before: Usage | None) -> Usage:
    """One answer of claude's. A later word on the same answer says only what has changed."""
    cached, written = (
        _number(counts, "cache_read_input_tokens"),
        _number(counts, "cache_creation_input_tokens"),
    )
    read = _number(counts, "input_tokens") + cached + written
    wrote = _number(counts, "output_tokens")
    if before is None:
        return Usage(read, wrote, cached, written, calls=1, model=model)
    return structs.replace(
        before,
        input_tokens=max(read, before.input_tokens),
        output_tokens=max(wrote, before.output_tokens),
        cached_tokens=max(cached, before.cached_tokens),
        written_tokens=max(written, before.written_tokens),
    )


def codex_usage(total: JsonObject, before: JsonObject, model: str) -> Usage:
    """What was used since `before`, where both count from the thread's beginning."""

    def since(name: str) -> int:
        return max(0, _number(total, name) - _number(before, name))

    return Usage(
        since("inputTokens"), since("outputTokens"), since("cachedInputTokens"), calls=1, model=model
    )


def codex_rest(total: JsonObject, last: JsonObject) -> JsonObject:
    """What a thread had used before its last request."""
    return {name: _number(total, name) - _number(last, name) for name in total}


def priced(usage: Usage) -> Usage:
    """Add the cost where the CLI did not report it and the price of the model is known."""
    if usage.cost_usd is not None or not usage.model:
        return usage
    return structs.replace(usage, cost_usd=cost(usage, usage.model))


def _number(counts: JsonObject, name: str) -> int:
    found: Any = counts.get(name)
    return found if isinstance(found, int) else 0
