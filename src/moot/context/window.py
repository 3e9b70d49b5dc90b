"""Which messages an agent is shown: at least the newest, and everything unread, within its token budget.

A window that slid by one message each turn would begin with other bytes each time, and no provider's cache would
ever hit. For brains with a cache the window therefore *grows* behind a start that stands still, until it is too
long; then a whole block falls out at once and the newest messages remain.

Above: view.py. Below: nothing. Pure: the same history gives the same window.
"""

from collections.abc import Callable, Sequence

from msgspec import Struct

from moot.model.message import Message

BYTES_PER_TOKEN = 4
"""A rough measure that every model's own counter comes near for prose; what was really used is told per turn."""
GROWTH = 5
"""A growing window holds at most this many times the messages it is cut back to."""


def tokens(text: str) -> int:
    return len(text.encode()) // BYTES_PER_TOKEN + 1


class Size(Struct, frozen=True, gc=False):
    """How much an agent is shown: the newest messages, within a number of tokens."""

    messages: int
    tokens: int
    grows: bool = False
    """Stands still and grows between cuts: for brains whose provider has a cache."""


def reach(size: Size, lo: int, hi: int, last: int | None = None) -> int:
    """How far back a window over `(lo, hi]` looks: the seq before its first message.

    `last` is where the agent's last window here began.
    """
    start = min(max(0, hi - size.messages), lo)
    stands = size.grows and last is not None and last <= start and hi - last <= GROWTH * size.messages
    return last if stands and last is not None else start


def begin(messages: Sequence[Message], size: Size, lo: int, hi: int, cost: Callable[[Message], int]) -> int:
    """Where a window that is over its token budget begins: older messages go first, unread ones only if they must.

    A growing window is cut back to half of its budget, so that it can grow again. The newest message always stays,
    however long: without it there would be nothing to answer.
    """
    costs = {message.seq: cost(message) for message in messages}
    start = min(costs, default=hi) - 1
    spent = sum(costs.values())
    if spent <= size.tokens:
        return start
    fresh = reach(size, lo, hi)
    budget = size.tokens // 2 if size.grows else size.tokens
    while start + 1 < hi and (spent > size.tokens or (start < lo and (spent > budget or start < fresh))):
        start += 1
        spent -= costs.pop(start, 0)
    return start


def visible(message: Message) -> bool:
    return not message.metadata.get("deleted")


def own_result(message: Message, agent: str) -> bool:
    """A tool's answer inside one of the agent's own turns: it was read when it came."""
    return message.metadata.get("for") == agent
