"""What turns cost, added up: tokens, money, and how much of the prompts providers had in their caches."""

from collections.abc import Iterable

from moot.model.json import JsonObject
from moot.model.turn import Turn

COUNTED = ("input_tokens", "output_tokens", "cached_tokens", "written_tokens", "calls")


def added_up(turns: Iterable[Turn]) -> JsonObject:
    """The sums, and the hit rate over all of them; the cost is None where no price is known."""
    usages = [turn.usage for turn in turns if turn.usage]
    total: JsonObject = {"turns": len(usages), **dict.fromkeys(COUNTED, 0)}
    for usage in usages:
        for name in COUNTED:
            total[name] += int(usage.get(name, 0))
    read = total["input_tokens"]
    total["hit_rate"] = round(total["cached_tokens"] / read, 4) if read else None
    costs = [float(usage["cost_usd"]) for usage in usages if usage.get("cost_usd") is not None]
    total["cost_usd"] = round(sum(costs), 6) if costs else None
    return total
