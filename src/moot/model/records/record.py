"""Records: rows that stand beside conversations and that no rule of turns moves, such as tokens, links and notes.

A kind of record is declared once, beside its value: what its table is called, what its key is, by what else it is
looked up. Scopes ask for lookups, decisions put and drop records, and every store loads, writes and checks them all
alike; tables.py lists them. Not here: what belongs to the floor (turns, rounds, members), which is loaded as a whole.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, Generic, TypeAlias, TypeVar

from msgspec import Struct

R = TypeVar("R", bound=Struct)

Key: TypeAlias = tuple[str | int, ...]

BY_KEY = "key"
ALL = "all"
BEGINNING = "beginning"


class Table(Generic[R]):
    """One kind of record."""

    def __init__(  # noqa: PLR0913  all that is said of a kind
        self,
        name: str,
        of: type[R],
        *,
        key: tuple[str, ...],
        by: tuple[str, ...] = (),
        all_at_once: bool = False,
        in_micros: tuple[str, ...] = (),
        ends_with_conversation: bool = False,
        remnant: Callable[[R], R] | None = None,
        audited_as: str = "",
        by_beginning: bool = False,
        is_queue: bool = False,
    ) -> None:
        self.name = name
        """Of the table, and of the file with its statements."""
        self.of = of
        self.by = by
        """Fields, or what is made of several, by which sets of them are looked up."""
        self.all_at_once = all_at_once
        """It stays small: all of it may be looked up."""
        self.in_micros = in_micros
        """Fields that stores keep as whole microseconds."""
        self.ends_with_conversation = ends_with_conversation
        """It goes when the conversation it names is erased."""
        self.remnant = remnant
        """What stays of one in that case; without it, nothing."""
        self.audited_as = audited_as
        """What the audit calls one; a decision that puts or drops it without an entry is refused by its draft."""
        self.by_beginning = by_beginning
        """Whether a record is found by the beginning of its key too."""
        self.is_queue = is_queue
        """Rows are only added and removed, and no decision depends on what one contains: concurrent writers do no
        harm."""
        self.key_fields = key
        self._key = attrgetter(*key)

    def key(self, record: R) -> Key:
        found = self._key(record)
        return found if len(self.key_fields) > 1 else (found,)

    def subject(self, key: Key) -> str:
        """How the audit names a record of this kind."""
        return " ".join((self.audited_as, *map(str, key)))

    def one(self, *key: str | int) -> "Lookup[R]":
        """The record of a key, if there is one."""
        return Lookup(self, BY_KEY, key)

    def where(self, **field: str | int) -> "Lookup[R]":
        """Every record with this value in a field; one of those in `by`."""
        [(name, value)] = field.items()
        if name not in self.by:
            raise LookupError(f"{self.name} are not looked up by {name}")
        return Lookup(self, name, (value,))

    def beginning(self, text: str) -> "Lookup[R]":
        """Records whose key begins with a text, as people write ids: not all, where that is many."""
        if not self.by_beginning:
            raise LookupError(f"{self.name} are not looked up by the beginning of their key")
        return Lookup(self, BEGINNING, (text,))

    def all(self) -> "Lookup[R]":
        """Every record there is: for tables that stay small."""
        if not self.all_at_once:
            raise LookupError(f"{self.name} may be too many to be looked up all at once")
        return Lookup(self, ALL, ())

    def __repr__(self) -> str:
        return f"Table({self.name})"


class Lookup(Struct, Generic[R], frozen=True, gc=False):
    """Which records of a table a decision, or a reader, wants to see."""

    table: Table[R]
    by: str
    value: Key

    def picks(self, record: R) -> bool:
        """Whether a record is among them."""
        if self.by == ALL:
            return True
        if self.by == BY_KEY:
            return self.table.key(record) == self.value
        if self.by == BEGINNING:
            return str(self.table.key(record)[0]).startswith(str(self.value[0]))
        return bool(getattr(record, self.by) == self.value[0])

    def among(self, records: Iterable[R]) -> list[R]:
        return [record for record in records if self.picks(record)]


AnyTable: TypeAlias = Table[Any]
AnyLookup: TypeAlias = Lookup[Any]


class Shelves:
    """Records of all kinds as they lie in memory: by table, then by key."""

    __slots__ = ("_by_table",)

    def __init__(self) -> None:
        self._by_table: dict[str, dict[Key, Any]] = {}

    def put(self, table: Table[R], record: R) -> None:
        self._by_table.setdefault(table.name, {})[table.key(record)] = record

    def drop(self, table: Table[R], key: Key) -> None:
        self._by_table.get(table.name, {}).pop(key, None)

    def find(self, lookup: Lookup[R]) -> list[R]:
        kept: dict[Key, R] = self._by_table.get(lookup.table.name, {})
        if lookup.by == BY_KEY:
            found = kept.get(lookup.value)
            return [] if found is None else [found]
        return lookup.among(kept.values())

    def every(self, table: Table[R]) -> list[R]:
        """All there are of a kind."""
        return list(self._by_table.get(table.name, {}).values())

    def drop_of_conversation(self, tables: Iterable[AnyTable], conversation: str) -> None:
        """What goes with a conversation that is erased."""
        for table in tables:
            if table.ends_with_conversation:
                kept = self._by_table.get(table.name, {})
                gone = [key for key, record in kept.items() if record.conversation == conversation]
                for key in gone:
                    record = kept.pop(key)
                    if table.remnant is not None:
                        kept[key] = table.remnant(record)

    def clear(self) -> None:
        self._by_table.clear()

    def __bool__(self) -> bool:
        return any(self._by_table.values())
