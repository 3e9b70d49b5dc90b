"""Verifying the audit: every entry hashes the one before it, every chain ends where its head says, and links, tasks and
permissions are what the newest entry about them says.

It is fed row by row, and keeps the heads and what acts say of links and permissions, which are few; tasks come and go.
Above: stores/sqlite/file/soundness.py reads the rows. Below: audit.py hashes. Not here: messages and notes, whose
chains are in their own rows (audit.py).
"""

from collections.abc import Callable, Mapping

from msgspec import Struct

from moot.model.json import JsonObject
from moot.model.records.audit import ACTS, OF_TASK, AuditedAct, AuditEntry, ChainHead
from moot.model.records.link import LINKS
from moot.model.records.note import NOTE_PERMISSIONS
from moot.model.records.record import R, Table
from moot.model.records.task import TASKS, Task
from moot.rules import audit
from moot.rules.audit import KnownHead

GONE = frozenset({AuditedAct.CONVERSATION_PURGED, AuditedAct.NOTE_DELETED})
"""Acts that take a chain away."""
CHAIN_OF = {"conversation": "conversation:", "note": "note:"}
"""By the word for a thing, what its chain is called."""


class Purged(Struct, frozen=True, gc=False):
    """What somebody erased on purpose: what is left of it is this."""

    what: str
    name: str
    length: int
    """Entries that its chain had."""
    head: str
    by: str
    at: float


