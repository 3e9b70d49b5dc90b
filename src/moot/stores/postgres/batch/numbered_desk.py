"""The desk of a batch on PostgreSQL: its ids come from the number of the transaction, and it may be kept.

Above: load.py lays it out. Below: stores/kept_desk.py. Nothing is fetched during a decision: one that needs what was
not loaded makes the batch run again with it.
"""

from collections.abc import Callable

from moot.model.conversation import ConversationKind
from moot.model.ids import ConversationId, RootId
from moot.model.turn import Turn
from moot.stores.async_runner import TryAgain
from moot.stores.desk import Dirty
from moot.stores.kept_desk import KeptDesk

ID_BITS = 16
MAX_IDS = 1 << ID_BITS
"""Turns, events or messages that one transaction can number."""


class Demanded(TryAgain):
    """A decision needed what was not loaded. It is loaded in the next run, which therefore gets further."""


class Demands:
    """What a decision needed and was not loaded: the next run of the batch loads it as well."""

    def __init__(self) -> None:
        self.in_full: set[ConversationId] = set()
        """Conversations of which all questions are loaded."""
        self.conversations: set[ConversationId] = set()
        """Conversations to lock as well: the last run found that a name means them."""
        self.roots: set[RootId] = set()

    def clear(self) -> None:
        self.in_full.clear()
        self.conversations.clear()
        self.roots.clear()

    def root(self, root: RootId) -> None:
        self.roots.add(root)
        raise Demanded(f"the chain {root} was not loaded")

    def lock(self, conversations: set[ConversationId], reason: str) -> None:
        self.conversations |= conversations
        raise Demanded(reason)


class UnloadedQuestions:
    """Questions that wait in a conversation and were not loaded: a decision that needs them causes another run."""

    def __init__(self, demands: Demands, where: ConversationId, count: int) -> None:
        self._demands = demands
        self._where = where
        self._count = count

    def fetch(self, after: int, *, everything: bool) -> tuple[list[Turn], int | None]:
        self._demands.in_full.add(self._where)
        raise Demanded(f"more questions wait in {self._where} than were laid out")

    def count(self, after: int) -> int:
        return self._count


class NumberedDesk(KeptDesk):
    """A kept desk whose ids are numbered anew by each transaction."""

    def __init__(self, fetch: Callable[[RootId], None]) -> None:
        super().__init__(0, 0, fetch)
        self.first = 0
        """The first id of the transaction."""
        self.long_queues: set[ConversationId] = set()
        """Conversations of which not all questions were loaded."""

    def number(self, transaction: int, newest: int | None) -> None:
        """Give ids from this transaction on. `newest`: the event right before its own, where that is known."""
        self.first = self.next_turn = self.next_event = transaction << ID_BITS
        self.last_event = newest

    def settle(self, dirty: Dirty) -> bool:
        """Neither tasks, which are records, nor questions that were not loaded are kept: nor is their room."""
        if not super().settle(dirty):
            return False
        tasks = [where for where in self.rooms if self.conversations[where].kind is ConversationKind.TASK]
        for where in self.long_queues.intersection(self.rooms).union(tasks):
            self.clear_room(where)
        self.long_queues.clear()
        return True
