"""Token counts reported by CLIs, as the `Usage` that every brain reports.

Above: the drivers, and cli_turn.py for the price. Below: the price table of models.
"""

from typing import Any

from msgspec import structs

from moot.brains.llm.prices import cost
from moot.model.json import JsonObject
from moot.model.prompt import Usage


def claude_usage(counts: JsonObject, model: str, earlier: Usage | None) -> Usage:
    """The usage of one answer of claude's. A later report on the same answer has only the counts that changed."""
    cached, written = (
        _number(counts, "cache_read_input_tokens"),
        _number(counts, "cache_creation_input_tokens"),
    )
    read_tokens = _number(counts, "input_tokens") + cached + written
    output = _number(counts, "output_tokens")
    if earlier is None:
        return Usage(read_tokens, output, cached, written, calls=1, model=model)
    return structs.replace(
        earlier,
        input_tokens=max(read_tokens, earlier.input_tokens),
        output_tokens=max(output, earlier.output_tokens),
        cached_tokens=max(cached, earlier.cached_tokens),
        written_tokens=max(written, earlier.written_tokens),
    )


def codex_usage(total: JsonObject, earlier: JsonObject, model: str) -> Usage:
    """The usage since `earlier`; both count from the thread's beginning."""

    def since(name: str) -> int:
        return max(0, _number(total, name) - _number(earlier, name))

    return Usage(
        since("inputTokens"), since("outputTokens"), since("cachedInputTokens"), calls=1, model=model
    )


def codex_usage_before(total: JsonObject, last: JsonObject) -> JsonObject:
    """The counts of a thread before its last request."""
    return {name: _number(total, name) - _number(last, name) for name in total}


def with_cost(usage: Usage) -> Usage:
    """Add the cost where the CLI did not report it and the price of the model is known."""
    if usage.cost_usd is not None or not usage.model:
        return usage
    return structs.replace(usage, cost_usd=cost(usage, usage.model))


def _number(counts: JsonObject, name: str) -> int:
    value: Any = counts.get(name)
    return value if isinstance(value, int) else 0