class AuditWalk:
    def __init__(
        self,
        task: Callable[[str], Task | None],
        heads: Mapping[str, KnownHead] | None = None,
        on_problem: Callable[[str], None] = lambda problem: None,
    ) -> None:
        self._task = task
        """Finds a task by its id."""
        self._sealed = heads or {}
        self.on_problem = on_problem
        """Called with each thing that is wrong."""
        self.entries = 0
        self.chains = 0
        self.tasks = 0
        """Chains of tasks."""
        self.purged: list[Purged] = []
        self._heads: dict[str, ChainHead] = {}
        self._digests: dict[str, tuple[str, int]] = {}
        """Of links and permissions: the digest by the newest act on each, and where that stands."""
        self._chain = ""
        self._last: AuditEntry | None = None
        self._broken = False

    @property
    def has_begun(self) -> bool:
        return ACTS in self._heads or self.entries > 0

    # --- what is read first: the heads ---------------------------------------------------------------------

    def head(self, head: ChainHead) -> None:
        if audit.with_digest(head).digest != head.digest or not 0 <= head.sealed <= head.length:
            self.on_problem(f"the head of {named(head.chain)} was altered")
        self._heads[head.chain] = head

    # --- then the entries, chain by chain, in order ----------------------------------------------------------

    def entry(self, entry: AuditEntry) -> None:
        self.entries += 1
        if entry.chain != self._chain:
            self._end()
            self._chain, self._last, self._broken = entry.chain, None, False
            self.chains += 1
        if not self._broken:
            self._step(entry)
        self._last = entry
        if entry.chain == ACTS:
            self._act(entry)

    def _step(self, entry: AuditEntry) -> None:
        before, expected = ("", 1) if self._last is None else (self._last.hash, self._last.place + 1)
        head = self._sealed.get(entry.chain)
        if entry.place != expected:
            self._break(f"{named(entry.chain)} #{expected} is missing")
        elif audit.entry_hash(before, entry) != entry.hash:
            self._break(
                f"{named(entry.chain)} #{entry.place} was altered: it does not hash to what was recorded"
            )
        elif head is not None and head.length == entry.place and head.hash != entry.hash:
            self._break(
                f"{named(entry.chain)} #{entry.place} is not the one whose hash was written down outside the store"
            )

    def _break(self, problem: str) -> None:
        self._broken = True
        self.on_problem(problem)

    def _act(self, entry: AuditEntry) -> None:
        if entry.subject.startswith((f"{LINKS.audited_as} ", f"{NOTE_PERMISSIONS.audited_as} ")):
            self._digests[entry.subject] = (entry.digest, entry.place)
        if entry.act in GONE:
            self.purged.append(_purged(entry))

    def _end(self) -> None:
        """The chain that was read is over."""
        last = self._last
        if last is None:
            return
        last_head = self._sealed.get(self._chain)
        if last_head is not None and last_head.length > last.place:
            self.on_problem(f"{named(self._chain)} has {last.place} entries, but had {last_head.length} once")
        if self._chain.startswith(OF_TASK):
            self._end_of_task(last)
            return
        head = self._heads.pop(self._chain, None)
        if head is None:
            self.on_problem(f"{named(self._chain)} has entries, but no head")
        elif not self._broken and (head.length, head.hash) != (last.place, last.hash):
            self.on_problem(f"{named(self._chain)} does not end at #{last.place}, as its head says")
        elif head.counting and head.counting[-1] != last:
            self.on_problem(f"{named(self._chain)} #{last.place} is not what its head says")

    def _end_of_task(self, last: AuditEntry) -> None:
        self.tasks += 1
        task = self._task(self._chain.removeprefix(OF_TASK))
        if task is None:
            self.on_problem(f"{named(self._chain)} is missing, but {last.place} changes of it are on record")
        elif not self._broken and (task.chain_length, task.chain) != (last.place, last.hash):
            self.on_problem(f"{named(self._chain)} does not have as many changes as it says, or others")
        elif not self._broken and audit.row_digest(TASKS, task) != last.digest:
            self.on_problem(
                f"{named(self._chain)} was altered: it is not what change #{last.place} left behind"
            )

    def ended(self) -> None:
        """All entries were read."""
        self._end()
        self._chain, self._last = "", None
        for chain in self._heads:
            self.on_problem(f"{named(chain)} has a head, but no entries")
        self._heads = {ACTS: head} if (head := self._heads.get(ACTS)) is not None else {}

    # --- then the rows that entries speak of -----------------------------------------------------------------

    def row(self, table: Table[R], record: R) -> None:
        """A link or a permission."""
        subject = table.subject(table.key(record))
        digest, place = self._digests.pop(subject, ("", 0))
        if not place and self.has_begun:
            self.on_problem(f"{subject} is nowhere in the audit")
        elif place and not digest:
            self.on_problem(f"{subject} is there, but acts #{place} says that it is gone")
        elif place and digest != audit.row_digest(table, record):
            self.on_problem(f"{subject} was altered: it is not what acts #{place} left behind")

    def rows_ended(self) -> None:
        for subject, (digest, place) in self._digests.items():
            if digest:
                self.on_problem(f"{subject} is missing: acts #{place} says that it is there")
        self._digests.clear()

    # --- and what was written down elsewhere of chains that are not there --------------------------------------

    def missing(self, chain: str, head: KnownHead) -> None:
        """A chain of which there is nothing, or less than there was: it was erased on purpose, or is missing."""
        if not any(_took(gone, chain, head) for gone in self.purged):
            self.on_problem(
                f"{named(chain)} had {head.length} entries once; now it is gone, and nobody erased it"
            )

    def was_purged(self, chain: str) -> bool:
        return any(_chain_of(gone) == chain for gone in self.purged)


def named(chain: str) -> str:
    """A chain, in words."""
    kind, _, rest = chain.partition(":")
    words = {
        "refusals": f"refusals of {rest}",
        "task": f"task {rest}",
        "conversation": f"conversation {rest}",
    }
    return words.get(kind) or (f"note {rest}" if kind == "note" else kind)


def _purged(entry: AuditEntry) -> Purged:
    detail: JsonObject = entry.detail
    length = detail.get("length", detail.get("versions", 0))
    name = str(detail.get("name", detail.get("note", "")))
    return Purged(entry.subject, name, int(length or 0), str(detail.get("head", "")), entry.by, entry.at)


def _chain_of(gone: Purged) -> str:
    kind, _, rest = gone.what.partition(" ")
    return f"{CHAIN_OF[kind]}{rest}"


def _took(gone: Purged, chain: str, head: KnownHead) -> bool:
    """Whether an act took a chain away that had got at least so far."""
    if _chain_of(gone) != chain or gone.length < head.length:
        return False
    return gone.length > head.length or gone.head == head.hash
