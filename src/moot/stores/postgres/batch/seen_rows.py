"""What a batch has loaded of rows without a lock of their own: chains, limiters, people, hosts, records.

They are locked and read again just before they are written. If one has changed, another hub was faster, and the batch
is run again: so no hub overwrites a row that another one has just written. Beside a kept desk it is kept as well, but
for records, which every batch loads.
"""

from collections.abc import Iterable
from typing import Any

from moot.model.records.record import AnyLookup
from moot.model.records.tables import TABLES
from moot.stores.desk import Dirty

Row = tuple[str, tuple[Any, ...]]
"""A table and a key."""
RECORDS = frozenset(table.name for table in TABLES)
READ_BACK = ("registry", "hosts")
"""Tables whose rows are read back differently from how they are written."""


class SeenRows:
    """By table and key: the loaded value, or None if it is known that there was none."""

    def __init__(self) -> None:
        self._values: dict[Row, Any] = {}
        self._records: dict[Row, Any] = {}
        self._lookups: list[AnyLookup] = []
        self._all_of: set[str] = set()

    def note_row(self, table: str, key: tuple[Any, ...], value: Any) -> None:
        values = self._records if table in RECORDS else self._values
        values[table, key] = value

    def note_keys(self, table: str, keys: Iterable[tuple[Any, ...]]) -> None:
        """These keys were looked for: those without a value do not exist."""
        for key in keys:
            self._values.setdefault((table, key), None)

    def note_all_of(self, table: str) -> None:
        self._all_of.add(table)

    def note_lookup(self, lookup: AnyLookup) -> None:
        self._lookups.append(lookup)

    def is_known(self, table: str, key: tuple[Any, ...], written: Any) -> bool:
        """Whether a decision has seen this row, or seen that there was none."""
        if (table, key) in self._values or (table, key) in self._records or table in self._all_of:
            return True
        return written is not None and any(
            lookup.table.name == table and lookup.picks(written) for lookup in self._lookups
        )

    def value(self, table: str, key: tuple[Any, ...]) -> Any:
        return (self._records if table in RECORDS else self._values).get((table, key))

    def settle(self, dirty: Dirty) -> None:
        """After a commit, for the next batch: what was written is what is stored."""
        self._records.clear()
        self._lookups.clear()
        for table, written in unguarded(dirty).items():
            if table in READ_BACK:
                self._all_of.discard(table)
                for key in written:
                    self._values.pop((table, key), None)
            elif table not in RECORDS:
                self._values.update({(table, key): value for key, value in written.items()})


def unguarded(dirty: Dirty) -> dict[str, dict[tuple[Any, ...], Any]]:
    """The unguarded rows that a batch writes: by table and key, None for dropped ones."""
    rows: dict[str, dict[tuple[Any, ...], Any]] = {
        "roots": {(key,): value for key, value in dirty.roots.items()},
        "pairs": dict(dirty.pairs),
        "quotas": {(key,): value for key, value in dirty.quotas.items()},
        "registry": {(key,): value for key, value in dirty.participants.items()},
        "hosts": {(key,): value for key, value in dirty.hosts.items()},
    }
    rows["hosts"].update({(key,): None for key in dirty.dropped_hosts})
    for table in TABLES:
        if table.is_queue:
            continue
        written: dict[tuple[Any, ...], Any] = dict(dirty.records.get(table.name, {}))
        for key in dirty.dropped_records.get(table.name, ()):
            written.setdefault(key, None)
        rows[table.name] = written
    return {table: written for table, written in rows.items() if written}
