"""The engine over a SQLite file: a transaction per batch, all scopes loaded at once, dirty rows written once.

Above: the runner, which calls it from one thread. Below: load.py fills the desk, rows.py makes rows,
trouble.py says what went wrong. Not here: reading for doors and people (reads.py).
"""

from collections.abc import Collection, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import apsw

from moot.errors import StoreDamaged
from moot.failpoints import failpoint
from moot.model.records.link import LINKS
from moot.ports import Scope
from moot.stores import rows
from moot.stores.desk import Desk, Dirty
from moot.stores.kept_desk import KeptDesk
from moot.stores.sqlite.file import database, migrate
from moot.stores.sqlite.file.lock import OpenMark, WriterLock
from moot.stores.sqlite.file.untrusted import OpenFiles
from moot.stores.sqlite.load import Loading
from moot.stores.sqlite.statements import RECORDS, SEARCH, WRITE
from moot.stores.sqlite.trouble import damaged, moot_errors, write_errors

K = TypeVar("K")
V = TypeVar("V")

NO_END = 2**62
INDEXED_AT_ONCE = 200
"""Messages taken into the full-text index in one transaction, so that a post never waits long behind it."""
FORGOTTEN_AT_ONCE = 1000
"""Events forgotten in one transaction, for the same reason."""


def parted(changed: dict[K, V], whole: set[K]) -> tuple[Collection[V], Collection[V]]:
    """Split into rows to write whole, and rows of which a part is enough."""
    if not whole:
        return (), changed.values()
    put = [changed[key] for key in changed if key in whole]
    narrow = [changed[key] for key in changed if key not in whole]
    return put, narrow


