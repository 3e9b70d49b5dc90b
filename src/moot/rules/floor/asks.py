"""Questions that wait in a conversation behind another one. Thousands may, and a decision looks at one or two.

A store may have laid out only the oldest of them; the others are fetched when a decision comes to them. Above: the
rules ask for the first of an agent, one by its id, how many there are, or all. Below: a store's desk fills it.
"""

from collections.abc import Iterator
from typing import Protocol

from moot.model.ids import ParticipantId, TurnId
from moot.model.turn import Turn


class Rest(Protocol):
    """Questions of a conversation that are not loaded yet."""

    def fetch(self, after: int, *, everything: bool) -> tuple[list[Turn], int | None]:
        """Load some of those after a turn, and say how far they reach; None when none are left."""
        ...

    def count(self, after: int) -> int:
        """How many are not loaded."""
        ...


class Asks:
    """Oldest first."""

    def __init__(self, rest: Rest | None = None, reach: int = 0) -> None:
        self._known: dict[TurnId, Turn] = {}
        """In the order of their ids. Beyond the reach there may be others between them."""
        self._rest = rest
        self._reach = reach
        self._unknown: int | None = None

    def __bool__(self) -> bool:
        while not self._known and self._rest is not None:
            self._fetch()
        return bool(self._known)

    def __len__(self) -> int:
        if self._rest is None:
            return len(self._known)
        if self._unknown is None:
            self._unknown = self._rest.count(self._reach)
        return len(self._known) + self._unknown

    def __contains__(self, turn: TurnId) -> bool:
        return turn in self._known

    def get(self, turn: TurnId) -> Turn | None:
        """One of those that were loaded, as all are that a command names."""
        return self._known.get(turn)

    def of(self, agent: ParticipantId) -> Iterator[Turn]:
        seen = 0
        while True:
            for turn in self._known.values():
                if self._rest is not None and turn.id > self._reach:
                    break
                if turn.id > seen and turn.agent == agent:
                    yield turn
            if self._rest is None:
                return
            seen = self._reach
            self._fetch()

    def newest(self) -> Turn | None:
        """Of those at hand; what was asked just now is among them."""
        return next(reversed(self._known.values()), None)

    def at_hand(self) -> list[Turn]:
        return list(self._known.values())

    def all(self) -> list[Turn]:
        if self._rest is not None:
            self._fetch(everything=True)
        return list(self._known.values())

    # --- for the desk --------------------------------------------------------------------------------------

    def put(self, turn: Turn) -> None:
        late = turn.id not in self._known and bool(self._known) and turn.id < next(reversed(self._known))
        self._known[turn.id] = turn
        if late:
            self._known = dict(sorted(self._known.items()))

    def drop(self, turn: TurnId) -> None:
        self._known.pop(turn, None)

    def recount(self) -> None:
        """A question that was not loaded yet has been loaded by its id."""
        self._unknown = None

    def _fetch(self, *, everything: bool = False) -> None:
        if self._rest is None:
            return
        found, reach = self._rest.fetch(self._reach, everything=everything)
        self._known.update((turn.id, turn) for turn in found)
        self._known = dict(sorted(self._known.items()))
        self._unknown = None
        if reach is None:
            self._rest = None
        else:
            self._reach = reach


class ChangedAsks(Asks):
    """The same with a decision's own changes laid over it."""

    def __init__(self, seen: Asks) -> None:
        super().__init__()
        self._seen = seen
        self._gone: set[TurnId] = set()
        self._more = 0
        """How many more there are now."""

    def __bool__(self) -> bool:
        left = any(turn.id not in self._gone for turn in self._seen.at_hand()) if not self._known else True
        return left or len(self) > 0  # to count may cost a read

    def __len__(self) -> int:
        return len(self._seen) + self._more

    def __contains__(self, turn: TurnId) -> bool:
        return turn in self._known or (turn in self._seen and turn not in self._gone)

    def get(self, turn: TurnId) -> Turn | None:
        return self._known.get(turn) or (None if turn in self._gone else self._seen.get(turn))

    def of(self, agent: ParticipantId) -> Iterator[Turn]:
        for turn in self._seen.of(agent):
            if turn.id not in self._gone:
                yield self._known.get(turn.id, turn)
        yield from [
            turn for turn in self._known.values() if turn.agent == agent and turn.id not in self._seen
        ]

    def newest(self) -> Turn | None:
        return super().newest() or self._seen.newest()

    def all(self) -> list[Turn]:
        seen = {turn.id: turn for turn in self._seen.all() if turn.id not in self._gone}
        return list({**seen, **self._known}.values())

    def put(self, turn: Turn) -> None:
        if turn.id not in self:
            self._more += 1
        self._gone.discard(turn.id)
        super().put(turn)

    def drop(self, turn: TurnId) -> None:
        if turn in self:
            self._more -= 1
        self._known.pop(turn, None)
        if turn in self._seen:
            self._gone.add(turn)
