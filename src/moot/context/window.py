"""Which messages an agent is shown: the newest, moved on in blocks so that what stands before them stays the same.

A window that slid by one message each turn would begin with other bytes each time, and no provider's cache would
ever hit. So its start stands still until a whole block has to go. Where a summary stands for the beginning, the
window starts right behind it for as long as that fits.

Above: given.py. Below: nothing. Pure: the same history gives the same window.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from moot.model.message import Message

BYTES_PER_TOKEN = 4
"""A rough measure that every model's own counter comes near for prose; what was really used is told per turn."""


def tokens(text: str) -> int:
    return len(text.encode()) // BYTES_PER_TOKEN + 1


class Size(Struct, frozen=True, gc=False):
    """How much an agent is shown. `block` 1 slides by single messages: for brains that have no cache to keep."""

    messages: int
    tokens: int
    block: int = 1

    @classmethod
    def in_blocks(cls, messages: int, budget: int) -> "Size":
        return cls(messages, budget, max(1, messages // 2))


def reach(size: Size, lo: int, hi: int) -> int:
    """How far back, at most, a window over `(lo, hi]` may look: the seq before its first message."""
    start = -(-max(0, hi - size.messages) // size.block) * size.block
    return min(start, lo // size.block * size.block)


def begin(
    messages: Sequence[Message], size: Size, start: int, lo: int, cost: Callable[[Message], int]
) -> int:
    """Where the window begins once the token budget has been kept, oldest first: of what was read before, whole
    blocks fall out; of what is new, only as much as must.

    The newest message always stays, however long: without it there would be nothing to answer.
    """
    costs = {message.seq: cost(message) for message in messages if message.seq > start}
    spent = sum(costs.values())
    newest = max(costs, default=start)
    while spent > size.tokens and start + 1 < newest:
        step = size.block if start + size.block <= min(lo, newest - 1) else 1
        spent -= sum(costs.pop(seq, 0) for seq in range(start + 1, start + step + 1))
        start += step
    return start


def visible(message: Message) -> bool:
    return not message.metadata.get("deleted")


def own_result(message: Message, agent: str) -> bool:
    """A tool's answer inside one of the agent's own turns: it was read when it came."""
    return message.metadata.get("for") == agent