class SqliteEngine:
    """Used by one thread at a time. Everything it raises is one of Moot's own errors."""

    def __init__(self, path: Path, connection: apsw.Connection, lock: WriterLock, mark: OpenMark) -> None:
        self.path = path
        self._connection = connection
        self._lock = lock
        self._mark = mark
        self._standing = OpenFiles(path)
        self._gone: StoreDamaged | None = None
        """Set once the files are no longer those that were opened: from then on nothing is taken."""
        self._locked = False
        self._loading = Loading(path, connection)
        self._version = -1
        """SQLite's counter of changes to the file, as our last commit left it; it moves with those of others too."""
        self._alone = False
        self._kept: KeptDesk | None = None
        self._desk: KeptDesk | None = None
        self._dirty = Dirty()

    @classmethod
    def open(cls, home: Path, steps: tuple[migrate.Migration, ...] | None = None) -> "SqliteEngine":
        """The engine of a home, made or migrated if need be."""
        path = database.prepare_home(home)
        with moot_errors(path):
            lock = WriterLock(home / "run" / "writer.lock")
            mark = OpenMark(home / "run" / "open.lock")
            try:
                connection = database.opened(path, lock, mark, steps or migrate.shipped())
                database.give_shapes(connection)
            except BaseException:  # nothing may keep the lock files open
                mark.close()
                lock.close()
                raise
        return cls(path, connection, lock, mark)

    # --- the transaction ---------------------------------------------------------------------------------

    def begin(self) -> None:
        if self._gone is not None:
            raise self._gone
        self._lock.take()
        self._locked = True
        with moot_errors(self.path):
            self._connection.execute("BEGIN IMMEDIATE")
            version = self._connection.data_version()
        self._alone = version == self._version
        if not self._alone:  # somebody else has written since
            self._kept = None

    def load(self, scopes: Sequence[Scope]) -> Desk:
        with write_errors(self.path):
            desk, self._kept = self._kept, None
            if desk is None or not desk.settle(self._dirty):
                desk = self._loading.fresh()
            desk.alone = self._alone
            self._desk, self._dirty = desk, Dirty()
            try:
                self._loading.fill(desk, scopes)
            except KeyError as missing:  # a row refers to another that was not found by its id
                raise damaged(self.path, f"{missing} is referenced but missing") from missing
            return desk

    def commit(self) -> None:
        """Keep what was written, if anything was, and the desk it was decided on. Tidying that is left to the
        next batch: nobody who is committed waits for it, or could fail by it."""
        with moot_errors(self.path):
            self._connection.execute("COMMIT")
            self._version = self._connection.data_version()
        self._unlock()
        self._look_at_files()
        self._kept, self._desk = self._desk, None

    def rollback(self) -> None:
        """Leave nothing of the batch. Harmless where there is nothing to undo."""
        self._kept = self._desk = None
        self._dirty = Dirty()
        with suppress(apsw.Error):  # what led here is the story; a transaction left open refuses the next one
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
        self._unlock()

    def _look_at_files(self) -> None:
        """A commit into a file that is gone must not be acknowledged."""
        try:
            self._standing.check()
        except StoreDamaged as gone:
            self._gone = gone
            raise

    def close(self) -> None:
        self._mark.close()
        with moot_errors(self.path):
            if self._gone is not None and self._standing.is_replaced():
                self._connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
            self._connection.close()
        self._lock.close()

    def _unlock(self) -> None:
        if self._locked:
            self._locked = False
            self._lock.give()

    # --- writing -----------------------------------------------------------------------------------------

    def write(self, dirty: Dirty) -> None:
        self._dirty = dirty
        with write_errors(self.path):
            self._erase(dirty)
            self._many(WRITE.append_message, rows.MESSAGES, dirty.messages)
            failpoint("write.messages")
            self._revise(dirty)
            self._conversations(dirty)
            self._many(WRITE.put_member, rows.MEMBERS, dirty.members.values())
            self._turns(dirty)
            failpoint("write.turns")
            self._many(WRITE.put_round, rows.ROUNDS, dirty.rounds.values())
            self._many(WRITE.put_root, rows.ROOTS, dirty.roots.values())
            self._many(WRITE.put_pair, rows.PAIRS, dirty.pairs.values())
            self._many(WRITE.put_quota, rows.QUOTAS, dirty.quotas.values())
            self._people(dirty)
            self._many(WRITE.add_summary, rows.SUMMARIES, dirty.summaries)
            self._records(dirty)
            if dirty.texts:
                self._connection.executemany(WRITE.keep_text, dirty.texts.items())
            self._many(WRITE.append_event, rows.EVENTS, dirty.events)
            failpoint("write.events")

    def _records(self, dirty: Dirty) -> None:
        for name, records in dirty.records.items():
            self._many(RECORDS[name].put, rows.RECORDS[name], records.values())
        if LINKS.name in dirty.records or LINKS.name in dirty.dropped_records:
            self._connection.execute(WRITE.links_changed)

    def _many(self, statement: str, of: rows.Rows[Any], values: Any) -> None:
        if values:
            self._connection.executemany(statement, map(of.row, values))

    def _erase(self, dirty: Dirty) -> None:
        """What is gone goes first: its names may be taken again in the same batch."""
        many = self._connection.executemany
        if dirty.dropped_members:
            many(WRITE.drop_member, dirty.dropped_members)
        if dirty.dropped_hosts:
            many(WRITE.drop_host, [(host,) for host in dirty.dropped_hosts])
        for name, keys in dirty.dropped_records.items():
            many(RECORDS[name].drop, keys)
        if dirty.forgotten_summaries:
            many(WRITE.forget_summaries, [(where,) for where in dirty.forgotten_summaries])
        if dirty.dropped_conversations:
            gone = [{"conversation": where} for where in dirty.dropped_conversations]
            self._connection.execute(WRITE.remember_turn_id)
            many(SEARCH.unindex_conversation, gone)
            for where in gone:
                self._connection.execute(WRITE.drop_conversation, where)
            self._connection.execute(SEARCH.rows_may_come_again)

    def _conversations(self, dirty: Dirty) -> None:
        """In most there was only talk; then the indexes by name and key need not be looked at."""
        put, talked = parted(dirty.conversations, dirty.whole_conversations)
        self._many(WRITE.put_conversation, rows.CONVERSATIONS, put)
        self._connection.executemany(WRITE.talk_in_conversation, map(rows.TALK, talked))

    def _turns(self, dirty: Dirty) -> None:
        """Most only collect another message; following the indexes as well would cost four times that."""
        put, joined = parted(dirty.turns, dirty.whole_turns)
        self._many(WRITE.put_turn, rows.TURNS, put)
        self._connection.executemany(WRITE.join_turn, map(rows.CALLING, joined))

    def _revise(self, dirty: Dirty) -> None:
        for message, revision in dirty.revisions:
            address = (message.conversation, message.seq)
            self._connection.execute(SEARCH.unindex_message, address)
            self._connection.execute(WRITE.revise_message, rows.MESSAGES.row(message))
            self._connection.execute(SEARCH.reindex_message, address)
            self._connection.execute(WRITE.append_revision, rows.REVISIONS.row(revision))

    def _people(self, dirty: Dirty) -> None:
        people = dirty.participants.values()
        if people:
            self._many(WRITE.put_participant, rows.PARTICIPANTS, people)
            self._connection.executemany(WRITE.forget_names, [(participant.id,) for participant in people])
            names = [
                (name, participant.id)
                for participant in people
                for name in (participant.id, participant.name, *participant.aliases)
            ]
            self._connection.executemany(WRITE.put_name, names)
        self._many(WRITE.put_host, rows.HOSTS, dirty.hosts.values())

    # --- between batches ---------------------------------------------------------------------------------

    def index_some(self) -> int:
        """Take the next messages into the full-text index; how far it reaches then, NO_END for all. The kept
        desk goes: whoever is quiet enough to be indexed does without."""
        execute = self._connection.execute
        with moot_errors(self.path):
            if execute(SEARCH.indexed).get >= execute(SEARCH.newest_row).get:
                return NO_END
        try:
            self.begin()
            with moot_errors(self.path):
                execute(SEARCH.index_some, (INDEXED_AT_ONCE,))
                execute(SEARCH.index_times, (INDEXED_AT_ONCE,))
                execute(SEARCH.move_indexed, (INDEXED_AT_ONCE,))
                reached = int(execute(SEARCH.indexed).get)
            self.commit()
        except BaseException:  # an index half caught up must not stay
            self.rollback()
            raise
        return reached

    def forget_some(self, before: float) -> int:
        """Forget the oldest events that are older than a moment; how many went."""
        try:
            self.begin()
            with moot_errors(self.path):
                upto = self._connection.execute(
                    WRITE.forgettable, (round(before * 1e6), FORGOTTEN_AT_ONCE)
                ).get
                if upto is not None:
                    self._connection.execute(WRITE.forget_events, {"upto": upto})
                gone = self._connection.changes() if upto is not None else 0
            self.commit()
        except BaseException:  # a log half forgotten must not stay
            self.rollback()
            raise
        return gone

    def modes(self) -> tuple[str, int]:
        """Journal mode and synchronous level of the connection that writes."""
        with moot_errors(self.path):
            return str(self._connection.pragma("journal_mode")), int(self._connection.pragma("synchronous"))
